"""AB-ReDial ratings: dialogues, annotators as batches, answers, bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import shared

from usi.errors import InputError, InputErrors
from usi.loading import open_sessions

HEADER = (
    "ConvId,utterance0,utterance1,utterance2,understanding,task-completion,"
    "interest-arousal,efficiency,dialogue-overall,justification-text\n"
)


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_ratings_of_a_dialogue_are_its_batches(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "KM,SYSTEM\tHi.,USER\thorror please,,3.0,2.0,0.0,1.0,5.0,good",
        'KM,SYSTEM\tHi.,USER\thorror please,,2,,1,0,4,"well, ok"',
        "KM,SYSTEM\tHello.,USER  comedy,,1,1,1,1,1,",
    )
    first, second, other = list(open_sessions(path))
    assert [(t.role, t.content) for t in first.turns] == [
        ("assistant", "Hi."),
        ("user", "horror please"),
    ]
    assert [(s.task_id, s.batch) for s in (first, second, other)] == [
        ("KM", 1),
        ("KM", 2),
        ("KM-2", 1),  # the same id for another dialogue
    ]
    assert [a.answer for a in first.survey or ()] == ["3", "2", "0", "1", "5"]
    assert [a.answer for a in second.survey or ()] == ["2", None, "1", "0", "4"]
    assert second.meta["justification"] == "well, ok"
    assert other.turns[1].content == "comedy"
    assert len({s.session_id for s in (first, second, other)}) == 3


def test_bad_rows_are_told_together(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "A,USER\thi,,,3,2,0,1,5,",
        "B,hi there,,,3,2,0,1,5,",
        "C,USER\thi,,,3,2,x,1,5,",
        "D,USER\thi,,,3,2,1.5,1,5,",
        ",USER\thi,,,3,2,1,1,5,",
    )
    with pytest.raises(InputErrors) as caught:
        list(open_sessions(path))
    assert [(p.row, p.field) for p in caught.value.problems] == [
        (2, "utterance0"),
        (3, "interest-arousal"),
        (4, "interest-arousal"),
        (5, "ConvId"),
    ]


def test_ratings_of_turns_are_refused_with_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "A,USER\thi,3", header="ConvId,utterance0,relevance1\n")
    with pytest.raises(InputError, match=r"annotated_dialogues\.csv"):
        list(open_sessions(path))


def test_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(HEADER.encode() + b"A,USER\t\xff\xfe,,,3,2,0,1,5,\n")
    with pytest.raises(InputError, match="UTF-8"):
        list(open_sessions(path))


def test_the_shared_ratings() -> None:
    sessions = list(open_sessions(shared("data/abredial/annotated_dialogues.csv")))
    assert len(sessions) == 640
    assert len({session.task_id for session in sessions}) == 200
    assert {session.batch for session in sessions} == {1, 2, 3, 4}
    answered = [a for s in sessions for a in s.survey or () if a.answer is not None]
    assert len(answered) == 5 * 636
