"""Specs and presets: values, variants and clear refusals."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from phantom_truth.effects import core_counts, per_session, turn_words
from phantom_truth.tasks import sample_tasks

from usi.errors import UsageError, UsiError
from usi.phantom import (
    blend,
    collapse,
    default_tasks,
    draw,
    get_simulator,
    load_spec,
    make_independent,
    preset_names,
    simulator_names,
)
from usi.phantom.drawn_sessions import MARK
from usi.phantom.population import resolve
from usi.phantom.reading import spec_from_table, spec_to_table

HUMAN = load_spec("human")


def test_every_shipped_population_resolves():
    assert {"human", "copy", "polite"} <= set(preset_names())
    assert {"mild", "collapsed", "independent", "defect-outcome"} <= set(simulator_names())
    for name in simulator_names():
        assert resolve(get_simulator(name)).mean_turns > 1


def test_a_spec_goes_through_toml_tables_and_back():
    assert spec_from_table(spec_to_table(HUMAN)) == HUMAN
    text = 'name = "mine"\nbase = "human"\n[rates]\npolitness = { mean = 0.5 }\n'
    with pytest.raises(UsageError, match="did you mean 'politeness'"):
        spec_from_table(tomllib.loads(text))
    mine = spec_from_table(tomllib.loads(text.replace("politness", "politeness")))
    assert mine.rate("politeness").mean == 0.5
    assert mine.rate("politeness").person == HUMAN.rate("politeness").person
    with pytest.raises(UsiError, match="rates"):
        spec_from_table({"name": "empty"})


def test_unknown_names_list_near_matches():
    with pytest.raises(UsageError, match="did you mean 'polite'"):
        get_simulator("polit")
    with pytest.raises(UsageError, match="did you mean 'human'"):
        load_spec("humans")


@pytest.mark.parametrize("change", [{"mean": 1.5}, {"mean": -0.1}, {"mean": 0.1, "person": -1}])
def test_impossible_rates_are_refused(change):
    table = spec_to_table(HUMAN)
    table["rates"]["politeness"] = change
    with pytest.raises(UsageError):
        spec_from_table(table)


def test_blends_end_where_they_should():
    polite = load_spec("polite")
    assert replace(blend(HUMAN, polite, 0), name="human") == HUMAN
    assert replace(blend(HUMAN, polite, 1), name="polite") == polite
    half = blend(HUMAN, polite, 0.5).rate("politeness").mean
    assert HUMAN.rate("politeness").mean < half < polite.rate("politeness").mean
    with pytest.raises(UsageError, match="strength"):
        blend(HUMAN, polite, 1.1)


def test_same_seed_same_plan_other_seed_other_sessions_on_the_same_tasks():
    tasks = default_tasks()
    first, again, other = (draw(HUMAN, tasks, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.wording, again.wording)
    assert np.array_equal(first.marks, again.marks)
    assert not np.array_equal(first.turns, other.turns)
    assert first.tasks is other.tasks


def test_tasks_are_the_published_ones_then_invented_ones():
    tasks = default_tasks()
    assert tasks.names[0] == "airline_0"
    assert tasks.names[-1] == "retail_114"
    more = default_tasks(170)
    assert more.names[:165] == tasks.names
    assert more.names[165:] == tuple(f"phantom_{i}" for i in range(165, 170))
    assert set(more.difficulty[165:]) <= set(tasks.difficulty)
    few = default_tasks(40)
    assert len(set(few.names)) == 40
    assert set(few.domains) == {"airline", "retail"}
    assert len(sample_tasks(7, seed=1)) == 7
    with pytest.raises(UsageError):
        default_tasks(0)


def test_task_effects_are_shared_by_both_sides():
    tasks = sample_tasks(400, seed=3)
    human = draw(HUMAN, tasks, replicates=8, seed=1)
    simulator = draw(get_simulator("copy"), tasks, replicates=8, seed=2)
    a, b = (core_counts(plan)["user_turns"].reshape(8, 400).mean(0) for plan in (human, simulator))
    assert np.corrcoef(a, b)[0, 1] > 0.7


def _words_and_rate(spec, seed=1):
    plan = draw(spec, default_tasks(), replicates=10, seed=seed)
    words = per_session(plan, turn_words(plan)) / plan.turns
    several = per_session(plan, plan.marks[:, MARK["several"]]) / plan.turns
    return words, several


def test_a_collapsed_simulator_has_no_spread():
    human, _ = _words_and_rate(HUMAN)
    flat, _ = _words_and_rate(collapse(HUMAN))
    assert flat.std() < 0.45 * human.std()
    assert flat.mean() == pytest.approx(human.mean(), rel=0.05)


def test_people_are_correlated_in_themselves_and_independent_features_are_not():
    human = np.corrcoef(*_words_and_rate(HUMAN))[0, 1]
    apart = np.corrcoef(*_words_and_rate(make_independent(HUMAN)))[0, 1]
    assert human > apart + 0.08
