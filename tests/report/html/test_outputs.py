"""Markdown, table, badge and figures: the same numbers, safe text, the same bytes again."""

from __future__ import annotations

import csv
import io
import json
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from command import refused, usi
from report.cards import HOSTILE, card, simulator
from report.html.made import Made, make

from usi.diagnose.distances import distribution
from usi.diagnose.outliers import nearest, pick
from usi.diagnose.sample import Sample
from usi.extraction.profile import get_specs
from usi.report import badge, long_table, markdown
from usi.report.figures.files import render
from usi.report.figures.inline import column, number
from usi.report.figures.model import Bars, Intervals, Mark, Row


def test_all_forms_are_written_and_written_again(made: Made, tmp_path: Path) -> None:
    names = ("r.html", "r.md", "r.csv", "b.svg", "b.badge.json", "r.summary.json")
    outputs = [part for name in names for part in ("-o", tmp_path / name)]
    for _ in range(2):
        done = usi("report", made.card, "--gate", "B", *outputs)
        assert done.code == 0, done.err
    first = {name: (tmp_path / name).read_bytes() for name in names}
    done = usi("report", made.card, "--gate", "B", *outputs)
    assert {name: (tmp_path / name).read_bytes() for name in names} == first
    (tmp_path / "r.md").write_text("my notes")
    refused(usi("report", made.card, "-o", tmp_path / "r.md"), "--force")


def test_score_and_report_write_the_same_documents(made: Made, tmp_path: Path) -> None:
    names = ("report.html", "report.md", "report.csv")
    outputs = [part for name in names for part in ("-o", tmp_path / name)]
    done = usi("report", made.card, "--gate", "B", *outputs)
    assert done.code == 0, done.err
    for name in names:
        assert (tmp_path / name).read_bytes() == (made.folder / name).read_bytes(), name
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for heading in ("# Do these simulated users behave like people?", "## Scores",
                    "## Between floor and ceiling", "## What the numbers rest on"):  # fmt: skip
        assert text.count(f"{heading}\n") == 1
    assert any(f"## copy: {word}" in text for word in ("PASS", "FAIL", "INCONCLUSIVE"))


def test_figures_by_name_in_both_forms(made: Made, tmp_path: Path) -> None:
    names = ("index", "copy.components", "polite.outcome", "polite.politeness", "copy.passk")
    wanted = [part for name in names for part in ("--figure", name)]
    for form in ("svg", "png"):
        folder = tmp_path / form
        done = usi("report", made.card, "--figures", folder, "--figure-form", form, *wanted)
        assert done.code == 0, done.err
        assert {path.name for path in folder.iterdir()} == {f"{name}.{form}" for name in names}
    root = ET.fromstring((tmp_path / "svg" / "polite.politeness.svg").read_bytes())
    assert root.tag.endswith("svg")
    refused(usi("report", made.card, "--figures", tmp_path, "--figure-form", "gif"), "svg or png")
    refused(usi("report", made.card, "--figures", tmp_path, "--figure", "indx"), "index")
    refused(usi("report", made.card), "name an output")


def test_a_verdict_or_files_of_another_card_are_refused(made: Made, tmp_path: Path) -> None:
    other = json.loads(made.card.read_text())
    other["signature"] += "x"
    (tmp_path / "card.json").write_text(json.dumps(other))
    done = usi("report", tmp_path / "card.json", "--verdict", made.folder / "card.verdict.json",
               "-o", tmp_path / "r.html", "--trust-edited")  # fmt: skip
    refused(done, "another scorecard")
    (tmp_path / "card.report.json").write_bytes((made.folder / "card.report.json").read_bytes())
    done = usi("report", tmp_path / "card.json", "-o", tmp_path / "r.html", "--trust-edited")
    refused(done, "another scorecard")


def test_table_holds_the_numbers_of_the_card(made: Made) -> None:
    data = json.loads(made.card.read_text())
    done = usi("report", made.card, "-o", made.folder / "t.csv")
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO((made.folder / "t.csv").read_text())))
    assert {row["simulator"] for row in rows} == {"copy", "polite"}
    for side in data["simulators"]:
        own = {row["part"]: row for row in rows if row["simulator"] == side["name"]}
        assert float(own["USI-R(5)"]["low"]) == side["index"]["low"]
        gap = side["features"]["politeness"]["gap"]
        assert float(own["politeness"]["gap_high"]) == gap["high"]


def test_badges_say_index_bounds_and_verdict() -> None:
    one = card(simulator("a", 70.0))
    found = badge.badge(one, None)
    assert (found.label, found.message, found.state) == ("USI(5)", "70.0 ± 0.8", "")
    assert json.loads(badge.endpoint(found)) == {
        "schemaVersion": 1, "label": "USI(5)", "message": "70.0 ± 0.8", "color": "blue",
    }  # fmt: skip
    svg = badge.svg(badge.Badge("<b>", "x & y\x1b", "FAIL"), "0")
    assert ET.fromstring(svg.partition("\n")[2]).get("aria-label") == "<b>: x & y\\x1b"
    assert badge.badge(card(simulator("a", 70.0), synthetic=True), None).label.startswith("SYNTH")


def test_markdown_escapes_and_table_quotes_hostile_names() -> None:
    hostile = card(simulator(HOSTILE, 50.0))
    text = markdown.render(hostile)
    assert "<script>" not in text
    assert "\x1b" not in text
    rows = list(csv.DictReader(io.StringIO(long_table.render(hostile))))
    assert rows[0]["simulator"] == HOSTILE


def test_figures_as_files_are_the_same_bytes() -> None:
    figure = Intervals("t $x$", (Row("a_b", Mark(50, 40, 60), Mark(90), 95, 20, 75, True),))
    for form in ("svg", "png"):
        assert render(figure, form) == render(figure, form)
    assert b"t $x$" in render(figure, "svg")
    bars = Bars("b", ("none", "more"), (0.5, 0.5), (1.0, 0.0), 10, 20, "share", "sim")
    assert b"n = 20" in render(bars, "svg")


def test_small_pieces_of_svg() -> None:
    assert [number(x) for x in (1.0, 1.25, 100.04)] == ["1", "1.2", "100"]
    assert column(1, 9, 2, 4) == "M1 9v-4h2v4z"


def test_bins_by_hand() -> None:
    specs = {spec.name: spec for spec in get_specs("robust")}
    share = distribution(
        specs["politeness"], np.array([0.0, 0.1, 0.3, 1.0, np.nan]), {"s": np.array([0.05, 0.11])}
    )
    assert share.labels[:2] == ("none", "0–10 %")
    assert share.human.counts == (1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1)
    assert (share.human.n, share.human.mean) == (4, 0.35)
    assert share.simulators["s"].counts[1:3] == (1, 1)
    words = distribution(specs["opening_words"], np.arange(23.0), {"s": np.array([500.0])})
    assert sum(words.human.counts) == 23
    assert words.simulators["s"].counts[-1] == 1
    assert len(words.labels) == len(words.human.counts) <= 12


def test_the_strangest_sessions_are_found() -> None:
    rng = np.random.default_rng(5)
    names = ("a", "b", "c")
    keys = np.array([f"k{i:03d}" for i in range(200)])
    human = Sample(rng.normal(size=(200, 3)), keys, keys, names)
    values = rng.normal(size=(200, 3))
    values[17] = (9.0, -9.0, 0.0)
    own = Sample(values, keys, keys, names)
    unlike, typical, people = pick(human, own, unlike=2, typical=1, seed=7)
    assert unlike[0].key == "k017"
    assert {unlike[0].far[0][0], unlike[0].far[1][0]} == {"a", "b"}
    assert unlike[0].distance > unlike[1].distance > typical[0].distance
    assert people[0].distance is None
    shuffled = own.take(rng.permutation(200))
    assert pick(human, shuffled, unlike=2, typical=1, seed=7)[0] == unlike
    square = nearest(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [9.0, 9.0]]))
    assert square == pytest.approx([5 / np.sqrt(2)])


def test_a_hundred_thousand_sessions_are_quick() -> None:
    rng = np.random.default_rng(1)
    n, names = 100_000, tuple(f"f{k}" for k in range(18))
    keys = np.char.add("s", np.arange(n).astype(str))
    human, own = (Sample(rng.random((n, 18)), keys, keys, names) for _ in range(2))
    spec = get_specs("robust")[0]
    start = time.process_time()
    assert len(pick(human, own, unlike=3, typical=1, seed=7)[0]) == 3
    made = distribution(spec, human.values[:, 0], {"s": own.values[:, 0]})
    assert made.human.n == n
    assert time.process_time() - start < 5


def test_three_times_165_is_small_and_quick(tmp_path: Path) -> None:
    from usi.report.html import render as page
    from usi.report.report_data import read_beside
    from usi.scoring.scorecard import Scorecard

    made = make(tmp_path, tasks=165, simulators=("polite",), repeats=3)
    assert made.page.stat().st_size < 3 * 2**20
    found = Scorecard.read(made.card)
    assert found.simulators[0].n.sessions == found.human.n.sessions == 495
    start = time.process_time()
    page(found, beside=read_beside(made.card, found))
    assert time.process_time() - start < 5


def test_bins_made_of_neighbours_are_named_by_their_ends() -> None:
    from usi.report.figures.files import _merged

    assert _merged("0.00-0.20 + 0.20-0.40") == "0.00-0.40"
    assert _merged("0.00-0.20 + 0.40-0.60") == "0.00-0.20 + 0.40-0.60"
    assert _merged("gold + silver") == "gold + silver"
    assert _merged("0.80-1.00") == "0.80-1.00"
