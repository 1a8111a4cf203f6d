"""Made-up studies in the published layout: many small conversations, seeded."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from scoring.reference import ORDINALS

SAYINGS = (
    "yes",
    "no thanks",
    "Please cancel my order #W1234567 for mia.li3818@example.com",
    "I think it was the black one \u2014 not sure though",
    "are you sure? that's wrong, i already told you",
    "what do you mean, which one is it?",
    "how much is it and can you check the status",
    "this is ridiculous, i am frustrated, your fault",
    "instead i would like to change it to a different flight",
    "let me check that for you, i'll verify your account",
    "ok",
    "",
    "definitely, of course, I never got it",
)
OPTIONS = {field: [*ordinals, "no answer", None] for field, ordinals in ORDINALS.items()}


def conversation(rng: random.Random, *, human: bool, silent: float = 0.0) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if human:
        messages.append({"role": "user", "content": "\\tau task_index:x model:y"})
        messages.append({"role": "assistant", "content": "<|canvas|>text<|/canvas|>Hi there."})
    if rng.random() >= silent:
        for _ in range(rng.randint(1, 6)):
            messages.append({"role": "user", "content": rng.choice(SAYINGS)})
            messages.append({"role": "assistant", "content": "The fee is $50. Do you confirm?"})
    messages.append({"role": "user", "content": "/stop" if human else "###STOP###"})
    return messages


def survey(rng: random.Random, missing: float = 0.1) -> dict[str, Any] | None:
    if rng.random() < missing:
        return None
    return {
        field: {"question": field, "answer": rng.choice(options)}
        for field, options in OPTIONS.items()
        if rng.random() > missing
    }


def entry(
    rng: random.Random, *, human: bool, marks: tuple[Any, ...], silent: float, nulls: float
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "conversation": conversation(rng, human=human, silent=silent),
        "survey": survey(rng),
        "reward": None if rng.random() < nulls else rng.choice([0.0, 1.0, 1, 1]),
    }
    mark = rng.choice(marks)
    if mark != "absent":
        made["keep"] = mark
    return made


HUMAN_MARKS = (*[True] * 8, False, None, 0, "absent", "absent")
SIMULATOR_MARKS = (*[True] * 8, False, None, 0, "absent")


def study(
    seed: int,
    *,
    tasks: int = 165,
    runs: int = 3,
    simulators: int = 2,
    suffixed: bool = True,
    extra_ids: tuple[str, ...] = (),
    foreign: bool = False,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Human file, simulator files and survey files.

    Parameters
    ----------
    suffixed
        Whether simulator ids carry the run.
    extra_ids
        Odd ids put into every simulator file.
    foreign
        Whether the last tasks are of a domain without difficulty.
    """
    rng = random.Random(seed)
    names = [f"retail_{i}" for i in range(115)] + [f"airline_{i}" for i in range(50)]
    rng.shuffle(names)
    names = names[:tasks]
    if foreign:
        names[-3:] = ["telecom_1", "telecom_2", "shop_x"]
    human: dict[str, Any] = {}
    for name in names:
        for suffix in ("", "_ann2", "_ann3"):
            if rng.random() < 0.95:
                human[name + suffix] = entry(
                    rng, human=True, marks=HUMAN_MARKS, silent=0.03, nulls=0.05
                )
    files: dict[str, dict[str, Any]] = {}
    surveys: dict[str, dict[str, Any]] = {}
    for k in range(simulators):
        ids = [
            f"{name}_{run}" if suffixed else name
            for name in names
            for run in range(1, runs + 1)
            if rng.random() < 0.95
        ]
        ids = list(dict.fromkeys([*ids, *extra_ids]))
        rng.shuffle(ids)
        files[f"sim-{k}"] = {
            i: entry(rng, human=False, marks=SIMULATOR_MARKS, silent=0.05, nulls=0.05) for i in ids
        }
        if k % 3 != 2:
            rated = [i for i in human if rng.random() < 0.9]
            rng.shuffle(rated)
            surveys[f"sim-{k}"] = {i: {"survey": survey(rng)} for i in rated}
    again = [i for i in human if "_ann" not in i][:100]
    rng.shuffle(again)
    surveys["human-eval-100"] = {i: {"survey": survey(rng)} for i in [*again, "retail_999"]}
    return human, files, surveys


def write(
    folder: Path,
    human: dict[str, Any],
    files: dict[str, dict[str, Any]],
    surveys: dict[str, dict[str, Any]] | None = None,
) -> tuple[Path, list[Path]]:
    """Write a study as the published files; the paths of reference and simulators."""
    reference = folder / "tau_bench_tasks_unified.json"
    reference.write_text(json.dumps(human), encoding="utf-8")
    paths = []
    for name, content in files.items():
        paths.append(folder / f"eval_results_{name}.json")
        paths[-1].write_text(json.dumps(content), encoding="utf-8")
    if surveys:
        (folder / "survey_data").mkdir(exist_ok=True)
        for name, content in surveys.items():
            path = folder / "survey_data" / f"survey_comparable_{name}.json"
            path.write_text(json.dumps(content), encoding="utf-8")
    return reference, paths
