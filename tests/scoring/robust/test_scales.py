"""Scales and poles through a whole study: durations, complements, unequal numbers of sessions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import wasserstein_distance
from scoring.robust.population import draw

from usi.extraction.spec import FeatureSpec
from usi.options import RobustOptions
from usi.scoring.robust.card_parts import features
from usi.scoring.robust.reference import reference
from usi.scoring.robust.study import study

OPTIONS = RobustOptions(replicates=200)
HUMAN, SIM = draw(60, 3, seed=1), draw(60, 2, seed=2, side="simulated")


def own(name, kind="mean", numerator="words", denominator="", **more):
    return FeatureSpec(name, "conversation", kind, numerator, denominator, **more)


def scored(specs, human=HUMAN, simulator=SIM):
    return study(reference(human, specs), simulator, OPTIONS)


def test_durations_are_compared_by_geometric_means():
    specs = (own("waiting", scale="ratio"), own("words"))
    result = scored(specs)
    logs = [
        side.select("task", x=pl.col("words").log()).group_by("task").mean()["x"].mean()
        for side in (SIM, HUMAN)
    ]
    terms = result.terms["conversation"]
    samples = [np.log(side["words"].to_numpy()) for side in (SIM, HUMAN)]
    area = wasserstein_distance(*samples)
    # where the distributions cross within a cell, that cell counts less
    assert 0.88 * np.tanh(area / 2) < terms.point[0] <= np.tanh(area / 2)
    assert terms.point[0] >= abs(np.tanh((logs[0] - logs[1]) / 2)) - 1e-12
    shown = features(result)["waiting"]
    assert shown.human.value == pytest.approx(np.exp(logs[1]))
    assert shown.means.value == pytest.approx(100 * (1 - abs(np.tanh((logs[0] - logs[1]) / 2))))
    assert shown.gap.value == pytest.approx(np.exp(logs[0]) - np.exp(logs[1]))
    assert shown.gap.low < shown.gap.value < shown.gap.high


def test_another_unit_changes_no_score_of_a_duration():
    specs = (own("waiting", scale="ratio"), own("turns", numerator="user_turns"))
    hours = [side.with_columns(words=pl.col("words") * 60) for side in (HUMAN, SIM)]
    minutes, other = scored(specs), scored(specs, *hours)
    a, b = minutes.scores["conversation"], other.scores["conversation"]
    assert a.raw == pytest.approx(b.raw)
    assert a.se == pytest.approx(b.se)
    assert a.maxbias == pytest.approx(b.maxbias)
    assert minutes.ceiling["conversation"] == pytest.approx(other.ceiling["conversation"])


def test_the_complement_is_what_dice_counts():
    plain = own("casual", "rate", "casual", "user_turns")
    turned = own("casual", "rate", "casual", "user_turns", pole="complement")
    turns = own("turns", numerator="user_turns")
    a, b = scored((plain, turns)), scored((turned, turns))
    p, q = a.data.simulator[0], a.data.human[0]
    one, other = features(a)["casual"], features(b)["casual"]
    assert other.means.value == pytest.approx(100 * (1 - abs(p - q) / (2 - p - q)))
    # the area between two distributions is that between their complements
    area = a.terms["conversation"].point[0] * (p + q)
    assert b.terms["conversation"].point[0] == pytest.approx(area / (2 - p - q), rel=0.05)
    assert one.human == other.human
    assert one.gap.value == pytest.approx(other.gap.value)
    assert one.gap.low == pytest.approx(other.gap.low)
    assert one.human_hits == other.human_hits


def test_an_interval_scale_is_not_compared_by_means():
    specs = (own("mood", scale="interval"), own("words"), own("turns", numerator="user_turns"))
    found = features(scored(specs))["mood"]
    assert found.score.status == "unscorable"
    assert found.score.reason.code == "not_by_means"
    assert found.human.ok


def test_a_feature_that_leaves_the_tasks_compared_is_no_score():
    # people show it in thirty sessions of a task that the simulator never did
    there = pl.col("task") == "retail_0"
    human = pl.concat([HUMAN.filter(~there), *[HUMAN.filter(there)] * 10]).with_columns(
        ack=pl.when(there).then(1).otherwise(0).cast(pl.Int64)
    )
    specs = (
        own("ack", "rate", "ack", "user_turns"), own("words"), own("turns", numerator="user_turns")
    )  # fmt: skip
    sim = SIM.filter(~there).with_columns(ack=pl.lit(0, dtype=pl.Int64))
    result = scored(specs, human, sim)
    assert result.reference.verdicts["ack"].reason is None
    assert result.terms["conversation"].names == ("words", "turns")
    assert features(result)["ack"].score.status == "unscorable"
    assert not features(result)["ack"].scored
