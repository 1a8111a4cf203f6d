"""The tau-usi layout: people, simulators, surveys, and their traps."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from helpers import shared

from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, open_sessions, read_surveys
from usi.records import MISSING, SurveyAnswer

TALK = [{"role": "user", "content": "\\tau airline 0"}, {"role": "user", "content": "hi"}]


def test_people_with_batches(write):
    entry = {"conversation": TALK, "keep": True, "reward": 1, "agent_id": "agent-origin"}
    whole = {"airline_0": entry, "airline_0_ann2": entry, "retail_3_ann3": entry, "x_1": entry}
    stream = open_sessions(write("people.json", whole))
    sessions = list(stream)
    assert [s.session_id for s in sessions] == list(whole)
    assert [s.domain for s in sessions] == ["airline", "airline", "retail", "unknown"]
    assert {s.layout for s in sessions} == {"tau-usi"}
    assert all(s.keep is True and s.outcome.reward == 1.0 for s in sessions)
    assert all(s.task_id is s.trial is s.batch is None for s in sessions)
    assert sessions[0].meta == {"agent_id": "agent-origin"}
    # Cleaning belongs to the profile: the meta message is still there.
    assert sessions[0].turns[0].content == "\\tau airline 0"


def test_label_of_a_simulator(write):
    path = write("eval_results_gpt-4.1.json", {"retail_1_2": {"conversation": TALK}})
    assert open_sessions(path).label == "gpt-4.1"
    (session,) = open_sessions(path)
    assert (session.simulator, session.keep) == ("gpt-4.1", MISSING)
    (session,) = open_sessions(path, options=LoadOptions(name="mine"))
    assert session.simulator == "mine"


def test_keep_reward_and_survey_as_found(write):
    whole = {
        "a_1": {"conversation": TALK, "keep": False, "survey": None, "reward": None},
        "a_2": {"conversation": TALK, "keep": None, "survey": {}},
        "a_3": {
            "conversation": TALK,
            "survey": {
                "reuse": {"question": "q", "answer": "Maybe"},
                "task_success": {"answer": None},
                "overall_score": 4,
                "efficiency": "About right",
                "human_like": {"question": "q"},
            },
        },
    }
    one, two, three = open_sessions(write("h.json", whole))
    assert (one.keep, one.survey, one.outcome.reward) == (False, None, None)
    assert (two.keep, two.survey) == (None, ())
    assert three.survey == (
        SurveyAnswer("reuse", "Maybe"),
        SurveyAnswer("task_success", None),
        SurveyAnswer("overall_score", "4"),
        SurveyAnswer("efficiency", "About right"),
        SurveyAnswer("human_like", None),
    )


def test_no_conversation_is_failed_and_an_empty_one_is_silence(write):
    whole = {"a_1": {"conversation": TALK}, "a_2": {}, "a_3": {"conversation": []}}
    sessions = list(open_sessions(write("h.json", whole)))
    assert [s.status for s in sessions] == ["ok", "failed", "ok"]


def test_of_a_repeated_key_the_last_counts(write):
    def entry(reward: int) -> str:
        return json.dumps({"conversation": TALK, "reward": reward})

    text = f'{{"a_1": {entry(0)}, "a_2": {entry(0)}, "a_1": {entry(1)}}}'
    stream = open_sessions(write("h.json", text))
    found = {s.session_id: s.outcome.reward for s in stream}
    expected = {key: float(value["reward"]) for key, value in json.loads(text).items()}
    assert found == expected == {"a_1": 1.0, "a_2": 0.0}
    assert sum(stream.notes.left_out.values()) == 1


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        (None, "a_2"),
        ([], "a_2"),
        ({"conversation": "hi"}, "a_2.conversation"),
        ({"conversation": [None]}, "a_2.conversation[0]"),
        ({"conversation": TALK, "reward": "1"}, "a_2.reward"),
        ({"conversation": TALK, "survey": [1]}, "a_2.survey"),
        ({"conversation": TALK, "survey": {"reuse": {"answer": [1]}}}, "a_2.survey.reuse"),
    ],
)
def test_wrong_types(write, entry, field):
    path = write("h.json", {"a_1": {"conversation": TALK}, "a_2": entry})
    with pytest.raises(InputError) as caught:
        list(open_sessions(path))
    assert (caught.value.row, caught.value.field) == (2, field)


def test_several_wrong_entries_come_together(write):
    path = write("h.json", {"a_1": {"conversation": TALK}, "a_2": 1, "a_3": 2})
    with pytest.raises(InputErrors) as caught:
        list(open_sessions(path))
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("case", ["score_five_terms", "score_six_terms"])
def test_golden_files_agree_with_plain_json(case):
    for path in sorted(shared(f"golden/{case}").glob("*.json")):
        if path.name == "expected.json":
            continue
        plain = json.loads(path.read_text(encoding="utf-8"))
        sessions = list(open_sessions(path))
        assert [s.session_id for s in sessions] == list(plain)
        for session, entry in zip(sessions, plain.values(), strict=True):
            assert [(t.role, t.content) for t in session.turns] == [
                (m["role"], m["content"]) for m in entry["conversation"]
            ]
            assert session.outcome.reward == entry["reward"]
            assert session.keep == entry.get("keep", MISSING)
            assert (session.survey is None) == (entry.get("survey") is None)
            for answer in session.survey or ():
                assert answer.answer == entry["survey"][answer.item]["answer"]


def test_people_of_the_golden_case_are_three_batches():
    sessions = open_sessions(shared("golden/score_six_terms/tau_bench_tasks_unified.json"))
    suffixes = Counter(s.session_id.partition("_ann")[2] for s in sessions)
    assert suffixes == {"": 165, "2": 165, "3": 165}


def test_surveys_of_the_golden_case():
    folder = shared("golden/score_six_terms/survey_data")
    surveys = read_surveys(folder)
    assert sorted(surveys) == ["human-eval-100", "sim-human-like", "sim-polite"]
    for label, found in surveys.items():
        plain = json.loads((folder / f"survey_comparable_{label}.json").read_text())
        assert list(found) == list(plain)
        for key, answers in found.items():
            assert {a.item: a.answer for a in answers} == {
                item: value["answer"] for item, value in plain[key]["survey"].items()
            }


def test_surveys_null_and_in_file_order(write, tmp_path):
    survey = {"survey": {"reuse": {"answer": "No"}}}
    write("survey_comparable_a.b.json", {"z": survey, "a": {"survey": None}, "b": None})
    write("notes.txt", "x")
    assert read_surveys(tmp_path) == {
        "a.b": {"z": (SurveyAnswer("reuse", "No"),), "a": None, "b": None}
    }
    assert list(read_surveys(tmp_path)["a.b"]) == ["z", "a", "b"]


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"z": []}, "z.survey"),
        ({"z": {"survey": 1}}, "z.survey"),
        ({"z": {"survey": {"reuse": {"answer": True}}}}, "z.survey.reuse"),
        ([], None),
        ('{"z": ', None),
        ("", None),
    ],
)
def test_bad_surveys(write, tmp_path, content, field):
    write("survey_comparable_a.json", content)
    with pytest.raises(InputError) as caught:
        read_surveys(tmp_path)
    assert caught.value.field == field
    assert caught.value.file.endswith("survey_comparable_a.json")


def test_no_surveys(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError):
            read_surveys(folder)


def test_a_survey_file_is_no_file_of_sessions(write):
    path = write("survey_comparable_a.json", {"z": {"survey": {"reuse": {"answer": "No"}}}})
    with pytest.raises(InputError, match="--surveys"):
        open_sessions(path)
