"""pass^k, corrected success and agent ranking against hand values and simulations."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from math import prod

import numpy as np
import pytest
from helpers import shared

from usi.decisions.agents import rank_agents, taus
from usi.decisions.correct import corrected_success
from usi.decisions.outcomes import Outcomes, Trial, collect, read_outcomes
from usi.decisions.passk import crossed_pass_k, elementary_symmetric, pass_hat_k, pass_k
from usi.errors import NotScorable
from usi.reasons import FEW_TRIALS
from usi.records import Outcome, Session
from usi.report.success import corrected_tables


def outcomes(successes: dict[str, list[int]], label: str = "x") -> Outcomes:
    return Outcomes(label, {task: [Trial(s) for s in ss] for task, ss in successes.items()})


def test_pass_hat_k_is_the_share_of_k_subsets_that_all_succeed():
    results = [1, 1, 0, 1, 0]
    for k in range(1, 6):
        subsets = list(combinations(results, k))
        assert pass_hat_k(3, 5, k) == pytest.approx(sum(map(prod, subsets)) / len(subsets))


def test_pass_hat_k_does_not_shrink_k():
    with pytest.raises(ValueError, match="at least 5 trials"):
        pass_hat_k(1, 4, 5)


def test_pass_k_over_tasks_by_hand():
    found = pass_k(outcomes({"a": [1, 1, 1, 0], "b": [1, 1, 1, 1]}), (1, 2, 8))
    assert found.values[1].value == pytest.approx((0.75 + 1) / 2)
    assert found.values[2].value == pytest.approx((0.5 + 1) / 2)
    assert found.values[8].status == "not_assessed"
    assert found.values[1].low <= found.values[1].value <= found.values[1].high
    assert "mixes agent and simulator variance" in found.note


def test_uneven_trials_are_undefined_and_the_rest_stands_beside():
    found = pass_k(outcomes({"a": [1, 1], "b": [1, 0], "c": [1]}), (1, 2))
    assert found.values[2].reason == FEW_TRIALS(few=1, tasks=3, k=2)
    assert found.enough[2].value == pytest.approx((1 + 0) / 2)
    assert found.trials_range == (1, 2)


def test_plug_in_would_be_biased_and_this_is_not():
    rng = np.random.default_rng(0)
    drawn = {f"t{i}": rng.binomial(1, 0.7, 4).tolist() for i in range(20000)}
    value = pass_k(outcomes(drawn), (4,), replicates=10).values[4].value
    assert value == pytest.approx(0.7**4, abs=0.01)  # the plug-in gives .386 for a true .240


def test_elementary_symmetric_by_definition():
    row = np.array([0.2, 0.5, 0.9, 1.0])
    for k in range(1, 5):
        expected = sum(prod(c) for c in combinations(row, k))
        assert elementary_symmetric(row[None], k)[0] == pytest.approx(expected)


def test_crossed_design_by_hand():
    # One user always succeeds, the other never: same-script pass^2 = 1/2, cross-script = 0.
    grid = np.array([[[1, 1], [0, 0]]] * 3, dtype=float)
    found = crossed_pass_k(grid, (2, 3))
    assert (found.same[2].value, found.cross[2].value, found.drop[2].value) == (0.5, 0.0, 0.5)
    assert found.user_share.value == pytest.approx(1.0)
    assert found.drop[3].status == "not_assessed"


def test_without_user_variance_the_drop_is_about_zero():
    rng = np.random.default_rng(1)
    rates = rng.uniform(0.2, 0.9, (4000, 1, 1))
    grid = (rng.uniform(size=(4000, 4, 4)) < rates).astype(float)
    found = crossed_pass_k(grid, (4,), replicates=200)
    # True drop 0; the sd of the mean over 4,000 tasks is below .005.
    assert found.drop[4].value == pytest.approx(0.0, abs=0.02)
    assert found.user_share.value < 0.02


def test_seeds_in_the_metadata_make_the_design_crossed():
    sessions = [
        Session(
            session_id=f"{t}-{u}-{a}",
            task_id=str(t),
            outcome=Outcome(reward=float(u == 0)),
            meta={"user_seed": u, "agent_seed": a},
        )
        for t in range(3)
        for u in range(2)
        for a in range(2)
    ]
    found = pass_k(collect(sessions, label="x"), (2,))
    assert found.crossed is not None
    assert found.crossed.drop[2].value == 0.5
    twice = pass_k(collect([*sessions, sessions[0]], label="x"), (2,))
    assert twice.crossed is None
    assert "twice" in twice.note


def test_failed_runs_null_rewards_and_unnamed_tasks_are_counted():
    sessions = [
        Session(session_id="a", task_id="1", domain="airline", outcome=Outcome(reward=0.5)),
        Session(session_id="b", task_id="1", domain="airline", status="failed"),
        Session(session_id="c", task_id="1", domain="airline"),
        Session(session_id="d", layout="tau-bench", outcome=Outcome(reward=1.0)),
    ]
    found = collect(sessions, label="x", threshold=0.5)
    assert found.trials == {"airline_1": [Trial(1)]}
    assert Counter(found.left_out) == {"failed": 1, "no reward": 1, "no task id": 1}


def test_an_identical_simulator_is_corrected_to_its_own_mean():
    rng = np.random.default_rng(2)
    rates = {f"t{i:03d}": rng.binomial(1, 0.6, 3).tolist() for i in range(100)}
    people = {task: rates[task] for task in list(rates)[:40]}
    found = corrected_success(outcomes(rates), outcomes(people))
    assert found.weight == pytest.approx(1.0)
    assert found.corrected.value == pytest.approx(np.mean([np.mean(v) for v in rates.values()]))
    assert found.sd_corrected < found.sd_humans_alone


def test_correction_removes_a_constant_bias_and_bounds_cover_the_truth():
    rng = np.random.default_rng(3)
    covered, errors = 0, []
    for study in range(60):
        p = rng.beta(2, 1.5, 165)
        sim = {f"t{i:03d}": rng.binomial(1, min(1, p[i] + 0.12), 10).tolist() for i in range(165)}
        people = {f"t{i:03d}": rng.binomial(1, p[i], 3).tolist() for i in range(0, 165, 4)}
        found = corrected_success(outcomes(sim), outcomes(people), replicates=300, seed=study)
        errors.append(found.corrected.value - p.mean())
        covered += found.corrected.low <= p.mean() <= found.corrected.high
    assert np.mean(errors) == pytest.approx(0.0, abs=0.025)  # the simulator alone is .1 too high
    assert covered >= 46  # nominal 90 %; 85 % less three Monte-Carlo sds


def test_people_on_the_hardest_or_easiest_tasks_are_told_and_the_bounds_still_hold():
    """40 of 165 tasks by their true difficulty; ten runs a task, a simulator .12 too good."""
    for hardest in (True, False):
        covered = told = 0
        for study in range(25):
            rng = np.random.default_rng([study, int(hardest)])
            p = rng.beta(2, 1.5, 165)
            order = np.argsort(p if hardest else -p)
            sim = {f"t{i}": rng.binomial(1, min(1, p[i] + 0.12), 10).tolist() for i in range(165)}
            people = {f"t{i}": rng.binomial(1, p[i], 3).tolist() for i in order[:40]}
            found = corrected_success(outcomes(sim), outcomes(people), replicates=200, seed=study)
            covered += found.corrected.low <= p.mean() <= found.corrected.high
            told += found.selection.high < 0 if hardest else found.selection.low > 0
            assert found.empty > 0.1
        assert told == 25
        assert covered >= 20  # nominal 90 %, less two standard deviations
        assert "NOT A RANDOM SAMPLE" in " ".join(corrected_tables(found)[0].notes)


def test_a_mean_over_strata_by_hand():
    """Half of the tasks at simulated .2, half at .8; people did 15 of those and 5 of these."""
    sim = {f"a{k}": [1, 0, 0, 0, 0] for k in range(20)} | {
        f"b{k}": [1, 1, 1, 1, 0] for k in range(20)
    }
    people = {f"a{k}": [int(k < 6)] for k in range(15)} | {f"b{k}": [int(k < 4)] for k in range(5)}
    found = corrected_success(outcomes(sim), outcomes(people))
    # .4 and .8 in the strata, each half of the tasks; people alone 10 of 20
    assert (found.strata, found.empty) == (2, 0.0)
    assert found.corrected.value == pytest.approx(0.6)
    assert found.humans_alone.value == pytest.approx(0.5)
    # 15 at .2 and 5 at .8 are .35, against .5 of all
    assert found.selection.value == pytest.approx(-0.15)


def test_an_unrelated_simulator_gets_no_weight():
    rng = np.random.default_rng(4)
    sim = {f"t{i:04d}": [int(rng.integers(2))] for i in range(2000)}
    people = {task: [int(rng.integers(2))] for task in list(sim)[:1000]}
    assert corrected_success(outcomes(sim), outcomes(people)).weight < 0.1


def test_correction_refuses_what_it_cannot_do():
    few = outcomes({f"t{i}": [1] for i in range(5)})
    with pytest.raises(NotScorable, match="at least 10"):
        corrected_success(few, few)
    with pytest.raises(NotScorable, match="not run by x"):
        corrected_success(few, outcomes({"elsewhere": [1]}))


def agents(rates: dict[str, float], seed: int, tasks: int = 200) -> dict[str, Outcomes]:
    rng = np.random.default_rng(seed)
    return {
        name: outcomes({f"t{i}": rng.binomial(1, p, 3).tolist() for i in range(tasks)}, name)
        for name, p in rates.items()
    }


def test_agents_in_the_same_order_do_not_flip_and_gaps_are_signed():
    people = agents({"a": 0.3, "b": 0.6, "c": 0.9}, 1)
    easier = agents({"a": 0.5, "b": 0.75, "c": 0.95}, 2)
    found = rank_agents(people, easier)
    assert found.tau.value == 1.0
    assert max(flip.probability for flip in found.flips) < 0.05
    assert (found.tau.low, found.tau.high) == (1.0, 1.0)
    assert not any(flip.flips for flip in found.flips)
    assert not any(top.differ for top in found.tops)
    assert found.gaps["a"].low > 0.1
    assert found.gaps["a"].low < 0.2 < found.gaps["a"].high


def test_a_reversed_order_flips():
    found = rank_agents(
        agents({"a": 0.3, "b": 0.6, "c": 0.9}, 1), agents({"a": 0.9, "b": 0.6, "c": 0.3}, 2)
    )
    assert found.tau.value == -1.0
    assert min(flip.probability for flip in found.flips) > 0.95
    assert all(flip.flips for flip in found.flips)
    assert (found.tau.low, found.tau.high) == (-1.0, -1.0)
    assert found.p_value < 0.01
    assert [(top.reference, top.other, top.differ) for top in found.tops[:1]] == [
        (("c",), ("a",), True)
    ]
    # a perfect simulator keeps such an order: every pair lies many standard errors apart
    assert found.tau_by_chance.value > 0.5


def test_taus_are_those_of_scipy():
    from scipy.stats import kendalltau

    rng = np.random.default_rng(3)
    one, two = rng.integers(0, 4, (2, 40, 5)).astype(float)
    expected = [kendalltau(a, b).statistic for a, b in zip(one, two, strict=True)]
    assert taus(one, two) == pytest.approx(np.array(expected), nan_ok=True)


def test_a_simulator_that_is_the_people_is_not_told_to_change_the_winner():
    """50 tasks, 3 trials, five agents of nearly the same success: true tau 1, by noise less."""
    rates = {"a": 0.50, "b": 0.53, "c": 0.56, "d": 0.59, "e": 0.62}
    studies = 60
    below = covered = flips = small = 0
    expected = []
    for seed in range(studies):
        found = rank_agents(
            agents(rates, 2 * seed, 50), agents(rates, 2 * seed + 1, 50), replicates=300
        )
        below += found.tau.value < 0.99
        covered += found.tau.high >= 1.0
        flips += any(flip.flips for flip in found.flips)
        small += found.p_value <= 0.05
        expected.append((found.tau.value, found.tau_by_chance.value))
    assert below > 0.5 * studies  # noise alone
    assert covered >= 0.9 * studies
    assert flips <= 0.05 * studies
    assert small <= 0.15 * studies  # nominal 5 %, 3 standard errors above
    observed, chance = np.mean(expected, axis=0)
    assert observed == pytest.approx(chance, abs=0.2)


def test_bounds_hold_where_agents_are_equal():
    """Two agents that are equal, and a third: true tau of any order of the equals lies within."""
    inside = 0
    for seed in range(40):
        rates = {"a": 0.3, "b": 0.6, "c": 0.6}
        found = rank_agents(
            agents(rates, 2 * seed, 60), agents(rates, 2 * seed + 1, 60), replicates=300
        )
        # tau-b of the true rates, with a tie on both sides, is 1; with the tie broken 1/3 or 1
        inside += found.tau.low <= 1 / 3 and found.tau.high >= 1.0
    assert inside >= 36


def test_sessions_without_an_outcome_are_counted_and_a_winner_by_them_is_named():
    rng = np.random.default_rng(5)
    kept = {}
    for name, rate in (("a", 0.65), ("b", 0.62), ("c", 0.4)):
        trials = {f"t{i}": rng.binomial(1, rate, 4).tolist() for i in range(60)}
        kept[name] = outcomes(trials, name)
    # half of the failures of b lose their reward: .62 becomes .62 / .81 = .77
    hidden, trials = 0, {}
    for task, own in kept["b"].trials.items():
        failed = [t for t in own if not t.success]
        hidden += len(failed) // 2
        trials[task] = [t for t in own if t.success] + failed[len(failed) // 2 :]
    cut = Outcomes("b", trials, {"no reward": hidden})
    found = rank_agents(kept | {"b": cut}, kept)
    assert found.tops[0].reference == ("b",)
    assert any("reference, b" in note and "no outcome" in note for note in found.notes)
    assert any("if they failed, a does" in note for note in found.notes)
    told = {(one.side, one.agent): one.without for one in found.missing}
    assert told["reference", "b"] == hidden
    assert told["simulated", "b"] == 0


def test_other_agents_under_one_name_are_refused():
    own = agents({"a": 0.3, "b": 0.6, "c": 0.9}, 1)
    first = own | {"a": Outcomes("a", own["a"].trials, agents=("oracle@0123456789ab",))}
    second = own | {"a": Outcomes("a", own["a"].trials, agents=("oracle@0123456789ff",))}
    with pytest.raises(NotScorable, match="the same agent"):
        rank_agents(first, second)
    assert rank_agents(first, first).tau.value == 1.0


def test_how_many_people_tell_the_two_best_apart_by_hand():
    """Differences by task of +1 (30 times), 0 (60) and -1 (10): mean .2, sd .6030."""
    pairs = [(1, 0)] * 30 + [(1, 1)] * 60 + [(0, 1)] * 10
    own = {
        "a": outcomes({f"t{k}": [x] for k, (x, _) in enumerate(pairs)}, "a"),
        "b": outcomes({f"t{k}": [y] for k, (_, y) in enumerate(pairs)}, "b"),
        "c": outcomes({f"t{k}": [0] for k in range(100)}, "c"),
    }
    sd = (99**-1 * (30 * 0.8**2 + 60 * 0.2**2 + 10 * 1.2**2)) ** 0.5
    expected = ((1.6449 + 0.8416) * sd / 0.2) ** 2
    assert rank_agents(own, own).winner_needs == (int(expected) + 1, int(expected) + 1)


def test_people_in_the_published_layout_and_corpora_by_name(tmp_path, monkeypatch):
    """Batches 2 and 3 count, and a corpus is read by its name, without its held-out part."""
    from usi.cli.agents import read_people
    from usi.options import LoadOptions

    entries = {
        f"airline_{task}{end}": {
            "conversation": [{"role": "user", "content": "hello"}],
            "reward": float(end == "" and task % 2 == 0),
        }
        for task in range(4)
        for end in ("", "_ann2", "_ann3")
    }
    (tmp_path / "people.json").write_text(json.dumps(entries))
    found = read_people([str(tmp_path / "people.json")], LoadOptions(), 1.0)
    # one success in three batches of two tasks of four: by hand 1/6
    assert np.mean(list(found.means().values())) == pytest.approx(1 / 6)
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "human_corpus" / "people"
    home.mkdir(parents=True)
    (tmp_path / "people.json").rename(home / "people.json")
    assert read_people(["people"], LoadOptions(), 1.0).means() == found.means()


def test_two_agents_are_too_few():
    two = agents({"a": 0.3, "b": 0.6}, 1)
    with pytest.raises(NotScorable, match="at least 3"):
        rank_agents(two, two)


def test_corpora_with_batches_in_their_ids_are_grouped_by_task():
    sessions = [
        Session(session_id=f"airline_0{end}", layout="tau-usi", outcome=Outcome(reward=1.0))
        for end in ("", "_ann2", "_ann3")
    ]
    assert collect(sessions, label="x", side="human").trials == {"airline_0": [Trial(1)] * 3}


def test_airline_runs_of_four_trials_by_hand():
    rows = json.loads(
        shared("data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json").read_text()
    )
    by_task: dict[int, list[float]] = {}
    for row in rows:
        by_task.setdefault(row["task_id"], []).append(row["reward"])
    path = shared("data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json")
    found = pass_k(read_outcomes([path]), (1, 2, 4, 8))
    for k in (1, 2, 4):
        per_task = [
            sum(all(r == 1 for r in subset) for subset in combinations(rewards, k))
            / len(list(combinations(rewards, k)))
            for rewards in by_task.values()
        ]
        assert found.values[k].value == pytest.approx(sum(per_task) / 50)
    assert found.values[8].status == "not_assessed"
    assert found.trials_range == (4, 4)


def test_bounds_of_very_many_tasks_are_those_of_the_normal_law():
    """Of more than 4,096 tasks only the values are drawn: the same distribution."""
    n = 6000
    drawn = {f"t{k}": [1, 1] if k % 10 < 3 else [1, 0] for k in range(n)}
    found = pass_k(outcomes(drawn), (1, 2)).values
    assert (found[1].value, found[2].value) == (pytest.approx(0.65), pytest.approx(0.3))
    # pass^2 is 1 in 30 % of the tasks, else 0; pass^1 is 1 or 1/2
    for k, sd in ((1, 0.5 * (0.3 * 0.7) ** 0.5), (2, (0.3 * 0.7) ** 0.5)):
        reach = 1.645 * sd / n**0.5
        assert found[k].low == pytest.approx(found[k].value - reach, abs=0.1 * reach)
        assert found[k].high == pytest.approx(found[k].value + reach, abs=0.1 * reach)
