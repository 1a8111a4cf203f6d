"""A simulator that can't be scored does not stop the others, and is told what would help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import refused, usi

TASKS = 40
QUICK = ("--difficulty", "none", "--replicates", "100", "--c2st", "off", "--print", "none")


def row(side: str, task: int, trial: int, **more: Any) -> dict[str, Any]:
    texts = ["I want my money back", "why?", "ok", "sorry, where is it?"][: 1 + (task + trial) % 4]
    messages = [
        message
        for text in texts
        for message in (
            {"role": "user", "content": f"{text} {task}"},
            {"role": "assistant", "content": "One moment."},
        )
    ]
    return {"id": f"{side}{task}-{trial}", "task_id": str(task), "trial": trial, "domain": "shop",
            "reward": (task + trial) % 2, "messages": messages, **more}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People, a whole simulator, one of which a quarter of the tasks failed, one without domain."""
    folder = tmp_path_factory.mktemp("refused")
    cells = [(task, trial) for trial in (0, 1) for task in range(TASKS)]
    people = [row("p", t, k, batch=k + 1) for t, k in cells]
    good = [row("g", t, k) for t, k in cells]
    broken = [
        row("b", t, k, **({"status": "infrastructure_error"} if t >= 30 else {})) for t, k in cells
    ]
    bare = [{key: value for key, value in r.items() if key != "domain"} for r in good]
    for name, rows in (("people", people), ("good", good), ("broken", broken), ("bare", bare)):
        text = "".join(json.dumps(r) + "\n" for r in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("profile", ["robust", "tau-usi"])
def test_the_others_are_scored(home: Path, tmp_path: Path, profile: str) -> None:
    own = QUICK if profile == "robust" else ("--print", "none")
    silent = home / "silent.jsonl"
    rows = [
        row("s", t, 0, messages=[{"role": "assistant", "content": "Hello?"}]) for t in range(TASKS)
    ]
    silent.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    other = home / "broken.jsonl" if profile == "robust" else silent
    done = usi("score", home / "good.jsonl", other, "--human", home / "people.jsonl",
               "--profile", profile, *own, "-o", tmp_path / "card.json")  # fmt: skip
    assert done.code == 3, done.err
    card = json.loads((tmp_path / "card.json").read_bytes())
    assert [part["name"] for part in card["simulators"]] == ["good"]
    assert [part["name"] for part in card["refused"]] == [other.stem]
    assert f"note: {other.stem}: " in done.err


def test_failed_runs_are_named_as_the_cause(home: Path, tmp_path: Path) -> None:
    done = usi("score", home / "good.jsonl", home / "broken.jsonl", "--human",
               home / "people.jsonl", *QUICK, "-o", tmp_path / "card.json")  # fmt: skip
    said = "30 of 40 tasks of the reference occur on both sides (75.0 %)"
    failed = "10 of the 10 missing tasks have runs that failed (infrastructure_error 20)"
    assert said in done.err
    assert failed in done.err
    (part,) = json.loads((tmp_path / "card.json").read_bytes())["refused"]
    assert part["reason"]["code"] == "low_coverage"
    alone = usi("score", home / "broken.jsonl", "--human", home / "people.jsonl", *QUICK)
    refused(alone, said, failed)
    gated = usi("gate", tmp_path / "card.json", "--tier", "C", "--print", "json")
    assert gated.code in (1, 3), "the worst of both counts, and one is not known"
    verdicts = {part["name"]: part for part in gated.json()["simulators"]}
    assert verdicts["broken"]["verdict"] == "INCONCLUSIVE"
    assert verdicts["broken"]["decided_by"] == ["scored"]
    only = usi("gate", tmp_path / "card.json", "--tier", "C", "--simulator", "broken")
    assert only.code == 3


def test_a_missing_domain_is_named_with_its_remedy(home: Path, tmp_path: Path) -> None:
    asked = ("score", home / "bare.jsonl", "--human", home / "people.jsonl", *QUICK)
    refused(usi(*asked, "--design", "paired"), "--domain NAME", "people: shop")
    assert usi(*asked, "-o", tmp_path / "card.json").code == 0
    part = json.loads((tmp_path / "card.json").read_bytes())["simulators"][0]
    assert part["design"] == "unpaired"
    assert "--domain NAME" in part["design_reason"]["text"]
    mended = usi(*asked, "--domain", "shop", "-o", tmp_path / "again.json")
    assert mended.code == 0, mended.err
    again = json.loads((tmp_path / "again.json").read_bytes())["simulators"][0]
    assert again["design"] == "paired"


def test_validate_names_columns_without_a_meaning(tmp_path: Path) -> None:
    path = tmp_path / "talks.csv"
    path.write_text(
        "session,role,text,task_nr,mood\ns1,user,hello there,3,calm\ns1,agent,yes?,3,calm\n",
        encoding="utf-8",
    )
    done = usi("validate", path)
    assert done.code == 0, done.err
    (part,) = done.json()["inputs"]
    assert any("task_nr, mood" in remark and "--map" in remark for remark in part["remarks"])
