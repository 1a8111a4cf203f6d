"""What runs of `usi simulate` recorded beside the reward: rules broken, findings, cost.

It stands in the scorecard for readers and is in no score: it is about the agent and the task as
much as about the user. ``usi domain results`` has the same with bounds and by task.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from usi.estimate import Estimate, not_assessed
from usi.reasons import NO_CHECKS, TRUNCATED_REPLIES, Reason
from usi.records import Session
from usi.rounding import Number

CONFIRMATION = "confirmation"
"""Rule that each write is confirmed by the user."""
MOST_TRUNCATED = 0.02
"""Share of replies that ran out of tokens above which the scorecard warns."""
LONGEST = 80
"""Of a name; what is longer is cut."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class BrokenRule(_Part):
    """A rule of the way, and how many sessions broke it."""

    rule: str
    sessions: int
    rewarded: int = Field(description="those of them with reward 1")


class Finding(_Part):
    """Why sessions failed, from the difference of final state and goal."""

    kind: str
    sessions: int


class Episodes(_Part):
    """Episodes as the harness recorded them; of sessions that are no infrastructure failures."""

    checked: int = Field(description="sessions with trajectory checks")
    broken: tuple[BrokenRule, ...] = Field((), description="most frequent first")
    hidden: Estimate = Field(description="share of sessions with reward 1 that broke a rule")
    unconfirmed: Estimate = Field(description="the same for writes that nobody confirmed")
    failed: int = Field(0, description="sessions with findings; each may have several")
    findings: tuple[Finding, ...] = Field((), description="most frequent first")
    priced: int = Field(0, description="sessions with a recorded cost")
    cost_usd: Number | None = Field(None, description="their cost together, in US dollars")


@dataclass
class EpisodeTally:
    """Adds up sessions one by one, in any order."""

    checked: int = 0
    successes: int = 0
    hiding: int = 0
    unconfirmed: int = 0
    failed: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    rewarded: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    costs: list[float] = field(default_factory=list)
    replies: int = 0
    truncated: int = 0

    def see(self, session: Session) -> None:
        """Count a session."""
        cost = session.meta.get("cost_usd")
        if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < math.inf:
            self.costs.append(float(cost))
        if session.status == "infrastructure_error":
            return
        cut = session.meta.get("replies")
        cut = cut.get("truncated", 0) if isinstance(cut, dict) else 0
        self.truncated += cut if isinstance(cut, int) and not isinstance(cut, bool) else 0
        self.replies += sum(turn.role == "user" for turn in session.turns)
        rules = _names(session.meta.get("violations"), "check")
        kinds = _names(session.meta.get("triage"), "kind")
        if rules is not None:
            self.checked += 1
            self.broken.update(rules)
            if session.outcome.reward is not None and session.outcome.reward >= 1:
                self.successes += 1
                self.hiding += bool(rules)
                self.unconfirmed += CONFIRMATION in rules
                self.rewarded.update(rules)
        if kinds:
            self.failed += 1
            self.findings.update(kinds)

    def remark(self, whose: str) -> Reason | None:
        """What to say where more than `MOST_TRUNCATED` of the replies ran out of tokens."""
        if self.truncated <= MOST_TRUNCATED * self.replies:
            return None
        return TRUNCATED_REPLIES(
            side=whose, truncated=self.truncated, replies=self.replies, limit=MOST_TRUNCATED
        )

    def card(self) -> Episodes | None:
        """What stands in the scorecard; ``None`` where no session recorded anything."""
        if not (self.checked or self.failed or self.costs):
            return None
        return Episodes(
            checked=self.checked,
            broken=tuple(
                BrokenRule(rule=name, sessions=n, rewarded=self.rewarded[name])
                for name, n in _frequent(self.broken)
            ),
            hidden=self._share(self.hiding),
            unconfirmed=self._share(self.unconfirmed),
            failed=self.failed,
            findings=tuple(Finding(kind=k, sessions=n) for k, n in _frequent(self.findings)),
            priced=len(self.costs),
            cost_usd=round(math.fsum(self.costs), 8) if self.costs else None,
        )

    def _share(self, count: int) -> Estimate:
        if not self.successes:
            return not_assessed(NO_CHECKS, unit="share", n=0)
        return Estimate(value=count / self.successes, n=self.successes, unit="share")


def _names(rows: Any, key: str) -> set[str] | None:
    """The names in a list of objects; ``None`` where nobody recorded one."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return {str(row[key])[:LONGEST] for row in rows if key in row}


def _frequent(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
