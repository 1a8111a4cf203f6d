"""Each rule of the gate on hand-made scorecards, at and beside its boundary."""

from __future__ import annotations

from typing import Any

import pytest
from decisions.cards import (
    FIVE,
    Z,
    absent,
    auc,
    card,
    exact,
    human,
    index,
    part,
    share,
    simulator,
    wire,
)

from usi.decisions import Verdict, gate_scorecard, resolve, tier
from usi.errors import UsageError
from usi.estimate import Estimate, not_assessed
from usi.reasons import (
    FEW_SIMULATOR_SESSIONS,
    NO_OUTCOMES,
    NO_SURVEY,
    NO_VALID_ANSWER,
    TRACKING_ONE_BATCH,
    UNPAIRED_TRACKING,
    Reason,
)
from usi.scoring.scorecard import CopyShare, Index, Scorecard, Sizes, SubgroupScore


def run(change: dict[str, Any] | None = None, name: str = "B", **criteria: Any) -> Verdict:
    """Gate one simulator with fields changed."""
    rules = resolve({"tier": name, **criteria}) if criteria else tier(name)
    return gate_scorecard(card(simulator(**(change or {}))), rules)


def only(**components: Any) -> dict[str, Any]:
    return {"components": components}


def test_all_lower_bounds_above_is_pass() -> None:
    verdict = run()
    assert (verdict.verdict, verdict.exit_code) == ("PASS", 0)
    assert verdict.needed == ()


def test_pass_names_its_tightest_part() -> None:
    # index: 95 - 1.645 - 90 = 3.4 is the smallest distance to a minimum of tier B;
    # the success gap reaches to 0.05 of 0.10: 5 points, of 0.08: 3 points
    assert run().decided_by == ("index",)
    assert run(max_success_gap=0.08).decided_by == ("success_gap",)


@pytest.mark.parametrize(
    ("low", "expected"),
    [(86.0, "PASS"), (85.999999, "INCONCLUSIVE"), (86.000001, "PASS"), (86 - 1e-12, "PASS")],
)
def test_a_lower_bound_equal_to_its_minimum_passes(low: float, expected: str) -> None:
    verdict = run(only(information=exact(88.0, low, 93.0)))
    assert verdict.verdict == expected
    assert (verdict.decided_by == ("information",)) or expected == "PASS"


def test_an_upper_bound_below_its_minimum_is_fail() -> None:
    verdict = run(only(reaction=part(40.0)))
    assert (verdict.verdict, verdict.exit_code) == ("FAIL", 1)
    assert verdict.decided_by == ("reaction",)
    assert "75" in verdict.reasons[0].text


def test_minimums_catch_what_the_index_hides() -> None:
    # broken in outcome alone: the index 93 [91.4, 96.6] passes 90, outcome 70 fails 88
    verdict = run({"index": index(93.0), **only(outcome=part(70.0))})
    assert verdict.verdict == "FAIL"
    assert verdict.decided_by == ("outcome",)


def test_fail_is_corrected_by_holm() -> None:
    # upper bound of one component at 5 % is below 75 (p = 0.04), at 5 %/6 it is not
    z_at_p04 = 1.7506860712521692
    component = part(75 - 2.0 - z_at_p04, se=1.0, maxbias=2.0)
    assert component.high is not None
    assert component.high < 75
    verdict = run(only(reaction=component))
    assert verdict.verdict == "INCONCLUSIVE"
    assert verdict.decided_by == ("reaction",)
    assert "Holm" in verdict.reasons[0].text
    # at p = 0.05/6 it is one of six tests that may reject: z = 2.394
    assert run(only(reaction=part(75 - 2.0 - 2.3940, se=1.0))).verdict == "FAIL"
    assert run(only(reaction=part(75 - 2.0 - 2.3935, se=1.0))).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (share(0.0, -0.10, 0.10), "PASS"),
        (share(0.0, -0.1001, 0.10), "INCONCLUSIVE"),
        (share(0.09, 0.05, 0.13), "INCONCLUSIVE"),
        (share(0.15, 0.10, 0.20), "INCONCLUSIVE"),
        (share(0.15, 0.1001, 0.20), "FAIL"),
        (share(-0.15, -0.20, -0.1001), "FAIL"),
        (None, "INCONCLUSIVE"),
    ],
)
def test_success_gap(gap: Estimate | None, expected: str) -> None:
    verdict = run({"success_gap": gap})
    assert verdict.verdict == expected
    assert expected == "PASS" or verdict.decided_by == ("success_gap",)


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        ([auc(0.6, 0.5, 0.70)], "PASS"),
        ([auc(0.6, 0.5, 0.7001)], "INCONCLUSIVE"),
        ([auc(0.8, 0.7001, 0.9)], "FAIL"),
        ([auc(0.8, 0.70, 0.9)], "INCONCLUSIVE"),
        ([auc(0.5, 0.4, 0.6, sessions_per_side=299)], "INCONCLUSIVE"),
        ([auc(0.5, 0.4, 0.6, mode="fast")], "PASS"),
        ([auc(0.5, 0.4, 0.6, classifier="logistic")], "INCONCLUSIVE"),
        ([auc(0.39, 0.3, 0.45)], "INCONCLUSIVE"),
        ([auc(0.8, 0.7001, 0.9, sessions_per_side=150)], "FAIL"),
        ([], "INCONCLUSIVE"),
    ],
)
def test_two_sample_key_of_tier_a(tests: list[Any], expected: str) -> None:
    change = {"two_sample": tuple(tests), "index": index(97.0)}
    change |= only(**{name: part(97.0) for name in FIVE})
    verdict = run(change, "A")
    assert verdict.verdict == expected
    assert expected == "PASS" or verdict.decided_by == ("c2st",)


def test_two_sample_decides_at_b_and_is_nothing_at_c() -> None:
    change = {"two_sample": (auc(0.95, 0.9, 0.99),)}
    at_b, at_c = run(change, "B"), run(change, "C")
    assert (at_b.verdict, at_c.verdict) == ("FAIL", "PASS")
    assert at_b.decided_by == ("c2st",)
    assert not [c for c in at_c.simulators[0].checks if c.id == "c2st"]
    assert run({"two_sample": (auc(0.8, 0.7, 0.85),)}, "B").verdict == "PASS"


@pytest.mark.parametrize("key", ["task_tracking", "content_tracking", "turn_adjacency"])
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.40, 0.9, "PASS"), (0.39, 0.9, "INCONCLUSIVE"), (-0.1, 0.40, "INCONCLUSIVE"),
     (-0.1, 0.39, "FAIL")],
)  # fmt: skip
def test_tracking_keys_of_tier_b(key: str, low: float, high: float, expected: str) -> None:
    verdict = run({key: share((low + high) / 2, low, high)})
    assert verdict.verdict == expected
    assert expected == "PASS" or verdict.decided_by == (key,)


def test_words_far_closer_to_the_task_than_peoples_fail_a_and_b() -> None:
    aloud = {"content_tracking": share(1.9, 1.51, 2.3)}
    assert run(aloud, "B").decided_by == ("content_tracking_max",)
    assert run(aloud, "B").verdict == "FAIL"
    assert run({"content_tracking": share(1.5, 1.3, 1.7)}, "B").verdict == "INCONCLUSIVE"
    assert run(aloud, "C").verdict == "PASS"


def test_a_ratio_that_cannot_be_made_leaves_the_verdict_open_or_is_loosened() -> None:
    none = not_assessed(TRACKING_ONE_BATCH)
    verdict = run({"content_tracking": none})
    assert verdict.verdict == "INCONCLUSIVE"
    assert "one human batch" in verdict.reasons[0].text
    assert "two batches" in verdict.needed[0].text
    rules: dict[str, Any] = {"tracking": {"content": 0.0, "content_max": 99.0}}
    assert run({"content_tracking": share(0.2, 0.1, 0.3)}, "B", **rules).verdict == "PASS"


def test_tracking_has_no_meaning_where_tasks_differ() -> None:
    none = not_assessed(UNPAIRED_TRACKING)
    change = {"design": "unpaired", "task_tracking": none, "content_tracking": none}
    states = {c.id: c.state for c in run(change, "C").simulators[0].checks}
    assert states["task_tracking"] == states["content_tracking"] == "not_asked"
    assert states["turn_adjacency"] == "pass"


@pytest.mark.parametrize("key", ["copies", "self_copies"])
@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_copies_fail_every_tier(key: str, name: str) -> None:
    shares = [
        CopyShare(share=0.3, people=0.0, low=low, copies=90, sessions=300, alarm=low > 0.01)
        for low in (0.2, 0.0)
    ]
    change = {"index": index(97.0), **only(**{one: part(97.0) for one in FIVE})}
    verdict = run({**change, key: shares[0]}, name)
    assert verdict.verdict == "FAIL"
    assert verdict.decided_by == (key,)
    assert "it replays" in verdict.reasons[0].text
    assert run({**change, key: shares[1]}, name).verdict == "PASS"


@pytest.mark.parametrize(("name", "expected"), [("A", "FAIL"), ("B", "FAIL"), ("C", "PASS")])
def test_tripwire_alarm(name: str, expected: str) -> None:
    change = {"tripwires": (wire(True),), "two_sample": (auc(0.5, 0.4, 0.6),)}
    change |= {"index": index(97.0), **only(**{key: part(97.0) for key in FIVE})}
    verdict = run(change, name)
    assert verdict.verdict == expected
    assert run({**change, "tripwires": (wire(False),)}, name).verdict == "PASS"
    if name == "C":
        assert "warning" in {c.state for c in verdict.simulators[0].checks}
        assert "WARNING" in verdict.to_text()


def test_gaming_is_inconclusive_at_best() -> None:
    assert run({"gaming_suspected": True}).decided_by == ("gaming",)
    assert run({"gaming_suspected": True}).verdict == "INCONCLUSIVE"
    failing = {"gaming_suspected": True, **only(reaction=part(20.0))}
    assert run(failing).verdict == "FAIL"


@pytest.mark.parametrize(("name", "expected"), [("B", "FAIL"), ("C", "INCONCLUSIVE")])
def test_a_collapsed_simulator_never_passes(name: str, expected: str) -> None:
    verdict = run({"collapsed": True}, name)
    assert verdict.verdict == expected
    assert verdict.decided_by == ("collapsed",)
    assert "one average person" in verdict.to_text()


def test_required_component_not_assessed() -> None:
    verdict = run(only(outcome=absent(NO_OUTCOMES())))
    assert verdict.verdict == "INCONCLUSIVE"
    # the index without outcome is a mean of four: another quantity
    assert set(verdict.decided_by) == {"index", "outcome"}
    found = {check.id: check.reason for check in verdict.simulators[0].checks}
    assert found["outcome"] == NO_OUTCOMES()
    assert found["index"].code == "mean_of_fewer"


def test_a_component_may_be_left_out_when_the_criteria_say_so() -> None:
    rules: dict[str, Any] = {
        "require": {"components": ["conversation", "information", "clarification", "reaction"]}
    }
    change = {"success_gap": None, **only(outcome=absent())}
    verdict = run(change, "C", **rules)
    assert verdict.verdict == "PASS"
    assert "loosened: require.outcome" in verdict.criteria_label


def test_index_without_value_is_inconclusive() -> None:
    nothing = Index(
        value=None, status="not_assessed", reason=FEW_SIMULATOR_SESSIONS(have=12, least=50)
    )
    verdict = run({"index": nothing})
    assert verdict.verdict == "INCONCLUSIVE"
    assert "an index needs at least 50" in verdict.reasons[0].text


def test_fewer_tasks_than_asked_decides_nothing() -> None:
    few = {"n": Sizes(tasks=20, sessions=60, runs=3)}
    assert run(few).verdict == "INCONCLUSIVE"
    assert run({**few, **only(reaction=part(10.0))}).verdict == "INCONCLUSIVE"
    assert run({"n": Sizes(tasks=100, sessions=300)}, min_tasks=100).verdict == "PASS"
    assert run({"n": Sizes(tasks=99, sessions=297)}, min_tasks=100).decided_by == ("min_tasks",)


def unpaired(clusters: int = 108, people: int = 200, **change: Any) -> Scorecard:
    sim = simulator(
        design="unpaired",
        coverage=None,
        n=Sizes(tasks=0, sessions=400, clusters=clusters),
        **change,
    )
    return card(sim, human=human(n=Sizes(tasks=0, sessions=400, clusters=people)))


def test_unpaired_reaches_tier_c_at_most() -> None:
    assert gate_scorecard(unpaired(), tier("C")).verdict == "PASS"
    verdict = gate_scorecard(unpaired(), tier("B"))
    assert (verdict.verdict, verdict.decided_by) == ("INCONCLUSIVE", ("design", "c2st"))


@pytest.mark.parametrize(("sim", "people"), [(29, 200), (200, 29)])
def test_unpaired_with_few_clusters_decides_nothing(sim: int, people: int) -> None:
    bad = unpaired(sim, people, **only(conversation=part(5.0)))
    assert gate_scorecard(bad, tier("C")).verdict == "INCONCLUSIVE"
    # the rule holds whatever the criteria say
    assert gate_scorecard(bad, resolve({"minimum": {"conversation": 50}})).verdict == "INCONCLUSIVE"
    enough = unpaired(30, 30, **only(outcome=part(5.0)))
    assert gate_scorecard(enough, tier("C")).verdict == "FAIL"


@pytest.mark.parametrize("name", ["conversation", "information", "clarification", "reaction"])
def test_behaviour_on_other_tasks_never_fails_and_says_so_first(name: str) -> None:
    verdict = gate_scorecard(unpaired(**only(**{name: part(5.0)})), tier("C"))
    assert verdict.verdict == "INCONCLUSIVE"
    assert verdict.decided_by == ("task_mix", name)
    assert "different tasks" in verdict.reasons[0].text
    assert name in verdict.reasons[0].text


@pytest.mark.parametrize("name", ["clarification", "reaction"])
def test_scores_that_follow_a_script_never_fail(name: str) -> None:
    paired = run(only(**{name: part(5.0)}), "C")
    assert paired.verdict == "FAIL"
    scripted = run(only(**{name: part(5.0, decides_fail=False)}), "C")
    assert scripted.verdict == "INCONCLUSIVE"


def test_scorecard_reasons_for_no_verdict_override() -> None:
    why = Reason("made_up", "both sides share one annotator")
    change = {"inconclusive": (why,), **only(reaction=part(5.0))}
    verdict = run(change)
    assert verdict.verdict == "INCONCLUSIVE"
    assert verdict.reasons[0].text == "both sides share one annotator"


def test_tier_limit_of_the_scorecard() -> None:
    assert run({"tier_limit": "C"}, "B").decided_by == ("design",)
    assert run({"tier_limit": "B"}, "B").verdict == "PASS"


def test_t_quantile_where_the_card_has_degrees_of_freedom() -> None:
    # t with 29 df: 95 % quantile 1.69913; the lower bound is what is printed
    wide = part(76.5, q=1.6991270265334977, df=29.0)
    change = {"components": {"information": wide}}
    verdict = gate_scorecard(unpaired(**change), tier("C"))
    check = next(c for c in verdict.simulators[0].checks if c.id == "information")
    assert check.low == pytest.approx(76.5 - 1.6991270265334977)
    assert verdict.verdict == "INCONCLUSIVE"
    family = gate_scorecard(unpaired(**change), resolve({"tier": "C", "family_size": 5}))
    check = next(c for c in family.simulators[0].checks if c.id == "information")
    # 99 % quantile of t with 29 df (tables): 2.462
    assert check.low == pytest.approx(76.5 - 2.462, abs=1e-3)


def test_family_size_takes_alpha_over_m() -> None:
    # 95 - 1.645 x 3 = 90.07 reaches 88; at 5 %/10 (z = 2.5758) 95 - 7.73 = 87.27 does not
    change = only(outcome=part(95.0, se=3.0))
    assert run(change).verdict == "PASS"
    verdict = run(change, family_size=10)
    assert (verdict.verdict, verdict.decided_by) == ("INCONCLUSIVE", ("outcome",))
    check = next(c for c in verdict.simulators[0].checks if c.id == "outcome")
    assert check.low == pytest.approx(95 - 3 * 2.5758293035489004)


def survey(
    kappa: Any, people: Any = 0.4, bias: Any = (0.0, -0.05, 0.05), answered: float = 1.0
) -> Any:
    return {
        **only(survey=part(80.0)),
        "survey_kappa": share(*kappa),
        "human_kappa": None if people is None else Estimate(value=people, unit="kappa"),
        "survey_bias": share(*bias),
        "survey_answered": Estimate(value=answered, unit="share"),
    }


@pytest.mark.parametrize(
    ("change", "expected", "decides"),
    [
        (survey((0.3, 0.2, 0.4)), "PASS", None),
        (survey((0.3, 0.1999, 0.4)), "INCONCLUSIVE", "survey_kappa"),
        (survey((0.05, -0.1, 0.1999)), "FAIL", "survey_kappa"),
        (survey((0.3, 0.25, 0.4), people=None), "INCONCLUSIVE", "survey_kappa"),
        # Where people agree by chance alone, half their agreement is no bar to clear.
        (survey((0.3, 0.25, 0.4), people=0.0), "INCONCLUSIVE", "survey_kappa"),
        (survey((0.3, 0.25, 0.4), people=-0.1), "INCONCLUSIVE", "survey_kappa"),
        (survey((0.3, 0.25, 0.4), bias=(0.08, 0.05, 0.11)), "INCONCLUSIVE", "survey_bias"),
        (survey((0.3, 0.25, 0.4), bias=(0.2, 0.15, 0.25)), "FAIL", "survey_bias"),
        (survey((0.3, 0.25, 0.4), answered=0.89), "INCONCLUSIVE", "survey_answered"),
        (survey((0.3, 0.25, 0.4), answered=0.90), "PASS", None),
    ],
)
def test_survey_key(change: Any, expected: str, decides: str | None) -> None:
    verdict = run(change)
    assert verdict.verdict == expected
    assert decides is None or verdict.decided_by == (decides,)
    assert run(change, "C").verdict == "PASS"  # no survey key at tier C


def test_survey_key_is_asked_only_where_a_survey_exists() -> None:
    assert not [c for c in run().simulators[0].checks if c.id.startswith("survey")]
    nothing = not_assessed(NO_SURVEY, unit="share")
    fields = ("survey_kappa", "human_kappa", "survey_bias", "survey_answered")
    verdict = run(dict.fromkeys(fields, nothing))
    assert verdict.verdict == "PASS"
    assert not [c for c in verdict.simulators[0].checks if c.id.startswith("survey")]


def test_answering_nothing_does_not_evade_the_survey_key() -> None:
    nothing = not_assessed(NO_VALID_ANSWER, unit="share")
    fields = ("survey_kappa", "human_kappa", "survey_bias")
    silent = Estimate(value=0.0, unit="share")
    verdict = run({**dict.fromkeys(fields, nothing), "survey_answered": silent})
    assert verdict.verdict == "INCONCLUSIVE"
    assert verdict.decided_by[0] == "survey_answered"


def test_subgroups() -> None:
    groups = tuple(
        SubgroupScore(
            by="domain", value=name, index=Estimate(value=v, low=v - 3, high=v + 5), tasks=80
        )
        for name, v in (("retail", 90.0), ("airline", 60.0))
    )
    rule: dict[str, Any] = {"subgroup": [{"by": "domain", "minimum": 80}]}
    verdict = run({"subgroups": groups}, **rule)
    assert (verdict.verdict, verdict.decided_by) == ("FAIL", ("subgroup.domain.airline.index",))
    assert run({"subgroups": groups[:1]}, **rule).verdict == "PASS"
    missing = run({}, **rule)
    assert (missing.verdict, missing.decided_by) == ("INCONCLUSIVE", ("subgroup.domain",))


def test_expiry_counts_to_the_day_that_is_given() -> None:
    rules = resolve({"tier": "B", "max_age_days": 90})

    def verdict(as_of: str | None, scored: str | None) -> Verdict:
        return gate_scorecard(card(), rules, as_of, scored_on=scored)

    assert verdict("2026-04-01", "2026-01-01").verdict == "PASS"  # 90 days
    expired = verdict("2026-04-02", "2026-01-01")
    assert (expired.verdict, expired.decided_by) == ("INCONCLUSIVE", ("max_age_days",))
    assert verdict("2026-04-02", None).verdict == "INCONCLUSIVE"
    with pytest.raises(UsageError, match="--as-of"):
        verdict(None, "2026-01-01")
    with pytest.raises(UsageError, match="before the day of scoring"):
        verdict("2025-12-31", "2026-01-01")
    with pytest.raises(UsageError, match="is not a date"):
        verdict("yesterday", "2026-01-01")


@pytest.mark.parametrize(("value", "code"), [("inconclusive", 3), ("fail", 1), ("pass", 0)])
def test_on_inconclusive_maps_the_exit_code_visibly(value: str, code: int) -> None:
    verdict = run({"gaming_suspected": True}, on_inconclusive=value)
    assert (verdict.verdict, verdict.exit_code) == ("INCONCLUSIVE", code)
    assert (verdict.exit_code_note is None) == (code == 3)
    assert f"exit code {code}" in verdict.to_text()
    assert code == 3 or "on_inconclusive" in verdict.to_text()
    assert run({}, on_inconclusive=value).exit_code == 0


def test_a_scorecard_without_bounds_is_a_usage_error() -> None:
    published = card(profile="tau-usi")
    with pytest.raises(UsageError, match="--profile robust"):
        gate_scorecard(published, tier("B"))
    bare = {name: Estimate(value=90.0).model_dump() for name in FIVE}
    sim = simulator(
        components={k: exact(90.0, None, None) for k in bare},  # type: ignore[arg-type]
        index=Index(value=90.0, name="USI-R"),
    )
    with pytest.raises(UsageError, match="no bounds"):
        gate_scorecard(card(sim), tier("B"))


def test_several_simulators_give_the_worst_verdict() -> None:
    good, bad = simulator("good"), simulator("bad", components={"reaction": part(10.0)})
    unsure = simulator("unsure", gaming_suspected=True)
    both = gate_scorecard(card(good, unsure), tier("B"))
    assert (both.verdict, both.exit_code) == ("INCONCLUSIVE", 3)
    every = gate_scorecard(card(unsure, good, bad), tier("B"))
    assert (every.verdict, every.exit_code) == ("FAIL", 1)
    assert every.decided_by == ("bad: reaction",)
    assert [part_.verdict for part_ in every.simulators] == ["INCONCLUSIVE", "PASS", "FAIL"]
    assert any("family_size" in warning.text for warning in every.warnings)
    assert gate_scorecard(card(good, bad), tier("B"), simulator="good").verdict == "PASS"
    with pytest.raises(UsageError, match="did you mean 'good'"):
        gate_scorecard(card(good, bad), tier("B"), simulator="goood")


def test_no_simulator_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no simulator"):
        gate_scorecard(card().model_copy(update={"simulators": ()}), tier("B"))


def test_synthetic_data_are_called_synthetic() -> None:
    verdict = gate_scorecard(card(synthetic=True), tier("B"))
    assert verdict.synthetic
    assert "synthetic" in verdict.to_text()


def test_needed_tasks_follow_from_the_noise() -> None:
    # SE 4 at 165 tasks, true score about 95 without bias, minimum 88: 80 % power needs
    # SE <= 7 / (1.645 + 0.842), that is (4 x 2.487 / 7)^2 = 2.019 times the tasks
    verdict = run(only(outcome=part(95.0, se=4.5, maxbias=0.0, corrected=95.0)))
    need = next(n for n in verdict.needed if n.kind == "tasks")
    assert need.now == 165
    assert need.amount == pytest.approx(165 * (4.5 * 2.4865 / 7) ** 2, abs=2)


def test_needed_says_when_nothing_helps() -> None:
    verdict = run(only(outcome=part(86.5, se=1.0, corrected=87.0)))
    assert verdict.verdict == "INCONCLUSIVE"
    assert [need.kind for need in verdict.needed] == ["nothing"]
    # an open part may be noise: what is said of it holds under a condition
    assert "if the true" in verdict.needed[0].text
    assert "mend the simulator" in verdict.needed[0].text


def test_needed_says_whether_runs_alone_help() -> None:
    # 3 batches x 3 runs: noise 1/3 + 1/3; with endless runs 1/3, so at most half the variance
    little = run(only(outcome=part(93.6, se=3.5, maxbias=0.0, corrected=93.6)))
    kinds = {need.kind: need for need in little.needed}
    # factor (3.5 x 2.4865 / 5.6)^2 = 2.415: runs alone halve the variance at most
    assert "runs" not in kinds
    assert kinds["nothing"].text.startswith("outcome: more runs alone")
    change = only(outcome=part(93.6, se=3.5, maxbias=0.0, corrected=93.6))
    some = run({"n": Sizes(tasks=165, sessions=165, runs=1), **change})
    need = next(n for n in some.needed if n.kind == "runs")
    # 3 batches x 1 run: 1/R = (1/3 + 1)/2.415 - 1/3 = 0.219, so R = 5
    assert (need.amount, need.now) == (5, 1)


def test_z_of_the_cards_is_the_gates() -> None:
    verdict = run(only(outcome=part(95.0, se=4.5)))
    check = next(c for c in verdict.simulators[0].checks if c.id == "outcome")
    assert check.low == pytest.approx(95 - Z * 4.5)


def test_a_verdict_says_that_tasks_differ_and_what_the_reference_is() -> None:
    assert "tasks of the two sides differ" in gate_scorecard(unpaired(), tier("C")).to_text()
    reference = card(human=human(is_human=False))
    assert "not human" in gate_scorecard(reference, tier("B")).to_text()


def test_needed_names_the_absent_component_once() -> None:
    verdict = run(only(outcome=absent(NO_OUTCOMES())))
    assert [need.part for need in verdict.needed] == ["outcome"]
    assert "no outcomes" in verdict.needed[0].text
