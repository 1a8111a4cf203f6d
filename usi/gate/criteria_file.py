"""Criteria from TOML: a file of their own, or the table ``gate`` of the settings.

All unknown keys and wrong values are reported together.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from usi.errors import InputError, InputErrors, UsageError, unknown_name
from usi.gate.criteria import (
    GATED,
    TIERS,
    Criteria,
    Minimum,
    Require,
    Subgroup,
    SurveyKey,
    tier,
    tier_data,
)


def resolve(data: Mapping[str, Any], *, file: str | None = None) -> Criteria:
    """Build criteria from the keys of a file, on top of its tier where it names one.

    Parameters
    ----------
    data
        Keys as read from TOML.
    file
        Name of the file for messages.

    Raises
    ------
    InputErrors
        All unknown keys (with near matches) and wrong values together.
    UsageError
        Where nothing is asked at all.
    """
    problems = _unknown_keys(data, file)
    base: dict[str, Any] = {}
    name = data.get("tier")
    if name is not None:
        if name in TIERS:
            base = tier_data()[name]
        else:
            text = str(unknown_name("tier", str(name), TIERS))
            problems.append(InputError(text, file=file, field="tier"))
    criteria = None
    try:
        criteria = Criteria.model_validate(_merge(base, data))
    except ValidationError as error:
        for part in error.errors(include_url=False):
            field = ".".join(str(step) for step in part["loc"])
            if part["type"] == "extra_forbidden" or field == "tier":
                continue  # told above, with near matches
            text = part["msg"].removeprefix("Value error, ")
            problems.append(InputError(text, file=file, field=field))
    if problems or criteria is None:
        raise InputErrors(problems)
    if "require" not in data and not base:
        asked = tuple(k for k, _ in criteria.minimum.items() if k != "index")
        if criteria.minimum.index is not None:
            asked = GATED
        criteria = criteria.model_copy(
            update={"require": Require.model_validate({"components": asked})}
        )
    if not criteria.minimum.items() and not criteria.subgroup:
        raise UsageError(
            f"{file or 'the criteria'}: no minimum is set, so nothing could fail; "
            'start from a tier (tier = "B") or write a table [minimum]'
        )
    return criteria


def read_criteria(path: str | Path) -> Criteria:
    """Read criteria from a TOML file: its top level, or ``[gate]`` / ``[tool.usi.gate]`` of it."""
    path = Path(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read the criteria ({error})", file=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"no valid TOML ({error})", file=str(path)) from error
    if path.name == "pyproject.toml":
        data = data.get("tool", {}).get("usi", {}).get("gate") or _no_gate(path, "[tool.usi.gate]")
    elif path.name == "usi.toml" or isinstance(data.get("gate"), dict):
        beside = sorted(set(data) & set(Criteria.model_fields))
        if beside:
            raise InputError(
                "criteria stand at the top of the file and in a table [gate]: use one of the two",
                file=str(path),
                field=beside[0],
            )
        data = data.get("gate") or _no_gate(path, "[gate]")
    return resolve(data, file=str(path))


def load_criteria(name_or_path: str) -> Criteria:
    """Criteria from what a user typed: a tier letter or the path of a TOML file."""
    if name_or_path in TIERS:
        return tier(name_or_path)
    if len(name_or_path) == 1 or not Path(name_or_path).exists():
        known = [*TIERS, "a TOML file such as gate.toml"]
        raise UsageError(
            f"no criteria {name_or_path!r}: neither a tier nor a file. Known: {', '.join(known)}"
        )
    return read_criteria(name_or_path)


def _no_gate(path: Path, table: str) -> Any:
    raise UsageError(f"{path} has no table {table}; add one, or give --tier A, B or C")


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = {**old, **value} if both else value  # type: ignore[dict-item]
    return merged


def _unknown_keys(data: Mapping[str, Any], file: str | None) -> list[InputError]:
    problems: list[InputError] = []

    def check(part: Any, model: type[BaseModel], prefix: str) -> None:
        if not isinstance(part, Mapping):
            return
        known = list(model.model_fields)
        for key in part:
            if key in known:
                continue
            text = str(unknown_name("criteria key", str(key), known))
            if model is Minimum and key == "survey":
                text += ". The survey has keys of its own: [survey] min_kappa_ratio, max_bias"
            problems.append(InputError(text, file=file, field=f"{prefix}{key}"))

    check(data, Criteria, "")
    for key, model in (("minimum", Minimum), ("survey", SurveyKey), ("require", Require)):
        check(data.get(key), model, f"{key}.")
    groups = data.get("subgroup")
    for number, part in enumerate(groups if isinstance(groups, list) else []):
        check(part, Subgroup, f"subgroup.{number}.")
        if isinstance(part, Mapping):
            check(part.get("minimum"), Minimum, f"subgroup.{number}.minimum.")
    return problems
