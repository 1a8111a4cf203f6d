"""Task, run and batch of a row: the published id rules, trials, and the artefact trial."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.extraction.spec import IDENTITY_SCHEMA
from usi.options import RunIds
from usi.records import Side
from usi.scoring.keys import assign_keys, split_batch, split_run


def frame(rows: list[dict[str, Any]], layout: str = "tau-usi", domain: str = "x") -> pl.DataFrame:
    base = {"layout": layout, "domain": domain, "keep": True, "keep_is_false": False}
    full = [{"seq": k, **base, **row} for k, row in enumerate(rows)]
    return pl.DataFrame(
        [{name: row.get(name) for name in IDENTITY_SCHEMA} for row in full], schema=IDENTITY_SCHEMA
    )


def ids(names: list[str], layout: str = "tau-usi") -> pl.DataFrame:
    return frame([{"session_id": name} for name in names], layout)


def keys(made: pl.DataFrame, side: Side, run_ids: RunIds = "auto") -> list[tuple[Any, Any]]:
    found = assign_keys(made, side=side, run_ids=run_ids)
    assert found.drop("task", "run", "batch").equals(made.drop("task", "run", "batch"))
    column, other = ("batch", "run") if side == "human" else ("run", "batch")
    assert found[other].is_null().all()
    return list(zip(found["task"].to_list(), found[column].to_list(), strict=True))


FILLER = [f"retail_{k}_9" for k in range(200, 371)]


def test_batches_of_the_published_layout() -> None:
    names = ["airline_0", "airline_0_ann2", "airline_0_ann3", "airline_0_ann1", "airline_0_ann4"]
    assert keys(ids(names), "human") == [
        ("airline_0", 1),
        ("airline_0", 2),
        ("airline_0", 3),
        ("airline_0_ann1", 1),
        ("airline_0_ann4", 1),
    ]


def test_at_most_170_entries_are_one_run_with_whole_ids() -> None:
    names = [f"airline_{k}_{run}" for k in range(50) for run in (1, 2, 3)]
    assert keys(ids(names), "simulated") == [(name, "1") for name in names]
    names = [f"retail_{k}" for k in range(170)]
    assert keys(ids(names), "simulated") == [(name, "1") for name in names]


def test_171_entries_split_at_the_last_underscore() -> None:
    names = [f"retail_{k}_{run}" for k in range(57) for run in (1, 2, 3)]
    assert len(names) == 171
    found = keys(ids(names), "simulated")
    assert found == [(f"retail_{k}", str(run)) for k in range(57) for run in (1, 2, 3)]


def test_other_suffixes_are_run_zero_with_the_full_id() -> None:
    odd = ["retail_2", "airline_0_4", "airline_0_5", "x", "a_b", "retail_1_2", "_3", "retail_1_02"]
    found = keys(ids([*odd, *FILLER]), "simulated")[: len(odd)]
    assert found == [
        ("retail", "2"),
        ("airline_0_4", "0"),
        ("airline_0_5", "0"),
        ("x", "0"),
        ("a_b", "0"),
        ("retail_1", "2"),
        ("", "3"),
        ("retail_1_02", "0"),
    ]


def test_suffix_always_splits_and_none_never_does() -> None:
    names = ["airline_0_1", "airline_0_2", "airline_0_5", "airline_0", "note"]
    assert keys(ids(names), "simulated", "suffix") == [
        ("airline_0", "1"),
        ("airline_0", "2"),
        ("airline_0", "5"),
        ("airline_0", "0"),
        ("note", "0"),
    ]
    many = [f"retail_{k}_{run}" for k in range(57) for run in (1, 2, 3)]
    assert keys(ids(many), "simulated", "none") == [(name, "1") for name in many]


def test_a_trial_is_a_run_and_a_batch() -> None:
    rows = [
        {"session_id": f"airline_{task}", "task_id": str(task), "trial": str(trial)}
        for trial in (0, 2, 10)
        for task in (3, 4)
    ]
    made = frame(rows, "tau-bench", "airline")
    tasks = ["airline_3", "airline_4"] * 3
    runs = ["0", "0", "2", "2", "10", "10"]
    assert keys(made, "simulated") == list(zip(tasks, runs, strict=True))
    assert keys(made, "simulated", "none") == list(zip(tasks, runs, strict=True))
    assert keys(made, "human") == list(zip(tasks, [1, 1, 2, 2, 3, 3], strict=True))


def test_a_trial_that_is_the_task_index_is_one_run() -> None:
    rows = [{"session_id": f"t{k}", "task_id": str(k), "trial": str(k)} for k in range(5)]
    made = frame(rows, "tau-bench", "retail")
    want = [(f"retail_{k}", "1") for k in range(5)]
    assert keys(made, "simulated") == want
    assert [batch for _, batch in keys(made, "human")] == [1] * 5


def test_uneven_trials_and_rows_without_one() -> None:
    rows = [
        {"session_id": "a", "task_id": "1", "trial": "0"},
        {"session_id": "b", "task_id": "2", "trial": "0"},
        {"session_id": "c", "task_id": "1", "trial": "1"},
        {"session_id": "d", "task_id": "2", "trial": None},
    ]
    found = keys(frame(rows, "tau2", "airline"), "simulated")
    assert [run for _, run in found] == ["0", "0", "1", "unnumbered"]


@pytest.mark.parametrize(
    ("task_id", "domain", "task"),
    [
        ("7", "retail", "retail_7"),
        ("retail_7", "retail", "retail_7"),
        ("retail_7", "unknown", "retail_7"),
        ("7", "unknown", "7"),
        ("retail7", "retail", "retail_retail7"),
        ("[x]a|b", "telecom", "telecom_[x]a|b"),
    ],
)
def test_the_domain_goes_before_an_explicit_task_once(task_id: str, domain: str, task: str) -> None:
    made = frame([{"session_id": "s", "task_id": task_id}], "tau2", domain)
    assert keys(made, "simulated") == [(task, "1")]
    assert keys(made, "human") == [(task, 1)]


@pytest.mark.parametrize("layout", ["tau-bench", "tau2"])
def test_result_rows_without_a_task_id_name_no_task(layout: str) -> None:
    made = frame([{"session_id": "row-1"}], layout)
    assert keys(made, "simulated") == [(None, "1")]
    assert keys(made, "human") == [(None, 1)]


def test_an_explicit_batch_goes_before_every_rule() -> None:
    rows = [
        {"session_id": "retail_1_ann2", "batch_id": 7},
        {"session_id": "retail_1", "task_id": "1", "trial": "4", "batch_id": 2},
        {"session_id": "retail_2", "task_id": "2", "trial": "4"},
        {"session_id": "retail_1", "task_id": "1", "trial": "9"},
    ]
    found = keys(frame(rows, "usi-jsonl", "retail"), "human")
    assert found == [("retail_1", 7), ("retail_1", 2), ("retail_2", 1), ("retail_1", 2)]


def test_general_rows_with_published_ids_follow_the_published_rule() -> None:
    names = [f"retail_{k}_{run}" for k in range(57) for run in (1, 2, 3)]
    found = keys(ids(names, "usi-jsonl"), "simulated")
    assert found[:2] == [("retail_0", "1"), ("retail_0", "2")]
    chats = [f"chat_{k}" for k in range(1, 300)]
    assert keys(ids(chats, "usi-jsonl"), "simulated") == [(name, "1") for name in chats]


def test_a_trial_at_the_end_of_every_id_is_no_part_of_the_task() -> None:
    rows = [
        {"session_id": f"chat{k}_{trial}", "trial": str(trial)} for trial in (0, 1) for k in (1, 2)
    ]
    found = keys(frame(rows, "usi-jsonl"), "simulated")
    assert found == [("chat1", "0"), ("chat2", "0"), ("chat1", "1"), ("chat2", "1")]
    rows = [{"session_id": f"retail_{k}", "trial": str(trial)} for trial in (1, 2) for k in (1, 2)]
    found = keys(frame(rows, "odyssim", "retail"), "simulated")
    assert found == [("retail_1", "1"), ("retail_2", "1"), ("retail_1", "2"), ("retail_2", "2")]


def test_a_simulator_file_as_reference_has_its_runs_as_batches() -> None:
    names = [f"airline_{k}_{run}" for run in (1, 2, 3) for k in (0, 1)]
    found = keys(ids(names), "human")
    assert found == [(f"airline_{k}", run) for run in (1, 2, 3) for k in (0, 1)]
    assert keys(ids(names), "human", "none") == [(name, 1) for name in names]


def test_no_rows_at_all() -> None:
    assert keys(ids([]), "human") == []
    assert keys(ids([]), "simulated") == []


@given(st.lists(st.text("ab_123n", max_size=8), unique=True, max_size=12))
def test_the_rules_keep_rows_and_agree_with_the_single_functions(names: list[str]) -> None:
    published = ids([*names, *FILLER])
    found = keys(published, "simulated")[: len(names)]
    assert found == [split_run(name) for name in names]
    people = keys(ids([*names, "airline_0"]), "human")[:-1]
    assert people == [split_batch(name) for name in names]
