"""One list of traps, set in the example of every format: a new format gets them for free.

Every example says the same three things (`test_examples`). A trap changes one of them in the file;
then either the file is refused with its name, or what was read is what people said, and what was
not read is counted.
"""

from __future__ import annotations

import csv
import io
import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ROOT
from usi.errors import InputError, UsiError
from usi.extraction.robust.cleaning import content_text
from usi.loading import open_sessions
from usi.loading.notes import LoadNotes
from usi.loading.registry import FORMATS
from usi.loading.stream import GROWING
from usi.records import Session

EXAMPLE = runpy.run_path(str(ROOT / "docs/build_formats.py"))["example_of"]
SAID, LAST = "my tram pass wont renew", "thx bye"
ASIDE = "the balance of the card is 12"
ROLE_KEYS = ("role", "from", "speaker", "author", "authorRole", "Agent", "type", "event", "kind")
MARKS = ("reward", "score", "success", "rating", "keep")
Change = Callable[[Any], Any]


class NotHere(Exception):
    """The trap can't be set in this format."""


def is_said(value: Any) -> bool:
    """Whether a value is the text, also in markup."""
    return isinstance(value, str) and re.sub(r"<[^>]+>", "", value) == SAID


def changed(value: Any, change: Change) -> tuple[Any, bool]:
    """A value in which the text `SAID` was changed, also inside JSON text; and whether it was."""
    if is_said(value):
        return change(value), True
    if isinstance(value, str) and SAID in value and value.lstrip()[:1] in ("{", "["):
        inner, done = changed(json.loads(value), change)
        return json.dumps(inner), done
    if isinstance(value, list):
        for place, part in enumerate(value):
            found, done = changed(part, change)
            if done:
                return [*value[:place], found, *value[place + 1 :]], True
    if isinstance(value, dict):
        for key, part in value.items():
            found, done = changed(part, change)
            if done:
                return value | {key: found}, True
    return value, False


def holders(value: Any) -> list[dict[str, Any]]:
    """Objects that hold the text, the innermost first."""
    if isinstance(value, str) and SAID in value and value.lstrip()[:1] in ("{", "["):
        raise NotHere
    if isinstance(value, dict):
        inner = [found for part in value.values() for found in holders(part)]
        if inner:
            return [*inner, value]
        return [value] if any(map(is_said, value.values())) else []
    if isinstance(value, list):
        return [found for part in value for found in holders(part)]
    return []


def with_trap(path: Path, trap: str) -> str:
    """Text of an example with a trap in it."""
    text = path.read_text("utf-8")
    if path.suffix in (".csv", ".tsv"):
        return _table(text, "\t" if path.suffix == ".tsv" else ",", trap)
    if path.suffix == ".jsonl":
        whole = _json([json.loads(line) for line in text.splitlines()], trap)
        return "".join(json.dumps(one) + "\n" for one in whole)
    return json.dumps(_json(json.loads(text), trap))


VALUES: dict[str, Any] = {
    "null": None,
    "number": 7,
    "empty list": [],
    "parts": [{"type": "text", "text": SAID}],
    "tool result": [{"type": "tool_result", "tool_use_id": "c1", "content": ASIDE}],
    "nested tool result": [
        {"type": "tool_result", "content": [{"type": "text", "text": ASIDE}]},
        {"type": "text", "text": SAID},
    ],
    "image": [{"type": "image_url", "image_url": {"url": ASIDE}}, {"type": "text", "text": SAID}],
    "reasoning": [{"type": "thinking", "thinking": ASIDE}, {"type": "text", "text": SAID}],
    "unknown part": [{"type": "hologram", "text": ASIDE}, {"type": "text", "text": SAID}],
}


def _json(whole: Any, trap: str) -> Any:
    if trap in VALUES:
        whole, done = changed(whole, lambda _: VALUES[trap])
        if not done:
            raise NotHere
        return whole
    if trap in ("twice", "grown"):
        if not isinstance(whole, list):
            raise NotHere
        return [*(shortened(one) for one in whole), *whole] if trap == "grown" else whole * 2
    if trap == "mark":
        marked = wrong_mark(whole)
        if marked is None:
            raise NotHere
        return marked
    found = holders(whole)
    role = next(((own, key) for own in found[:2] for key in ROLE_KEYS if key in own), None)
    if role is None or not isinstance(role[0][role[1]], str):
        raise NotHere
    if trap == "role missing":
        del role[0][role[1]]
    else:
        role[0][role[1]] = {"role null": None, "role unknown": "narrator", "role a list": ["user"]}[
            trap
        ]
    return whole


def holds(value: Any, text: str) -> bool:
    return text in json.dumps(value)


def shortened(value: Any) -> Any:
    """A record whose list of messages ends before the last one of the user."""
    if isinstance(value, dict):
        return {key: shortened(part) for key, part in value.items()}
    if isinstance(value, list):
        last = next((k for k, part in enumerate(value) if holds(part, LAST)), None)
        if last and any(holds(part, SAID) for part in value[:last]):
            return value[:last]
        return [shortened(part) for part in value]
    return value


def wrong_mark(value: Any) -> Any:
    """A value with a mark (a reward, a score) that is no number; ``None`` where there is none."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        if key in MARKS and isinstance(part, int | float):
            return {**value, key: "well done"}
        if isinstance(part, dict | list) and (inner := wrong_mark(part)) is not None:
            if isinstance(value, dict):
                return {**value, key: inner}
            return [*value[:key], inner, *value[key + 1 :]]
    return None


def _table(text: str, delimiter: str, trap: str) -> str:
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    at = next(
        ((r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell == SAID), None
    )
    if at is None:
        raise NotHere
    row, column = at
    if trap == "null":
        rows[row][column] = ""
    elif trap == "mark" and "reward" in rows[0]:
        rows[row][rows[0].index("reward")] = "well done"
    elif trap.startswith("role") and any(name in rows[0] for name in ROLE_KEYS):
        place = next(rows[0].index(name) for name in ROLE_KEYS if name in rows[0])
        rows[row][place] = "narrator" if trap == "role unknown" else ""
    else:
        raise NotHere
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


TRAPS = (
    *VALUES,
    "mark",
    "grown",
    "twice",
    "role missing",
    "role null",
    "role unknown",
    "role a list",
)


def read(path: Path) -> tuple[list[Session], LoadNotes]:
    stream = open_sessions(path)
    return list(stream), stream.notes


def words(sessions: list[Session]) -> list[str]:
    """What the user said, as the features read it."""
    found = (
        content_text(turn.content)[0]
        for session in sessions
        for turn in session.turns
        if turn.role == "user"
    )
    return [text for text in found if text]


def told(notes: LoadNotes) -> int:
    """Everything that reading counted or said."""
    counts = (notes.left_out, notes.merged, notes.guessed, notes.roles)
    return sum(own.total() for own in counts) + len(notes.remarks)


def placed() -> list[tuple[str, str]]:
    """Format and trap, where the trap has a place in the example of the format."""
    found = []
    for name in FORMATS:
        for trap in TRAPS:
            if trap == "grown" and name not in GROWING:
                continue  # results of tasks; logs of calls have tests of their own
            try:
                with_trap(EXAMPLE(name), trap)
            except NotHere:
                continue
            found.append((name, trap))
    return found


def test_every_format_meets_most_traps() -> None:
    met = {name: {trap for own, trap in placed() if own == name} for name in FORMATS}
    few = {name: traps for name, traps in met.items() if len(traps) < 3}
    assert set(few) <= {"abredial"}, few
    assert sum(map(len, met.values())) > 9 * len(FORMATS)


@pytest.mark.parametrize(("name", "trap"), placed())
def test_a_trap_is_refused_or_counted(name: str, trap: str, tmp_path: Path) -> None:
    example = EXAMPLE(name)
    _, before = read(example)
    path = tmp_path / example.name
    path.write_text(with_trap(example, trap), encoding="utf-8")
    refusal: UsiError | None = None
    try:
        sessions, notes = read(path)
    except UsiError as error:
        refusal = error
    if refusal is not None:
        assert isinstance(refusal, InputError)
        assert path.name in str(refusal)
        return
    found = words(sessions)
    assert not any(ASIDE in text for text in found), "something else than speech became speech"
    assert not {"None", "null", "[]"} & set(found)
    assert all(isinstance(own.outcome.reward, int | float | None) for own in sessions)
    if trap == "twice":
        assert len(sessions) == 2 or (len(sessions) == 1 and told(notes) > told(before))
        return
    if trap == "grown":  # runs of a task, or one conversation
        assert (len(sessions) == 1 and found == [SAID, LAST]) or sessions[0].task_id is not None
        assert told(notes) > told(before)
        return
    if found != [SAID, LAST]:
        assert set(found) <= {SAID, LAST, "7"}, "a number is read as its text"
        # Content without a form for words stays as found; `usi validate` counts its kinds.
        kept = any(
            turn.role == "user" and turn.content in (None, "", [], 7)
            for own in sessions
            for turn in own.turns
        )
        assert told(notes) > told(before) or kept, "words were lost without being counted"
