create table rater (
  id integer primary key,
  code text not null unique,
  invitation integer unique,
  state text not null check (state in ('arrived', 'consented', 'ready', 'finished', 'declined',
    'withdrawn')),
  arrived real not null,
  consented real,
  consent_version text,
  consent_sha256 text,
  experience text,
  finished real,
  excluded text
);
create table identity (
  participant integer primary key references rater (id),
  key text not null unique,
  parameters text not null
);
-- One row for each session that a rater is given, in the order in which they read it.
create table rating (
  rater integer not null references rater (id),
  item text not null,
  position integer not null,
  verdict text check (verdict in ('person', 'program')),
  sure integer check (sure between 1 and 3),
  realism integer check (realism between 1 and 5),
  turn integer,
  at real,
  primary key (rater, item)
) without rowid;
create table setting (name text primary key, value text not null);
