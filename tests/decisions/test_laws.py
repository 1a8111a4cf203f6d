"""Laws of the decision that hold for every scorecard."""

from __future__ import annotations

from typing import Any

from decisions.cards import FIVE, auc, card, index, part, share, simulator, wire
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.decisions import Verdict, gate_scorecard, resolve, tier
from usi.decisions.bounds import Bounded, holm
from usi.decisions.verdict import EXIT_CODES, ON_INCONCLUSIVE
from usi.scoring.scorecard import Scorecard

RANK = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}


@st.composite
def studies(draw: st.DrawFn) -> dict[str, Any]:
    """Fields of a simulator, anywhere from far below the minimums to far above."""
    scores = {
        name: (draw(st.floats(40, 100)), draw(st.floats(0.1, 6)), draw(st.floats(0, 8)))
        for name in (*FIVE, "index")
    }
    middle = draw(st.floats(-0.2, 0.2))
    half = draw(st.floats(0.0, 0.15))
    return {
        "scores": scores,
        "gap": (middle, middle - half, middle + half),
        "gaming": draw(st.booleans()),
        "alarm": draw(st.booleans()),
        "auc": draw(st.floats(0.5, 0.9)),
    }


def build(study: dict[str, Any], shift: float = 0.0) -> Scorecard:
    scores = {k: (min(100.0, v + shift), se, bias) for k, (v, se, bias) in study["scores"].items()}
    return card(
        simulator(
            components={name: part(*scores[name]) for name in FIVE},
            index=index(*scores["index"]),
            success_gap=share(*study["gap"]),
            gaming_suspected=study["gaming"],
            tripwires=(wire(study["alarm"]),),
            two_sample=(auc(study["auc"], study["auc"] - 0.05, study["auc"] + 0.05),),
        )
    )


@settings(max_examples=150, deadline=None)
@given(studies(), st.floats(0, 30), st.sampled_from("ABC"))
def test_raising_scores_never_makes_the_verdict_worse(
    study: dict[str, Any], shift: float, name: str
) -> None:
    before = gate_scorecard(build(study), tier(name))
    after = gate_scorecard(build(study, shift), tier(name))
    assert RANK[after.verdict] >= RANK[before.verdict]


@settings(max_examples=150, deadline=None)
@given(studies(), st.sampled_from("ABC"), st.integers(1, 10))
def test_a_larger_family_never_helps(study: dict[str, Any], name: str, family: int) -> None:
    one = gate_scorecard(build(study), tier(name))
    many = gate_scorecard(build(study), resolve({"tier": name, "family_size": family}))
    assert RANK[many.verdict] <= RANK[one.verdict]


@settings(max_examples=150, deadline=None)
@given(studies())
def test_a_lower_tier_never_asks_more(study: dict[str, Any]) -> None:
    found = [gate_scorecard(build(study), tier(name)) for name in "ABC"]
    ranks = [RANK[verdict.verdict] for verdict in found]
    assert ranks == sorted(ranks)


def consistent(verdict: Verdict, mapping: str) -> None:
    states = {check.state for check in verdict.simulators[0].checks}
    if verdict.verdict == "PASS":
        assert states <= {"pass", "warning", "not_asked"}
        assert not verdict.needed
    if verdict.verdict == "FAIL":
        assert "fail" in states
    if verdict.verdict == "INCONCLUSIVE":
        assert "inconclusive" in states
        assert verdict.needed
        assert verdict.exit_code == ON_INCONCLUSIVE[mapping]
    else:
        assert verdict.exit_code == EXIT_CODES[verdict.verdict]
    assert verdict.decided_by
    assert set(verdict.decided_by) <= {check.id for check in verdict.simulators[0].checks}
    assert Verdict.model_validate_json(verdict.to_json()) == verdict


@settings(max_examples=150, deadline=None)
@given(studies(), st.sampled_from("ABC"), st.sampled_from(sorted(ON_INCONCLUSIVE)))
def test_verdict_and_exit_code_agree(study: dict[str, Any], name: str, mapping: str) -> None:
    rules = resolve({"tier": name, "on_inconclusive": mapping})
    verdict = gate_scorecard(build(study), rules)
    consistent(verdict, mapping)
    assert verdict.to_json() == gate_scorecard(build(study), rules).to_json()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.2))
def test_holm_lies_between_bonferroni_and_no_correction(p: list[float], alpha: float) -> None:
    rejected = holm(p, alpha)
    for value, out in zip(p, rejected, strict=True):
        assert out or value > alpha / len(p)
        assert not out or value <= alpha
    if any(rejected):
        assert min(p) <= alpha / len(p)


def test_holm_by_hand() -> None:
    # sorted: .005 <= .05/4, .011 <= .05/3, .02 <= .05/2, .04 <= .05
    assert holm([0.04, 0.005, 0.02, 0.011]) == [True, True, True, True]
    # .03 > .05/2 stops; .04 is not looked at
    assert holm([0.04, 0.005, 0.03, 0.011]) == [False, True, False, True]
    assert holm([]) == []


@given(st.floats(0, 100), st.floats(0.01, 10), st.floats(0, 10), st.floats(0, 100))
def test_p_value_agrees_with_the_printed_bound(
    value: float, se: float, bias: float, minimum: float
) -> None:
    high = min(100.0, value + bias + 1.6448536269514722 * se)
    bound = Bounded(value, value - 1.6448536269514722 * se, high, se, bias)
    assert (bound.p_below(minimum) <= 0.05) == (high < minimum - 1e-9)
