"""Specs from TOML tables and back, and the populations that are shipped."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from importlib.resources import files
from typing import Any

from usi.errors import InputError, unknown_name
from usi.phantom.spec import RATE_NAMES, Lengths, PhantomSpec, Rate, SenseSpec, SurveySpec


def _merge(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables of `change` over those of `base`; unknown keys are errors."""
    merged = dict(base)
    for key, value in change.items():
        if key not in base:
            raise unknown_name("phantom setting", key, list(base))
        merged[key] = _merge(base[key], value) if isinstance(base[key], Mapping) else value
    return merged


def spec_to_table(spec: PhantomSpec) -> dict[str, Any]:
    """The spec as nested plain tables, the shape of its TOML file."""
    table = asdict(spec)
    table["rates"] = {name: asdict(rate) for name, rate in spec.rates}
    return table


def spec_from_table(table: Mapping[str, Any]) -> PhantomSpec:
    """A spec from nested tables; ``base`` names a preset that the others override.

    Raises
    ------
    UsageError
        Where a key or a name is unknown.
    InputError
        Where a value is missing or of the wrong type.
    """
    values = dict(table)
    base = values.pop("base", None)
    if base is not None:
        values = _merge(spec_to_table(load_spec(str(base))), values)
    try:
        rates = {str(name): Rate(**rate) for name, rate in values.pop("rates").items()}
        for name in rates:
            if name not in RATE_NAMES:
                raise unknown_name("rate", name, RATE_NAMES)
        known = {item.name for item in fields(PhantomSpec)}
        for key in values:
            if key not in known:
                raise unknown_name("phantom setting", key, sorted(known))
        values["turns"] = Lengths(**values["turns"])
        values["words"] = Lengths(**values["words"])
        if "survey" in values:
            values["survey"] = SurveySpec(**values["survey"])
        if "sense" in values:
            values["sense"] = SenseSpec(**values["sense"])
        if "short_words" in values:
            values["short_words"] = tuple(values["short_words"])
        return PhantomSpec(rates=tuple((name, rates[name]) for name in RATE_NAMES), **values)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"a phantom spec with a wrong or missing part: {error}") from error


@cache
def _presets() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(files("usi.phantom").joinpath("presets").iterdir(), key=lambda p: p.name):
        if path.name.endswith(".toml"):
            for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
                found[name] = {"name": name, **table}
    return found


def preset_names() -> tuple[str, ...]:
    """Names of the shipped populations and defects."""
    return tuple(_presets())


@cache
def load_spec(name: str) -> PhantomSpec:
    """A shipped population: ``human``, a simulator, or one of the single defects.

    Raises
    ------
    UsageError
        Where there is no such preset, with near matches.
    """
    if name not in _presets():
        raise unknown_name("phantom", name, preset_names())
    return spec_from_table(_presets()[name])
