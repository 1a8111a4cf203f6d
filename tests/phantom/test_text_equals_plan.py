"""Plan -> text -> extraction gives exactly the counts of the plan."""

from __future__ import annotations

import polars as pl
import pytest
from phantom_truth.counts import count_frame

from usi.extraction.content import CONTENT_COLUMNS
from usi.extraction.extract import extract
from usi.extraction.spec import CORE_COUNTS, IDENTITY_SCHEMA
from usi.phantom import default_tasks, draw, get_simulator, load_spec, realise

SOURCES = ["human", "polite", "mild", "collapsed", "dense"]
PROFILES = ["tau-usi", "robust"]

UNPLANNED = {"trigrams_repeated", *CONTENT_COLUMNS}
"""Depends on the words themselves, which a plan does not hold; belongs to no dimension."""


def _spec(name):
    if name == "human":
        return load_spec("human")
    if name == "dense":  # every mark often, so that fragments meet each other in one turn
        every = dict.fromkeys(
            (
                "politeness",
                "uncertainty",
                "lack",
                "certainty",
                "pushback",
                "clarify",
                "emotion",
                "accusation",
                "pivot",
                "role",
                "dash",
                "identifier",
            ),
            0.3,
        )
        return load_spec("human").with_rates(
            **(every | {"pushback": 0.15, "clarify": 0.15}), info=0.1, stock=0.05, repeat=0.3
        )
    return get_simulator(name)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("source", SOURCES)
def test_planned_counts_equal_extracted_counts(source, profile):
    plan = draw(_spec(source), default_tasks(), replicates=12, seed=3)
    side = "human" if source in ("human", "dense") else "simulated"
    label = "" if side == "human" else source
    planned = count_frame(plan, profile, side=side, simulator=label, resolved=False)
    sessions = realise(plan, side=side, simulator=label)
    extracted = pl.concat(extract(sessions, profile=profile, side=side))
    assert extracted.height == 165 * 12
    counts = [n for n in planned.columns if n not in {*IDENTITY_SCHEMA, *CONTENT_COLUMNS}]
    assert set(CORE_COUNTS) < set(counts)
    assert planned.columns == extracted.columns
    for name in planned.columns:
        if planned[name].null_count() == planned.height and name in UNPLANNED:
            continue
        wrong = planned[name].ne_missing(extracted[name])
        shown = list(zip(planned[name].filter(wrong), extracted[name].filter(wrong), strict=True))
        assert not wrong.any(), (name, shown[:5])
    if source == "dense":  # no column agrees only because nothing happens in it
        total = planned.select(counts).sum().row(0, named=True)
        zero = {name for name, value in total.items() if not value}
        # The agent of a phantom is never echoed and neither helps nor fails in so many words.
        silent = {"echo", "helped_turns", "helped_politeness", "failed_turns", "failed_frustration"}
        silent |= {"latency_log", "latency_units", "latency_unusable"}  # it has no stamps
        assert {name for name in zero if not name.startswith("rep_")} <= UNPLANNED | silent
