"""Laws of every registered feature, pair metric and profile (and that a broken one fails them).

A feature or a profile that is registered and not classified here fails this file.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_checks import (
    SETTINGS,
    Broken,
    FeatureLaw,
    PairMetric,
    check_pair,
    check_response,
    check_values,
    hold,
    unclassified,
)
from phantom_truth.counts import phantom_table

from usi.extraction.extract import extract_table
from usi.extraction.profile import PROFILES, get_specs
from usi.extraction.spec import DIMENSIONS
from usi.extraction.table import SessionTable
from usi.options import ScoreOptions
from usi.phantom import at_strength, default_tasks, draw, get_simulator, load_spec, realise
from usi.reasons import NO_SURVEY_FILES
from usi.scoring.context import ScoreContext
from usi.scoring.profiles import get_profile, profile_names
from usi.scoring.published.calibration import binned_gap
from usi.scoring.published.score import dice
from usi.scoring.published.survey import agreement, instrument, published_rng
from usi.scoring.robust.terms import relative

HUMAN = load_spec("human")
TASKS = default_tasks(60)

# -- pair metrics ------------------------------------------------------------------------------


def _dice_of_means(ratio):
    def value(a, b):
        if a == b == 0:
            return 1.0
        means = np.log([a, b]) if ratio else np.array([a, b])
        return 1 - abs(float(relative(means[:1], means[1:], np.array([ratio]))[0]))

    return value


positive = st.floats(min_value=1e-3, max_value=1e6)
PAIRS = {
    "dice": PairMetric(dice),
    "Dice of means": PairMetric(
        _dice_of_means(False), frozenset({"bounds", "identity", "symmetry", "monotone"})
    ),
    "Dice of geometric means": PairMetric(
        _dice_of_means(True),
        frozenset({"bounds", "identity", "symmetry", "monotone"}),
        positive,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pair_metrics(name):
    check_pair(PAIRS[name])


BROKEN_PAIRS = {
    "asymmetric": lambda h, s: min(h, s) / h if h > 0 else float(s == 0),
    "unbounded": lambda h, s: 1 - abs(h - s),
    "NaN counts as perfect": lambda h, s: 2 * min(h, s) / (h + s) if h + s > 0 else 1.0,
    "deaf": lambda _h, _s: 1.0,
    "never perfect": lambda h, s: 0.9 * (2 * min(h, s) / (h + s) if h + s > 0 else 1.0),
    "rewards distance": lambda h, s: abs(h - s) / (h + s) if h + s > 0 else 1.0,
}


@pytest.mark.parametrize("name", BROKEN_PAIRS)
def test_a_planted_broken_metric_fails(name):
    with pytest.raises(Broken):
        check_pair(PairMetric(BROKEN_PAIRS[name]))


# -- outcome and survey --------------------------------------------------------------------------

outcomes = st.dictionaries(
    st.sampled_from([f"t{i}" for i in range(12)]), st.sampled_from([0.0, 1.0]), min_size=1
)


def _check_gap(gap):
    rates = {f"t{i}": i / 11 for i in range(12)}

    @SETTINGS
    @given(outcomes, outcomes)
    def laws(a, b):
        value = gap(a, b, rates)
        if not set(a) & set(b):
            hold(value is None, "undefined without a common task", a, b)
            return
        hold(0 <= value <= 1, "bounds", value)
        hold(gap(a, a, rates) == 0, "identity", a)
        hold(math.isclose(value, gap(b, a, rates), abs_tol=1e-12), "symmetry", a, b)
        turned = dict(reversed(list(a.items())))
        hold(gap(turned, b, rates) == value, "order", a, b)
        # Success that rises on every task moves the gap to a perfect simulator.
        easier = dict.fromkeys(a, 1.0)
        share = 1 - sum(a.values()) / len(a)
        hold(math.isclose(gap(easier, a, rates), share, abs_tol=1e-9), "response", a)

    laws()


def test_the_outcome_gap_obeys_its_laws_and_broken_ones_do_not():
    _check_gap(binned_gap)
    with pytest.raises(Broken):
        _check_gap(lambda a, b, rates: binned_gap(a, b, rates) or 0.0)
    with pytest.raises(Broken):
        _check_gap(
            lambda a, b, rates: (
                None if (g := binned_gap(a, b, rates)) is None else abs(g) * 0.5 + 0.1
            )
        )


answers = st.fixed_dictionaries({i.name: st.sampled_from(list(i.ordinals)) for i in instrument()})


@SETTINGS
@given(answers, answers)
def test_survey_agreement(a, b):
    value = agreement(a, b, published_rng())
    assert 0 <= value <= 100
    assert agreement(a, a, published_rng()) == 100
    assert value == pytest.approx(agreement(b, a, published_rng()), abs=1e-9)
    assert agreement(dict(reversed(a.items())), b, published_rng()) == value


# -- features ------------------------------------------------------------------------------------

_SHARED = {
    "verbosity_cv": FeatureLaw("words.noise", 0.2, 0.9),
    "info_frontload": FeatureLaw("opening", 1.5, 6.0),
    "opening_words": FeatureLaw("opening", 1.5, 6.0),
}
FEATURES = {
    "tau-usi": {
        **_SHARED,
        "politeness_rate": FeatureLaw("politeness"),
        "short_msg_rate": FeatureLaw("short", 0.1, 0.4),
        "formality_rate": FeatureLaw("dash"),
        "ack_only_rate": FeatureLaw("ack", 0.01, 0.2),
        "repeat_rate": FeatureLaw("repeat"),
        "id_confuse_rate": FeatureLaw("role", 0.005, 0.1),
        "id_density": FeatureLaw("identifier"),
        "user_words_per_turn": FeatureLaw("words.mean", 5.0, 15.0),
        "uncertainty_rate": FeatureLaw("uncertainty"),
        "certainty_rate": FeatureLaw("certainty"),
        "pushback_q_rate": FeatureLaw("pushback"),
        "clarify_q_rate": FeatureLaw("clarify"),
        "info_q_rate": FeatureLaw("info"),
        "emotion_rate": FeatureLaw("emotion"),
        "accusation_rate": FeatureLaw("accusation"),
        "pivot_rate": FeatureLaw("pivot"),
    },
    "robust": {
        **_SHARED,
        "politeness": FeatureLaw("politeness"),
        "short_turn": FeatureLaw("short", 0.1, 0.4),
        "dash": FeatureLaw("dash"),
        "ack_only": FeatureLaw("ack", 0.01, 0.2),
        "repeated_turn": FeatureLaw("stock", 0.02, 0.2),
        "trigram_share": FeatureLaw("stock", 0.02, 0.2),
        "role_confusion": FeatureLaw("role", 0.005, 0.1),
        "turns_per_session": FeatureLaw("turns.mean", 3.0, 10.0),
        "identifiers": FeatureLaw("identifier"),
        "words_per_turn": FeatureLaw("words.mean", 5.0, 15.0),
        "uncertainty": FeatureLaw("uncertainty"),
        "lack_of_information": FeatureLaw("lack"),
        "certainty": FeatureLaw("certainty"),
        "pushback": FeatureLaw("pushback"),
        "clarify": FeatureLaw("clarify"),
        "info_question": FeatureLaw("info"),
        "request": FeatureLaw("info"),
        "emotion": FeatureLaw("emotion"),
        "accusation": FeatureLaw("accusation"),
        "pivot": FeatureLaw("pivot"),
        "casual": FeatureLaw("casual", 0.2, 0.8),
        "echo": FeatureLaw(None),
        "several_sentences": FeatureLaw("several"),
        "comma": FeatureLaw("comma"),
        "shortest_turn": FeatureLaw("short", 0.09, 0.4, rises=False),
        "user_latency": FeatureLaw(None),  # a phantom has no time stamps
    },
}


def _names(profile):
    return [spec.name for spec in get_specs(profile)]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_registered_feature_is_classified(profile):
    assert unclassified(_names(profile), FEATURES[profile]) == set()
    assert unclassified([*_names(profile), "planted"], FEATURES[profile]) == {"planted"}


def _with(parameter, value):
    if "." in parameter:
        owner, name = parameter.split(".")
        return replace(
            HUMAN, name=parameter, **{owner: replace(getattr(HUMAN, owner), **{name: value})}
        )
    if parameter == "opening":
        return replace(HUMAN, name=parameter, opening=value)
    return HUMAN.with_rates(**{parameter: value})


@cache
def _means(profile, parameter, value):
    """Feature means of a realised and extracted phantom; the same random numbers every time."""
    plan = draw(_with(parameter, value), TASKS, replicates=4, seed=8)
    table = extract_table(realise(plan, side="human"), profile=profile, side="human")
    return table.values().select(_names(profile)).mean().row(0, named=True)


@pytest.mark.parametrize(
    ("profile", "name"), [(profile, name) for profile in PROFILES for name in FEATURES[profile]]
)
def test_a_feature_responds_to_a_known_corruption(profile, name):
    law = FEATURES[profile][name]
    if law.parameter is None:
        assert _means(profile, "pivot", 0.02)[name] in (0, None)
        return
    levels = (law.low, math.sqrt(law.low * law.high), law.high)
    means = [_means(profile, law.parameter, level)[name] for level in levels]
    check_response(law, name, means, dice)


def test_a_planted_deaf_feature_fails():
    with pytest.raises(Broken):
        check_response(FeatureLaw("pivot"), "deaf", [0.1, 0.1, 0.1], dice)
    with pytest.raises(Broken):
        check_response(FeatureLaw("pivot"), "upside down", [0.3, 0.2, 0.1], dice)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6), block=st.integers(1, 50), strength=st.floats(0, 1))
def test_features_have_their_bounds_whatever_order_and_sharding(profile, seed, block, strength):
    spec = at_strength(round(strength, 2))
    sessions = list(realise(draw(spec, TASKS, replicates=1, seed=seed), side="simulated"))
    table = extract_table(sessions, profile=profile, side="simulated")
    values = table.values()
    for spec_ in get_specs(profile):
        check_values(spec_.kind, spec_.name, values[spec_.name].to_list())
    parts = extract_table(sessions, profile=profile, side="simulated", block=block)
    assert parts.frame.equals(table.frame)
    order = np.random.default_rng(seed).permutation(len(sessions))
    mixed = extract_table([sessions[i] for i in order], profile=profile, side="simulated")
    columns = ["session_id", *_names(profile)]
    again = mixed.values().select(columns).sort("session_id")
    assert again.equals(values.select(columns).sort("session_id"))
    half = len(sessions) // 2
    shards = [
        extract_table(part, profile=profile, side="simulated")
        for part in (sessions[:half], sessions[half:])
    ]
    assert SessionTable.concat(shards).values().equals(values)


def test_a_planted_feature_out_of_bounds_fails():
    for kind, value in (("rate", 1.2), ("flag", 0.5), ("mean", -1.0), ("count", math.nan)):
        with pytest.raises(Broken):
            check_values(kind, "planted", [0.0, None, value])


# -- profiles ------------------------------------------------------------------------------------

PROFILE_LAWS = {
    # symmetric: swapping people and simulator leaves the four dimensions (one batch, one run)
    "tau-usi": {"symmetric": True},
    "robust": {"symmetric": False},  # people alone decide which features are scored
}
COMPONENTS = (*DIMENSIONS, "outcome")


def test_every_profile_is_classified():
    assert set(profile_names()) == set(PROFILE_LAWS)


def _table(spec, seed, profile, side, replicates=3):
    plan = draw(spec, default_tasks(), replicates=replicates, seed=seed)
    name = "" if side == "human" else "candidate"
    return phantom_table(plan, profile, side=side, simulator=name)


def _card(human, simulator, profile):
    return get_profile(profile).score_tables(
        human,
        {"candidate": simulator},
        surveys=None,
        options=ScoreOptions(),
        context=ScoreContext(synthetic=True),
    )


def _components(card):
    found = card.simulators[0].components
    return {name: found[name].value for name in COMPONENTS}


@pytest.mark.parametrize("profile", PROFILE_LAWS)
def test_a_table_against_itself_stands_at_the_top(profile):
    human = _table(HUMAN, 3, profile, "human", replicates=1)
    itself = _table(HUMAN, 3, profile, "simulated", replicates=1)
    card = _card(human, itself, profile)
    assert _components(card) == {name: pytest.approx(100, abs=1e-9) for name in COMPONENTS}
    assert card.simulators[0].index.value == pytest.approx(100, abs=1e-9)


@pytest.mark.parametrize("profile", PROFILE_LAWS)
def test_order_and_shards_do_not_matter(profile):
    human = _table(HUMAN, 3, profile, "human")
    simulator = _table(get_simulator("mild"), 4, profile, "simulated")
    expected = _components(_card(human, simulator, profile))
    mixed = replace(human, frame=human.frame.sample(fraction=1, shuffle=True, seed=1))
    turned = replace(simulator, frame=simulator.frame.reverse())
    assert _components(_card(mixed, turned, profile)) == pytest.approx(expected, abs=1e-9)
    cut = [replace(simulator, frame=part) for part in simulator.frame.partition_by("domain")]
    joined = SessionTable.concat(cut)
    assert _components(_card(human, joined, profile)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("profile", PROFILE_LAWS)
def test_scores_are_bounded_and_fall_with_the_defect(profile):
    human = _table(HUMAN, 3, profile, "human")
    found = [
        _components(_card(human, _table(at_strength(s), 4, profile, "simulated"), profile))
        for s in (0, 0.4, 1)
    ]
    for name in COMPONENTS:
        values = [one[name] for one in found]
        assert all(0 <= value <= 100 for value in values)
        assert values[0] > values[2], name
    index = [sum(one.values()) / len(one) for one in found]
    assert index[0] > index[1] > index[2]


@pytest.mark.parametrize(
    "profile", [name for name, law in PROFILE_LAWS.items() if law["symmetric"]]
)
def test_dimensions_are_symmetric(profile):
    people, mild = HUMAN, get_simulator("mild")
    there = _card(
        _table(people, 3, profile, "human", 1), _table(mild, 4, profile, "simulated", 1), profile
    )
    back = _card(
        _table(mild, 4, profile, "human", 1), _table(people, 3, profile, "simulated", 1), profile
    )
    for name in COMPONENTS:
        one, two = (card.simulators[0].components[name].value for card in (there, back))
        assert one == pytest.approx(two, abs=1e-9)
    assert there.simulators[0].components["survey"].reason.is_a(NO_SURVEY_FILES)


def test_tables_carry_no_missing_counts_into_the_laws():
    frame = _table(HUMAN, 3, "tau-usi", "human").frame
    counts = frame.select(pl.col(pl.Int64)).drop("seq", "batch_id", "batch")
    assert sum(counts.null_count().row(0)) == 0
