"""Scores of Inspect as a reward: C, I, P, N, truth values, numbers, or several by name."""

from __future__ import annotations

import math
from typing import Any

from usi.load.context import Context

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer, as inspect_ai's ``value_to_float`` reads them."""
_NAMES = ("reward", "score", "value", "accuracy", "success")


def reward_of(scores: Any, context: Context) -> float | None:
    """Reward of the first scorer; remarks say which scorer and which value were taken."""
    if not isinstance(scores, dict) or not scores:
        return None
    name, first = next(iter(scores.items()))
    if len(scores) > 1:
        context.notes.remark(f"several scorers: the reward is that of the first, {name!r:.60}")
    value = first.get("value") if isinstance(first, dict) else first
    if isinstance(value, dict):
        key = next((key for key in _NAMES if key in value), next(iter(value), None))
        if key is None:
            return None
        context.notes.remark(f"the score is a table: the reward is its value {key!r:.60}")
        context.guess("session: one value of several was taken for the reward")
        value = value[key]
    number = _number(value)
    if number is None and value is not None:
        context.leave_out("field: score that is no number, letter or truth value")
    return number


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        if value in LETTERS:
            return LETTERS[value]
        if value.strip().lower() in ("yes", "true", "no", "false"):
            return float(value.strip().lower() in ("yes", "true"))
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    return None
