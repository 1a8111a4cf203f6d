"""From marked turns to what a reader sees: cut texts, spans, marks, transcripts."""

from __future__ import annotations

from dataclasses import dataclass

from usi.diagnose.evidence_marks import MarkedTurn, spans
from usi.diagnose.evidence_read import shown
from usi.diagnose.evidence_records import Deviation, EvidenceTurn, Message, Transcript
from usi.diagnose.unlike import Picked
from usi.features.profile import Profile
from usi.features.robust_rules import content_text
from usi.records import Session, Turn
from usi.score.robust.bounds import tidy

MOST_CHARACTERS, MOST_BEFORE, MOST_MESSAGES = 800, 240, 60
_UNMARKED = ("words", "short")
"""Counts that every turn has, or whose mark is the whole turn: no mark in running text."""
_ROLES = ("user", "assistant", "system", "tool", "developer")


@dataclass(frozen=True)
class Shown:
    """A session that was read again, with its marked turns."""

    session: Session
    turns: tuple[MarkedTurn, ...]


def cut(text: str, most: int) -> tuple[str, int]:
    """Beginning of a text, and how many characters were left out; safe to encode."""
    text = shown(text)
    return (text, 0) if len(text) <= most else (text[:most], len(text) - most)


def evidence_turn(session: Shown, turn: MarkedTurn, column: str, profile: Profile) -> EvidenceTurn:
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


def transcript(kind: str, session: Shown, picked: Picked, profile: Profile) -> Transcript:
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
    turn: MarkedTurn, number: int, features: dict[str, str], short: set[str], profile: Profile
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
