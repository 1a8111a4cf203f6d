"""Law: a scorecard is a function of what was said, not of where it stood."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usi
from usi.phantom import build_phantom

CHOICES = {"replicates": 100, "c2st": "off"}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """People and a simulator: half of the sessions named, half without any name."""
    place = tmp_path_factory.mktemp("law")
    files = build_phantom(place, tasks=14, runs=4, simulators=["polite"], seed=5)
    paths = [next(files.human.rglob("*.jsonl")), files.simulators["polite"]]
    sides = []
    for path in paths:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows[::2]:
            for key in ("id", "trial", "batch"):
                row.pop(key, None)
        sides.append(rows)
    return place, sides


def card(place, sides, profile):
    paths = []
    for name, rows in zip(("people", "model"), sides, strict=True):
        path = place / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(path)
    people, model = paths
    more = CHOICES if profile == "robust" else {}
    return usi.score(model, people, profile=profile, **more).to_json()


@pytest.mark.parametrize("profile", ["robust", "tau-usi"])
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(random=st.randoms(use_true_random=False))
def test_any_order_of_sessions_gives_the_same_card(records, profile, random):
    place, sides = records
    turned = [random.sample(rows, len(rows)) for rows in sides]
    assert card(place, turned, profile) == card(place, sides, profile)
