"""The published score written a second time, slowly and on plain dictionaries.

Made from the text of the definition (arXiv 2603.11245 and its public scorer), with nothing of usi
inside; features come from the oracle of the tests. Inputs are the published files as parsed JSON.
Where the public scorer lets a missing value pass as perfect, this raises `Nothing`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from oracle import FEATURES, features

Entry = dict[str, Any]
File = dict[str, Entry]
Row = dict[str, float]

DIMENSIONS = {
    "D1_conv": FEATURES[0:7],
    "D2_info": FEATURES[7:11],
    "D3_clarif": FEATURES[11:16],
    "D4_react": FEATURES[16:19],
}
NOT_PERCENT = ("verbosity_cv", "id_density", "user_words_per_turn", "opening_words")

ORDINALS: dict[str, dict[str, int]] = {
    "task_success": {
        "No - Task failed": 1,
        "No - Due to a policy issue, which the agent clearly explained": 2,
        "Partially - Some progress": 3,
        "Yes - Task completed": 4,
        "Fully - Exceeded expectations": 5,
    },
    "efficiency": {
        "Very inefficient - Too many steps": 1,
        "Somewhat inefficient": 2,
        "About right": 3,
        "Very efficient": 4,
    },
    "question_amount_preference": {"Too many": 1, "About right": 2, "Too few": 1},
    "answer_effort_time": {"High": 1, "Medium": 2, "Low": 3},
    "human_like": {"No": 1, "Partially": 2, "Yes": 3},
    "interaction_flow": {"Not smooth": 1, "OK": 2, "Smooth": 3, "Excellent": 4},
    "overall_score": {
        "1 (Very poor)": 1,
        "2 (Poor)": 2,
        "3 (Acceptable)": 3,
        "4 (Good)": 4,
        "5 (Excellent)": 5,
    },
    "reuse": {"Absolutely no": 1, "No": 2, "Maybe": 3, "Yes": 4, "Absolutely yes": 5},
}


class Nothing(Exception):
    """No number follows: a missing value would pass as perfect."""


def split_batches(human: File) -> dict[int, File]:
    batches: dict[int, File] = {1: {}, 2: {}, 3: {}}
    for key, entry in human.items():
        if key.endswith("_ann2"):
            batches[2][key[:-5]] = entry
        elif key.endswith("_ann3"):
            batches[3][key[:-5]] = entry
        else:
            batches[1][key] = entry
    return batches


def split_runs(simulator: File) -> dict[str, File]:
    if len(simulator) <= 170:
        return {"1": dict(simulator)}
    runs: dict[str, File] = {}
    for key, entry in simulator.items():
        base, _, suffix = key.rpartition("_")
        if suffix in ("1", "2", "3"):
            runs.setdefault(suffix, {})[base] = entry
        else:
            runs.setdefault("0", {})[key] = entry
    return dict(sorted(runs.items()))


def kept(entries: File) -> set[str]:
    return {key for key, entry in entries.items() if entry.get("keep", True)}


def pooled(entries: File, ids: list[str], source: str) -> Row | None:
    found = [features(entries[key]["conversation"], source) for key in ids]
    spoken = [row for row in found if row is not None]
    if not spoken:
        return None
    return {
        name: float(np.mean([row[name] for row in spoken])) * (1 if name in NOT_PERCENT else 100)
        for name in FEATURES
    }


def dice(h: float, m: float) -> float:
    h, m = abs(h), abs(m)
    return 2 * min(h, m) / (h + m) if h + m > 0 else 1.0


def dimensions(human: Row, model: Row) -> dict[str, float]:
    return {
        name: float(np.mean([dice(human[f], model[f]) for f in members])) * 100
        for name, members in DIMENSIONS.items()
    }


def model_dimensions(batch: File, runs: dict[str, File]) -> dict[str, float] | None:
    rows: list[Row] = []
    union: set[str] = set()
    for run in runs.values():
        overlap = sorted(kept(batch) & kept(run))
        if not overlap:
            continue
        row = pooled(run, overlap, "llm")
        if row is None:
            raise Nothing("run without a user turn")
        rows.append(row)
        union |= set(overlap)
    if not rows:
        return None
    model = {name: float(np.mean([row[name] for row in rows])) for name in FEATURES}
    human = pooled(batch, sorted(union), "human")
    if human is None:
        raise Nothing("batch without a user turn")
    return dimensions(human, model)


def task_key(key: str) -> str:
    match = re.match(r"(airline|retail)_\d+", key)
    return match.group(0) if match else key


def run_number(key: str) -> int:
    match = re.match(r"(airline|retail)_\d+_(\d+)$", key)
    return int(match.group(2)) if match else 1


def success(entry: Entry) -> int:
    return 1 if (entry.get("reward") or 0) > 0 else 0


def simulator_rewards(simulator: File) -> dict[int, dict[str, int]]:
    runs: dict[int, dict[str, int]] = {}
    for key in sorted(simulator):
        if simulator[key].get("keep", True) is False:
            continue
        runs.setdefault(run_number(key), {})[task_key(key)] = success(simulator[key])
    return runs


def human_rewards(batch: File) -> dict[str, int]:
    return {
        task_key(key): success(batch[key]) for key in sorted(batch) if batch[key].get("keep", True)
    }


def self_difficulty(simulators: list[File]) -> dict[str, float]:
    pool: dict[str, list[int]] = {}
    for simulator in simulators:
        for run in simulator_rewards(simulator).values():
            for task, value in run.items():
                pool.setdefault(task, []).append(value)
    return {task: sum(v) / len(v) for task, v in pool.items() if len(v) >= 10}


def ece_of_run(
    run: dict[str, int], human: dict[str, int], difficulty: dict[str, float]
) -> float | None:
    tasks = [task for task in run if task in human and task in difficulty]
    if not tasks:
        return None
    edges = [(-1.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 99.0)]
    total = 0.0
    for low, high in edges:
        members = [task for task in tasks if low <= difficulty[task] < high]
        if members:
            sim = sum(run[task] for task in members) / len(members)
            hum = sum(human[task] for task in members) / len(members)
            total += len(members) / len(tasks) * abs(sim - hum)
    return total


def answers(survey: Any) -> dict[str, Any]:
    if not survey:
        return {}
    return {field: (item or {}).get("answer") for field, item in survey.items()}


def eval_of_task(human: Any, model: Any, rng: np.random.Generator) -> float | None:
    h_answers, m_answers = answers(human), answers(model)
    gaps = []
    for field, ordinals in ORDINALS.items():
        distinct = sorted(set(ordinals.values()))
        h = ordinals.get(h_answers.get(field))
        if h is None:
            continue
        m = ordinals.get(m_answers.get(field))
        if m is None:
            m = distinct[rng.integers(0, len(distinct))]
        width = distinct[-1] - distinct[0]
        gaps.append(abs((h - distinct[0]) / width - (m - distinct[0]) / width))
    return (1 - float(np.mean(gaps))) * 100 if gaps else None


def eval_agreement(batches: dict[int, File], surveys: File) -> tuple[float, float] | None:
    by_batch = split_batches(surveys)
    rng = np.random.default_rng(42)
    means = []
    for j, batch in batches.items():
        scores = []
        for key in sorted(kept(batch) & set(by_batch[j])):
            score = eval_of_task(batch[key].get("survey"), by_batch[j][key].get("survey"), rng)
            if score is not None:
                scores.append(score)
        if scores:
            means.append(float(np.mean(scores)))
    return (float(np.mean(means)), float(np.std(means))) if means else None


def eval_ceiling(batch: File, surveys: File) -> tuple[float, float] | None:
    rng = np.random.default_rng(42)
    scores = []
    for key, entry in surveys.items():
        if key in batch and batch[key].get("keep", True):
            score = eval_of_task(batch[key].get("survey"), entry.get("survey"), rng)
            if score is not None:
                scores.append(score)
    return (float(np.mean(scores)), float(np.std(scores))) if scores else None


def pair(values: list[float]) -> list[float] | None:
    return [float(np.mean(values)), float(np.std(values))] if values else None


def usi(dims: dict[str, float], ece: float, survey: float | None) -> float:
    terms = [*dims.values(), (1 - ece) * 100, *([] if survey is None else [survey])]
    return sum(terms) / len(terms)


def row_of(
    name: str,
    dims: list[dict[str, float]],
    eces: list[float],
    survey: tuple[float, float] | None,
    usis: list[float],
) -> dict[str, Any]:
    return {
        "name": name,
        **{d: pair([batch[d] for batch in dims]) for d in DIMENSIONS},
        "eval_agree": None if survey is None else list(survey),
        "ece": pair(eces),
        "usi": pair(usis),
    }


def human_row(
    batches: dict[int, File], difficulty: dict[str, float], surveys: File | None
) -> dict[str, Any]:
    dims, eces = [], []
    for i, j in ((1, 2), (1, 3), (2, 3)):
        overlap = sorted(kept(batches[i]) & kept(batches[j]))
        if overlap:
            one = pooled(batches[i], overlap, "human")
            other = pooled(batches[j], overlap, "human")
            if one is None or other is None:
                raise Nothing("batch without a user turn")
            dims.append(dimensions(one, other))
        ece = ece_of_run(human_rewards(batches[i]), human_rewards(batches[j]), difficulty)
        if ece is not None:
            eces.append(ece)
    survey = None if surveys is None else eval_ceiling(batches[1], surveys)
    term = None if survey is None else survey[0]
    usis = [usi(d, e, term) for d, e in zip(dims, eces, strict=False)]
    return row_of("Human (inter-ann.)", dims, eces, survey, usis)


def table(
    human: File,
    simulators: dict[str, File],
    difficulty: dict[str, float] | None,
    surveys: dict[str, File] | None = None,
) -> dict[str, dict[str, Any]]:
    """Rows of the public scorer's table by name; ``difficulty`` ``None`` pools the simulators."""
    batches = split_batches(human)
    rates = self_difficulty(list(simulators.values())) if difficulty is None else difficulty
    found = surveys or {}
    rows = [human_row(batches, rates, found.get("human-eval-100"))]
    for name, simulator in simulators.items():
        runs = split_runs(simulator)
        rewards = simulator_rewards(simulator)
        survey = eval_agreement(batches, found[name]) if name in found else None
        dims, eces, usis = [], [], []
        for batch in batches.values():
            scored = model_dimensions(batch, runs)
            per_run = [
                ece
                for run in rewards.values()
                if (ece := ece_of_run(run, human_rewards(batch), rates)) is not None
            ]
            gap = float(np.mean(per_run)) if per_run else None
            if scored is not None:
                dims.append(scored)
            if gap is not None:
                eces.append(gap)
            if scored is not None and gap is not None:
                usis.append(usi(scored, gap, None if survey is None else survey[0]))
        if not dims:
            raise Nothing("no shared task")
        rows.append(row_of(name, dims, eces, survey, usis))
    return {row["name"]: row for row in rows}
