"""Each sentence of the definition on numbers worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.errors import InputError, UsiError
from usi.scoring.published.calibration import (
    BIN_LABELS,
    bin_of,
    binned_gap,
    frozen,
    pooled,
    read_difficulty,
    success,
)
from usi.scoring.published.score import dice, index_of_batch, mean_sd
from usi.scoring.published.survey import agreement, instrument, published_rng

finite = st.floats(-1e6, 1e6)
FIELDS = (
    "task_success",
    "efficiency",
    "question_amount_preference",
    "answer_effort_time",
    "human_like",
    "interaction_flow",
    "overall_score",
    "reuse",
)


class TestDice:
    def test_values(self) -> None:
        assert dice(30.0, 10.0) == 0.5
        assert dice(0.0, 0.0) == 1.0
        assert dice(0.0, 1e-9) == 0.0
        assert dice(-2.0, 6.0) == 0.5

    @given(finite, finite)
    def test_bounds_symmetry_and_identity(self, h: float, m: float) -> None:
        assert 0 <= dice(h, m) <= 1
        assert dice(h, m) == dice(m, h)
        assert dice(h, h) == 1

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_a_missing_value_is_never_perfect(self, bad: float) -> None:
        with pytest.raises(UsiError):
            dice(bad, 1.0)
        with pytest.raises(UsiError):
            dice(1.0, bad)


class TestOutcome:
    def test_success(self) -> None:
        assert [success(r) for r in (1.0, 0.5, 1e-9, 0.0, -1.0, None)] == [1, 1, 1, 0, 0, 0]

    def test_bins_have_the_upper_cutoff_outside(self) -> None:
        rates = (0.0, 0.1999, 0.2, 0.4, 0.6, 0.7999, 0.8, 1.0)
        assert [bin_of(rate) for rate in rates] == [0, 0, 1, 2, 3, 3, 4, 4]

    def test_gap_by_hand(self) -> None:
        rates = {"a": 0.1, "b": 0.5, "c": 0.5, "d": 0.5, "e": 0.9}
        sim = {"a": 1, "b": 1, "c": 0, "d": 1, "only sim": 1, "e": 0}
        human = {"a": 0, "b": 0, "c": 0, "d": 1, "only human": 1, "e": 0, "no rate": 1}
        # bin 0: 1/5 |1 - 0|; bin 2: 3/5 |2/3 - 1/3|; bin 4: 1/5 |0 - 0|
        assert binned_gap(sim, human, rates) == pytest.approx(0.2 + 0.6 / 3)

    def test_no_common_task_gives_no_number(self) -> None:
        assert binned_gap({"a": 1}, {"a": 1}, {}) is None
        assert binned_gap({"a": 1}, {"b": 1}, {"a": 0.5, "b": 0.5}) is None

    def test_opposite_successes_in_one_bin_cancel_as_published(self) -> None:
        rates = {"a": 0.5, "b": 0.5}
        assert binned_gap({"a": 1, "b": 0}, {"a": 0, "b": 1}, rates) == 0.0

    def test_the_frozen_map_has_the_published_bins(self) -> None:
        rates = frozen().rates
        assert len(rates) == 165
        sizes = [0] * len(BIN_LABELS)
        for rate in rates.values():
            sizes[bin_of(rate)] += 1
        assert sizes == [4, 17, 37, 66, 41]
        retail = [bin_of(v) for k, v in rates.items() if k.startswith("retail_")]
        assert [retail.count(b) for b in range(5)] == [3, 13, 23, 49, 27]
        assert sum(rates.values()) / 165 == pytest.approx(0.6488, abs=5e-5)

    def test_a_pool_needs_ten_runs(self) -> None:
        runs = [{"a": float(k < 4), "b": 1.0} for k in range(9)]
        assert pooled(runs) == {}
        assert pooled([*runs, {"a": 1.0}]) == {"a": 0.5}


class TestDifficultyFile:
    @pytest.mark.parametrize("wrap", [True, False])
    def test_both_shapes(self, tmp_path: Path, wrap: bool) -> None:
        path = tmp_path / "d.json"
        rates = {"shop_1": 0, "shop_2": 0.25, "difficulty": 1}
        path.write_text(json.dumps({"difficulty": rates} if wrap else rates), encoding="utf-8")
        found = read_difficulty(path)
        assert found.rates == {"shop_1": 0.0, "shop_2": 0.25, "difficulty": 1.0}
        assert found.name.startswith("file@")

    @pytest.mark.parametrize(
        ("text", "where"),
        [
            ('{"a": 1.5}', "field a"),
            ('{"a": -0.1}', "field a"),
            ('{"a": "0.5"}', "field a"),
            ('{"a": true}', "field a"),
            ('{"a": null}', "field a"),
            ('{"a": NaN}', "it holds NaN, which is not a finite number"),
            ('{"difficulty": {"a": [1]}}', "field a"),
            ("[1, 2]", "expected"),
            ("{}", "expected"),
            ('{"a": 1', "can't be read as JSON"),
            ("", "can't be read as JSON"),
            ("[" * 100_000, "can't be read as JSON"),
        ],
    )
    def test_bad_values_are_named(self, tmp_path: Path, text: str, where: str) -> None:
        path = tmp_path / "d.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=where):
            read_difficulty(path)

    def test_an_absent_file_says_what_the_option_takes(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="frozen, self"):
            read_difficulty(tmp_path / "frosen")


class TestSurvey:
    def test_the_instrument(self) -> None:
        assert tuple(item.name for item in instrument()) == FIELDS
        assert [len(item.ordinals) for item in instrument()] == [5, 4, 3, 3, 3, 4, 5, 5]
        assert [item.distinct for item in instrument()][2] == [1, 2]

    def test_agreement_by_hand(self) -> None:
        human = {"task_success": "Yes - Task completed", "efficiency": "About right"}
        model = {"task_success": "No - Task failed", "efficiency": "About right"}
        # |3/4 - 0|, |2/3 - 2/3|
        assert agreement(human, model, published_rng()) == pytest.approx(62.5)

    def test_too_many_and_too_few_agree_as_published(self) -> None:
        field = "question_amount_preference"
        assert agreement({field: "Too many"}, {field: "Too few"}, published_rng()) == 100

    @pytest.mark.parametrize("answer", [None, "no answer", "yes", "", "Yes "])
    def test_items_that_people_did_not_answer_do_not_count(self, answer: str | None) -> None:
        rng = published_rng()
        human = {"human_like": answer, "reuse": "Maybe"}
        assert agreement(human, {"human_like": "No", "reuse": "Maybe"}, rng) == 100
        assert agreement({"human_like": answer}, {}, rng) is None
        assert agreement({}, {"reuse": "Yes"}, rng) is None
        # and nothing was drawn for them
        assert rng.integers(0, 1000) == np.random.default_rng(42).integers(0, 1000)

    @pytest.mark.parametrize("answer", [None, "no answer", "yes", 3, ["Yes"]])
    def test_missing_answers_are_drawn_in_field_order(self, answer: object) -> None:
        human = {
            "reuse": "Maybe",
            "task_success": "No - Task failed",
            "human_like": "Yes",
        }
        model = {"reuse": answer, "task_success": answer, "human_like": "Yes"}
        stream = np.random.default_rng(42)
        first = [1, 2, 3, 4, 5][stream.integers(0, 5)]
        second = [1, 2, 3, 4, 5][stream.integers(0, 5)]
        want = (1 - ((first - 1) / 4 + 0 + abs(0.5 - (second - 1) / 4)) / 3) * 100
        got = agreement(human, model, published_rng())  # type: ignore[arg-type]
        assert got == pytest.approx(want)

    def test_the_drawn_values_are_the_distinct_ordinals(self) -> None:
        field = "question_amount_preference"
        rng, stream = published_rng(), np.random.default_rng(42)
        for _ in range(20):
            drawn = [1, 2][stream.integers(0, 2)]
            assert agreement({field: "About right"}, {}, rng) == (100 if drawn == 2 else 0)


class TestIndex:
    def test_five_and_six_terms(self) -> None:
        dims = [90.0, 80.0, 70.0, 60.0]
        assert index_of_batch(dims, 0.25, None) == pytest.approx(375 / 5)
        assert index_of_batch(dims, 0.25, 45.0) == pytest.approx(420 / 6)

    def test_spread_is_that_of_the_population(self) -> None:
        assert mean_sd([1.0, 2.0, 6.0]) == (3.0, pytest.approx(math.sqrt(14 / 3)))
        assert mean_sd([5.0]) == (5.0, 0.0)
