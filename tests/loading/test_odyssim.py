"""OdysSim task results."""

from __future__ import annotations

import pytest

from usi.errors import InputError
from usi.loading import open_sessions
from usi.records import SurveyAnswer


def result(instance: str | None = "retail_12", **other: object) -> dict[str, object]:
    return {
        "instance_id": instance,
        "env_name": "retail",
        "domain": "retail",
        "task_index": 12,
        "conversation": [
            {"role": "assistant", "content": "Hi! <function=f>{}</function>"},
            {"role": "user", "content": "Your format is WRONG, please ..."},
        ],
        "chat": [{"role": "system", "content": "policy"}],
        "survey": {"overall_score": {"question": "q", "answer": "4 (Good)"}, "reuse": "no answer"},
        "reward": 1.0,
        "termination_reason": "stop",
        "features": {"n_turns": 2.0},
        **other,
    }


def whole(*results: object, n: int = 1) -> dict[str, object]:
    return {"benchmark": "tau_usi", "model": "m", "n": n, "results": results}


def test_a_result_becomes_a_session(write):
    stream = open_sessions(write("gpt_task_results.json", whole(result())))
    (session,) = stream
    assert (session.session_id, session.domain) == ("retail_12", "retail")
    assert (session.task_id, session.trial) == (None, None)
    assert [t.role for t in session.turns] == ["assistant", "user"]
    assert session.survey == (
        SurveyAnswer("overall_score", "4 (Good)"),
        SurveyAnswer("reuse", "no answer"),
    )
    assert session.outcome.termination == "stop"
    assert stream.notes.layout == "odyssim"
    assert session.meta["features"] == {"n_turns": 2.0}
    assert "chat" not in session.meta


def test_runs_without_suffix_are_told_apart_by_order(write):
    rows = [result(), result(), result("retail_9_1"), result("retail_9_2"), result()]
    stream = open_sessions(write("r.json", whole(*rows, n=2)))
    assert [(s.session_id, s.trial) for s in stream] == [
        ("retail_12", "1"),
        ("retail_12", "2"),
        ("retail_9_1", None),
        ("retail_9_2", None),
    ]
    assert sum(stream.notes.left_out.values()) == 1


def test_n_may_come_last_and_duplicates_of_one_run_are_left_out(write):
    rows = {"results": [result(), result()], "n": 2}
    assert [s.trial for s in open_sessions(write("r.json", rows))] == ["1", "2"]
    stream = open_sessions(write("q.json", whole(result(), result())))
    assert len(list(stream)) == 1
    assert stream.notes.left_out == {"session: duplicate id": 1}


def test_ids_are_made_where_missing_and_empty_talk_is_failed(write):
    rows = [result(None), result("retail_1", conversation=[], reward=None, survey=None)]
    one, two = open_sessions(write("r.json", whole(*rows)))
    assert one.session_id == "retail_12"
    assert (two.status, two.survey, two.outcome.reward) == ("failed", None, None)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"conversation": 1}, "conversation"), ({"domain": 1}, "domain"), ({"reward": []}, "reward")],
)
def test_wrong_types(write, change, field):
    with pytest.raises(InputError) as caught:
        list(open_sessions(write("r.json", whole(result("retail_1"), result(**change)))))
    assert (caught.value.row, caught.value.field) == (2, field)
