create table participant (
  id integer primary key,
  code text not null unique,
  invitation integer unique,
  state text not null check (state in ('arrived', 'consented', 'background', 'instructed',
    'ready', 'finished', 'declined', 'screened', 'full', 'withdrawn')),
  arrived real not null,
  consented real,
  consent_version text,
  consent_sha256 text,
  tries integer not null default 0,
  background text,
  finished real,
  finished_why text,
  excluded text
);
-- What a recruiting service told about a participant; never exported, deleted by usi study forget.
create table identity (
  participant integer primary key references participant (id),
  key text not null unique,
  parameters text not null
);
-- A number is never given again: an answer or an open page of a talk that was deleted must not
-- reach another one.
create table talk (
  id integer primary key autoincrement,
  participant integer not null references participant (id),
  task text not null,
  batch integer,
  state text not null check (state in ('open', 'survey', 'done', 'returned', 'infrastructure')),
  opened real not null,
  active real not null,
  ended real,
  termination text,
  detail text,
  grade text,
  survey text,
  agent text not null default '',
  calls integer not null default 0,
  tokens_in integer not null default 0,
  tokens_out integer not null default 0,
  cost real not null default 0,
  excluded text,
  unique (participant, task)
);
-- A cell is a task in a batch; these talks fill or hold it, and there is never a second one.
create unique index one_talk_a_cell on talk (task, batch)
  where batch is not null and excluded is null and state in ('open', 'survey', 'done');
create index talk_state on talk (state);
create table message (
  talk integer not null references talk (id),
  seq integer not null,
  role text not null check (role in ('user', 'assistant', 'tool')),
  body text not null,
  client text,
  at real not null,
  typing_ms integer,
  pastes integer,
  pasted_characters integer,
  hidden integer,
  primary key (talk, seq)
) without rowid;
create unique index one_message_a_client on message (talk, client) where client is not null;
create table event (
  id integer primary key,
  participant integer,
  talk integer,
  kind text not null,
  at real not null,
  detail text
);
create table setting (name text primary key, value text not null);
