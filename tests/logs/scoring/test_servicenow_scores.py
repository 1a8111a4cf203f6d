"""A real service desk: halves of it, a play-out without memory, and an edit that made it easy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import shared
from logs.scoring.conftest import options
from support.scoring import score

from usi.pipeline import score_with_tables

FOLDER = "data/logs/servicenow"
# four weeks of simulated cases are few clusters; teams, of very unequal size, are worth few, too
OWN = replace(options("servicenow", replicates=200, c2st="fast"), cluster="team")


@pytest.fixture(scope="module")
def result():
    files = [
        shared(f"{FOLDER}/{name}.csv") for name in ("simulated_markov1", "simulated_easy_mode")
    ]
    return score_with_tables(files, shared(f"{FOLDER}/ServiceNow-Kaggle.csv.zip"), options=OWN)


@pytest.fixture(scope="module")
def cards(result):
    return {part.name: part for part in result.card.simulators}


def test_the_play_out_is_near_on_waits_reopenings_and_reassignments(cards):
    part = cards["simulated_markov1"]
    assert part.components["clarification"].value > 90
    for name, least in (("wait_user_case", 93), ("wait_user_trips", 93), ("reopen", 85),
                        ("group_changes", 97)):  # fmt: skip
        assert part.features[name].score.value > least, name


def test_and_the_second_keys_flag_it(result):
    from usi.decisions.criteria import tier
    from usi.decisions.decide import gate_scorecard

    found = {part.name: part for part in gate_scorecard(result.card, tier("B")).simulators}
    flagged = {name: set(part.decided_by) for name, part in found.items()}
    assert {"two_sample", "process.calendar", "process.arrivals"} <= flagged["simulated_markov1"]
    assert {"clarification", "reaction", "two_sample", "ngram3"} <= flagged["simulated_easy_mode"]
    for name, part in found.items():  # teams are worth fewer than 30 clusters of equal size
        assert part.verdict == "INCONCLUSIVE", name
        assert "min_tasks" in flagged[name]


def test_easy_mode_falls_in_waiting_and_rework(cards):
    easy, markov = cards["simulated_easy_mode"], cards["simulated_markov1"]
    assert easy.components["clarification"].high < 50
    assert easy.components["clarification"].value < 25
    assert easy.components["reaction"].value < markov.components["reaction"].value - 15


def test_what_the_simulated_logs_do_not_have_is_not_assessed(cards):
    for part in cards.values():
        assert part.components["information"].status == "not_assessed"
        assert part.components["survey"].status == "not_assessed"
        assert (part.index.terms, part.index.terms_possible) == (4, 6)


def test_random_halves_stand_near_the_ceiling_and_other_splits_below(result):
    human = result.card.human
    for name in ("conversation", "information", "clarification", "reaction", "outcome"):
        own = human.components[name]
        assert own.value > 95, name
        assert own.detail["month"].value < own.value - 5
    rng = np.random.default_rng(5)
    own = rng.random(result.human.frame.height) < 0.5
    halves = [
        replace(result.human, frame=result.human.frame.filter(pl.Series(mask)))
        for mask in (own, ~own)
    ]
    plain = replace(options("servicenow", replicates=200))
    part = score({"half": halves[1]}, halves[0], options=plain, profile="log").simulators[0]
    assert part.index.value > 95
    assert part.index.value > part.index.ceiling_at_n - 3
