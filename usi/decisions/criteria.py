"""What a simulator must show to pass: a tier, a TOML file, or a file that starts from a tier.

A criteria file and the table ``[gate]`` of ``usi.toml`` have the same keys. What was asked in the
end (tier values filled in) has a fingerprint, which every verdict carries.

Criteria from TOML: a file of their own, or the table ``gate`` of the settings.

All unknown keys and wrong values are reported together.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from usi.errors import InputError, InputErrors, UsageError, unknown_name
from usi.reading import read_toml, table_at, words_of

TIERS: tuple[str, ...] = ("A", "B", "C")
PROFILES: tuple[str, ...] = ("robust", "log")
"""Profiles with bounds, which alone can be gated."""
GATED: tuple[str, ...] = ("conversation", "information", "clarification", "reaction", "outcome")
"""Components that USI-R averages, and that a minimum can be set for."""

Points = Annotated[float, Field(strict=True, ge=0, le=100)]
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Ratio = Annotated[float, Field(strict=True, ge=0)]
Count = Annotated[int, Field(strict=True, ge=1)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Minimum(_Part):
    """Minimums in points; the lower bound of a score must reach them. Absent = not asked."""

    index: Points | None = None
    conversation: Points | None = None
    information: Points | None = None
    clarification: Points | None = None
    reaction: Points | None = None
    outcome: Points | None = None

    @field_validator("*")
    @classmethod
    def _points_not_shares(cls, value: float | None) -> float | None:
        if value is not None and 0 < value <= 1:
            raise ValueError(f"minimums are points from 0 to 100; did you mean {value * 100:g}?")
        return value

    def items(self) -> list[tuple[str, float]]:
        """The minimums that are set, index first."""
        return [(k, v) for k, v in self.model_dump().items() if v is not None]


class SurveyKey(_Part):
    """The survey key: asked only where the scorecard has a survey."""

    min_kappa_ratio: Share | None = Field(
        None, description="lower bound of kappa, as a share of the humans' own; 0 = not asked"
    )
    max_bias: Share | None = Field(
        None, description="largest signed bias on the 0-1 scale of an item; 1 = not asked"
    )


class Tracking(_Part):
    """Ratios to people (1 = like people) that the bounds of a simulator must keep to."""

    task: Ratio | None = Field(None, description="lower bound of task tracking; 0 = not asked")
    content: Ratio | None = Field(
        None, description="lower bound of content tracking; 0 = not asked"
    )
    content_max: Ratio | None = Field(
        None, description="upper bound of content tracking; above, instructions are read aloud"
    )
    adjacency: Ratio | None = Field(
        None, description="lower bound of turn adjacency; 0 = not asked"
    )


class Subgroup(_Part):
    """Minimums that every value of a column (domain, difficulty, ...) must reach."""

    by: str
    minimum: Minimum

    @field_validator("minimum", mode="before")
    @classmethod
    def _number_is_index(cls, value: object) -> object:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return {"index": value} if is_number else value


class Require(_Part):
    """Components that must be assessed; one that is not makes the verdict INCONCLUSIVE."""

    components: tuple[
        Literal["conversation", "information", "clarification", "reaction", "outcome", "survey"],
        ...,
    ] = ()


class Regression(_Part):
    """The regression gate: versions accepted before, and the largest drop allowed in points.

    Attributes
    ----------
    baseline, anchor
        Scorecards of the versions accepted last and first; paths are from the criteria file.
    baseline_sha256, anchor_sha256
        Hash of those files. What the criteria file says is held to; else it is filled in when the
        gate reads the file.
    margin, component_margin
        Largest drop of USI-R and of a component.
    """

    baseline: str | None = None
    baseline_sha256: Sha256 | None = None
    anchor: str | None = None
    anchor_sha256: Sha256 | None = None
    margin: Points = 5.0
    component_margin: Points = 10.0

    @property
    def asked(self) -> bool:
        """Whether a version accepted before is named."""
        return self.baseline is not None or self.anchor is not None


class Criteria(_Part):
    """Resolved criteria: every number that the verdict rests on.

    Attributes
    ----------
    tier
        The tier it started from, or none. At A and B a tripwire alarm is FAIL and a survey is
        looked at; an unpaired design can reach C at most.
    min_tasks
        Fewer tasks (clusters, where unpaired) than this: INCONCLUSIVE.
    max_success_gap
        The interval of the signed success gap must lie within plus and minus this share.
    max_left_out
        Largest share of a side's sessions that is left out, that no word list reads, or that has no
        outcome; each is looked at by itself, on both sides. Above: INCONCLUSIVE; 1 = not asked.
    c2st_max
        Upper bound of the two-sample AUC of boosted trees; 1 = not asked.
    style_min
        Lower bound of the mean D of the style features, in points; below its upper bound: FAIL.
    tracking
        Task tracking, content tracking, turn adjacency.
    max_user_errors
        Largest share of the reviewed sessions in which the simulated user made an error (tau2's
        review, hallucination retries); a simulator that nobody reviewed is INCONCLUSIVE.
    max_blind_auc
        Largest AUC of practitioners in a blind check (`usi blind`): the upper bound must not lie
        above it; FAIL where the lower bound does. A simulator that nobody checked is INCONCLUSIVE.
    family_size
        How many candidates are tried where any that passes is accepted: lower bounds at alpha/m.
    profile
        Profile of the scorecards that may be gated.
    on_inconclusive
        Exit code of INCONCLUSIVE: its own (3), or that of FAIL or PASS.
    allow_research_only
        Whether people whose corpus is for research alone may decide.
    max_age_days
        Older scorecards decide nothing (counted to the day given as ``--as-of``).
    require_verified
        Whether a decision without the per-task sums beside the scorecard is INCONCLUSIVE. Not
        said: yes in continuous integration (the environment variable ``CI`` is set), else no.
    regression
        The version that was accepted before, and by how much a new one may lie below it.
    """

    tier: Literal["A", "B", "C"] | None = None
    min_tasks: Count | None = None
    max_success_gap: Share | None = None
    max_left_out: Share | None = None
    c2st_max: Annotated[float, Field(strict=True, ge=0.5, le=1)] | None = None
    style_min: Points | None = None
    max_user_errors: Share | None = None
    max_blind_auc: Annotated[float, Field(strict=True, ge=0.5, le=1)] | None = None
    family_size: Count = 1
    profile: str = "robust"
    on_inconclusive: Literal["inconclusive", "fail", "pass"] = "inconclusive"
    max_age_days: Annotated[int, Field(strict=True, ge=0)] | None = None
    allow_research_only: Annotated[bool, Field(strict=True)] = True
    minimum: Minimum = Minimum()
    survey: SurveyKey = SurveyKey()
    tracking: Tracking = Tracking()
    subgroup: tuple[Subgroup, ...] = ()
    require: Require = Require()
    require_verified: Annotated[bool, Field(strict=True)] | None = None
    regression: Regression = Regression()

    @field_validator("profile")
    @classmethod
    def _has_bounds(cls, value: str) -> str:
        stem = value.partition("@")[0]
        if stem == "tau-usi":
            raise ValueError(
                "the profile tau-usi has no bounds, and the gate decides on bounds alone"
            )
        if stem not in PROFILES:
            raise ValueError(str(unknown_name("profile", value, PROFILES)))
        return value

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits of the SHA-256 of the resolved criteria."""
        asked = self.model_dump(mode="json")
        if self.max_user_errors is None:  # a key that is not asked leaves the fingerprint alone
            del asked["max_user_errors"]
        if self.max_blind_auc is None:
            del asked["max_blind_auc"]
        if self.style_min is None:
            del asked["style_min"]
        if self.max_left_out is None:
            del asked["max_left_out"]
        if self.allow_research_only:
            del asked["allow_research_only"]
        if self.tracking == Tracking():
            del asked["tracking"]
        if self.require_verified is None:
            del asked["require_verified"]
        del asked["regression"]
        if self.regression.asked:  # where a file lies says nothing, what is in it does
            told = self.regression.model_dump(mode="json", exclude={"baseline", "anchor"})
            asked["regression"] = told
        text = json.dumps(asked, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def label(self) -> str:
        """The tier and how it was changed, for people."""
        if self.tier is None:
            return "own criteria"
        loosened, tightened = self.changes()
        notes = [
            f"{word}: {', '.join(parts)}"
            for word, parts in (("loosened", loosened), ("tightened", tightened))
            if parts
        ]
        return f"tier {self.tier}" + (f" ({'; '.join(notes)})" if notes else "")

    def changes(self) -> tuple[list[str], list[str]]:
        """What was loosened and what was tightened against the tier (both sorted by key)."""
        if self.tier is None:
            return [], []
        mine, base = _levels(self), _levels(tier(self.tier))
        loosened, tightened = [], []
        for key in sorted(mine.keys() | base.keys()):
            new, old = mine.get(key, _NOTHING), base.get(key, _NOTHING)
            if new < old:
                loosened.append(key)
            elif new > old:
                tightened.append(key)
        return loosened, tightened


_NOTHING = float("-inf")


def _levels(criteria: Criteria) -> dict[str, float]:
    """Every rule as a number that grows with its strictness."""
    levels: dict[str, float] = {f"minimum.{k}": v for k, v in criteria.minimum.items()}
    for name, limit in (
        ("max_success_gap", criteria.max_success_gap),
        ("max_left_out", criteria.max_left_out),
        ("c2st_max", criteria.c2st_max),
        ("max_user_errors", criteria.max_user_errors),
        ("max_blind_auc", criteria.max_blind_auc),
        ("max_age_days", criteria.max_age_days),
        ("survey.max_bias", criteria.survey.max_bias),
    ):
        if limit is not None:
            levels[name] = -float(limit)
    tracking = criteria.tracking
    if tracking.content_max is not None:
        levels["tracking.content_max"] = -tracking.content_max
    for name in ("task", "content", "adjacency"):
        least = getattr(tracking, name)
        if least:
            levels[f"tracking.{name}"] = least
    if criteria.style_min:
        levels["style_min"] = criteria.style_min
    if criteria.survey.min_kappa_ratio is not None:
        levels["survey.min_kappa_ratio"] = criteria.survey.min_kappa_ratio
    if criteria.min_tasks is not None:
        levels["min_tasks"] = criteria.min_tasks
    levels["family_size"] = criteria.family_size
    if not criteria.allow_research_only:
        levels["allow_research_only"] = 1.0
    if criteria.require_verified:
        levels["require_verified"] = 1.0
    if criteria.regression.asked:
        levels["regression.margin"] = -criteria.regression.margin
        levels["regression.component_margin"] = -criteria.regression.component_margin
    levels.update({f"require.{name}": 1.0 for name in criteria.require.components})
    for part in criteria.subgroup:
        levels.update({f"subgroup.{part.by}.{k}": v for k, v in part.minimum.items()})
    return levels


@cache
def tier_data() -> dict[str, Any]:
    """Tables of ``tiers.toml``."""
    text = files("usi.decisions").joinpath("tiers.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def tier(name: str) -> Criteria:
    """Criteria of a tier as shipped (``A``, ``B`` or ``C``)."""
    if name not in TIERS:
        raise unknown_name("tier", name, TIERS)
    return Criteria.model_validate(tier_data()[name])


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
            text = words_of(part)
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
    data = read_toml(path)
    if path.name == "pyproject.toml":
        data = _table(table_at(data, "tool", "usi", "gate"), path, "[tool.usi.gate]")
    elif path.name == "usi.toml" or isinstance(data.get("gate"), dict):
        beside = sorted(set(data) & set(Criteria.model_fields))
        if beside:
            raise InputError(
                "criteria stand at the top of the file and in a table [gate]: use one of the two",
                file=str(path),
                field=beside[0],
            )
        data = _table(data.get("gate"), path, "[gate]")
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


def _table(found: Any, path: Path, name: str) -> dict[str, Any]:
    if not isinstance(found, dict) or not found:
        raise UsageError(f"{path} has no table {name}; add one, or give --tier A, B or C")
    return found


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
    for key, model in (
        ("minimum", Minimum),
        ("survey", SurveyKey),
        ("tracking", Tracking),
        ("require", Require),
        ("regression", Regression),
    ):
        check(data.get(key), model, f"{key}.")
    groups = data.get("subgroup")
    for number, part in enumerate(groups if isinstance(groups, list) else []):
        check(part, Subgroup, f"subgroup.{number}.")
        if isinstance(part, Mapping):
            check(part.get("minimum"), Minimum, f"subgroup.{number}.minimum.")
    return problems
