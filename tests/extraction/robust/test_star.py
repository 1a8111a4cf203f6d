# ruff: noqa: E501  records are read more easily unbroken
"""STAR dialogues: what becomes a turn, an answer, a task; folders, archives, bad files."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from helpers import shared

from usi.errors import InputErrors, UsiError
from usi.loading import group_by_simulator, open_sessions
from usi.records import Session


def dialogue(number: int = 2, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "AnonymizedUserWorkerID": "u1",
        "AnonymizedWizardWorkerID": "w1",
        "BatchID": "woz_12",
        "CompletionLevel": "Complete",
        "DialogueID": number,
        "Events": [
            {"Action": "instruct", "Agent": "UserGuide", "Text": "Say hello"},
            {"Action": "utter", "Agent": "User", "Text": "hello"},
            {"Action": "request_suggestions", "Agent": "Wizard", "Text": "hi"},
            {"Action": "pick_suggestion", "Agent": "Wizard", "Text": "Hello, how can I help?"},
            {
                "Action": "query",
                "Agent": "Wizard",
                "APIName": "bank_balance",
                "Constraints": [{"Name": "Jo"}, {"PIN": "1"}],
            },
            {"Action": "return_item", "Agent": "KnowledgeBase", "Item": {}},
            {"Action": "utter", "Agent": "Wizard", "Text": "Ok."},
            {"Action": "complete", "Agent": "User"},
        ],
        "FORMAT-VERSION": 7,
        "Scenario": {
            "Domains": ["bank", "weather"],
            "Happy": False,
            "MultiTask": True,
            "WizardCapabilities": [
                {"Domain": "weather", "Task": "weather"},
                {"Domain": "bank", "Task": "bank_balance"},
                {"Domain": None, "Task": "trivia"},
            ],
        },
        "UserQuestionnaire": [{"Question": "Did it work?", "Answer": True}],
        "WizardQuestionnaire": [{"Question": "Was the user lost?", "Answer": False}],
    }
    return found | changes


def load(path: Path) -> list[Session]:
    return list(open_sessions(path))


def written(folder: Path, *dialogues: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for i, found in enumerate(dialogues):
        (folder / f"{i}.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


def test_one_dialogue(tmp_path: Path) -> None:
    (session,) = load(written(tmp_path / "d", dialogue()) / "0.json")
    assert [(turn.role, turn.content) for turn in session.turns] == [
        ("user", "hello"),
        ("assistant", "Hello, how can I help?"),
        ("assistant", None),
        ("assistant", "Ok."),
    ]
    assert session.turns[2].tool_calls == [
        {"type": "function", "function": {"name": "bank_balance", "arguments": {"Name": "Jo", "PIN": "1"}}}
    ]  # fmt: skip
    assert session.session_id == "2"
    assert session.task_id == "bank_balance+trivia+weather"
    assert session.domain == "bank+trivia+weather"
    assert (session.participant, session.agent, session.batch) == ("u1", "wizard w1", 12)
    assert session.outcome.reward == 1.0
    assert session.outcome.termination == "Complete"
    assert session.outcome.label is None
    assert [(a.item, a.answer) for a in session.survey or ()] == [
        ("user: Did it work?", "Yes"),
        ("wizard: Was the user lost?", "No"),
    ]


def test_a_broken_off_dialogue_without_answers(tmp_path: Path) -> None:
    found = dialogue(
        CompletionLevel="DisconnectDuringDialogue", UserQuestionnaire=[], WizardQuestionnaire=[]
    )
    (session,) = load(written(tmp_path / "d", found) / "0.json")
    assert session.outcome.reward == 0.0
    assert session.survey is None


def test_what_is_set_aside_is_counted_and_the_reward_explained(tmp_path: Path) -> None:
    stream = open_sessions(written(tmp_path / "d", dialogue(2), dialogue(4)))
    assert len(list(stream)) == 2
    assert stream.notes.left_out == {
        "message: instruction to the user": 2,
        "message: event of the wizard's screen": 2,
        "message: tool result": 2,
        "message: event of the user's screen": 2,
    }
    assert any("not tell whether the task succeeded" in remark for remark in stream.notes.remarks)


def test_a_folder_or_archive_is_one_corpus_with_one_digest(tmp_path: Path) -> None:
    folder = written(tmp_path / "people", dialogue(2), dialogue(4), dialogue(6))
    (folder / "LICENSE.txt").write_text("MIT")
    archive = tmp_path / "people.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for path in sorted(folder.glob("*.json")):
            data = path.read_bytes()
            info = tarfile.TarInfo(f"dialogues/{path.name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    digests = set()
    for path in (folder, archive):
        (stream,) = group_by_simulator([path])
        assert [session.session_id for session in stream] == ["2", "4", "6"]
        assert stream.label == "people"
        (file,) = stream.notes.files
        assert file.sessions == 3
        digests.add(file.sha256)
    assert len(digests) == 1
    assert None not in digests


def test_all_bad_dialogues_are_told_at_once(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "d",
        dialogue(2),
        dialogue(4, Events="none"),
        dialogue(6, UserQuestionnaire=[{"Question": "q", "Answer": 3}]),
        dialogue(8, Scenario=None),
        dialogue(2),
    )
    stream = open_sessions(folder)
    with pytest.raises(InputErrors) as caught:
        list(stream)
    assert [(p.file or "").rsplit("/")[-1] for p in caught.value.problems] == [
        "1.json",
        "2.json",
        "3.json",
    ]
    assert [p.field for p in caught.value.problems] == [
        "Events",
        "UserQuestionnaire[0].Answer",
        "Scenario",
    ]
    assert stream.notes.left_out["session: duplicate DialogueID"] == 1


@pytest.mark.parametrize("tail", ['{"DialogueID": 1, "CompletionLevel": "Complete", "Events": ['])
def test_a_truncated_dialogue_names_its_file(tmp_path: Path, tail: str) -> None:
    folder = written(tmp_path / "d", dialogue(2), dialogue(4))
    (folder / "1.json").write_text(tail)
    with pytest.raises(UsiError, match=r"1\.json"):
        load(folder)


def test_the_shared_corpus() -> None:
    stream = open_sessions(shared("data/star/dialogues_even.tar.xz"))
    sessions = list(stream)
    assert len(sessions) == 3326
    assert len({session.task_id for session in sessions}) == 36
    assert sum(turn.role == "user" for session in sessions for turn in session.turns) == 27253
    assert sum(session.outcome.reward == 1.0 for session in sessions) == 2929
    assert sum(session.survey is not None for session in sessions) == 2929
