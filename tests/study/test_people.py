"""The gauntlet's part of the study: from trials to rows, curves and the page."""

from __future__ import annotations

import json

import pytest
from helpers import ROOT
from study import page, real

from usi.audit.gauntlet import Trial
from usi.extraction.profile import get_feature_profile


def trial(name: str, verdict: str, *against: str, low: float = 90.0, high: float = 100.0) -> Trial:
    return Trial(
        draw=1,
        design="165x3x3",
        name=name,
        verdicts=dict.fromkeys("ABC", verdict),
        against={
            "B": tuple((name, state) for name, _, state in (a.rpartition(" ") for a in against))
        },
        numbers={"index": (95.0, low, high), "content": (None, None, None)},
    )


def test_a_row_counts_verdicts_and_what_stopped() -> None:
    trials = [
        trial("people", "PASS"),
        trial("people", "INCONCLUSIVE", "style inconclusive", low=80.0),
        trial("people", "FAIL", "style fail", "content fail", low=70.0),
    ]
    found = real.row(trials)
    assert found["draws"] == 3
    assert found["verdicts"]["B"] == {"PASS": 1, "INCONCLUSIVE": 1, "FAIL": 1}
    assert found["stops"]["B"] == {
        "style": {"fail": 1, "inconclusive": 1},
        "content": {"fail": 1, "inconclusive": 0},
    }
    assert found["numbers"]["index low"] == pytest.approx(80.0)
    assert "content value" not in found["numbers"]


def test_curves_run_from_people_to_the_model() -> None:
    designs = {
        "165x3x3": {
            name: real.row([trial(name, "PASS", *stops), trial(name, "PASS")])
            for name, stops in (
                ("people", ()),
                ("mix-10", ("style fail",)),
                ("model", ("style fail", "index fail")),
            )
        }
    }  # fmt: skip
    (mixed,) = page.with_mixtures({"designs": designs})["mixed"]
    assert mixed["shares"] == ["0 %", "10 %", "100 %"]
    assert [(line["part"], line["tier"]) for line in mixed["lines"]] == [
        ("index", "B"), ("style", "B"),
    ]  # fmt: skip
    assert mixed["lines"][0]["cells"] == ["0 % (95)", "0 % (95)", "50 % (95)"]
    assert mixed["lines"][1]["cells"] == ["0 %", "50 %", "50 %"]


def test_few_participants_count_bounds_below_100() -> None:
    work = real.Work(real.CORPORA[0], real.FEW_DESIGN.name, 0, few=3)
    rows = [[trial("few-3", "FAIL", high=99.0)], [trial("few-3", "PASS")]]
    people = real.people_of([], [])
    found = real.summary([work, work], rows, people)["few"]["3"]
    assert found == {"draws": 2, "below": {"index": {"n": 2, "below": 1}}, "fail_c": 1}


def test_cells_of_the_page() -> None:
    assert page.cell({"PASS": 2, "REFUSED": 1}, 3) == "2 / 0 / 0 (1 refused)"
    assert page.cell({}, 0) == "–"
    found = {"a": {"fail": 1, "inconclusive": 1}, "b": {"fail": 5, "inconclusive": 0}}
    assert page.stops(found) == "b 5, a 2"
    assert page.below_of({"n": 8, "below": 1}) == "1 of 8"
    assert page.below_of(None) == "–"


def test_numbers_of_an_earlier_profile_are_named_on_the_page() -> None:
    results = json.loads((ROOT / "docs" / "validation.json").read_text(encoding="utf-8"))
    kinds = list(results["studies"])
    tag = get_feature_profile("robust").tag
    old = page.render({**results, "profiles": dict.fromkeys(kinds, "robust@1")})
    assert f"until `make study` has run again: {', '.join(kinds)}." in old
    new = page.render({**results, "profiles": dict.fromkeys(kinds, tag)})
    assert "earlier profile" not in new
