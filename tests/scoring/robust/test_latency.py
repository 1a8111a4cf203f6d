"""Latency on the scorecard: reported with bounds and its reason, and deaf to everything else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import shared
from msgspec.structs import replace

import usi
from usi.loading import open_sessions, write_usi_jsonl
from usi.phantom import build_phantom
from usi.reasons import HARNESS, NO_LATENCY, NO_STAMPS, STAMPS_OUT_OF_ORDER
from usi.records import Session

REASON = "a property of the harness, never scored"
START = datetime(2026, 8, 1, 12, tzinfo=UTC)
Gap = Callable[[np.random.Generator], float]


def stamped(sessions: Any, gap: Gap, seed: int) -> Iterator[Session]:
    """Sessions with a time on every message; the user's come `gap` seconds after the agent's."""
    rng = np.random.default_rng(seed)
    for session in sessions:
        at, turns = START, []
        for turn in session.turns:
            at += timedelta(seconds=gap(rng) if turn.role == "user" else 1.0)
            turns.append(replace(turn, time=at))
        yield replace(session, turns=tuple(turns))


def people(rng: np.random.Generator) -> float:
    return float(np.exp(rng.normal(math.log(20), 0.5)))


def model(rng: np.random.Generator) -> float:
    return float(np.exp(rng.normal(math.log(2), 0.5)))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("latency")
    phantom = build_phantom(
        home / "phantom", seed=3, tasks=40, simulators=("copy", "mild", "polite")
    )
    sides = {"people": (phantom.human / "sessions.jsonl", people),
             "mild": (phantom.simulators["mild"], model)}  # fmt: skip
    found = {}
    for k, (name, (path, gap)) in enumerate(sides.items()):
        for kind in ("plain", "stamped", "frozen"):
            own = home / kind / f"{name}.jsonl"
            own.parent.mkdir(exist_ok=True)
            sessions: Any = open_sessions(path)
            if kind == "stamped":
                sessions = stamped(sessions, gap, k)
            if kind == "frozen":  # every message at the same moment
                sessions = stamped(sessions, lambda _: -1.0, k)
            write_usi_jsonl(sessions, own)
            found[f"{kind} {name}"] = own
    return found


def card(human: Path, simulator: Path, **more: Any) -> Any:
    return usi.score(
        [simulator], human=human, profile="robust", surveys=None, replicates=200, **more
    )


@pytest.fixture(scope="module")
def cards(files: dict[str, Path]) -> dict[str, Any]:
    return {
        f"{people} {model}": card(files[f"{people} people"], files[f"{model} mild"])
        for people, model in (
            ("plain", "plain"), ("stamped", "stamped"), ("stamped", "plain"),
            ("plain", "stamped"), ("frozen", "stamped"),
        )
    }  # fmt: skip


def latency(found: Any) -> Any:
    return found.simulators[0].style["user_latency"]


def mean_log(path: Path) -> float:
    """Mean over sessions of the mean logarithm of the seconds before the user's turns."""
    means = []
    for session in open_sessions(path):
        logs, heard = [], None
        for turn in session.turns:
            if turn.role == "assistant":
                heard = turn.time
            elif heard is not None and turn.content not in ("/stop", "###STOP###"):
                logs.append(math.log((turn.time - heard).total_seconds()))
        means.append(sum(logs) / len(logs))
    return sum(means) / len(means)


def test_both_sides_by_hand(cards: dict[str, Any], files: dict[str, Path]) -> None:
    found = latency(cards["stamped stamped"])
    human, own = (mean_log(files[f"stamped {side}"]) for side in ("people", "mild"))
    assert (found.unit, found.dimension, found.scored) == ("seconds", "style", False)
    assert found.note == HARNESS()
    assert found.human.value == pytest.approx(math.exp(human), rel=1e-6)
    assert found.simulator.value == pytest.approx(math.exp(own), rel=1e-6)
    assert (found.human.n, found.simulator.n) == (120, 120)
    assert found.score.value == pytest.approx(100 * (1 - math.tanh(abs(human - own) / 2)), rel=1e-6)
    assert found.gap.low < found.gap.value < found.gap.high < 0
    assert found.gap.value == pytest.approx(math.exp(own) - math.exp(human), rel=1e-6)
    assert found.score.low < found.score.value < found.score.high
    assert found.distance == {}
    told = cards["stamped stamped"].human.features["user_latency"]
    assert (told.note, told.scored) == (HARNESS(), False)
    assert told.human.value == pytest.approx(math.exp(human), rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "human", "simulator"),
    [("plain plain", False, False), ("stamped plain", True, False), ("plain stamped", False, True)],
)
def test_a_side_without_stamps(
    cards: dict[str, Any], kind: str, human: bool, simulator: bool
) -> None:
    found = latency(cards[kind])
    assert found.note == HARNESS()
    for estimate, there in ((found.human, human), (found.simulator, simulator)):
        if there:
            assert estimate.value == pytest.approx(20 if human else 2, rel=0.1)
        else:
            assert (estimate.status, estimate.reason) == ("not_assessed", NO_STAMPS())
    for estimate in (found.score, found.gap, found.relative_gap):
        assert (estimate.status, estimate.reason) == ("not_assessed", NO_STAMPS())


def test_gaps_that_are_not_above_zero_are_counted(cards: dict[str, Any]) -> None:
    found = cards["frozen stamped"]
    assert latency(found).human.status == "not_assessed"
    assert latency(found).human.reason == STAMPS_OUT_OF_ORDER()
    assert {item.reason: item.count for item in found.human.left_out}[NO_LATENCY()] > 300
    assert NO_LATENCY() not in {item.reason for item in found.simulators[0].left_out}


def without_latency(found: Any) -> dict[str, Any]:
    """What a card says, without latency, the digests of what was read, and their counts."""
    told = found.model_dump(mode="json")
    for part in (told["human"], *told["simulators"]):
        for block in ("features", "style"):
            part.get(block, {}).pop("user_latency", None)
        part["left_out"] = [i for i in part["left_out"] if i["reason"]["code"] != "no_latency"]
        part.pop("signature", None)
    return {k: v for k, v in told.items() if k not in ("signature", "inputs", "tasks_sha256")}


@pytest.mark.parametrize(
    "kind", ["stamped stamped", "stamped plain", "plain stamped", "frozen stamped"]
)
def test_nothing_else_depends_on_time_stamps(cards: dict[str, Any], kind: str) -> None:
    # Index, components, features, style, tripwires, classifiers, distances, gaming, warnings.
    plain, own = without_latency(cards["plain plain"]), without_latency(cards[kind])
    assert plain["simulators"][0]["two_sample"][1]["auc"]["value"] is not None
    assert own == plain


def test_classifiers_and_distances_never_see_it() -> None:
    from usi.diagnose.diagnosis import compared_specs

    for design in ("paired", "unpaired"):
        names = {spec.name for spec in compared_specs("robust", design)}
        assert "user_latency" not in names
        assert "words_per_turn" in names


def test_a_harness_feature_is_out_even_where_a_profile_scores_it() -> None:
    from usi.extraction.profile import get_specs
    from usi.scoring.robust.scorable import Scorable, select
    from usi.scoring.robust.tripwire import tripwire_list

    latency_spec = next(spec for spec in get_specs("robust") if spec.harness)
    planted = changed(latency_spec, dimension="reaction", scored=True, tripwire=True)
    specs = [*(spec for spec in get_specs("robust") if not spec.harness), planted]
    verdicts = {spec.name: Scorable(None, 1, 100, True) for spec in specs}
    assert "user_latency" not in select(specs, verdicts, paired=True)["reaction"].scored
    assert {spec.name for spec in tripwire_list(specs, verdicts)} == {"dash", "role_confusion"}


def test_real_people_are_slower_than_a_model() -> None:
    found = usi.score(
        [shared("data/tau2/airline_user-grok-4_4x4.json")],
        human=shared("data/star/dialogues_even.tar.xz"),
        profile="robust", surveys=None, replicates=100, c2st="off",
    )  # fmt: skip
    own = latency(found)
    assert 15 < own.human.value < 25
    assert 8 < own.simulator.value < 20
    assert own.note == HARNESS()


def test_an_aggregate_says_what_its_corpus_says(
    cards: dict[str, Any], files: dict[str, Path], tmp_path: Path
) -> None:
    from usi.corpora.resolve import resolve
    from usi.scoring.aggregate import build_aggregate, write_aggregate

    whole = latency(cards["stamped stamped"])
    path = tmp_path / "people.parquet"
    write_aggregate(build_aggregate(resolve(files["stamped people"]), min_cell=3), path)
    found = latency(card(path, files["stamped mild"], c2st="off"))
    for name in ("human", "simulator", "score", "gap", "relative_gap"):
        one, other = getattr(found, name), getattr(whole, name)
        assert (one.status, one.n) == ("ok", other.n)
        for end in ("value", "low", "high"):
            assert getattr(one, end) == (
                None if getattr(other, end) is None
                else pytest.approx(getattr(other, end), rel=1e-8)
            )  # fmt: skip
    write_aggregate(build_aggregate(resolve(files["plain people"]), min_cell=3), path)
    found = latency(card(path, files["stamped mild"], c2st="off"))
    assert found.human.reason == found.score.reason == NO_STAMPS()


def test_an_aggregate_keeps_no_latency_of_single_people(
    files: dict[str, Path], tmp_path: Path
) -> None:
    from usi.corpora.resolve import resolve
    from usi.scoring.aggregate import build_aggregate

    seen: dict[str | None, int] = {}
    mixed = []
    for session in open_sessions(files["stamped people"]):
        seen[session.task_id] = seen.get(session.task_id, 0) + 1
        few = session.task_id != "airline_0" and seen[session.task_id] > 2
        bare = tuple(replace(turn, time=None) for turn in session.turns)
        mixed.append(replace(session, turns=bare) if few else session)
    path = tmp_path / "people.jsonl"
    write_usi_jsonl(mixed, path)
    rows = build_aggregate(resolve(path), min_cell=3).rows
    known = dict(rows.select("task", "user_latency.values").iter_rows())
    own = known.pop("airline_0")
    assert len(own) == 3
    assert own == sorted(own)
    assert all(5 < value < 80 for value in own)
    assert all(values == [] for values in known.values())


def test_every_form_shows_unit_n_and_reason(cards: dict[str, Any]) -> None:
    import csv
    import html
    import io
    import re

    from usi.report import long_table, markdown
    from usi.report.html.page import render

    for kind, why in (("stamped stamped", ""), ("stamped plain", "no time stamps")):
        found = cards[kind]
        own = latency(found)
        lines = markdown.render(found).splitlines()
        [line] = [line for line in lines if line.startswith("| user latency ")]
        assert f"reported only: {REASON}" in line
        assert f"{own.human.value:.3f}" in line
        assert ("no time stamps" in line) == bool(why)
        [row] = [
            row
            for row in csv.DictReader(io.StringIO(long_table.render(found)))
            if row["part"] == "user_latency"
        ]
        assert (row["kind"], row["unit"]) == ("style", "seconds")
        assert row["reason"] == (f"{REASON}; {why}" if why else REASON)
        assert row["n"] == ("0" if why else "120")
        page = render(found)
        [told] = re.findall(r"<tr[^>]*><th[^>]*>user latency.*?</tr>", page, re.DOTALL)
        text = html.unescape(re.sub(r"<[^>]+>", " ", told))
        assert REASON in text
        assert "seconds" in text
        assert f"{own.human.value:.2f}" in text
        assert re.search(r"\b120\b.*,", text)
        assert ("no time stamps" in text) == bool(why)
