"""Chat logs that hold a conversation once a call count it once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from usi.loading import growing, open_sessions


def talk(*texts: str) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[k % 2], "content": text} for k, text in enumerate(texts)]


LONG = talk("my pass won't renew", "Shall I try another card?", "ok try it", "Done.", "thx", "Bye")
OTHER = talk("charged twice", "Which day?", "monday", "Refunded.")
BEGINNING = "session: beginning of a longer record of the same conversation"


def read(folder: Path, rows: list[dict[str, Any]]) -> tuple[list[list[str]], list[str], Any]:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    stream = open_sessions(path)
    found = list(stream)
    texts = [[turn.content for turn in session.turns] for session in found]
    return texts, [session.session_id for session in found], stream.notes


def words(messages: list[dict[str, str]]) -> list[str]:
    return [message["content"] for message in messages]


@pytest.mark.parametrize("order", ["oldest first", "newest first"])
@pytest.mark.parametrize("named", [True, False])
def test_each_conversation_counts_once(tmp_path: Path, order: str, named: bool) -> None:
    rows = [
        {"id": "a", "messages": LONG[:2]}, {"id": "a", "messages": LONG[:4]},
        {"id": "b", "messages": OTHER[:2]}, {"id": "a", "messages": LONG},
        {"id": "b", "messages": OTHER},
    ]  # fmt: skip
    if not named:
        rows = [{"messages": row["messages"]} for row in rows]
    texts, ids, notes = read(tmp_path, rows if order == "oldest first" else rows[::-1])
    assert sorted(texts) == sorted([words(LONG), words(OTHER)])
    assert notes.merged[BEGINNING] == 3
    if named:
        assert sorted(ids) == ["a", "b"]


def test_talks_that_happen_to_begin_alike_all_count(tmp_path: Path) -> None:
    rows = [{"messages": talk("hi", "Hello, how can I help?")}]
    rows += [
        {"messages": talk("hi", "Hello, how can I help?", f"order {k}", "Yes?")} for k in range(9)
    ]
    texts, _, notes = read(tmp_path, rows)
    assert len(texts) == 10
    assert BEGINNING not in notes.merged
    assert any("begin as others go on" in remark for remark in notes.remarks)


def test_results_of_tasks_are_never_merged(tmp_path: Path) -> None:
    rows = [
        {"id": f"s{k}", "task_id": "7", "trial": k, "messages": LONG[: 2 * k + 2]} for k in range(3)
    ]
    texts, _, notes = read(tmp_path, rows)
    assert len(texts) == 3
    assert BEGINNING not in notes.merged


def test_memory_of_released_sessions_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growing, "WINDOW", 3)
    seen: list[growing._Window] = []
    made = growing._Window
    monkeypatch.setattr(growing, "_Window", lambda: seen.append(made()) or seen[-1])
    rows = [{"messages": talk(f"question {k}", "Answer")} for k in range(50)]
    texts, _, _ = read(tmp_path, rows)
    assert [own[0] for own in texts] == [f"question {k}" for k in range(50)]
    assert not seen[0].held
    assert not seen[0].whole
    assert not seen[0].begun
