"""Regression gate, comparison and ranking over real scorecard files of a synthetic population."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from usi.cli.main import run
from usi.decisions.regression import regression_checks
from usi.decisions.simulator_terms import load_terms, require_comparable, sidecar_path
from usi.decisions.tables import compare_files, find_scorecards, rank_files
from usi.phantom import build_phantom
from usi.scoring.scorecard import Scorecard

TASKS = 60
MARGINS = ("--margin", "20", "--component-margin", "40")
"""180 sessions a version: the smallest margin of the index is about 1.45 x 115 / 13.4 = 12."""


def call(*arguments: str) -> int:
    """Exit code of the command line."""
    with pytest.raises(SystemExit) as caught:
        run(list(arguments))
    code = caught.value.code
    return code if isinstance(code, int) else 0


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scorecards of the same people, and of others: copy, again (a second draw), polite, ..."""
    folder = tmp_path_factory.mktemp("versions")
    one = build_phantom(folder / "one", tasks=TASKS, simulators=("copy", "polite"), seed=5)
    two = build_phantom(folder / "two", tasks=TASKS, simulators=("polite", "copy"), seed=5)
    other = build_phantom(folder / "other", tasks=TASKS, simulators=("copy",), seed=6)
    fewer = build_phantom(folder / "fewer", tasks=TASKS, runs=2, simulators=("copy",), seed=5)
    out = folder / "cards"
    for name, data, people in (
        ("copy", one.simulators["copy"], one.human),
        ("again", two.simulators["copy"], one.human),
        ("polite", one.simulators["polite"], one.human),
        ("other", other.simulators["copy"], other.human),
        ("fewer", fewer.simulators["copy"], one.human),
    ):
        arguments = ["score", str(data), "--human", str(people), "--profile", "robust"]
        code = call(*arguments, "-o", str(out / f"{name}.json"), "--print", "none", "--quiet")
        assert code == 0, name
    return out


def gate(cards: Path, new: str, old: str, *more: str) -> int:
    """Exit code of the gate with a baseline; the criteria alone pass everything."""
    rules = cards.parent / "gate.toml"
    rules.write_text("[minimum]\nconversation = 2\n")
    return call(
        "gate", str(cards / f"{new}.json"), "--criteria", str(rules),
        "--baseline", str(cards / f"{old}.json"), *more,
    )  # fmt: skip


def test_terms_are_those_of_the_scorecard(cards: Path) -> None:
    found = load_terms(cards / "copy.json")
    card = found.simulator
    assert set(found.terms) == {
        "conversation", "information", "clarification", "reaction", "outcome",
    }  # fmt: skip
    for name, terms in found.terms.items():
        part = card.components[name]
        assert terms.raw == pytest.approx(part.value, abs=1e-6)
        assert terms.maxbias == pytest.approx(part.maxbias, rel=1e-6)
        sd = max(np.nanstd(draws, ddof=1) for draws in (terms.replicated(), terms.held_scores()))
        assert sd == pytest.approx(part.se, rel=0.1)


def test_a_term_by_hand_from_the_sidecar(cards: Path) -> None:
    table = pl.read_parquet(sidecar_path(cards / "polite.json"))
    means = {}
    for side in ("human", "simulated"):
        rows = table.filter(pl.col("side") == side)
        task = rows.group_by("unit").agg(pl.col("sums.politeness", "counts.politeness").sum())
        means[side] = (task["sums.politeness"] / task["counts.politeness"]).mean()
    a, b = means["simulated"], means["human"]
    assert isinstance(a, float)
    assert isinstance(b, float)
    terms = load_terms(cards / "polite.json").terms["conversation"]
    x = terms.point[terms.names.index("politeness")]
    assert x == pytest.approx((a - b) / (a + b), abs=1e-9)


def test_a_second_draw_of_the_same_simulator_is_unchanged(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(cards, "again", "copy", "--anchor", str(cards / "copy.json"), *MARGINS) == 0
    data = json.loads(capsys.readouterr().out)
    checks = {check["id"]: check for check in data["simulators"][0]["checks"]}
    assert {f"baseline.{name}" for name in ("index", "conversation", "outcome")} <= checks.keys()
    assert {f"anchor.{name}" for name in ("index", "conversation", "outcome")} <= checks.keys()
    assert all(c["state"] == "pass" for key, c in checks.items() if key.startswith("baseline"))
    assert any("smallest margins" in note["text"] for note in data["warnings"])
    assert any("baseline was scored on" in note["text"] for note in data["warnings"])


def test_the_age_of_the_baseline_counts_to_the_given_day(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(cards, "again", "copy", *MARGINS, "--as-of", "2999-01-01") == 0
    notes = json.loads(capsys.readouterr().out)["warnings"]
    assert any("days before 2999-01-01" in note["text"] for note in notes)
    assert any("no anchor" in note["text"] for note in notes)


def test_a_broken_version_regresses(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(cards, "polite", "copy", *MARGINS) == 1
    data = json.loads(capsys.readouterr().out)
    assert "baseline.index" in data["decided_by"]
    assert any("REGRESSED" in reason["text"] for reason in data["reasons"])


def test_a_mended_version_is_better(cards: Path) -> None:
    assert gate(cards, "copy", "polite", *MARGINS) == 0


@pytest.mark.parametrize(
    ("new", "old", "options", "text"),
    [
        ("again", "copy", (), "is the smallest"),
        ("copy", "other", MARGINS, "can't be compared"),
        ("copy", "fewer", MARGINS, "runs: 2 against 3"),
    ],
)
def test_what_the_regression_gate_refuses(
    cards: Path, new: str, old: str, options: tuple[str, ...], text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert gate(cards, new, old, *options) == 2
    said = capsys.readouterr()
    assert text in said.err
    assert said.out == ""


def test_sums_that_are_not_those_of_the_card_are_refused(
    cards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(cards / "copy.json", tmp_path / "copy.json")
    assert gate(tmp_path, "copy", "copy", *MARGINS) == 2
    assert "copy.tasks.parquet" in capsys.readouterr().err
    shutil.copy(sidecar_path(cards / "polite.json"), tmp_path / "copy.tasks.parquet")
    assert gate(tmp_path, "copy", "copy", *MARGINS) == 2
    assert "not the per-task sums" in capsys.readouterr().err
    # a card that does not vouch for its sums is still checked against its values
    card = Scorecard.read(cards / "copy.json").model_copy(update={"tasks_sha256": None})
    (tmp_path / "copy.json").write_text(card.to_json(), encoding="utf-8")
    table = pl.read_parquet(sidecar_path(cards / "copy.json"))
    factor = pl.when(pl.col("side") == "simulated").then(1.5).otherwise(1.0)
    table.with_columns(pl.col("sums.politeness") * factor).write_parquet(
        tmp_path / "copy.tasks.parquet"
    )
    assert gate(tmp_path, "copy", "copy", *MARGINS) == 2
    assert "do not belong together" in capsys.readouterr().err


def test_a_version_against_itself_says_that_nothing_was_tested(
    cards: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(cards, "copy", "copy", *MARGINS) == 3
    assert "the very same sessions" in capsys.readouterr().out


def test_comparable_says_what_differs(cards: Path) -> None:
    copy, fewer = (load_terms(cards / f"{name}.json") for name in ("copy", "fewer"))
    assert require_comparable(copy, fewer, runs=False) == ["runs: 3 against 2"]
    (check,) = regression_checks(copy, copy, index_margin=30, component_margin=60)
    assert (check.id, check.state) == ("baseline.identical", "inconclusive")


def test_compare_names_what_got_worse(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compare_files(cards / "copy.json", cards / "polite.json")
    assert found.paired
    assert found.synthetic
    words = {row.name: row.word for row in found.differences}
    assert words["index"] == "worse"
    assert words["conversation"] == "worse"
    assert words["politeness"] == "worse"
    assert found.differences[0].name == "index"
    same = compare_files(cards / "copy.json", cards / "copy.json")
    assert {row.difference.value for row in same.differences} == {0.0}
    assert {row.word for row in same.differences} == {"noise"}
    assert call("compare", str(cards / "copy.json"), str(cards / "polite.json")) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["differences"][0]["name"] == "index"
    assert call("compare", str(cards / "copy.json"), str(cards / "other.json")) == 2
    assert "corpus" in capsys.readouterr().err


def test_shared_people_narrow_the_difference(cards: Path, tmp_path: Path) -> None:
    paired = compare_files(cards / "copy.json", cards / "again.json")
    for name in ("copy", "again"):
        shutil.copy(cards / f"{name}.json", tmp_path / f"{name}.json")
    alone = compare_files(tmp_path / "copy.json", tmp_path / "again.json")
    assert not alone.paired
    assert any("independent" in note for note in alone.notes)
    widths = []
    for found in (paired, alone):
        row = next(r for r in found.differences if r.name == "outcome")
        assert row.difference.low is not None
        assert row.difference.high is not None
        widths.append(row.difference.high - row.difference.low)
    assert widths[0] < widths[1] * 1.1
    values = [{r.name: r.difference.value for r in f.differences[:3]} for f in (paired, alone)]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_rank_puts_only_comparable_numbers_into_one_table(
    cards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rank_files([cards])
    tables = [[row.name for row in board.ranking.rows] for board in found.tables]
    assert sorted(len(names) for names in tables) == [1, 4]
    assert tables[0][3] == "polite"
    assert set(tables[0][:3]) == {"copy (copy)", "copy (again)", "copy (fewer)"}
    assert found.tables[0].ranking.rows[3].best == 4
    assert {row.group for row in found.tables[0].ranking.rows[:3]} == {1}
    assert any("scored at 2 runs each" in note for note in found.tables[0].notes)
    assert any("not comparable" in note for note in found.notes)
    files = sorted(cards.glob("*.json"), reverse=True)
    scorecards = [path for path in files if path.name.count(".") == 1]
    assert rank_files(scorecards) == found
    assert [path.name for path in find_scorecards([cards])] == [
        "again.json", "copy.json", "fewer.json", "other.json", "polite.json",
    ]  # fmt: skip
    published = Scorecard.read(cards / "copy.json").model_copy(update={"profile": "tau-usi"})
    (tmp_path / "old.json").write_text(published.to_json(), encoding="utf-8")
    left = rank_files([cards, tmp_path]).left_out
    assert left == (("old.json", "profile tau-usi has no bounds; score with --profile robust"),)
    assert call("rank", str(cards), "--print", "table") == 0
    said = capsys.readouterr().out
    assert "synthetic" in said
    assert "Winner's curse" in said


def test_rank_refuses_an_empty_folder(tmp_path: Path) -> None:
    assert call("rank", str(tmp_path)) == 2


@pytest.mark.parametrize("pilot", ["card", "people"])
def test_plan_from_a_pilot(cards: Path, pilot: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = {
        "card": cards / "copy.json",
        "people": cards.parent / "one" / "human_corpus" / "phantom",
    }[pilot]
    assert call("plan", "--tier", "B", "--pilot", str(path)) == 0
    plan = json.loads(capsys.readouterr().out)
    three = next(line for line in plan["trade"] if line["runs"] == 3)
    # the population is like that of the published study, which needs about 125 tasks
    assert 60 <= three["all_parts"] <= 250
    assert "pilot" in plan["source"]


def test_score_and_gate_in_one_go(cards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = cards.parent / "one"
    out = cards.parent / "go"
    score = (
        "score", str(one / "runs" / "polite.jsonl"),
        "--human", str(one / "human_corpus" / "phantom"), "--profile", "robust",
    )  # fmt: skip
    outputs = [out / f"x{end}" for end in (".json", ".verdict.json", ".verdict.md", ".junit.xml")]
    options = [part for path in outputs for part in ("-o", str(path))]
    assert call(*score, "--gate", "B", *options) == 1
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads(outputs[1].read_text(encoding="utf-8"))
    assert said["verdict"] == "FAIL"
    assert Scorecard.read(outputs[0]).simulators[0].name == "polite"
    assert "# usi: FAIL" in outputs[2].read_text(encoding="utf-8")
    assert outputs[3].read_text(encoding="utf-8").startswith("<?xml")
    # the same verdict as in two steps
    assert call("gate", str(outputs[0]), "--tier", "B") == 1
    assert json.loads(capsys.readouterr().out) == said
    assert call(*score, "--gate", "B", "--exit-zero", "--print", "none") == 0
    assert call(*score, "--gate", "D") == 2
    assert call(*score, "-o", str(out / "y.junit.xml")) == 2
    assert "--gate" in capsys.readouterr().err


def test_plan_pick_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("plan", "--pick", "40") == 0
    picked = json.loads(capsys.readouterr().out)["picked"]
    assert len({part["task"] for part in picked}) == 40
    assert call("plan", "--pick", "5", "--domain", "airline") == 0
    picked = json.loads(capsys.readouterr().out)["picked"]
    assert all(part["task"].startswith("airline_") for part in picked)
    assert call("plan", "--pick", "5", "--domain", "nowhere") == 2


def test_rank_and_compare_write_pages(cards: Path, tmp_path: Path) -> None:
    copy, polite = cards / "copy.json", cards / "polite.json"
    board, change = tmp_path / "board.html", tmp_path / "change.html"
    assert call("gate", str(copy), "--tier", "C", "--exit-zero", "--print", "none",
                "-o", str(cards / "copy.verdict.json")) == 0  # fmt: skip
    try:
        arguments = ["-o", str(board), "-o", str(tmp_path / "board.md"), "--print", "none"]
        assert call("rank", str(cards), *arguments, "--as-of", "2026-12-01") == 0
        again = tmp_path / "again.html"
        reversed_ = [str(path) for path in reversed(find_scorecards([cards]))]
        assert call("rank", *reversed_, "-o", str(again), "--as-of", "2026-12-01") == 0
    finally:
        (cards / "copy.verdict.json").unlink()
    assert board.read_bytes() == again.read_bytes()
    text = board.read_text(encoding="utf-8")
    assert "copy.verdict.json" in text
    assert "SYNTHETIC DATA" in text
    assert str(cards) not in text
    assert text.count("</table>") >= 3  # two tables of their own, and the records
    assert "## Admission records" in (tmp_path / "board.md").read_text(encoding="utf-8")
    assert call("compare", str(copy), str(polite), "-o", str(change), "--print", "none") == 0
    assert "No: it is further away, and that is more than noise." in change.read_text("utf-8")
    before = copy.read_bytes()
    assert call("rank", str(cards), "-o", str(copy), "--force") == 2
    assert call("compare", str(copy), str(polite), "-o", str(polite), "--force") == 2
    assert copy.read_bytes() == before
