"""A judge's prompt holds a talk inside one message: that is not a conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from usi.errors import InputError
from usi.pipeline import load

TALK = "agent: Hello\nuser: my pass wont renew\nagent: Shall I try again?\nuser: ok, try it"


def written(folder: Path, *messages: str, sessions: int = 4) -> Path:
    lines = [
        json.dumps({"id": f"s{k}", "messages": [{"role": "user", "content": m} for m in messages]})
        for k in range(sessions)
    ]
    path = folder / "judged.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "prompt",
    [
        f"<transcript>\n{TALK}\n</transcript>",
        "Rate this:\n" + TALK.replace("agent:", "**Assistant:**").replace("user:", "**User:**"),
        "\n".join(f"[{line.replace(':', ']:', 1)}" for line in TALK.splitlines()),
    ],
)
def test_a_transcript_inside_one_message_is_refused(tmp_path: Path, prompt: str) -> None:
    path = written(tmp_path, prompt)
    with pytest.raises(InputError, match="4 of 4 sessions hold a whole transcript inside one"):
        load(path)


@pytest.mark.parametrize(
    "messages",
    [
        ("my order: 4 shirts\nsize: L\ncolor: red\nprice: 10",),
        ("the bot said: Hello\nand user: me\nnothing else",),
        (TALK, "and then he hung up"),
    ],
)
def test_what_people_write_is_read(tmp_path: Path, messages: tuple[str, ...]) -> None:
    assert len(load(written(tmp_path, *messages)).sessions) == 4


def test_a_few_pasted_talks_among_others_are_read(tmp_path: Path) -> None:
    few = written(tmp_path, TALK, sessions=3).read_text(encoding="utf-8")
    rest = written(tmp_path, "hello", "thx", sessions=20).read_text(encoding="utf-8")
    path = tmp_path / "mixed.jsonl"
    path.write_text(few.replace('"s', '"r') + rest, encoding="utf-8")
    assert len(load(path).sessions) == 23
