"""Whether a scorecard can be: bounds about values, ranges, counts, names.

Types are checked when a file is read (`usi.reading.held_to`, strictly); what stands here are the
rules between numbers, which no edited or damaged card may break.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from usi.errors import InputError

_BEYOND = frozenset(("gaming",))
"""Estimates whose bounds are those of people, so that the value may lie outside."""
_DIFFERENCES = frozenset(
    (
        "gap", "relative_gap", "success_gap", "bias", "survey_bias", "outcome_offset",
        "versus_humans", "correlation_difference", "agreement", "success_gap_paired",
    )
)  # fmt: skip
"""Estimates that are differences: they have a sign, and the range of their unit does not hold."""
_RANGES = {
    "points": (0.0, 100.0), "share": (0.0, 1.0), "AUC": (0.0, 1.0), "correlation": (-1.0, 1.0),
    "kappa": (-1.0, 1.0),
}  # fmt: skip
_RANGES_OF_DIFFERENCES = {
    "points": (-100.0, 100.0), "correlation": (-2.0, 2.0), "kappa": (-2.0, 2.0),
}  # fmt: skip
_NOT_NEGATIVE = frozenset(("sd", "se", "maxbias", "df"))
_PAIRS = (
    ("features_scored", "features_declared"),
    ("terms", "terms_possible"),
    ("human_hits", "human_sessions"),
    ("simulator_hits", "simulator_sessions"),
    ("copies", "sessions"),
)
_WITHOUT_RULES = frozenset(("parameters", "settings", "detail"))


def impossible(data: Mapping[str, Any], file: str) -> list[InputError]:
    """What no scorecard can say, each with its field.

    Parameters
    ----------
    data
        The JSON form of a scorecard whose types have been checked.
    """
    problems = [
        InputError(text, file=file, field=field or None) for field, text in _walk(data, "", "")
    ]
    names = [card["name"] for card in data["simulators"]]
    problems += [
        InputError(f"{name!r:.80} stands twice", file=file, field=f"simulators.{row}.name")
        for row, name in enumerate(names)
        if name in names[:row]
    ]
    return problems


def _walk(value: Any, path: str, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        if "status" in value and "value" in value and "unit" in value:
            yield from _estimate(value, path, name)
        yield from _numbers(value, path)
        for key, part in value.items():
            if key not in _WITHOUT_RULES:
                inherits = name if name in _BEYOND else str(key)
                yield from _walk(part, f"{path}.{key}".removeprefix("."), inherits)
    elif isinstance(value, list | tuple):
        for row, part in enumerate(value):
            yield from _walk(part, f"{path}.{row}", name)


def _estimate(own: Mapping[str, Any], path: str, name: str) -> Iterator[tuple[str, str]]:
    value, low, high, unit = own["value"], own["low"], own["high"], own["unit"]
    if low is not None and high is not None and low > high:
        yield f"{path}.low", f"the lower bound {low:g} lies above the upper bound {high:g}"
    if value is None:
        return
    if name not in _BEYOND:
        if low is not None and low > value:
            yield f"{path}.low", f"the lower bound {low:g} lies above the value {value:g}"
        if high is not None and high < value:
            yield f"{path}.high", f"the upper bound {high:g} lies below the value {value:g}"
    signed = name in _DIFFERENCES or name.endswith(("_excess", "_gap", "_difference"))
    limits = (_RANGES_OF_DIFFERENCES if signed else _RANGES).get(unit)
    if limits is not None and name != "relative_gap":
        for key in ("value", "low", "high"):
            found = own[key]
            if found is not None and not limits[0] <= found <= limits[1]:
                yield (
                    f"{path}.{key}",
                    f"{found:g} {unit} lies outside {limits[0]:g} to {limits[1]:g}",
                )


def _numbers(own: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for key, found in own.items():
        where = f"{path}.{key}".removeprefix(".")
        if isinstance(found, bool) or not isinstance(found, int | float):
            continue
        if (isinstance(found, int) or key in _NOT_NEGATIVE) and found < 0 and key != "value":
            yield where, f"must not be below 0, this is {found:g}"
        if key == "p_value" and not 0 <= found <= 1:
            yield where, f"a p-value lies from 0 to 1, this is {found:g}"
    for part, whole in _PAIRS:
        a, b = own.get(part), own.get(whole)
        if isinstance(a, int) and isinstance(b, int) and a > b:
            yield f"{path}.{part}".removeprefix("."), f"{a} are more than {whole} ({b})"
    pair = own.get("batch_range")
    if pair is not None and pair[0] > pair[1]:
        yield f"{path}.batch_range".removeprefix("."), "begins above its end"
