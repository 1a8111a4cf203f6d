"""A small population with known truth, at the level of counts: no text, no code under test."""

from __future__ import annotations

import numpy as np
import polars as pl

from usi.extraction.profile import get_specs
from usi.extraction.table import SessionTable

SPECS = get_specs("robust")

RATES = {
    "politeness": 0.153,
    "short": 0.29,
    "dash": 0.0002,
    "ack": 0.12,
    "repeated": 0.02,
    "role_confusion": 0.0005,
    "uncertainty": 0.073,
    "certainty": 0.035,
    "pushback": 0.03,
    "clarify": 0.03,
    "info": 0.13,
    "emotion": 0.025,
    "accusation": 0.02,
    "pivot": 0.084,
    "casual": 0.56,
    "several_sentences": 0.34,
    "comma": 0.25,
    "request": 0.05,
    "lack_of_information": 0.05,
}
"""Share of user turns, about as published for people."""


def difficulty(n, seed=1):
    """Success rate of each task, mean about 0.65 (the scale of the published map)."""
    return np.clip(np.random.default_rng(seed).beta(2.6, 1.4, n), 0.05, 0.98)


def draw(
    n=165,
    per_task=3,
    *,
    seed,
    side="human",
    shift=None,
    success_logit=0.0,
    words=1.0,
    turns=1.0,
    domain="retail",
    first=0,
    level=None,
):
    """Sessions of `per_task` batches (or runs) over `n` tasks.

    `shift` maps a rate to an added logit; task effects are shared by both sides (seed 11).
    """
    shift = shift or {}
    task_rng, rng = np.random.default_rng(11 + first), np.random.default_rng(seed)
    names = list(RATES)
    task_effect = task_rng.normal(0, 0.4, (n, len(names)))
    task_words = task_rng.normal(0, 0.25, n)
    level = difficulty(n) if level is None else level
    task = np.repeat(np.arange(n), per_task)
    split = np.tile(np.arange(1, per_task + 1), n)
    count = len(task)
    user_turns = 1 + rng.poisson(np.maximum(0.1, 6.0 * turns - 1), count)
    data = {"user_turns": user_turns, "n_turns": 2 * user_turns}
    person = rng.normal(0, 0.7, (count, len(names)))
    for k, name in enumerate(names):
        logit = np.log(RATES[name] / (1 - RATES[name])) + shift.get(name, 0.0)
        p = 1 / (1 + np.exp(-(logit + task_effect[task, k] + person[:, k])))
        data[name] = rng.binomial(user_turns, p)
    mean_log = np.log(9 * words) + task_words[task] + rng.normal(0, 0.4, count)
    sums = np.zeros((count, 4), dtype=np.int64)
    for i in range(count):
        w = 1 + rng.poisson(np.exp(rng.normal(mean_log[i], 0.6, user_turns[i])))
        sums[i] = (w.sum(), (w * w).sum(), w[0], w[:2].sum())
    data |= dict(zip(("words", "words_sq", "words_first", "words_first_two"), sums.T, strict=True))
    data["identifiers"] = rng.poisson(0.4 * user_turns)
    data["echo_units"] = 1000 * user_turns
    data["echo"] = rng.binomial(data["echo_units"], 0.08)
    data["shortest"] = 1 + rng.poisson(1.0, count)
    unstamped = ("latency_log", "latency_units", "latency_unusable")
    data |= dict.fromkeys(unstamped, np.zeros(count, int))
    data["trigrams"] = np.maximum(sums[:, 0] - 2, 1)
    data["trigrams_repeated"] = rng.binomial(data["trigrams"], 0.03)
    odds = np.log(level / (1 - level))[task] + success_logit
    reward = (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(float)
    human = side == "human"
    ids = [f"{domain}_{first + t}" for t in task]
    return pl.DataFrame(
        {
            "seq": np.arange(count),
            "session_id": [f"{i}_{s}" for i, s in zip(ids, split, strict=True)],
            "side": side,
            "simulator": "" if human else "sim",
            "domain": domain,
            "task_id": ids,
            "trial": pl.Series([None] * count, dtype=pl.String),
            "layout": "usi-jsonl",
            "task": ids,
            "run": pl.Series([None if human else str(s) for s in split], dtype=pl.String),
            "batch": pl.Series([int(s) if human else None for s in split], dtype=pl.Int64),
            "participant": pl.Series([None] * count, dtype=pl.String),
            "agent": pl.Series([None] * count, dtype=pl.String),
            "status": "ok",
            "keep": True,
            "reward": reward,
            "outcome_label": pl.Series([None] * count, dtype=pl.String),
            "survey": pl.Series([None] * count, dtype=pl.String),
            **data,
        }
    )


def table(frame):
    """A session table of the profile robust around a drawn frame."""
    return SessionTable(frame, "robust", "robust@1+style@1")
