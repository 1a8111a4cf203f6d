"""Corpora made, verified, split, added up: a synthetic population of known counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import usi as run

import usi
from usi.corpora.manifest import Frozen, Manifest, parse_manifest, read_manifest, to_toml
from usi.corpora.quality import look
from usi.corpora.resolve import resolve
from usi.curation.add import add_corpus, write_manifest
from usi.curation.split import split_corpus
from usi.curation.verify import verify
from usi.errors import InputError, UsageError
from usi.extraction.profile import get_specs
from usi.phantom import build_phantom
from usi.reasons import AGGREGATE
from usi.records import Session, SurveyAnswer, Turn
from usi.scoring.aggregate import build_aggregate, read_aggregate, write_aggregate
from usi.scoring.robust.scorable import poolable


@pytest.fixture(scope="module")
def phantom(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return build_phantom(
        tmp_path_factory.mktemp("phantom"),
        seed=3,
        tasks=40,
        simulators=("copy", "mild", "polite", "collapsed"),
    )


@pytest.fixture
def home(phantom: Any, tmp_path: Path) -> Path:
    facts = Manifest(name="people", licence="MIT", language="en")
    files = [phantom.human / "sessions.jsonl"]
    return add_corpus(files, facts, root=tmp_path, freeze=True).folder


def states(home: Path, **more: Any) -> dict[str, str]:
    return {item.what: item.state for item in verify(home, **more)}


def test_a_corpus_is_counted_and_verified(home: Path) -> None:
    manifest = read_manifest(home / "manifest.toml")
    assert manifest.counts is not None
    assert (manifest.counts.sessions, manifest.counts.tasks, manifest.counts.batches) == (
        120,
        40,
        3,
    )
    assert manifest.synthetic
    assert "wrong" not in states(home).values()
    assert parse_manifest(__import__("tomllib").loads(to_toml(manifest)), file="x") == manifest


def test_a_changed_file_and_one_too_many_are_found(home: Path) -> None:
    with (home / "sessions.jsonl").open("a") as stream:
        stream.write('{"id":"new","batch":1,"messages":[{"role":"user","content":"hi"}]}\n')
    (home / "extra.jsonl").write_text("{}\n")
    found = states(home)
    assert found["sessions.jsonl"] == found["extra.jsonl"] == found["counts"] == "wrong"


def test_expiry_counts_to_a_day_that_is_given(home: Path) -> None:
    data = read_manifest(home / "manifest.toml")
    write_manifest(home, parse_manifest({**_raw(data), "expires": "2026-06-30"}, file="x"))
    assert states(home, as_of="2026-06-29")["expiry"] == "ok"
    assert states(home, as_of="2026-06-30")["expiry"] == "wrong"


def _raw(data: Manifest) -> dict[str, Any]:
    return data.model_dump(mode="json", by_alias=True, exclude_none=True)


def test_unknown_keys_are_reported_together_with_suggestions() -> None:
    with pytest.raises(InputError) as caught:
        parse_manifest({"reserch_only": True, "counts": {"sesions": 3}, "load": 4}, file="m.toml")
    text = str(caught.value)
    assert "did you mean 'research_only'" in text
    assert "counts.sesions" in text
    assert text.count("m.toml") >= 3


def test_a_taken_or_hostile_name_is_refused(home: Path, phantom: Any) -> None:
    files = [phantom.human / "sessions.jsonl"]
    root = home.parents[1]
    with pytest.raises(UsageError, match="exists"):
        add_corpus(files, Manifest(name="people"), root=root)
    with pytest.raises(UsageError, match="letters, digits"):
        add_corpus(files, Manifest(name="../evil"), root=root)


def test_parts_are_disjoint_seeded_and_held_out(home: Path, phantom: Any) -> None:
    first = split_corpus(home, by="task", seed=5, held_out=0.25)
    again = split_corpus(home, by="task", seed=5, held_out=0.25)
    other = split_corpus(home, by="task", seed=6, held_out=0.25)
    assert first == again != other
    units = [unit for part in other.parts.values() for unit in part]
    assert len(units) == len(set(units)) == 40
    assert {name: len(own) for name, own in other.parts.items()} == {
        "half-1": 15, "half-2": 15, "held-out": 10,
    }  # fmt: skip
    name = "people"
    with pytest.raises(UsageError, match="only usi gate reads it"):
        resolve(f"{name}@held-out", start=home)
    part = resolve(f"{name}@held-out", start=home, held_out=True).part
    assert part is not None
    assert part.units == set(other.parts["held-out"])
    plain = resolve(name, start=home).part
    assert plain is not None
    assert not plain.units & part.units
    assert states(home)["split"] == "ok"


def test_a_frozen_set_wins_and_is_in_the_signature(home: Path, phantom: Any) -> None:
    manifest = read_manifest(home / "manifest.toml")
    assert manifest.scorable is not None
    scored = manifest.scorable.features
    alone = next(s.name for s in get_specs("robust") if s.name in scored and not poolable(s))
    few = tuple(n for n in manifest.scorable.features if n != alone)
    frozen = Frozen(profile=manifest.scorable.profile, features=few)
    write_manifest(home, manifest.model_copy(update={"scorable": frozen}))
    sim = phantom.simulators["polite"]
    card = usi.score([sim], human=home, profile="robust")
    feature = card.simulators[0].features[alone]
    assert not feature.scored
    assert feature.score.reason.code == "not_in_set"
    assert "%2Bfrozen" in card.signature or "+frozen" in card.signature
    write_manifest(home, manifest.model_copy(update={"scorable": None}))
    assert usi.score([sim], human=home, profile="robust").simulators[0].features[alone].scored


def test_restrictions_reach_card_and_gate(home: Path, phantom: Any) -> None:
    from usi.decisions.criteria import tier
    from usi.decisions.decide import gate_scorecard

    data = _raw(read_manifest(home / "manifest.toml"))
    data |= {"research_only": True, "redistribute": False, "expires": "2026-06-30"}
    data |= {"task_sample": "10 of 32 (easy 10 of 32)"}
    write_manifest(home, parse_manifest(data, file="x"))
    card = usi.score([phantom.simulators["copy"]], human=home, profile="robust")
    assert card.human.research_only
    assert not card.human.redistribute
    assert {"research_only", "no_redistribution", "task_sample"} <= {w.code for w in card.warnings}
    rules = tier("C").model_copy(update={"allow_research_only": False})
    verdict = gate_scorecard(card, rules, "2026-06-30")
    assert verdict.verdict == "INCONCLUSIVE"
    assert {"corpus_expires", "allow_research_only"} <= set(verdict.decided_by)


SESSIONS_ONLY = {
    "perceived", "two_sample", "gaming", "spread_index", "correlation_difference", "collapsed",
    "floors", "versus_humans", "warnings", "gaming_suspected", "batch_range", "floor", "distance",
    "floor_user", "task_tracking", "content_tracking", "turn_adjacency", "copies", "self_copies",
    "run_copies",
    "telltales", "missing_words",
}  # fmt: skip


def compared(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two cards differ by more than 1e-12, without what needs sessions."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(
            (set(one) | set(other)) - SESSIONS_ONLY - {"batch_range", "floor", "distance"}
        )
        return [d for k in keys for d in compared(one.get(k), other.get(k), f"{path}.{k}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [d for i, (a, b) in enumerate(zip(one, other, strict=True))
                for d in compared(a, b, f"{path}[{i}]")]  # fmt: skip
    if isinstance(one, float) and isinstance(other, float):
        return [] if abs(one - other) <= 1e-12 * max(1.0, abs(one)) else [f"{path}: {one} {other}"]
    return [] if one == other else [f"{path}: {one!r} {other!r}"]


@pytest.mark.parametrize("design", ["paired", "unpaired"])
@pytest.mark.parametrize("batches", [3, 1])
def test_an_aggregate_scores_and_gates_as_its_corpus(
    phantom: Any, tmp_path: Path, design: Any, batches: int
) -> None:
    from usi.decisions.criteria import tier
    from usi.decisions.decide import gate_scorecard

    human = phantom.human
    if batches == 1:
        text = (human / "sessions.jsonl").read_text().replace('"batch":2', '"batch":1')
        human = tmp_path / "one.jsonl"
        human.write_text(text.replace('"batch":3', '"batch":1'))
    path = tmp_path / "aggregate.parquet"
    write_aggregate(build_aggregate(resolve(human), min_cell=3), path)
    choices = {"design": design, "replicates": 200, "c2st": "off"}
    sims = [phantom.simulators["mild"], phantom.simulators["polite"]]
    cards = [
        usi.score(sims, human=side, profile="robust", surveys=None, **choices)
        for side in (human, path)
    ]
    parts = [[s.model_dump(mode="json") for s in card.simulators] for card in cards]
    assert compared(*parts) == []
    people = [c.human.model_dump(mode="json")["features"] for c in cards]
    assert compared(*people) == []
    assert cards[1].human.left_out == cards[0].human.left_out
    verdicts = [gate_scorecard(card, tier("C")) for card in cards]
    assert verdicts[0].verdict == verdicts[1].verdict
    checks = [{c.id: c.state for s in v.simulators for c in s.checks} for v in verdicts]
    skipped = {
        "c2st", "gaming", "collapsed", "task_tracking", "content_tracking", "turn_adjacency",
        "copies", "self_copies", "run_copies",
    }  # fmt: skip
    assert all(checks[1][k] == s for k, s in checks[0].items() if k not in skipped)
    told = cards[1].simulators[0].two_sample[0].auc
    assert told.status == "not_assessed"
    assert told.reason == AGGREGATE()


def test_small_cells_are_refused_and_no_text_is_kept(phantom: Any, tmp_path: Path) -> None:
    reference = resolve(phantom.human)
    with pytest.raises(UsageError, match="fewer than 5 people"):
        build_aggregate(reference)
    found = build_aggregate(replace(reference), min_cell=3)
    write_aggregate(found, tmp_path / "a.parquet")
    write_aggregate(build_aggregate(reference, min_cell=3), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    rows = read_aggregate(tmp_path / "a.parquet").rows
    texts = [c for c, kind in rows.schema.items() if str(kind) == "String"]
    assert texts == ["task", "domain", "outcomes", "survey"]
    with pytest.raises(UsageError, match="profile robust"):
        usi.score([phantom.simulators["copy"]], human=tmp_path / "a.parquet", profile="tau-usi")


def test_cells_count_people_not_sessions(tmp_path: Path) -> None:
    """By hand: task a has 6 sessions of 2 people, b 5 of 5, c 5 that name nobody."""
    lines = [
        {"id": f"{task}{k}", "task_id": task, "participant": who, "reward": k % 2,
         "messages": [{"role": "user", "content": f"word {k}"}]}
        for task, people in (("a", "xyxyxy"), ("b", "uvwxy"), ("c", [None] * 5))
        for k, who in enumerate(people)
    ]  # fmt: skip
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UsageError, match=r"1 tasks have fewer than 5 people.*'a'"):
        build_aggregate(resolve(path))
    found = build_aggregate(resolve(path), drop_small=True, one_batch=True)
    assert found.rows["task"].to_list() == ["b", "c"]
    assert {reason.code: n for reason, n in found.left_out.items()}["task_too_small"] == 6


def said(name: str, *texts: str, **more: Any) -> Session:
    turns = [Turn("user" if k % 2 else "assistant", t) for k, t in enumerate(("hello", *texts))]
    return Session(session_id=name, turns=tuple(turns), **more)


def test_quality_finds_planted_trouble() -> None:
    canvas = Turn(
        "assistant", "You may start with: I\u2019d like to cancel my order, please\nRules ..."
    )
    copied = Session(
        session_id="copied",
        turns=(canvas, Turn("user", "I'd like to cancel my order, please."), Turn("user", "ok")),
    )
    levels = {f"q{k}": {"low": 0.0, "high": 1.0} for k in range(4)}
    line = tuple(SurveyAnswer(f"q{k}", "high") for k in range(4))
    bent = (*line[:3], SurveyAnswer("q3", "low"))
    found = look(
        [
            said("a", "one thing", "x", "another"),
            said("b", "one  THING", "x", "another"),
            said("single", "just once", survey=line),
            Session(session_id="empty", turns=(Turn("assistant", "hi"),), survey=bent),
            Session(session_id="broken", status="failed"),
            copied,
        ],
        levels=levels,
    )
    assert found.sessions == 5
    assert found.duplicates == [("b", "a")]
    assert found.copied_openings == ["copied"]
    assert (found.one_turn, found.empty) == (["single"], ["empty"])
    assert (found.straight_lines, found.surveys) == (["single"], 2)


def test_three_commands_lead_from_a_csv_to_a_scorecard(tmp_path: Path) -> None:
    import shlex

    from helpers import ROOT

    page = (ROOT / "docs" / "tutorial-csv.md").read_text(encoding="utf-8")
    block = page.split("```sh\n")[1].split("```")[0].replace("\\\n", " ")
    commands = [shlex.split(line)[1:] for line in block.splitlines() if line.strip()]
    assert len(commands) == 3
    for name, polite in (("people", 5), ("bot", 2)):
        rows = ["chat,role_is_no_column,who,said,case"]
        for i in range(200):
            words = "thanks, please go on" if i % polite == 0 else "maybe. how much is it?"
            rows.append(f"{name}{i},x,customer,I want order #W{10000 + i},t{i % 50}")
            rows.append(f"{name}{i},x,agent,One moment.,t{i % 50}")
            rows.append(f'{name}{i},x,customer,"{words}",t{i % 50}')
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    codes = [run(*command, cwd=tmp_path).code for command in commands]
    assert codes[:2] == [0, 0]
    assert codes[2] in (1, 3)
    assert (tmp_path / "card.html").is_file()
