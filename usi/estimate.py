"""What every number of a scorecard is: a value with its bounds, n, unit and status.

Undefined is a value with a reason, never 0, 1 or NaN.
"""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

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
        See `Status`; a reason is there exactly where the status is not ``"ok"``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: str = "points"
    status: Status = "ok"
    reason: str | None = None

    @model_validator(mode="after")
    def _value_or_reason(self) -> Self:
        if self.status == "ok":
            if self.value is None or not math.isfinite(self.value):
                raise ValueError("an estimate with status ok needs a finite value")
        elif self.value is not None:
            raise ValueError(f"an estimate with status {self.status} has no value")
        elif not self.reason:
            raise ValueError(f"an estimate with status {self.status} needs a reason")
        return self

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status == "ok"


def not_assessed(reason: str, *, unit: str = "points", n: int | None = None) -> Estimate:
    """An estimate whose data are not there."""
    return Estimate(value=None, status="not_assessed", reason=reason, unit=unit, n=n)


def unscorable(reason: str, *, unit: str = "points", n: int | None = None) -> Estimate:
    """An estimate that no honest number follows for."""
    return Estimate(value=None, status="unscorable", reason=reason, unit=unit, n=n)
