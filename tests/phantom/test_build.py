"""The phantom written as files, and what the published index says about its simulators."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import replace

import polars as pl
import pytest
from phantom_truth.counts import phantom_table
from phantom_truth.scores import true_scores
from phantom_truth.stream import BLOCK, stream_counts, stream_sessions

from usi.extraction.extract import extract_table
from usi.loading import open_sessions, read_surveys
from usi.options import ScoreOptions
from usi.phantom import build_phantom, default_tasks, draw, get_simulator, load_spec
from usi.scoring.context import ScoreContext
from usi.scoring.keys import assign_keys
from usi.scoring.profiles import get_profile

DIMENSIONS = ("conversation", "information", "clarification", "reaction")
COMPONENTS = (*DIMENSIONS, "outcome")
SIMULATORS = ("copy", "mild", "polite", "collapsed")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phantom")
    return build_phantom(folder, seed=7, simulators=SIMULATORS), folder


def _table(path, side):
    stream = open_sessions(path)
    table = extract_table(stream, profile="tau-usi", side=side)
    return replace(table, frame=assign_keys(table.frame, side=side))


@pytest.fixture(scope="module")
def cards(built):
    files, _ = built
    human = _table(files.human / "sessions.jsonl", "human")
    simulators = {name: _table(path, "simulated") for name, path in files.simulators.items()}
    surveys = read_surveys(files.surveys)
    score = get_profile("tau-usi").score_tables
    options, context = ScoreOptions(), ScoreContext(synthetic=True)
    return {
        6: score(human, simulators, surveys=surveys, options=options, context=context),
        5: score(human, simulators, surveys=None, options=options, context=context),
    }


def test_files_say_that_they_are_synthetic(built):
    files, folder = built
    manifest = tomllib.loads((files.human / "manifest.toml").read_text())
    assert manifest["synthetic"] is True
    assert manifest["name"] == "phantom"
    for name, digest in manifest["sha256"].items():
        assert hashlib.sha256((files.human / name).read_bytes()).hexdigest() == digest
    for path in [files.human / "sessions.jsonl", *files.simulators.values()]:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert len(rows) == 165 * 3
        assert all(row["metadata"] == {"synthetic": True, "language": "en"} for row in rows)
        assert not any(str(folder) in line for line in path.read_text().splitlines())


def test_same_seed_same_bytes(built, tmp_path):
    _, folder = built
    build_phantom(tmp_path, seed=7, simulators=SIMULATORS)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        assert path.read_bytes() == (tmp_path / path.relative_to(folder)).read_bytes()


def test_loaded_sessions_have_batches_and_runs(built):
    files, _ = built
    human = _table(files.human / "sessions.jsonl", "human").frame
    assert sorted(human["batch"].unique()) == [1, 2, 3]
    assert human.group_by("batch").len()["len"].to_list() == [165] * 3
    assert human["survey"].is_not_null().all()
    run = _table(files.simulators["polite"], "simulated").frame
    assert sorted(run["run"].unique()) == ["1", "2", "3"]
    assert set(run["task"]) == set(human["task"])
    assert run["simulator"].unique().to_list() == ["polite"]


@pytest.mark.parametrize("terms", [5, 6])
def test_order_is_copy_mild_polite(cards, terms):
    index = {card.name: card.index for card in cards[terms].simulators}
    assert all(value.terms == terms for value in index.values())
    assert index["copy"].value > index["mild"].value + 3 > index["polite"].value + 6


def test_a_collapsed_simulator_looks_perfect_in_means(cards):
    by_name = {card.name: card for card in cards[5].simulators}
    assert by_name["collapsed"].index.value == pytest.approx(by_name["copy"].index.value, abs=4)
    assert by_name["collapsed"].index.value > by_name["mild"].index.value + 10
    exact = true_scores(get_simulator("collapsed"), load_spec("human"))
    assert min(exact.components[part] for part in COMPONENTS) > 97


MOVES = {
    "defect-politeness": "conversation",
    "defect-short": "conversation",
    "defect-role": "conversation",
    "defect-dash": "conversation",
    "defect-frontload": "information",
    "defect-verbose": "information",
    "defect-uncertainty": "clarification",
    "defect-questions": "clarification",
    "defect-calm": "reaction",
    "defect-pivot": "reaction",
    "defect-outcome": "outcome",
}


def test_each_defect_moves_the_component_it_belongs_to():
    """Same random numbers as the copy, so that only the defect differs."""
    tasks = default_tasks()
    human = phantom_table(draw(load_spec("human"), tasks, seed=1), "tau-usi", side="human")
    tables = {
        name: phantom_table(
            draw(get_simulator(name), tasks, seed=2), "tau-usi", side="simulated", simulator=name
        )
        for name in ("copy", *MOVES)
    }
    card = get_profile("tau-usi").score_tables(
        human, tables, surveys=None, options=ScoreOptions(), context=ScoreContext()
    )
    value = {
        one.name: {part: one.components[part].value for part in COMPONENTS}
        for one in card.simulators
    }
    for name, moved in MOVES.items():
        if name != "defect-role":  # people show it in 1 session of 200: noise drowns its Dice
            drop = {part: value["copy"][part] - value[name][part] for part in COMPONENTS}
            assert drop[moved] > 3, (name, drop)
            assert max(drop, key=drop.get) == moved, (name, drop)
        exact = true_scores(get_simulator(name), load_spec("human")).components
        assert min(exact, key=exact.get) == moved


def test_a_lenient_judge_moves_survey_agreement(tmp_path):
    files = build_phantom(tmp_path, simulators=["copy", "defect-survey"], seed=3)
    human = _table(files.human / "sessions.jsonl", "human")
    simulators = {name: _table(path, "simulated") for name, path in files.simulators.items()}
    card = get_profile("tau-usi").score_tables(
        human,
        simulators,
        surveys=read_surveys(files.surveys),
        options=ScoreOptions(),
        context=ScoreContext(),
    )
    value = {one.name: one.components["survey"].value for one in card.simulators}
    assert value["copy"] > value["defect-survey"] + 5


def test_more_tasks_than_published_bring_a_difficulty_file(tmp_path):
    files = build_phantom(tmp_path, tasks=170, batches=1, runs=1, simulators=["copy"])
    assert files.difficulty is not None
    assert len(json.loads(files.difficulty.read_text())) == 170


def test_a_stream_is_lazy_and_its_counts_are_those_of_its_texts():
    spec = get_simulator("polite")
    n = BLOCK + 100
    sessions = stream_sessions(spec, n, seed=5)
    assert next(sessions).meta == {"synthetic": True, "language": "en"}
    table = extract_table(stream_sessions(spec, n, seed=5), profile="tau-usi", side="simulated")
    blocks = list(stream_counts(spec, n, "tau-usi", seed=5))
    assert [block.height for block in blocks] == [BLOCK, 100]
    for name in ("user_turns", "words", "politeness", "pivot", "reward", "session_id"):
        assert pl.concat([block[name] for block in blocks]).to_list() == table.frame[name].to_list()
    longer = next(stream_counts(spec, 3 * BLOCK, "tau-usi", seed=5))
    assert longer["words"].to_list() == blocks[0]["words"].to_list()
