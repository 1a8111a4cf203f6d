"""Rows of many studies to rates and means with their Monte-Carlo errors (plain JSON values)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from study.cells import Cell
from study.classifier import Seen
from study.paired import COLUMNS, NAMES, Row
from study.versions import Step

TIERS = ("A", "B", "C")
VERDICTS = ("PASS", "INCONCLUSIVE", "FAIL")
_AT = {name: k for k, name in enumerate(COLUMNS)}


def rate(hits: Sequence[bool] | np.ndarray) -> dict[str, float | int | None]:
    """Share in percent, its Monte-Carlo standard error, and how many studies it rests on.

    The error of a share of 0 or 1 is that of half a study.
    """
    n = len(hits)
    if not n:
        return {"percent": None, "error": None, "n": 0}
    p = float(np.mean(hits))
    q = min(max(p, 0.5 / n), 1 - 0.5 / n)
    return {"percent": 100 * p, "error": 100 * math.sqrt(q * (1 - q) / n), "n": n}


def _mean(values: np.ndarray) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def of_simulator(rows: Sequence[Row]) -> dict[str, Any]:
    """What happened to one simulator in one design."""
    stack = np.stack([row.values for row in rows])
    parts = {}
    for k, name in enumerate(NAMES):
        own = stack[:, k]
        own = own[np.isfinite(own[:, _AT["truth"]])]
        part: dict[str, Any] = {column: _mean(own[:, at]) for column, at in _AT.items()}
        truth = own[:, _AT["truth"]]
        part["assessed"] = len(own)
        part["false_pass"] = rate(own[:, _AT["low"]] > truth + 1e-9)
        usual = _usual(truth)
        part["false_pass_usual"] = rate((own[:, _AT["low"]] > truth + 1e-9)[usual])
        part["false_pass_other"] = rate((own[:, _AT["low"]] > truth + 1e-9)[~usual])
        part["false_fail"] = rate(own[:, _AT["high"]] < truth - 1e-9)
        error = own[:, _AT["raw"]] - truth
        part["raw_sd"] = float(error.std(ddof=1)) if len(own) > 1 else None
        part["corrected_rmse"] = _root(own[:, _AT["corrected"]] - truth)
        part["raw_rmse"] = _root(error)
        parts[name] = part
    gaps = np.array([row.gap for row in rows])
    gaps = gaps[np.isfinite(gaps).all(axis=1)]
    return {
        "parts": parts,
        "gap": {
            "truth": _mean(gaps[:, 0]),
            "above": rate(gaps[:, 1] > gaps[:, 0]),
            "below": rate(gaps[:, 2] < gaps[:, 0]),
        },
        "verdicts": {
            tier: {word: rate([row.verdict[k] == word for row in rows]) for word in VERDICTS}
            for k, tier in enumerate(TIERS)
        },
    }


def _usual(truth: np.ndarray) -> np.ndarray:
    """Studies with the commonest true value, that is, with the commonest set of features."""
    if not len(truth):
        return np.zeros(0, dtype=bool)
    values, place, counts = np.unique(np.round(truth, 3), return_inverse=True, return_counts=True)
    return np.asarray(place == counts.argmax()) if len(values) else np.zeros(0, dtype=bool)


def _root(errors: np.ndarray) -> float | None:
    return float(np.sqrt(np.mean(errors**2))) if len(errors) else None


def of_scores(found: Sequence[tuple[Cell, Sequence[Row]]]) -> dict[str, Any]:
    """Paired or unpaired cells: design -> simulator -> what happened."""
    return {
        cell.name: {
            name: of_simulator([row for row in rows if row.simulator == name])
            for name in cell.simulators
        }
        for cell, rows in found
    }


def of_versions(found: Sequence[tuple[Cell, Sequence[Step]]]) -> list[dict[str, Any]]:
    """Regression cells: one entry for each step from an old version to a new one."""
    entries = []
    for cell, steps in found:
        for name in cell.simulators[1:]:
            own = [step for step in steps if step.new == name]
            at_drop = {
                part: {
                    "drop": float(np.mean([step.drop[part] for step in own])),
                    "smallest": float(np.mean([step.smallest[part] for step in own])),
                    **rate([step.at_drop[part] for step in own if part in step.at_drop]),
                }
                for part in NAMES
            }
            entries.append(
                {
                    "design": cell.name,
                    "old": cell.simulators[0],
                    "new": name,
                    "parts": at_drop,
                    "allowed": rate([step.allowed for step in own]),
                    "passed": rate([step.passed for step in own]),
                    "regressed": rate([step.regressed for step in own]),
                }
            )
    return entries


def of_classifier(found: Sequence[tuple[Cell, Sequence[Seen]]]) -> dict[str, Any]:
    """Simulator -> AUCs, alarms at 5 %, spread, and how often it is called collapsed."""
    result = {}
    for cell, rows in found:
        for name in cell.simulators:
            own = [row for row in rows if row.simulator == name]
            tests = {}
            for kind in ("logistic", "trees"):
                auc = np.array([row.auc[kind] for row in own])
                known = np.isfinite(auc)
                tests[kind] = {
                    "mean": _mean(auc),
                    "sd": float(auc[known].std(ddof=1)) if known.sum() > 1 else None,
                    "no_test": int((~known).sum()),
                    "alarm": rate([row.p[kind] < 0.05 for row in own]),
                    "low_above_half": rate([row.low[kind] > 0.5 for row in own]),
                }
            result[name] = {
                "tests": tests,
                "spread": _mean(np.array([row.spread for row in own])),
                "collapsed": rate([row.collapsed for row in own]),
            }
    return result


def worst(
    scores: dict[str, Any], designs: Sequence[str], parts: Sequence[str]
) -> tuple[str, str, str, dict[str, Any]]:
    """(design, simulator, part, rate) with the highest false-pass rate."""
    every = [
        (design, simulator, part, own["parts"][part]["false_pass"])
        for design in designs
        for simulator, own in scores[design].items()
        for part in parts
        if own["parts"][part]["assessed"]
    ]
    return max(every, key=lambda entry: entry[3]["percent"])
