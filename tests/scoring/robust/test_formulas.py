"""docs/statistics.md is enough: a second implementation of its formulas gives the same card."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student
from scoring.robust.population import SPECS, draw
from support.card_by_formulas import bounds, dimension, index, outcome
from support.card_by_formulas import certain_gaps as page_gaps

from usi.options import RobustOptions
from usi.scoring.robust.bounds import lower_upper, mean_score
from usi.scoring.robust.card_parts import features
from usi.scoring.robust.gaps import certain_gaps
from usi.scoring.robust.reference import reference
from usi.scoring.robust.study import study
from usi.scoring.robust.terms import PARTS

TASKS = 60
RATES = {
    "politeness": "politeness", "short_turn": "short", "ack_only": "ack",
    "repeated_turn": "repeated", "uncertainty": "uncertainty", "certainty": "certainty",
    "pushback": "pushback", "clarify": "clarify", "info_question": "info", "emotion": "emotion",
    "accusation": "accusation", "pivot": "pivot", "casual": "casual", "dash": "dash",
    "several_sentences": "several_sentences", "comma": "comma", "request": "request",
    "lack_of_information": "lack_of_information", "role_confusion": "role_confusion",
}  # fmt: skip
"""Feature -> count a turn; the others are made below."""


def _share(frame, top, bottom):
    return frame[top].to_numpy() / frame[bottom].to_numpy()


def values(frame, name):
    """One feature from the counts of the session table, shape (tasks, sessions)."""
    turns, words = (frame[c].to_numpy().astype(float) for c in ("user_turns", "words"))
    own = {
        "turns_per_session": lambda: turns,
        "words_per_turn": lambda: words / turns,
        "opening_words": lambda: frame["words_first"].to_numpy().astype(float),
        "info_frontload": lambda: frame["words_first_two"].to_numpy() / words,
        "identifiers": lambda: frame["identifiers"].to_numpy() / turns,
        "echo": lambda: _share(frame, "echo", "echo_units"),
        "trigram_share": lambda: _share(frame, "trigrams_repeated", "trigrams"),
        "shortest_turn": lambda: frame["shortest"].to_numpy().astype(float),
        "verbosity_cv": lambda: np.sqrt(turns * frame["words_sq"].to_numpy() - words**2) / words,
    }
    made = own[name]() if name in own else frame[RATES[name]].to_numpy() / turns
    return np.asarray(made, dtype=float).reshape(TASKS, -1)


@pytest.mark.parametrize("people", [None, 5])
def test_a_card_from_the_page_alone(people):
    human, sim = draw(TASKS, 3, seed=4), draw(TASKS, 2, seed=5, side="simulated", words=1.2)
    participant = None
    if people:
        participant = np.random.default_rng(6).integers(0, people, (TASKS, 3))
        label = pl.Series([f"p{k}" for k in participant.ravel()])
        human = human.with_columns(participant=label)
    result = study(reference(human, SPECS), sim, RobustOptions(replicates=2000))
    draws = np.random.default_rng(7).integers(0, TASKS, (2000, TASKS))
    pools = result.reference.pools
    parts = []
    for name in PARTS[:4]:
        columns = []
        for feature in result.terms[name].names:
            members = pools.get(feature, (feature,))
            pair = (sum(values(side, m) for m in members) for side in (sim, human))
            columns.append(tuple(pair))
        parts.append(dimension(columns, draws, participant))
    # outcomes of these people make more than one bin: score them in one
    plain = study(reference(human, SPECS), sim, RobustOptions(replicates=2000, strata="domain"))
    success = (side["reward"].to_numpy().reshape(TASKS, -1) for side in (sim, human))
    parts.append(outcome(*success, draws, participant))
    scores = {**{n: result.scores[n] for n in PARTS[:4]}, "outcome": plain.scores["outcome"]}
    ceilings = {**result.ceiling, "outcome": plain.ceiling["outcome"]}
    quantile = 1.6448536 if not people else student.ppf(0.95, people - 1)
    for name, own in zip(PARTS, parts, strict=True):
        score = scores[name]
        assert score.raw == pytest.approx(own.raw), name
        assert score.maxbias == pytest.approx(own.maxbias), name
        assert score.corrected == pytest.approx(own.corrected), name
        assert ceilings[name] == pytest.approx(own.ceiling), name
        assert score.se == pytest.approx(own.se, rel=0.08), name  # other draws
        assert lower_upper(score, result.rule) == pytest.approx(bounds(own, quantile), abs=1.0)
    whole, by_page = mean_score(scores, PARTS, result.rule), index(parts, participant)
    assert whole.raw == pytest.approx(by_page.raw)
    assert whole.maxbias == pytest.approx(by_page.maxbias)
    assert whole.se == pytest.approx(by_page.se, rel=0.08)


def test_style_from_the_page_alone():
    human = draw(TASKS, 3, seed=4)
    sim = draw(TASKS, 2, seed=5, side="simulated", shift={"comma": 1.0, "casual": -0.8})
    result = study(reference(human, SPECS), sim, RobustOptions(replicates=2000))
    draws = np.random.default_rng(7).integers(0, TASKS, (2000, TASKS))
    names = result.style.selection.scored
    assert len(names) >= 2
    columns = [(values(sim, n), values(human, n)) for n in names]
    at = names.index("casual")
    columns[at] = tuple(1 - side for side in columns[at])
    own = dimension(columns, draws)
    score = result.style.score
    assert score.raw == pytest.approx(own.raw)
    assert score.maxbias == pytest.approx(own.maxbias)
    assert result.style.ceiling == pytest.approx(own.ceiling)
    assert lower_upper(score, result.rule) == pytest.approx(bounds(own), abs=1.0)
    assert score.raw < 95


def test_gaps_that_are_more_than_chance_from_the_page_alone():
    human = draw(TASKS, 3, seed=4)
    moved = {"comma": 1.0, "politeness": 0.8, "request": 1.5, "dash": 4.0}
    sim = draw(TASKS, 2, seed=5, side="simulated", shift=moved)
    result = study(reference(human, SPECS), sim, RobustOptions(replicates=2000))
    gaps = {name: own.gap for name, own in features(result).items()}
    found, tested = certain_gaps(result, gaps)
    known = [name for name, gap in gaps.items() if gap is not None and gap.value is not None]
    by_page = page_gaps({name: (values(sim, name), values(human, name)) for name in known})
    assert tested == len(known)
    named = [gap.feature for gap in found]
    assert set(named) >= {"comma", "politeness", "request"}
    assert named == [name for name, _ in by_page]
    for gap, (_, effect) in zip(found, by_page, strict=True):
        assert gap.effect == pytest.approx(effect, rel=1e-6)
