"""The Python interface: signatures, what is accepted, and results that show themselves."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import ROOT

import usi
from usi.options import LoadOptions, ScoreOptions, declared, default_of

VERBS = ("load", "features", "score", "gate", "compare", "rank", "plan")


# Signatures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_every_parameter_is_named_and_documented(verb):
    function = getattr(usi, verb)
    parameters = inspect.signature(function).parameters
    assert parameters
    for parameter in parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        assert parameter.name in inspect.getdoc(function).split("Returns")[0], parameter.name


@pytest.mark.parametrize(
    ("verb", "group"), [("load", LoadOptions), ("features", LoadOptions), ("score", ScoreOptions)]
)
def test_keywords_are_the_options_with_their_defaults(verb, group):
    parameters = inspect.signature(getattr(usi, verb)).parameters
    for name in declared(group):
        given, wanted = parameters[name].default, default_of(group, name)
        assert given == wanted or (name == "map" and given is None and wanted == {}), name


def test_an_unknown_keyword_is_refused():
    with pytest.raises(TypeError, match="dificulty"):
        usi.score("a.json", "b.json", dificulty="self")


def test_the_import_is_light():
    heavy = ("sklearn", "matplotlib", "pandas", "polars", "numpy", "scipy")
    code = f"import sys, usi; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


GOOD = """
import usi

rows = [{"session_id": "a", "role": "user", "text": "hi"}]
loaded: usi.Loaded = usi.load(rows, user_role="customer")
table: usi.SessionTable = usi.features(loaded, side="human", profile="robust")
card: usi.ScoredCard = usi.score({"mine": rows}, human=table, seed=3, human_runs=["0"])
verdict: usi.GateVerdict = usi.gate(card, {"tier": "B"}, as_of="2026-12-01")
code: int = verdict.exit_code
changes: usi.ComparedCards = usi.compare("a.json", card)
ranking: usi.RankedCards = usi.rank([card, "reports"], alpha=0.1)
plan: usi.StudyPlan = usi.plan("A", tasks=100, runs=3)
"""
BAD = """
import usi

usi.load(42)
usi.score("a.json", human="b.json", seed="seven")
usi.features("a.json", side="left")
usi.gate("a.json", tier="B")
"""


def test_mypy_sees_every_parameter_in_a_script_of_a_user(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(GOOD)
    bad.write_text(BAD)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
         "--cache-dir", str(ROOT / ".mypy_cache"), "--follow-imports", "silent",
         "--no-error-summary", str(good), str(bad)],
        capture_output=True, check=False, text=True, cwd=ROOT, env=None,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in lines if "good.py" in line] == [], done.stdout + done.stderr
    places = {int(line.split("bad.py:")[1].split(":")[0]) for line in lines if "bad.py" in line}
    assert places == {4, 5, 6, 7}, done.stdout + done.stderr


# What is accepted -----------------------------------------------------------------------------

SAID = [
    {"session_id": "a", "role": "user", "text": "where is my order?", "task": "t1"},
    {"session_id": "a", "role": "assistant", "text": "on its way", "task": "t1"},
    {"session_id": "a", "role": "user", "text": "thanks", "task": "t1"},
    {"session_id": "b", "role": "user", "text": "cancel it please", "task": "t2"},
]
WHOLE = [
    {"id": "a", "messages": [{"role": "user", "content": "where is my order?"},
                             {"role": "assistant", "content": "on its way"}]},
    {"id": "b", "messages": [{"role": "user", "content": "cancel it please"}]},
]  # fmt: skip


class Dataset:
    """The protocol of a Hugging Face dataset, as far as rows are concerned."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows
        self.column_names = list(rows[0])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: int) -> dict[str, Any]:
        return self._rows[key]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._rows)


KINDS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "dataset": Dataset,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
}


def said(loaded: usi.Loaded) -> list[tuple[str, list[tuple[Any, Any]]]]:
    return [(s.session_id, [(t.role, t.content) for t in s.turns]) for s in loaded.sessions]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [SAID, WHOLE], ids=["messages", "sessions"])
def test_rows_of_any_kind_are_the_same_sessions(kind, rows):
    found = said(usi.load(KINDS[kind](rows)))
    first = ("user", "where is my order?")
    assert [name for name, _ in found] == ["a", "b"]
    assert found[0][1][:2] == [first, ("assistant", "on its way")]
    assert found[1][1] == [("user", "cancel it please")]


def test_rows_are_what_their_file_is(tmp_path):
    path = tmp_path / "said.csv"
    pd.DataFrame(SAID).to_csv(path, index=False)
    assert said(usi.load(path)) == said(usi.load(SAID))
    one = usi.features(path, side="human", profile="robust").values()
    other = usi.features(usi.load(SAID), side="human", profile="robust").values()
    assert one.equals(other)


@pytest.mark.parametrize(
    "wrong", [42, None, b"bytes", {"a": 1}, [1, 2], [{"role": "user"}, "text"], object()]
)
def test_other_things_are_refused_with_what_is_accepted(wrong):
    with pytest.raises(usi.UsiError) as caught:
        usi.load(wrong)
    assert "pandas" in str(caught.value) or "column" in str(caught.value)


def test_wrong_scorecards_criteria_and_labels_are_refused():
    for call in (
        lambda: usi.gate(42),
        lambda: usi.compare(3.0, "b.json"),
        lambda: usi.plan(7),
        lambda: usi.score("a.json", "b.json", human_runs="0,1"),
    ):
        with pytest.raises(usi.UsiError, match="give"):
            call()


# Results --------------------------------------------------------------------------------------


def population(seed: int, mark: str) -> list[dict[str, Any]]:
    """Three runs of 40 tasks, one message a row."""
    import random

    draw = random.Random(seed)
    lines = (
        "please cancel order 4711", "thanks, that helps a lot", "what do you mean?", "maybe",
        "I am not sure which one it was", "this is ridiculous, you got it wrong",
        "definitely the blue one", "my id is AB12CD", "could you change the address?", "ok",
        "no, that is not what I asked for", "sorry, can you explain that again?",
        "where is my refund?", "I don't know the number", "I'm so frustrated with this", "great",
        "actually, something else: can I get a seat?", "I told you that already",
    )  # fmt: skip
    rows = []
    for task in range(40):
        for trial in range(3):
            for turn in range(draw.randint(2, 5)):
                rows.append(
                    {
                        "session_id": f"{mark}-{task}-{trial}", "task_id": f"t{task}",
                        "trial": trial, "role": "user" if turn % 2 == 0 else "assistant",
                        "text": ". ".join(draw.choices(lines, k=draw.randint(1, 3))),
                        "reward": int(draw.random() < 0.6),
                    }
                )  # fmt: skip
    last: dict[str, int] = {}
    for row in rows:
        row["reward"] = last.setdefault(row["session_id"], row["reward"])
    return rows


@pytest.fixture(scope="module")
def card() -> usi.ScoredCard:
    return usi.score(
        {"one": population(1, "s"), "two": pd.DataFrame(population(2, "s"))},
        human=pl.DataFrame(population(3, "h")),
        profile="robust", difficulty="none", replicates=200, c2st="off",
    )  # fmt: skip


def test_rows_are_scored_as_their_files_are(card, tmp_path):
    for name, seed, mark in (("one", 1, "s"), ("two", 2, "s"), ("people", 3, "h")):
        pd.DataFrame(population(seed, mark)).to_csv(tmp_path / f"{name}.csv", index=False)
    again = usi.score(
        [tmp_path / "one.csv", tmp_path / "two.csv"], tmp_path / "people.csv",
        profile="robust", difficulty="none", replicates=200, c2st="off",
    )  # fmt: skip
    for part, other in zip(card.simulators, again.simulators, strict=True):
        assert (part.name, part.components, part.index) == (
            other.name, other.components, other.index
        )  # fmt: skip


def test_results_say_in_a_few_lines_what_they_are(card, tmp_path):
    other = usi.score(
        {"one": population(5, "s")}, human=population(3, "h"),
        profile="robust", difficulty="none", replicates=200, c2st="off",
    )  # fmt: skip
    results = [
        card,
        usi.gate(card, "C", simulator="one"),
        usi.compare(card, card, simulator="one", other="two"),
        usi.rank([card]),
        usi.plan("B", tasks=165, runs=3),
        usi.load(SAID),
        usi.features(SAID, side="human", profile="robust"),
    ]
    for result in results:
        text = repr(result)
        assert 0 < len(text.splitlines()) <= 10, text
        assert all(len(line) <= 400 for line in text.splitlines())
        assert str(result) == text
    for result in results[:5]:
        page = result._repr_html_()
        assert page.startswith("<table>")
        assert not result.to_pandas().empty
    assert other != card
    assert card == usi.Scorecard.model_validate(json.loads(card.to_json()))
    paths = card.write(tmp_path / "card.json")
    assert all(path.is_file() for path in paths)
    row = usi.compare(tmp_path / "card.json", card, simulator="one").differences[0]
    assert row.difference.value == 0.0


def test_tables_for_analysis_have_values_and_bounds(card):
    table = card.to_pandas().set_index("name")
    part = next(p for p in card.simulators if p.name == "one")
    for name in ("conversation", "information"):
        own = part.components[name]
        row = table.loc["one"]
        assert (row[name], row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(
            (own.value, own.low, own.high), nan_ok=True
        )
    rows = card.features_to_pandas()
    assert len(rows) == sum(len(p.features) + len(p.style) for p in card.simulators)
    one = rows[(rows.simulator == "one") & (rows.feature == "turn_count")]
    assert len(one) <= 1
    assert set(rows.columns) >= {"human", "simulated", "score_low", "gap_high", "reason"}


def test_names_in_tables_for_notebooks_are_escaped():
    rows = population(1, "s")
    made = usi.score(
        {"<script>alert(1)</script>": rows}, human=population(3, "h"),
        profile="robust", difficulty="none", replicates=100, c2st="off",
    )  # fmt: skip
    page = made._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_plot_draws_on_axes_of_matplotlib(card):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert card.plot(axes) is axes
    assert axes.has_data()
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert {"one", "two"} <= set(labels)


def test_results_keep_the_fields_of_what_they_are_made_from():
    plan = usi.plan("B")
    assert dataclasses.is_dataclass(plan)
    assert Path(usi.__file__).with_name("py.typed").is_file()
