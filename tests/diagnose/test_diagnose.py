"""Two-sample test, distances and gaming signs against independent libraries and known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import roc_auc_score

from usi.diagnose.distances import correlation_difference, feature_distances, spread_index
from usi.diagnose.gaming import RateCounts, Totals, context_lift, detect, overdispersion, suspected
from usi.diagnose.sample import Sample
from usi.diagnose.two_sample import two_sample_test, weighted_auc

NAMES = ("a", "b", "c", "d")


def sample(seed: int, n: int = 300, *, spread: float = 1.0, shift: float = 0.0, tag: str = "s"):
    rng = np.random.default_rng(seed)
    tasks = np.array([f"t{i % 100:03d}" for i in range(n)])
    values = rng.normal(shift, 1.0, (n, len(NAMES))) * spread
    return Sample(values, tasks, np.array([f"{tag}{i:05d}" for i in range(n)]), NAMES)


def test_weighted_auc_agrees_with_scikit_learn_including_ties():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    scores = rng.integers(0, 20, 200).astype(float)  # many ties
    weights = rng.integers(0, 4, (5, 200)).astype(float)
    ours = weighted_auc(scores, y, weights)
    theirs = [roc_auc_score(y, scores, sample_weight=w) for w in weights]
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_weighted_auc_is_undefined_without_one_of_the_classes():
    y = np.array([0, 1])
    assert np.isnan(weighted_auc(np.array([0.1, 0.2]), y, np.array([[0.0, 1.0]]))[0])


@pytest.mark.parametrize("classifier", ["logistic", "trees"])
def test_two_draws_of_one_population_are_not_told_apart(classifier):
    result = two_sample_test(sample(1), sample(3, tag="z"), classifier=classifier)
    assert 0.40 <= result.auc.value <= 0.60
    assert result.auc.low < 0.5 < result.auc.high
    assert result.grouped_by == "task"
    assert result.sessions_per_side == 300


def test_a_collapsed_simulator_fools_the_logistic_and_not_the_trees():
    human, collapsed = sample(1), sample(2, spread=0.02, tag="z")
    logistic = two_sample_test(human, collapsed, classifier="logistic")
    trees = two_sample_test(human, collapsed, classifier="trees")
    assert logistic.auc.value is None or logistic.auc.value < 0.65
    assert trees.auc.value > 0.95
    assert trees.auc.low <= trees.auc.value <= trees.auc.high


def test_the_shifted_feature_is_named_first():
    simulated = sample(2, tag="z")
    values = simulated.values.copy()
    values[:, 2] += 2.0
    shifted = Sample(values, simulated.clusters, simulated.keys, NAMES)
    result = two_sample_test(sample(1), shifted)
    assert result.features[0][0] == "c"
    assert result.features[0][1] > 0
    # Two normals two standard deviations apart: AUC = Phi(2 / sqrt 2) = 0.921.
    assert result.auc.value == pytest.approx(0.921, abs=0.03)


def test_order_of_sessions_changes_nothing():
    human, simulated = sample(1, 350), sample(2, 320, shift=0.3, tag="z")
    turned = [part.take(np.arange(len(part))[::-1]) for part in (human, simulated)]
    assert two_sample_test(human, simulated) == two_sample_test(*turned)


def test_the_full_test_permutes_within_tasks():
    human, simulated = sample(1, 100), sample(2, 100, shift=1.5, tag="z")
    seen = []
    result = two_sample_test(
        human, simulated, mode="full", permutations=19, progress=lambda i, n: seen.append((i, n))
    )
    assert result.p_value == pytest.approx(1 / 20)  # none of 19 permutations reaches it
    assert seen[-1] == (19, 19)


def test_too_few_sessions_or_unmixed_tasks_are_a_reason_not_a_number():
    few = two_sample_test(sample(1, 5), sample(2, 5, tag="z"))
    assert few.auc.status == "not_assessed"
    assert few.auc.reason.parameters["least"] == 10
    constant = Sample(np.ones((40, 4)), sample(1, 40).clusters, sample(1, 40).keys, NAMES)
    assert two_sample_test(constant, constant).auc.reason.code == "no_feature_varies"


def test_wasserstein_and_zeros_by_hand():
    human = np.array([0.0, 2.0] * 10)  # sd (ddof 1) = sqrt(20/19)
    simulated = np.array([3.0, 5.0] * 10)
    found = feature_distances(human, simulated)
    assert found.wasserstein.value == pytest.approx(3 / np.sqrt(20 / 19))
    assert found.sd_ratio.value == pytest.approx(1.0)
    assert (found.zeros_human.value, found.zeros_simulator.value) == (0.5, 0.0)
    # Pooled deciles cut at 2, 2.5 and 3; half a session is added to each of the four bins.
    p = np.array([10.5, 10.5, 0.5, 0.5]) / 22
    q = np.array([0.5, 0.5, 0.5, 20.5]) / 22
    assert found.jensen_shannon.value == pytest.approx(jensenshannon(p, q, base=2) ** 2)


def test_jensen_shannon_of_equal_samples_is_zero():
    values = np.random.default_rng(0).normal(size=100)
    assert feature_distances(values, values).jensen_shannon.value == pytest.approx(0.0, abs=1e-12)


def test_a_constant_human_feature_is_unscorable():
    found = feature_distances(np.zeros(30), np.ones(30))
    assert found.wasserstein.status == "unscorable"
    assert found.sd_ratio.status == "unscorable"


def test_spread_index_is_the_median_ratio():
    human = sample(1, 2000)
    half = sample(2, 2000, spread=0.5, tag="z")
    found = {
        name: feature_distances(human.values[:, i], half.values[:, i])
        for i, name in enumerate(NAMES)
    }
    assert spread_index(found).value == pytest.approx(0.5, abs=0.03)
    assert spread_index({}).status == "not_assessed"


def test_correlation_difference_sees_independence():
    rng = np.random.default_rng(5)
    base = rng.normal(size=(1000, 1))
    joint = np.hstack([base, base, rng.normal(size=(1000, 2))])
    keys = np.array([f"k{i:04d}" for i in range(1000)])
    human = Sample(joint, keys, keys, NAMES)
    loose = Sample(rng.normal(size=(1000, 4)), keys, keys, NAMES)
    assert correlation_difference(human, loose).value == pytest.approx(1.0, abs=0.1)


def counts(rng, n, *, person_sd, lift):
    turns = np.full(n, 8.0)
    inside = np.full(n, 3.0)
    rate = 1 / (1 + np.exp(-(-1.5 + person_sd * rng.normal(size=n))))
    hits_in = rng.binomial(3, np.minimum(rate * lift, 0.95)).astype(float)
    hits_out = rng.binomial(5, rate).astype(float)
    clusters = np.array([f"t{i % 100}" for i in range(n)])
    return RateCounts(hits_in + hits_out, turns, clusters, hits_in, inside)


def totals(hits) -> Totals:
    """Sums over sessions of ten turns each."""
    return Totals.of(RateCounts(hits, np.full(len(hits), 10.0), np.zeros(len(hits), dtype=str)))


def test_overdispersion_of_coin_tosses_is_one_and_of_people_more():
    rng = np.random.default_rng(11)
    tosses = rng.binomial(10, 0.3, 4000).astype(float)
    assert overdispersion(totals(tosses)) == pytest.approx(1.0, abs=0.06)
    mixed = rng.binomial(10, rng.beta(1, 2, 4000)).astype(float)
    # Beta-binomial: variance factor 1 + (n - 1) / (a + b + 1) = 1 + 9 / 4.
    assert overdispersion(totals(mixed)) == pytest.approx(3.25, abs=0.2)


def test_context_lift_by_hand():
    # 20 of 40 turns inside hit, 20 of 80 outside: .5 / .25.
    def lift(*sums: float) -> float:
        hits, turns, inside, turns_inside = (np.array([x]) for x in sums)
        counted = RateCounts(hits, turns, np.array(["t"]), inside, turns_inside)
        return float(context_lift(Totals.of(counted))[0])

    assert lift(40.0, 120.0, 20.0, 40.0) == pytest.approx(2.0)
    assert math.isnan(lift(0.0, 1.0, 0.0, 0.0))


def test_sprinkled_words_are_suspected_and_people_are_not():
    rng = np.random.default_rng(12)
    human = counts(rng, 495, person_sd=1.0, lift=2.5)
    people = counts(rng, 495, person_sd=1.0, lift=2.5)
    stuffed = counts(rng, 495, person_sd=0.0, lift=1.0)
    assert suspected(detect(human, stuffed))
    assert not suspected(detect(human, people))


def test_missing_context_is_not_assessed_and_never_suspected():
    rng = np.random.default_rng(13)
    full = counts(rng, 200, person_sd=1.0, lift=2.0)
    bare = RateCounts(full.hits, full.turns, full.clusters)
    found = detect(bare, bare)
    assert found["context_lift"].status == "not_assessed"
    assert not suspected(found)
