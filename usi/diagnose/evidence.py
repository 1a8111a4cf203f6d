"""Evidence: turns that count for each feature, and sessions to read in full.

Sampled by seed from the session tables, whatever their order; texts come from where reading kept
them (`usi.scoring.texts`).

From marked turns to what a reader sees: cut texts, spans, marks, transcripts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import polars as pl

from usi.diagnose.diagnosis import compared_specs, sample_of, scored_sessions
from usi.diagnose.evidence_files import Deviation, Evidence, EvidenceTurn, Message, Transcript
from usi.diagnose.marks import MarkedTurn, mark_sessions, spans
from usi.diagnose.outliers import Picked, pick
from usi.extraction.profile import FeatureProfile, get_feature_profile
from usi.extraction.robust.cleaning import content_text
from usi.extraction.spec import FeatureSpec
from usi.extraction.table import SessionTable
from usi.records import Session, Side, Turn
from usi.scoring.columns import CONTENT
from usi.scoring.robust.bounds import tidy
from usi.scoring.scorecard import Scorecard
from usi.scoring.texts import SaidByPeople, TextStore

Key = tuple[str, str, str, str, str]
"""Simulator (people: ``""``), session id, trial, batch: as in the session table; and the digest of
the content, which tells sessions apart that share all of these (``""``: the table has none)."""


def shown(text: str) -> str:
    """Text as a table keeps it: lone surrogates as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


MOST_CHARACTERS, MOST_BEFORE, MOST_MESSAGES = 800, 240, 60
_UNMARKED = ("words", "short")
"""Counts that every turn has, or whose mark is the whole turn: no mark in running text."""
_ROLES = ("user", "assistant", "system", "tool", "developer")


@dataclass(frozen=True)
class Shown:
    """A session with its marked turns."""

    session: Session
    turns: tuple[MarkedTurn, ...]


def cut(text: str, most: int) -> tuple[str, int]:
    """Beginning of a text, and how many characters were left out; safe to encode."""
    text = shown(text)
    return (text, 0) if len(text) <= most else (text[:most], len(text) - most)


def evidence_turn(
    session: Shown, turn: MarkedTurn, column: str, profile: FeatureProfile
) -> EvidenceTurn:
    """One turn with the characters that make it count for a column."""
    (ranges,) = spans([turn.text], column, profile)
    text, left = cut(turn.text, MOST_CHARACTERS)
    if text != turn.text[:MOST_CHARACTERS]:
        ranges = ()  # an escape moved the places
    number = 1 + next(k for k, t in enumerate(session.turns) if t.message == turn.message)
    message = Message(
        role="user",
        text=text,
        turn=number,
        spans=tuple((a, min(b, len(text))) for a, b in ranges if a < len(text)),
        cut=left,
    )
    return EvidenceTurn(
        session=shown(session.session.session_id),
        message=message,
        before=_before(session.session, turn.message),
    )


def _before(session: Session, at: int) -> Message | None:
    for turn in reversed(session.turns[:at]):
        if turn.role == "assistant":
            text, left = cut(content_text(turn.content)[0] or "", MOST_BEFORE)
            if text.strip():
                return Message(role="assistant", text=text, cut=left)
    return None


def transcript(kind: str, session: Shown, picked: Picked, profile: FeatureProfile) -> Transcript:
    """A whole session; marks name the features that each turn of the user counts for."""
    by_place = {turn.message: (k, turn) for k, turn in enumerate(session.turns, 1)}
    features = {
        spec.numerator: spec.name
        for spec in profile.specs
        if spec.kind in ("rate", "mean", "flag") and spec.numerator not in _UNMARKED
        and spec.dimension != "style"
    }  # fmt: skip
    short = {s.name for s in profile.specs if s.numerator == "short"}
    messages = []
    turns = session.session.turns
    for place, turn in enumerate(turns[:MOST_MESSAGES]):
        if place in by_place:
            number, marked = by_place[place]
            messages.append(_user(marked, number, features, short, profile))
        else:
            messages.append(_other(turn))
    return Transcript(
        session=shown(session.session.session_id),
        kind=kind,
        distance=None if picked.distance is None else tidy(picked.distance),
        far=tuple(
            Deviation(name, tidy(value), tidy(mean), tidy(z)) for name, value, mean, z in picked.far
        ),
        messages=tuple(messages),
        left_out=max(0, len(turns) - MOST_MESSAGES),
    )


def _user(
    turn: MarkedTurn,
    number: int,
    features: dict[str, str],
    short: set[str],
    profile: FeatureProfile,
) -> Message:
    columns = [column for column in features if turn.counts.get(column)]
    text, left = cut(turn.text, MOST_CHARACTERS)
    ranges: list[tuple[int, int]] = []
    if text == turn.text[:MOST_CHARACTERS]:
        for column in columns:
            (found,) = spans([turn.text], column, profile)
            # A mark on the whole turn tells nothing beside the name of the feature.
            ranges += [r for r in found if r != (0, len(turn.text)) and r[0] < len(text)]
    marks = [features[column] for column in columns]
    marks += sorted(short) if turn.counts.get("short") else []
    return Message(
        role="user",
        text=text,
        turn=number,
        marks=tuple(marks),
        spans=merged([(a, min(b, len(text))) for a, b in ranges]),
        cut=left,
    )


def _other(turn: Turn) -> Message:
    role = turn.role if isinstance(turn.role, str) and turn.role in _ROLES else "other"
    text, left = cut(content_text(turn.content)[0] or "", MOST_CHARACTERS)
    note = "no turn of the user" if role == "user" else ""
    if not text.strip() and turn.tool_calls:
        note = note or "calls a tool"
    return Message(role=role, text=text, cut=left, note=note)


def merged(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges in order, overlapping ones joined."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return tuple(out)


PER_FEATURE, UNLIKE, TYPICAL = 2, 3, 1
_WHOLE_SESSION = ("cv", "geometric", "duration", "value")
_SPREAD = ("words", "words_first", "words_first_two")
"""Columns in which every turn counts: sessions over the whole range are shown, not any."""


@dataclass
class Wish:
    """Which sessions of one side are wanted, and for what."""

    turns: dict[str, list[Key]] = field(default_factory=dict)
    sessions: list[tuple[str, Key, Picked]] = field(default_factory=list)

    def keys(self) -> set[Key]:
        """All of them."""
        every = {key for keys in self.turns.values() for key in keys}
        return every | {key for _, key, _ in self.sessions}


def with_turns(spec: FeatureSpec) -> bool:
    """Whether single turns count for a feature (else it is one of the whole session)."""
    if spec.kind in _WHOLE_SESSION:
        return False
    whole = ("user_turns", "shortest", "trigrams_repeated", "echo", "repeat")
    return spec.numerator not in whole


def build_evidence(
    card: Scorecard,
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    texts: Mapping[str, TextStore],
    *,
    said: SaidByPeople | None = None,
    human_cleaning: Side = "human",
    seed: int = 7,
) -> Evidence:
    """Draw turns and sessions, take their texts, mark them.

    Parameters
    ----------
    card
        Finished scorecard of the same tables.
    human, simulators
        Session tables with keys.
    texts
        Label (people: ``""``) -> texts of the sessions; a side without them gives nothing.
    said
        What people wrote and must not be shown; simulators that repeat it are shown without it.
    human_cleaning
        Whose cleaning the reference had.
    seed
        Of every draw.
    """
    profile = get_feature_profile(human.profile)
    people = scored_sessions(human.frame)
    own_frames: dict[str, pl.DataFrame] = {}
    wishes: dict[str, Wish] = {"": Wish(turns=_draw_turns(people, profile, "", seed))}
    for part in card.simulators:
        table = simulators.get(part.name)
        if table is None:
            continue
        own = own_frames[part.name] = scored_sessions(table.frame)
        wish = Wish(turns=_draw_turns(own, profile, part.name, seed))
        specs = compared_specs(human.profile, part.design)
        unlike, typical, usual = pick(
            sample_of(people, specs), sample_of(own, specs),
            unlike=UNLIKE, typical=TYPICAL, seed=seed,
        )  # fmt: skip
        places = _places(own, specs, part.name)
        wish.sessions = [
            (kind, places[picked.key], picked)
            for kind, found in (("unlike", unlike), ("typical", typical))
            for picked in found
        ]
        wishes[part.name] = wish
        if not wishes[""].sessions and usual:
            known = _places(people, specs, "")
            wishes[""].sessions = [("typical", known[p.key], p) for p in usual]
    frames = {"": people, **own_frames}
    read = {
        key: session
        for name, wish in wishes.items()
        if name in texts
        for key, session in _kept(texts[name], frames[name], name, wish.keys()).items()
    }
    if said is not None:
        read = {key: said.without(session) for key, session in read.items()}
    turns: dict[str, dict[str, tuple[EvidenceTurn, ...]]] = {}
    sessions: dict[str, tuple[Transcript, ...]] = {}
    for name, wish in wishes.items():
        source: Side = "simulated" if name else human_cleaning
        marked = _marked(read, wish, profile, source)
        for feature, found in _turns(wish, marked, profile).items():
            turns.setdefault(feature, {})[name] = found
        shown = [
            transcript(kind, marked[key], picked, profile)
            for kind, key, picked in wish.sessions
            if key in marked
        ]
        if shown:
            sessions[name] = tuple(shown)
    return Evidence(
        usi_version=card.usi_version,
        signature=card.signature,
        tasks_sha256=card.tasks_sha256,
        seed=seed,
        turns={s.name: turns[s.name] for s in profile.specs if s.name in turns},
        sessions=sessions,
    )


def _rows(frame: pl.DataFrame, label: str) -> list[Key]:
    names = frame.select(
        "session_id", pl.col("trial").fill_null(""),
        pl.col("batch_id").cast(pl.String).fill_null(""),
        pl.col(CONTENT).fill_null("") if CONTENT in frame.columns else pl.lit("").alias(CONTENT),
    )  # fmt: skip
    return [(label, *row) for row in names.iter_rows()]


def _kept(
    texts: TextStore, frame: pl.DataFrame, label: str, wanted: set[Key]
) -> dict[Key, Session]:
    """The wanted sessions of one side; rows that came from a session table have no text."""
    places: dict[Key, int] = {}
    for key, place in zip(_rows(frame, label), frame["seq"].to_list(), strict=True):
        if key in wanted and place < len(texts):
            places.setdefault(key, place)
    return {key: texts.get(place) for key, place in places.items()}


def _places(frame: pl.DataFrame, specs: Sequence[FeatureSpec], label: str) -> dict[str, Key]:
    keys = sample_of(frame, tuple(specs)).keys.tolist()
    return dict(zip(keys, _rows(frame, label), strict=True))


def _lot(key: Key, feature: str, seed: int) -> bytes:
    """A number drawn by lot for a session, which depends on nothing but its own names."""
    text = "\x00".join((*key[:4], feature, str(seed)))
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest()


def _draw_turns(
    frame: pl.DataFrame, profile: FeatureProfile, label: str, seed: int
) -> dict[str, list[Key]]:
    """Sessions to take a turn from, by feature."""
    keys = _rows(frame, label)
    drawn = {}
    for spec in profile.specs:
        if not with_turns(spec):
            continue
        counts = frame[spec.numerator].fill_null(0).to_list()
        if spec.numerator in _SPREAD:
            order = sorted((c, k) for c, k in zip(counts, keys, strict=True))
            at = [math.floor(len(order) * q) for q in (0.25, 0.75)] if order else []
            drawn[spec.name] = [order[k][1] for k in dict.fromkeys(at)]
            continue
        able = {k for c, k in zip(counts, keys, strict=True) if c}
        lots = sorted(able, key=lambda k: (_lot(k, spec.name, seed), k))
        drawn[spec.name] = lots[:PER_FEATURE]
    return drawn


def _marked(
    read: Mapping[Key, Session], wish: Wish, profile: FeatureProfile, source: Side
) -> dict[Key, Shown]:
    keys = [key for key in sorted(wish.keys()) if key in read]
    sessions = [read[key] for key in keys]
    turns = mark_sessions(sessions, profile, source) if sessions else []
    return {
        key: Shown(session, own) for key, session, own in zip(keys, sessions, turns, strict=True)
    }


def _turns(
    wish: Wish, marked: Mapping[Key, Shown], profile: FeatureProfile
) -> dict[str, tuple[EvidenceTurn, ...]]:
    found: dict[str, tuple[EvidenceTurn, ...]] = {}
    for spec in profile.specs:
        own = []
        for key in wish.turns.get(spec.name, []):
            shown = marked.get(key)
            turn = None if shown is None else _turn(shown.turns, spec)
            if shown is not None and turn is not None:
                own.append(evidence_turn(shown, turn, spec.numerator, profile))
        if own:
            found[spec.name] = tuple(own)
    return found


def _turn(turns: Sequence[MarkedTurn], spec: FeatureSpec) -> MarkedTurn | None:
    """The turn to show: the first one for openings, a middling one for lengths, else the one
    that counts most."""
    if not turns:
        return None
    if spec.numerator in ("words_first", "words_first_two"):
        return turns[0]
    if spec.numerator == "words":
        order = sorted(turns, key=lambda t: (t.counts.get("words", 0), t.message))
        return order[len(order) // 2]
    able = [turn for turn in turns if turn.counts.get(spec.numerator)]
    return max(able, key=lambda t: (t.counts[spec.numerator], -t.message)) if able else None


__all__ = ["build_evidence", "with_turns"]
