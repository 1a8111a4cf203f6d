"""Comparisons at a common number of runs and tasks, and what stands of many features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from usi.cli.main import run
from usi.decisions.common_runs import averaged, choices
from usi.decisions.compare import Difference, judged, told_of_many
from usi.decisions.tables import compare_files, rank_files
from usi.phantom import build_phantom
from usi.scoring.robust.terms import signed_terms
from usi.scoring.scorecard import Scorecard

TASKS = 30


def call(*arguments: str) -> None:
    with pytest.raises(SystemExit) as caught:
        run([*arguments, "--print", "none", "--quiet"])
    assert not caught.value.code


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulator with 3 runs, another one with 2, and the first at every two of its runs."""
    folder = tmp_path_factory.mktemp("runs")
    one = build_phantom(folder / "one", tasks=TASKS, simulators=("copy",), seed=5)
    two = build_phantom(folder / "two", tasks=TASKS, runs=2, simulators=("polite",), seed=5)
    human = ("--human", str(one.human), "--profile", "robust")
    made = {"three": one.simulators["copy"], "two": two.simulators["polite"]}
    for name, data in made.items():
        call("score", str(data), *human, "-o", str(folder / f"{name}.json"))
    for chosen in ("1,2", "2,3", "3,1"):
        call("score", str(made["three"]), *human, "--sim-runs", chosen,
             "-o", str(folder / f"at-{chosen}.json"))  # fmt: skip
    return folder


def test_the_larger_one_is_scored_as_often_as_the_smaller(cards: Path) -> None:
    """By scoring the runs alone: the mean over the choices of two runs, to the last digit."""
    found = compare_files(cards / "three.json", cards / "two.json")
    assert any("scored at 2 runs each (they have 3, 2)" in note for note in found.notes)
    alone = [
        Scorecard.read(cards / f"at-{chosen}.json").simulators[0]
        for chosen in ("1,2", "2,3", "3,1")
    ]
    told = {row.name: row for row in found.differences}
    for name in ("conversation", "information", "clarification", "reaction", "outcome"):
        values = [part.components[name].value or 0.0 for part in alone]
        assert told[name].a == pytest.approx(np.mean(values), abs=1e-6)
    index = [part.index.value or 0.0 for part in alone]
    assert told["index"].a == pytest.approx(np.mean(index), abs=1e-6)
    whole = Scorecard.read(cards / "three.json").simulators[0].index.value or 0.0
    assert whole > np.mean(index)  # more runs alone make a score larger


def test_a_ranking_takes_all_at_the_smallest_number_of_runs(cards: Path) -> None:
    (board,) = rank_files([cards / "three.json", cards / "two.json"]).tables
    told = {row.name: row.a for row in
            compare_files(cards / "three.json", cards / "two.json").differences}  # fmt: skip
    assert board.ranking.rows[0].value == pytest.approx(told["index"], abs=1e-6)
    assert [row.name for row in board.ranking.rows] == ["copy", "polite"]


def test_tasks_of_one_side_only_are_left_out(cards: Path, tmp_path: Path) -> None:
    """A simulator that did 20 of the 30 tasks is compared on those 20."""
    import json

    lines = (cards / "one" / "runs" / "copy.jsonl").read_text().splitlines()
    tasks = sorted({json.loads(line)["task_id"] for line in lines})[:20]
    kept = [line for line in lines if json.loads(line)["task_id"] in tasks]
    (tmp_path / "part.jsonl").write_text("\n".join(kept) + "\n")
    human = ("--human", str(cards / "one" / "human_corpus" / "phantom"), "--profile", "robust")
    call("score", str(tmp_path / "part.jsonl"), *human, "--tasks", "common",
         "-o", str(tmp_path / "part.json"))  # fmt: skip
    found = compare_files(cards / "three.json", tmp_path / "part.json")
    assert any("20 are common, of 30, 20" in note for note in found.notes)
    # the same sessions on the same tasks: nothing differs
    index = next(row for row in found.differences if row.part == "component")
    assert index.difference.value == pytest.approx(0.0, abs=1e-6)


def test_every_run_stands_in_as_many_choices() -> None:
    assert choices(["a", "b", "c", "d", "e"], 2) == [
        ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a"),
    ]  # fmt: skip
    assert choices(["a", "b"], 2) == [("a", "b")]
    assert len(choices([str(k) for k in range(40)], 3)) == 6


def test_a_mean_of_terms_by_hand() -> None:
    def gap(*points: float) -> object:
        own = np.array(points)
        return signed_terms(
            "outcome", ("easy", "hard"), np.ones(2), own, np.array([0.1, 0.2]),
            np.array([own, own + 0.1]), np.zeros(3),
        )  # fmt: skip

    found = averaged([gap(0.10, -0.20), gap(-0.30, 0.00)])  # type: ignore[list-item]
    assert found.point.tolist() == pytest.approx([0.2, 0.1])
    assert found.raw == pytest.approx(70.0)  # of 70 and 70
    # replicates: |0.1| |0.2|, |0.3| 0 and |0.2| |0.1|, |0.2| |0.1|
    assert found.replicated().tolist() == pytest.approx([70.0, 70.0])


def row(name: str, z: float) -> Difference:
    return judged(name, "conversation", 50.0, 50.0 + z, 1.0)


def test_of_many_features_only_those_stand_that_are_no_chance() -> None:
    """By hand: of four p-values .0005, .02, .04, .5 at 5 %, two lie below 5 % x rank / 4."""
    zs = [norm.isf(p / 2) for p in (0.0005, 0.02, 0.045, 0.5)]
    found = told_of_many([row(f"f{k}", z) for k, z in enumerate(zs)])
    assert [r.word for r in found] == ["better", "better", "may be chance", "noise"]
    assert found[0].p_value == pytest.approx(0.0005, rel=1e-6)


def test_of_equal_features_some_is_called_better_or_worse_in_five_percent_of_studies() -> None:
    """22 features that are equal: the false discovery rate is that of any call at all."""
    rng = np.random.default_rng(7)
    studies, plain, called = 2000, 0, 0
    for _ in range(studies):
        rows = [row(str(k), z) for k, z in enumerate(rng.normal(size=22))]
        plain += any(r.word in ("better", "worse") for r in rows)
        called += any(r.word in ("better", "worse") for r in told_of_many(rows))
    # expected: 1 - .9^22 = 90 % without, 5 % with; standard errors .7 and .5 points
    assert plain / studies == pytest.approx(0.90, abs=0.02)
    assert called / studies == pytest.approx(0.05, abs=0.015)


def test_uneven_sessions_widen_the_bounds_by_what_they_can_do() -> None:
    even = judged("x", "index", 80.0, 84.0, 1.0)
    wide = judged("x", "index", 80.0, 84.0, 1.0, (0.0, 3.0))
    assert (even.word, wide.word) == ("better", "noise")
    assert wide.difference.low == pytest.approx(84 - 80 - 1.6448536 - 3, abs=1e-6)
    assert wide.difference.high == even.difference.high
