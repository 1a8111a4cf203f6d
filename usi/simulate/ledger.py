"""Money and tokens of a run: spent, held for calls under way, and the limits of both."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from usi.errors import UsageError
from usi.simulate.faults import RunStopped


@dataclass(frozen=True)
class Usage:
    """What calls used: money in US dollars, tokens, calls made and answered from the cache."""

    cost: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.cost + other.cost,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.calls + other.calls,
            self.cached + other.cached,
        )

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True)
class Budget:
    """Limits; ``None`` is none. Zero forbids every call."""

    money: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if (self.money is not None and not self.money >= 0) or (self.tokens or 0) < 0:
            raise UsageError("a budget can't be below zero")


class Ledger:
    """Counts what was really spent, and lets no call begin that might break a limit.

    A call holds its largest possible cost while it is under way, so that concurrent calls can't
    pass a limit together; one that does not fit waits for those under way, and where none is, the
    run stops.
    """

    def __init__(self, budget: Budget | None = None, spent: Usage | None = None) -> None:
        self.budget = budget or Budget()
        self._spent = spent or Usage()
        self._held_money, self._held_tokens, self._under_way = 0.0, 0, 0
        self._changed = threading.Condition()

    @property
    def spent(self) -> Usage:
        """What was spent, earlier parts of the run included."""
        with self._changed:
            return self._spent

    def hold(self, money: float, tokens: int) -> None:
        """Reserve the largest possible use of a call.

        Raises
        ------
        RunStopped
            Where it does not fit into the budget.
        """
        with self._changed:
            while not self._fits(money, tokens):
                if self._under_way == 0:
                    raise RunStopped(self._why())
                self._changed.wait()
            self._held_money += money
            self._held_tokens += tokens
            self._under_way += 1

    def settle(self, money: float, tokens: int, used: Usage) -> None:
        """Replace a reservation by what was used."""
        with self._changed:
            self._held_money -= money
            self._held_tokens -= tokens
            self._under_way -= 1
            self._spent = self._spent + used
            self._changed.notify_all()

    def _fits(self, money: float, tokens: int) -> bool:
        limit, cap = self.budget.money, self.budget.tokens
        if limit == 0 or cap == 0:
            return False
        return (limit is None or self._spent.cost + self._held_money + money <= limit + 1e-12) and (
            cap is None or self._spent.tokens + self._held_tokens + tokens <= cap
        )

    def _why(self) -> str:
        parts = []
        if self.budget.money is not None:
            parts.append(f"${self._spent.cost:.4f} of ${self.budget.money:g} spent")
        if self.budget.tokens is not None:
            parts.append(f"{self._spent.tokens} of {self.budget.tokens} tokens used")
        return f"budget: {', '.join(parts)}; the next call might pass it"
