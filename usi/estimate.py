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


MINUS = "\N{MINUS SIGN}"
"""The typographic minus, which pages print in place of the hyphen."""


def written(value: float, form: str = "1", *, minus: str = "-") -> str:
    """Write one number; zero has no sign.

    Parameters
    ----------
    value
        Finite number; a share (0 to 1) for the forms of per cent.
    form
        ``i`` whole number with commas; ``0`` to ``4`` so many decimals, with a leading ``+`` also
        the sign of positive numbers; ``%`` a share as per cent with one decimal; ``pp`` a signed
        share as percentage points, ``pu`` an unsigned one; ``p`` a p-value.
    minus
        Sign of negative numbers: ``-``, or `MINUS`.

    Examples
    --------
    >>> written(0.0816, "%"), written(-0.2348, "pp"), written(71.26), written(0.0004, "p")
    ('8.2 %', '-23.5', '71.3', '< 0.001')
    >>> written(-0.01, "1"), written(12345, "i"), written(-1.5, "+1", minus=MINUS)
    ('0.0', '12,345', '−1.5')
    """
    if form == "p":
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    if form == "i":
        text = f"{round(value):,}"
    elif form in ("%", "pp", "pu"):
        text = f"{100 * value:{'+' if form == 'pp' else ''}.1f}"
    else:
        text = f"{value:{'+' if form.startswith('+') else ''}.{int(form.lstrip('+'))}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("+-")
    return text.replace("-", minus) + (" %" if form == "%" else "")


def interval(low: float | None, high: float | None, form: str = "1", *, minus: str = "-") -> str:
    """``[low, high]`` in a form of `written`, per cent without its sign; empty without bounds.

    >>> interval(0.061, 0.102, "%"), interval(None, 1.0)
    ('[6.1, 10.2]', '')
    """
    if low is None or high is None:
        return ""
    ends = (written(end, form, minus=minus).removesuffix(" %") for end in (low, high))
    return f"[{', '.join(ends)}]"


def with_bounds(
    value: float,
    low: float | None,
    high: float | None,
    digits: int = 1,
    *,
    signed: bool = False,
    form: str | None = None,
    minus: str = "-",
) -> str:
    """A value with its bounds, the one way of writing it; the value alone without bounds.

    Parameters
    ----------
    value, low, high
        Of one estimate, in one unit.
    digits, signed
        Decimals, and whether positive numbers have a sign: for the usual forms.
    form
        Form of `written` in place of those two.
    minus
        As for `written`.

    Examples
    --------
    >>> with_bounds(71.24, 68.0, 74.06), with_bounds(0.5, -0.25, 1.0, 2, signed=True)
    ('71.2 [68.0, 74.1]', '+0.50 [-0.25, +1.00]')
    >>> with_bounds(71.24, None, None), with_bounds(0.5, 0.4, 0.6, form="%")
    ('71.2', '50.0 % [40.0, 60.0]')
    """
    code = form or f"{'+' if signed else ''}{digits}"
    limits = interval(low, high, code, minus=minus)
    return " ".join(filter(None, (written(value, code, minus=minus), limits)))


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
