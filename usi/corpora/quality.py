"""What is wrong with single sessions of a corpus: duplicates, copied openings, empty ones.

Human openings can be primed: where people saw a suggested opening they may have typed it off, and
then the words of the opening are not theirs (the published reference has such a canvas). Shares
are judged by no threshold here: a reader decides.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from usi.records import Session, Turn

SUGGESTION = re.compile(
    r"(?i)you (?:may|can|could) (?:start|begin|open) with\s*:?\s*[\"“'‘]?([^\n\"”]{8,400})"
)
"""How an instruction introduces an opening that people may copy."""
MIN_OPENING = 20
"""Characters from which on two equal openings are no chance (``hi`` is one)."""
MIN_ITEMS = 4
"""Answers from which on a survey of one same level is a straight line."""


@dataclass
class SessionQuality:
    """Counts and ids, ids in order of the files.

    Attributes
    ----------
    sessions
        Conversations that were looked at.
    empty, one_turn
        Sessions without a turn of the user, and with a single one.
    duplicates
        Sessions whose user turns are word for word those of an earlier one.
    copied_openings
        Sessions whose first turn is an opening that the instructions suggest.
    shared_openings
        Sessions (the first of each kind is not counted) whose first turn of at least 20
        characters is that of a session of another participant, or of nobody in particular.
    straight_lines
        Surveys of at least four answered items that all have the same position on their scale.
    surveys
        Surveys with at least four answered items.
    """

    sessions: int = 0
    empty: list[str] = field(default_factory=list)
    one_turn: list[str] = field(default_factory=list)
    duplicates: list[tuple[str, str]] = field(default_factory=list)
    copied_openings: list[str] = field(default_factory=list)
    shared_openings: list[str] = field(default_factory=list)
    straight_lines: list[str] = field(default_factory=list)
    surveys: int = 0


def look(
    sessions: Iterable[Session], *, levels: Mapping[str, Mapping[str, float]] | None = None
) -> SessionQuality:
    """Look at every conversation once; hashes are kept, no text.

    Parameters
    ----------
    sessions
        As read; broken runs are passed over.
    levels
        Item -> answer in small letters -> position from 0 to 1. Answers of other items count by
        their text.
    """
    found = SessionQuality()
    seen: dict[bytes, str] = {}
    openings: defaultdict[bytes, Counter[str]] = defaultdict(Counter)
    for session in sessions:
        if session.status != "ok":
            continue
        found.sessions += 1
        said = user_texts(session.turns)
        if not said:
            found.empty.append(session.session_id)
        elif len(said) == 1:
            found.one_turn.append(session.session_id)
        if said:
            _repeats(session, said, seen, openings, found)
        _line(session, levels or {}, found)
    return found


def _repeats(
    session: Session,
    said: list[str],
    seen: dict[bytes, str],
    openings: defaultdict[bytes, Counter[str]],
    found: SessionQuality,
) -> None:
    whole = _digest("\n".join(said))
    if whole in seen:
        found.duplicates.append((session.session_id, seen[whole]))
    seen.setdefault(whole, session.session_id)
    first = said[0]
    if any(same_opening(first, hint) for hint in suggestions(session.turns)):
        found.copied_openings.append(session.session_id)
    if len(first) >= MIN_OPENING:
        people = openings[_digest(first)]
        # The same person may open twice alike; two people hardly do, word for word.
        if people and (session.participant is None or session.participant not in people):
            found.shared_openings.append(session.session_id)
        people[session.participant or ""] += 1


def _line(
    session: Session, levels: Mapping[str, Mapping[str, float]], found: SessionQuality
) -> None:
    answers = [a for a in session.survey or () if a.answer is not None]
    scaled = [
        levels[a.item].get(plain(str(a.answer)))
        for a in answers
        if a.item in levels and str(a.answer)
    ]
    positions = [value for value in scaled if value is not None]
    if len(positions) < MIN_ITEMS:
        return
    found.surveys += 1
    if len(set(positions)) == 1:
        found.straight_lines.append(session.session_id)


def user_texts(turns: Iterable[Turn]) -> list[str]:
    """Texts of the user's turns, in small letters with single blanks; actions are none."""
    texts = []
    for turn in turns:
        if turn.role != "user" or turn.is_action or not isinstance(turn.content, str):
            continue
        text = plain(turn.content)
        if text and not text.startswith(("\\tau", "\\reward", "/tau", "/reward", "/stop")):
            texts.append(text)
    return texts


def suggestions(turns: Iterable[Turn]) -> list[str]:
    """Openings that anybody but the user suggests before the user's first words."""
    found = []
    for turn in turns:
        text = turn.content if isinstance(turn.content, str) else ""
        if turn.role == "user":
            if plain(text).startswith(("\\tau", "/tau")):
                continue
            break
        found += [match.group(1) for match in SUGGESTION.finditer(text)]
    return found


def same_opening(first: str, suggested: str) -> bool:
    """Whether a first turn is the suggested one, whatever the quotes, case and end mark."""
    one, other = _bare(first), _bare(suggested)
    return bool(one) and (one == other or (len(other) >= MIN_OPENING and one.startswith(other)))


_QUOTES = str.maketrans("’‘“”", "''\"\"")


def _bare(text: str) -> str:
    return plain(text).strip(" \"'.!?<>|")


def plain(text: str) -> str:
    """Small letters, straight quotes, single blanks."""
    return " ".join(text.translate(_QUOTES).lower().split())


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
