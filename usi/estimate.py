"""What every number of a scorecard is: a value with its bounds, n, unit and status.

Undefined is a value with a reason, never 0, 1 or NaN.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from usi.reasons import Code, Reason, reason_of
from usi.rounding import Number

Status = Literal["ok", "not_assessed", "unscorable"]
"""`ok`: there is a value. `not_assessed`: the data needed are not there. `unscorable`: they are
there, and no honest number follows from them (for instance a feature that people never show)."""


class Estimate(BaseModel):
    """A number, or the reason why there is none.

    Attributes
    ----------
    value
        Point value in `unit`; ``None`` exactly where `status` is not ``"ok"``.
    low, high
        Lower and upper bound, where the profile gives bounds; ``None`` otherwise.
    n
        How many units (sessions, tasks, pairs: the owner says which) the value rests on.
    unit
        For instance ``"points"`` (0 to 100), ``"share"`` (0 to 1), ``"words"``.
    status, reason
        See `Status`; a reason (code, parameters, text: `usi.reasons`) is there exactly where the
        status is not ``"ok"``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    value: Number | None
    low: Number | None = None
    high: Number | None = None
    n: int | None = None
    unit: str = "points"
    status: Status = "ok"
    reason: Reason | None = None

    @model_validator(mode="after")
    def _value_or_reason(self) -> Self:
        if self.status == "ok":
            if self.value is None or not math.isfinite(self.value):
                raise ValueError("an estimate with status ok needs a finite value")
        elif self.value is not None:
            raise ValueError(f"an estimate with status {self.status} has no value")
        elif self.reason is None:
            raise ValueError(f"an estimate with status {self.status} needs a reason")
        return self

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status == "ok"


def with_bounds(
    value: float, low: float | None, high: float | None, digits: int = 1, *, signed: bool = False
) -> str:
    """A value with its bounds, as verdicts, tables and terminal write it; alone without bounds.

    >>> with_bounds(71.24, 68.0, 74.06), with_bounds(0.5, -0.25, 1.0, 2, signed=True)
    ('71.2 [68.0, 74.1]', '+0.50 [-0.25, +1.00]')
    >>> with_bounds(71.24, None, None)
    '71.2'
    """
    form = f"{'+' if signed else ''}.{digits}f"
    if low is None or high is None:
        return f"{value:{form}}"
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def not_assessed(
    reason: Code | Reason, *, unit: str = "points", n: int | None = None, **parameters: Any
) -> Estimate:
    """An estimate whose data are not there; `parameters` are those of the reason's text."""
    why = reason_of(reason, parameters)
    return Estimate(value=None, status="not_assessed", reason=why, unit=unit, n=n)


def unscorable(
    reason: Code | Reason, *, unit: str = "points", n: int | None = None, **parameters: Any
) -> Estimate:
    """An estimate that no honest number follows for; `parameters` are those of the text."""
    why = reason_of(reason, parameters)
    return Estimate(value=None, status="unscorable", reason=why, unit=unit, n=n)
