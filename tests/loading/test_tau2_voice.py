"""Full-duplex runs of tau2: chunks of ticks become utterances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from usi.errors import InputError
from usi.loading import open_sessions


def chunk(role: str, content: str, number: int, ids: list[str] | None = None) -> dict[str, Any]:
    time = f"2026-09-01T10:00:{number:02d}"
    return {"role": role, "content": content, "timestamp": time, "contains_speech": bool(content),
            "utterance_ids": ids, "is_final_chunk": True}  # fmt: skip


def tick(number: int, agent: str = "", user: str = "", **more: Any) -> dict[str, Any]:
    ids = more.pop("ids", (None, None))
    return {"tick_id": number, "timestamp": f"2026-09-01T10:00:{number:02d}",
            "agent_chunk": chunk("assistant", agent, number, ids[0]),
            "user_chunk": chunk("user", user, number, ids[1]), **more}  # fmt: skip


CALL = {"id": "c1", "name": "reset", "arguments": {}}
TICKS = [
    tick(0, "Hi, how "), tick(1, "can I help?"), tick(2, user="um my phone "), tick(3),
    tick(4, user="has no signal"), tick(5, "Let me "), tick(6, "check.", agent_tool_calls=[CALL]),
    tick(7, "It is reset."), tick(8, user="ok thanks bye"),
]  # fmt: skip
SAID = [
    ("assistant", "Hi, how can I help?"), ("user", "um my phone has no signal"),
    ("assistant", "Let me check.It is reset."), ("assistant", None), ("user", "ok thanks bye"),
]  # fmt: skip


def simulation(**more: Any) -> dict[str, Any]:
    return {"id": "v0", "task_id": "0", "trial": 0, "termination_reason": "user_stop",
            "mode": "full_duplex", "messages": None, "ticks": TICKS, **more}  # fmt: skip


def said(path: Path, value: Any) -> list[tuple[Any, Any]]:
    path.write_text(json.dumps(value), encoding="utf-8")
    stream = open_sessions(path)
    (session,) = list(stream)
    assert stream.notes.layout == "tau2"
    assert session.status == "ok"
    return [(turn.role, turn.content) for turn in session.turns]


@pytest.mark.parametrize("reward", [{"reward_info": {"reward": 1.0}}, {"reward_info": None}, {}])
def test_chunks_become_utterances_with_or_without_a_reward(tmp_path: Path, reward: Any) -> None:
    results = {"info": {}, "tasks": [], "simulations": [simulation(**reward)]}
    assert said(tmp_path / "results.json", results) == SAID
    assert said(tmp_path / "alone.json", simulation(**reward)) == SAID
    assert said(tmp_path / "list.json", [simulation(**reward)]) == SAID


def test_flattened_chunks_are_put_together(tmp_path: Path) -> None:
    flat = [own[side] for own in TICKS for side in ("agent_chunk", "user_chunk")]
    found = said(tmp_path / "x.json", simulation(messages=flat, ticks=None))
    assert found == [pair for pair in SAID if pair[1] is not None]


def test_who_interrupts_does_not_cut_an_utterance_in_two(tmp_path: Path) -> None:
    ticks = [tick(0, "I will now "), tick(1, "reset it ", "wait"), tick(2, "for you"), tick(3, "."),
             tick(4, user="thanks")]  # fmt: skip
    assert said(tmp_path / "x.json", simulation(ticks=ticks)) == [
        ("assistant", "I will now reset it for you."), ("user", "wait"), ("user", "thanks"),
    ]  # fmt: skip


def test_utterance_ids_join_and_separate(tmp_path: Path) -> None:
    ticks = [
        tick(0, user="one", ids=(None, ["a"])), tick(1, user="two", ids=(None, ["b"])),
        tick(2, "hm"), tick(3, user=" three", ids=(None, ["b"])),
    ]  # fmt: skip
    assert said(tmp_path / "x.json", simulation(ticks=ticks)) == [
        ("user", "one two three"), ("assistant", "hm"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ticks", "field"),
    [
        ("talk", "ticks"),
        ([3], "ticks[0]"),
        ([{"user_chunk": "hello"}], "ticks[0].user_chunk"),
        ([{"user_chunk": {"content": 3}}], "ticks[0].user_chunk.content"),
    ],
)
def test_wrong_ticks_are_named(tmp_path: Path, ticks: Any, field: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([simulation(ticks=ticks)]), encoding="utf-8")
    with pytest.raises(InputError) as error:
        list(open_sessions(path))
    assert error.value.field == field
