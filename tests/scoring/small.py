"""Small hand-made files in the published layout, and a way to score them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import usi
from usi.scoring.scorecard import Scorecard

MISSING = object()


def entry(
    *turns: str, reward: Any = 1.0, keep: Any = MISSING, survey: Any = MISSING
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "conversation": [{"role": "user", "content": turn} for turn in turns],
        "reward": reward,
    }
    if keep is not MISSING:
        made["keep"] = keep
    if survey is not MISSING:
        made["survey"] = survey
    return made


def answered(**answers: str) -> dict[str, Any]:
    return {field: {"question": field, "answer": answer} for field, answer in answers.items()}


def words(n: int) -> str:
    return " ".join(["w"] * n)


def people(*tasks: str, batches: int = 3, turn: str = "w w w w") -> dict[str, Any]:
    suffixes = ("", "_ann2", "_ann3")[:batches]
    return {task + suffix: entry(turn) for task in tasks for suffix in suffixes}


def put(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def scored(
    folder: Path,
    human: dict[str, Any],
    simulators: dict[str, Any],
    surveys: dict[str, Any] | None = None,
    **choices: Any,
) -> Scorecard:
    reference = put(folder / "people.json", human)
    paths = [put(folder / f"eval_results_{k}.json", v) for k, v in simulators.items()]
    for label, content in (surveys or {}).items():
        put(folder / "survey_data" / f"survey_comparable_{label}.json", content)
    return usi.score(paths, reference, profile="tau-usi", **choices)


def reasons(card: Any) -> dict[str, int]:
    return {item.reason.text: item.count for item in card.left_out}
