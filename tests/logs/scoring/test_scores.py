"""Scores of phantom logs: each defect falls where it should, a copy stands near the ceiling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from logs.scoring.conftest import options
from scipy.stats import wasserstein_distance
from support.scoring import score

from usi.errors import UsageError
from usi.extraction.table import SessionTable
from usi.logs.case_mix import standardised
from usi.logs.window import window_warnings
from usi.options import ScoreOptions
from usi.provenance.signature import parse
from usi.reasons import CASE_TOO_YOUNG
from usi.scoring.scorecard import Scorecard

DIMENSIONS = ("conversation", "information", "clarification", "reaction")


def value(part, name):
    return part.components[name].value


def test_a_copy_stands_near_the_ceiling(cards):
    copy = cards["copy"]
    assert copy.index.name == "USI-log"
    assert (copy.index.terms, copy.index.terms_possible) == (5, 6)
    assert copy.index.value == pytest.approx(copy.index.ceiling_at_n, abs=1.5)
    assert copy.index.low <= copy.index.value <= copy.index.high
    for name in (*DIMENSIONS, "outcome"):
        assert copy.components[name].ceiling_at_n - value(copy, name) < 4


@pytest.mark.parametrize(
    ("simulator", "falls", "stays"),
    [
        ("easy_mode", ("clarification", "reaction", "outcome"), ("information",)),
        ("wrong_waiting", ("clarification",), ("information", "reaction", "outcome")),
        ("no_ping_pong", ("reaction",), ("information", "clarification", "outcome")),
        ("memoryless", ("reaction",), ("information", "outcome")),
    ],
)
def test_a_defect_falls_where_it_should(cards, simulator, falls, stays):
    part, copy = cards[simulator], cards["copy"]
    for name in falls:
        assert part.components[name].high < value(copy, name) - 5, name
    for name in stays:
        assert value(part, name) > 94, name


def test_easy_mode_has_more_success_and_the_memoryless_one_is_near_on_means(cards):
    assert cards["easy_mode"].success_gap.low > 0.1
    memoryless = cards["memoryless"]
    for name in ("wait_user_case", "reopen", "group_changes"):
        assert memoryless.features[name].score.value > 90, name
    assert memoryless.features["ping_pong"].score.high < 60
    assert memoryless.log_distances["ngram3_excess"].low > 0.03
    assert cards["copy"].log_distances["ngram3_excess"].high < 0.03


def test_the_card_says_what_a_log_can_tell(scored):
    card = scored.card
    assert card.profile == "log@1"
    assert card.settings["scope"] == "log-observable"
    assert card.synthetic
    for part in card.simulators:
        assert part.tier_limit == "B"
        assert part.design == "unpaired"
        assert part.components["survey"].status == "not_assessed"
        assert part.components["survey"].reason.code == "satisfaction_not_real"
        fields = parse(part.signature).fields
        assert fields["components"] == "conversation+information+clarification+reaction+outcome"
        assert fields["terms"] == "5"
        assert fields["cluster"] == "week"
        assert "pingpong:aba@group" in fields["logs"]
    assert Scorecard.model_validate_json(card.to_json()) == card


def test_the_real_log_against_itself_is_printed_in_every_way(scored):
    human = scored.card.human
    assert human.index.value > 95
    text = " ".join(w.text for w in human.warnings)
    for kind in ("random halves", "month", "team"):
        assert f"real against real by {kind}" in text
    parts = human.components["clarification"].detail
    assert parts["random halves"].n == 5
    assert parts["month"].low <= parts["month"].value <= parts["month"].high
    detail = scored.card.simulators[0].components["reaction"].detail
    assert detail["real against real by random halves"].value > 90


def test_standardisation_takes_the_mix_of_cases_out(scored, cards):
    part = cards["other_mix"]
    message = next(w.text for w in part.warnings if w.code == "case_mix")
    assert "priority and category" in message
    assert "without" in message
    # by hand: success of the people's strata, weighted to the people's shares
    human = scored.human.frame
    own = scored.simulators["other_mix"].frame
    shares = dict(human["priority"].value_counts(normalize=True).iter_rows())
    rates = dict(own.group_by("priority").agg(pl.col("reward").mean()).iter_rows())
    by_hand = sum(shares[name] * rates[name] for name in shares) - human["reward"].mean()
    plain = own["reward"].mean() - human["reward"].mean()
    assert plain < -0.03
    assert abs(by_hand) < 0.02
    found = standardised(human, own, wanted=True)
    mean = np.average(own["reward"].to_numpy(), weights=found.weight) - human["reward"].mean()
    assert mean == pytest.approx(by_hand, abs=0.01)
    assert found.covered > 0.99
    assert found.effective < own.height


def test_weights_by_hand():
    human = pl.DataFrame({"priority": ["a"] * 60 + ["b"] * 40, "category": [None] * 100})
    human = human.with_columns(pl.col("category").cast(pl.String))
    other = pl.DataFrame({"priority": ["a"] * 20 + ["b"] * 80, "category": ["x"] * 100})
    mix = standardised(human, other, wanted=True)
    assert mix.columns == ("priority",)  # people have no category
    assert mix.weight[0] == pytest.approx(0.6 / 0.2)
    assert mix.weight[-1] == pytest.approx(0.4 / 0.8)
    assert mix.effective == pytest.approx(100**2 / (20 * 9 + 80 * 0.25))
    assert standardised(human, other, wanted=False).columns == ()
    rare = pl.DataFrame({"priority": ["a"] * 95 + ["c"] * 5, "category": ["x"] * 100})
    found = standardised(human, rare, wanted=True)
    # b has no case there and c none here: both are in the small rest
    assert found.weight.sum() == pytest.approx(100)


def test_burstiness_is_compared_by_its_distribution(scored, cards):
    human, other = (
        t.values()["burstiness"].drop_nulls().to_numpy()
        for t in (scored.human, scored.simulators["memoryless"])
    )
    plain = score(
        {"memoryless": scored.simulators["memoryless"]},
        scored.human,
        options=ScoreOptions(standardise=False, replicates=100, c2st="off"),
    ).simulators[0]
    w1 = wasserstein_distance(other, human) / human.std()
    assert plain.features["burstiness"].score.value == pytest.approx(100 * (1 - w1), abs=0.2)
    assert plain.features["burstiness"].relative_gap.status == "not_assessed"
    assert plain.features["burstiness"].scored


def test_the_order_of_files_and_cases_changes_nothing(logs, scored, tmp_path):
    lines = logs.simulators["copy"].read_text().splitlines(keepends=True)
    mixed = tmp_path / "copy.csv"
    mixed.write_text(lines[0] + "".join(sorted(lines[1:], key=lambda line: line[::-1])))
    # the phantom has no two events of a case at one time, so any order of rows is the same log
    card = score([mixed], logs.human, options=options(logs.config))
    one = card.simulators[0]
    two = next(part for part in scored.card.simulators if part.name == "copy")
    assert one.components == two.components
    assert one.log_distances == two.log_distances


def test_another_cluster(logs, scored):
    own = replace(options(logs.config),
        replicates=100, c2st="off", cluster="month")  # fmt: skip
    part = score([logs.simulators["copy"]], logs.human, options=own).simulators[0]
    assert part.n.clusters == 13  # January to January
    assert any("13 clusters (month)" in reason.text for reason in part.inconclusive)
    assert parse(part.signature).fields["cluster"] == "month"


def test_a_horizon_censors_both_sides_alike(logs):
    own = options(logs.config, replicates=100, horizon=1000.0)
    card = score([logs.simulators["copy"]], logs.human, options=own)
    assert "horizon:1000h" in card.settings["log"]
    for side in (card.human, card.simulators[0]):
        assert any(part.reason.is_a(CASE_TOO_YOUNG) for part in side.left_out)
    assert card.simulators[0].index.value > 95


def test_sides_of_other_choices_are_refused(logs, scored):
    table = replace(scored.simulators["copy"], settings="map:other|horizon:24h")
    with pytest.raises(UsageError, match="other choices than the real log"):
        score({"copy": table}, scored.human, profile="log")


def test_logs_and_conversations_never_meet(logs, scored):
    chat = replace(scored.simulators["copy"], profile="robust")
    with pytest.raises(UsageError, match="never compared"):
        score({"chat": chat}, scored.human, profile="log")
    with pytest.raises(UsageError, match="configuration was given"):
        score({"chat": chat}, scored.human, profile="robust", options=options(logs.config))


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"design": "paired"}, "no paired design"),
        ({"human_runs": ("0",)}, "logs have no runs"),
        ({"cluster": "weekk"}, "did you mean 'week'"),
    ],
)
def test_choices_that_logs_do_not_have(scored, choices, text):
    own = ScoreOptions(c2st="off", replicates=100, **choices)
    with pytest.raises(UsageError, match=text):
        score({"copy": scored.simulators["copy"]}, scored.human, profile="log", options=own)


def test_a_component_that_cant_be_measured_is_named(scored):
    gone = ("waits_user", "wait_user_events", "wait_user_us", "wait_user_own_us", "wait_user_zero",
            "wait_user_runs", "waits_other")  # fmt: skip
    blank = [pl.lit(None, dtype=pl.Int64).alias(name) for name in gone]
    table = scored.simulators["copy"]
    table = replace(table, frame=table.frame.with_columns(blank))
    own = ScoreOptions(c2st="off", replicates=100)
    part = score({"copy": table}, scored.human, profile="log", options=own).simulators[0]
    assert part.components["clarification"].status == "not_assessed"
    assert part.index.terms == 4
    assert "clarification" not in parse(part.signature).fields["components"]
    assert part.log_distances["ngram3"].status == "not_assessed"


def test_satisfaction_is_compared_where_both_have_it(scored):
    rng = np.random.default_rng(1)

    def rated(table, shift):
        levels = np.clip(rng.integers(1, 6, len(table)) + shift, 1, 5)
        texts = [f'{{"csat": "{level}"}}' for level in levels]
        return replace(table, frame=table.frame.with_columns(pl.Series("survey", texts))), levels

    human, ours = rated(scored.human, 0)
    copy, theirs = rated(scored.simulators["copy"], 1)
    own = ScoreOptions(c2st="off", replicates=100, standardise=False)
    part = score({"copy": copy}, human, profile="log", options=own).simulators[0]
    by_hand = 100 * (1 - wasserstein_distance(ours, theirs) / 4)
    assert part.components["survey"].value == pytest.approx(by_hand, abs=0.2)
    assert part.components["survey"].low < by_hand < part.components["survey"].high
    assert (part.index.terms, part.index.terms_possible) == (6, 6)


def test_an_outcome_that_one_side_does_not_tell_is_found_by_the_real_logs_limits(scored):
    table = scored.simulators["copy"]
    mute = replace(table, frame=table.frame.with_columns(pl.lit(None, pl.Float64).alias("reward")))
    own = ScoreOptions(c2st="off", replicates=100)
    part = score({"copy": mute}, scored.human, profile="log", options=own).simulators[0]
    assert any(w.code == "outcome_rule" for w in part.warnings)
    assert part.human_success.value == pytest.approx(0.75, abs=0.02)  # a third quartile
    assert "sla:reference-p75" in parse(part.signature).fields["logs"]


DAY = 86_400_000_000


def cases(starts, cycles, last="closed"):
    start, cycle = np.asarray(starts, dtype=np.int64), np.asarray(cycles, dtype=np.int64)
    return pl.DataFrame(
        {"start_us": start * DAY, "end_us": (start + cycle) * DAY, "cycle_us": cycle * DAY,
         "last_class": [last] * len(start)}
    )  # fmt: skip


def test_length_bias_is_warned_of():
    rng = np.random.default_rng(3)
    ends, long = rng.integers(700, 720, 500), rng.integers(1, 300, 500)
    closing = cases(ends - long, long)  # every case ends within 20 days
    plain = cases(rng.integers(0, 365, 500), rng.integers(1, 5, 500))
    text = " ".join(w.text for w in window_warnings(closing, {"sim": plain}))
    assert "the real log looks like an extract by closing date" in text
    assert "cut by different rules" in text
    assert window_warnings(plain, {"sim": plain}) == []


def test_a_short_window_and_open_cases_are_warned_of():
    rng = np.random.default_rng(4)
    short = cases(rng.integers(0, 10, 100), rng.integers(20, 30, 100))
    assert any(
        "shorter than 2 times its median cycle" in t.text for t in window_warnings(short, {})
    )
    open_ = cases(rng.integers(0, 365, 100), rng.integers(1, 5, 100), last="work")
    assert any("100 of 100 cases are open" in t.text for t in window_warnings(open_, {}))


def test_a_part_of_the_real_log_is_noticed(scored):
    half = replace(scored.human, frame=scored.human.frame.head(1200))
    own = ScoreOptions(c2st="off", replicates=100)
    card = score({"half": half}, scored.human, profile="log", options=own)
    assert any("1,200 of its 1,200 case ids" in w.text for w in card.warnings)


def test_session_tables_score_as_the_logs_do(logs, scored, tmp_path, cards):
    paths = []
    for name, table in (("human", scored.human), ("copy", scored.simulators["copy"])):
        path = tmp_path / f"{name}.sessions.parquet"
        table.write(path)
        paths.append(path)
    assert SessionTable.read(paths[0]).settings
    own = ScoreOptions(replicates=300, c2st="off")
    card = score([paths[1]], paths[0], profile="log", options=own)
    for name in DIMENSIONS:
        assert value(card.simulators[0], name) == value(cards["copy"], name)
