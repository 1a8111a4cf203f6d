"""What the profile robust says about simulators whose defects are known."""

from __future__ import annotations

import pytest
from phantom_truth.counts import phantom_table
from phantom_truth.scores import true_scores

from usi.extraction.profile import get_specs
from usi.options import ScoreOptions
from usi.phantom import default_tasks, draw, get_simulator, load_spec
from usi.scoring.context import ScoreContext
from usi.scoring.profiles import get_profile
from usi.scoring.robust.reference import reference

COMPONENTS = ("conversation", "information", "clarification", "reaction", "outcome")
HUMAN = load_spec("human")
NAMES = ("copy", "mild", "polite", "defect-role", "defect-outcome", "defect-calm")


@pytest.fixture(scope="module")
def people():
    return phantom_table(draw(HUMAN, default_tasks(), seed=1), "robust", side="human")


@pytest.fixture(scope="module")
def pools(people):
    """Rare features that are counted together, by the name of their pool."""
    return reference(people.frame, get_specs("robust")).pools


@pytest.fixture(scope="module")
def cards(people):
    tasks = default_tasks()
    tables = {
        name: phantom_table(
            draw(get_simulator(name), tasks, seed=2), "robust", side="simulated", simulator=name
        )
        for name in NAMES
    }
    card = get_profile("robust").score_tables(
        people, tables, surveys=None, options=ScoreOptions(), context=ScoreContext(synthetic=True)
    )
    return {one.name: one for one in card.simulators}


def _scored(card):
    return [name for name, feature in card.features.items() if feature.score.ok]


def test_order_is_copy_mild_polite(cards):
    index = {name: card.index.value for name, card in cards.items()}
    assert index["copy"] > index["mild"] + 5 > index["polite"] + 10


@pytest.mark.parametrize("name", ["copy", "mild", "polite", "defect-outcome", "defect-calm"])
def test_bounds_hold_the_true_scores(cards, pools, name):
    card = cards[name]
    truth = true_scores(get_simulator(name), HUMAN, "robust", scored=_scored(card), pools=pools)
    assert card.index.low <= truth.index <= card.index.high
    for part in COMPONENTS:
        component = card.components[part]
        # One draw with a fixed seed: two-sided 90 % bounds, widened by half of their width.
        slack = (component.high - component.low) / 2
        assert component.low - slack <= truth.components[part] <= component.high + slack


def test_each_defect_moves_its_component_alone(cards):
    value = {
        name: {part: card.components[part].value for part in COMPONENTS}
        for name, card in cards.items()
    }
    for name, moved in (("defect-outcome", "outcome"), ("defect-calm", "reaction")):
        drop = {part: value["copy"][part] - value[name][part] for part in COMPONENTS}
        assert drop[moved] > 5
        assert max(drop, key=drop.get) == moved


def test_a_simulator_that_talks_like_an_agent_trips_the_wire(cards):
    alarms = {
        name: {wire.feature for wire in card.tripwires if wire.alarm}
        for name, card in cards.items()
    }
    assert alarms["defect-role"] == {"role_confusion"}
    assert alarms["copy"] == set()
