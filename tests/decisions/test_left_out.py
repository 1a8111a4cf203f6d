"""Nothing hidden from the comparison: sessions left out, and a survey that nobody answered."""

from __future__ import annotations

import pytest
from decisions.cards import absent, card, simulator
from decisions.test_laws import RANK, build, studies
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.decisions import gate_scorecard, resolve, tier
from usi.reasons import (
    CASE_NOT_ENDED,
    INFRASTRUCTURE,
    KEEP_NOT_TRUE,
    LANGUAGE_UNREAD,
    NO_COUNTERPART,
    NO_RATED_OUTCOME,
    NO_SESSION_OF_TASK,
    NO_SURVEY,
    NO_SURVEY_FILES,
    NO_TASK,
    REFUSED_RIGHTLY,
    SILENT_AGENT,
    TURN_REPAIRED,
    Reason,
)
from usi.scoring.scorecard import LeftOut, Scorecard

CAUSES = (
    INFRASTRUCTURE(),
    KEEP_NOT_TRUE(),
    NO_TASK(),
    LANGUAGE_UNREAD(language="xx"),
    NO_RATED_OUTCOME(),
    SILENT_AGENT(),
    NO_SESSION_OF_TASK(),
)


def left(*pairs: tuple[Reason, int]) -> tuple[LeftOut, ...]:
    return tuple(LeftOut(reason=reason, count=count) for reason, count in pairs)


def with_left_out(found: Scorecard, side: str, *pairs: tuple[Reason, int]) -> Scorecard:
    """The card with these counts on one side; its scores stay."""
    if side == "people":
        people = found.human.model_copy(update={"left_out": left(*pairs)})
        return found.model_copy(update={"human": people})
    own = found.simulators[0].model_copy(update={"left_out": left(*pairs)})
    return found.model_copy(update={"simulators": (own,)})


@settings(max_examples=150, deadline=None)
@given(
    studies(),
    st.sampled_from("ABC"),
    st.sampled_from(["simulator", "people"]),
    st.lists(
        st.tuples(st.sampled_from(CAUSES), st.integers(0, 60), st.integers(0, 60)),
        min_size=1,
        max_size=5,
        unique_by=lambda entry: entry[0],
    ),
)
def test_leaving_more_out_never_improves_a_verdict(study, name, side, counts) -> None:
    scored = build(study)
    before = with_left_out(scored, side, *((cause, n) for cause, n, _ in counts))
    after = with_left_out(scored, side, *((cause, n + more) for cause, n, more in counts))
    first, second = (gate_scorecard(found, tier(name)).verdict for found in (before, after))
    assert RANK[second] <= RANK[first] <= RANK[gate_scorecard(scored, tier(name)).verdict]


@pytest.mark.parametrize("name", "ABC")
@pytest.mark.parametrize("side", ["simulator", "people"])
@pytest.mark.parametrize("cause", CAUSES)
def test_every_tier_and_side_names_cause_count_and_share(name, side, cause) -> None:
    # 495 sessions are compared: 55 of 550 are 10 % left out, of 495 they are 11.1 %.
    verdict = gate_scorecard(with_left_out(card(), side, (cause, 55)), tier(name))
    assert (verdict.verdict, verdict.decided_by) == ("INCONCLUSIVE", (f"left_out.{side}",))
    (reason,) = verdict.reasons
    assert reason.text.startswith(f"{side}: 55 of ")
    of_all = cause in (*CAUSES[:3], NO_SESSION_OF_TASK())
    assert ("10.0%" if of_all else "11.1%") in reason.text
    (need,) = verdict.needed
    assert need.part == f"left_out.{side}"


def test_causes_add_up_around_the_limit() -> None:
    scored = card()
    at = with_left_out(scored, "simulator", (INFRASTRUCTURE(), 14), (KEEP_NOT_TRUE(), 12))
    over = with_left_out(scored, "simulator", (INFRASTRUCTURE(), 15), (KEEP_NOT_TRUE(), 12))
    assert gate_scorecard(at, tier("B")).verdict == "PASS"  # 26 of 521 are 4.99 %
    found = gate_scorecard(over, tier("B"))  # 27 of 522 are 5.17 %
    assert found.verdict == "INCONCLUSIVE"
    assert (
        "27 of 522 sessions left out (15 infrastructure error, 12 keep mark"
        in found.reasons[0].text
    )


@pytest.mark.parametrize(
    "harmless",
    [TURN_REPAIRED(kind="stop"), REFUSED_RIGHTLY(), NO_COUNTERPART(), CASE_NOT_ENDED()],
)
def test_what_hides_no_session_is_not_counted(harmless) -> None:
    assert (
        gate_scorecard(with_left_out(card(), "simulator", (harmless, 400)), tier("B")).verdict
        == "PASS"
    )


def test_the_limit_can_be_loosened_and_the_verdict_names_it() -> None:
    hidden = with_left_out(card(), "simulator", (INFRASTRUCTURE(), 55))
    loose = gate_scorecard(hidden, resolve({"tier": "B", "max_left_out": 0.2}))
    assert loose.verdict == "PASS"
    assert "loosened: max_left_out" in loose.criteria_label
    none = gate_scorecard(hidden, resolve({"tier": "B", "max_left_out": 1}))
    assert (none.verdict, none.criteria_label) == ("PASS", "tier B (loosened: max_left_out)")
    assert resolve({"tier": "B", "max_left_out": 0.01}).changes() == ([], ["max_left_out"])


@pytest.mark.parametrize(
    ("name", "verdict"), [("A", "INCONCLUSIVE"), ("B", "INCONCLUSIVE"), ("C", "PASS")]
)
def test_people_answered_a_survey_and_the_simulator_none(name, verdict) -> None:
    unanswered = card(simulator(components={"survey": absent(NO_SURVEY_FILES())}))
    found = gate_scorecard(unanswered, tier(name))
    assert found.verdict == verdict
    if verdict != "PASS":
        assert found.decided_by == ("survey",)
        assert found.reasons[0].text.startswith("people answered a survey: ")
    nobody = card(simulator(components={"survey": absent(NO_SURVEY())}))
    assert gate_scorecard(nobody, tier(name)).verdict == "PASS"
