"""Every call that leaves usi goes through here: cache, replay, budget, pace, retries, counting.

Answers of models and endpoints in sqlite, found again by the hash of what was asked.

Not faster than a provider allows: a rate a minute, pauses that it asks for, and backoff.

Money and tokens of a run: spent, held for calls under way, and the limits of both.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError
from usi.secrets import hidden, remember_environment, without_known
from usi.simulate.faults import EpisodeFault, ReplayMiss, RunStopped

_TABLE = "create table if not exists answers (key text primary key, answer text not null)"


def canonical(value: Any, *, nan: bool = True) -> str:
    """JSON text that is the same for the same value, whatever the order of keys.

    Without `nan` a number that JSON does not know is a `ValueError`.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=nan
    )


def content_key(request: Mapping[str, Any]) -> str:
    """SHA-256 of a request in canonical JSON. A request never holds a key of a provider."""
    return hashlib.sha256(canonical(request).encode("ascii")).hexdigest()


class Cache:
    """A file of answers; safe for threads. ``None`` as path keeps them in memory."""

    def __init__(self, path: str | Path | None) -> None:
        self._name = str(path)
        self._lock = threading.Lock()
        try:
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                ":memory:" if path is None else str(path), check_same_thread=False, timeout=30
            )
            self._db.execute(_TABLE)
            self._db.commit()
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"no cache of answers: {error}", file=self._name) from None

    def get(self, key: str) -> Any | None:
        """The answer, or ``None``."""
        try:
            with self._lock:
                row = self._db.execute(
                    "select answer from answers where key = ?", (key,)
                ).fetchone()
            return None if row is None else json.loads(row[0])
        except (sqlite3.Error, ValueError) as error:
            raise InputError(f"the cache of answers is damaged: {error}", file=self._name) from None

    def put(self, key: str, answer: Any) -> None:
        """Keep an answer in place of an earlier one."""
        try:
            with self._lock:
                self._db.execute(
                    "insert or replace into answers values (?, ?)", (key, canonical(answer))
                )
                self._db.commit()
        except sqlite3.Error as error:
            raise UsageError(f"can't write {self._name}: {error}") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()


FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0


def backoff(attempt: int, *, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> float:
    """Seconds before attempt number `attempt` + 1, doubling from `first`.

    >>> [backoff(n) for n in (1, 2, 3)]
    [1.0, 2.0, 4.0]
    """
    return min(longest, first * 2.0 ** (attempt - 1))


class Pace:
    """Spaces calls evenly and honours pauses; shared by all threads of a run."""

    def __init__(
        self,
        per_minute: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait for this call's turn."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._gap
        if start > now:
            self._sleep(start - now)

    def pause(self, seconds: float) -> None:
        """Let no call begin within the next `seconds`."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


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
    """Counts what was really spent, and lets no call begin that would break a limit.

    A call holds its likely cost (`Runtime.expected`) while it is under way, so that concurrent
    calls can't pass a limit together; one that does not fit waits for those under way, and where
    none is, the run stops. A limit is passed only by what a reply is longer than was likely.
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
        """Reserve the likely use of a call.

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
        return f"budget: {', '.join(parts)}; the next call is likely to pass it"


FIRST_REPLY = 1000
"""Tokens that the first replies of a model are expected to have."""
Answer = dict[str, Any]
"""JSON object; ``cost``, ``tokens_in`` and ``tokens_out`` are counted where they are there."""


class Transient(Exception):
    """A call failed in a way that may pass; `retry_after` is what the provider asks for."""

    def __init__(self, reason: str, detail: str, retry_after: float | None = None) -> None:
        self.reason, self.detail, self.retry_after = reason, hidden(detail), retry_after
        super().__init__(f"{reason}: {self.detail}")


@dataclass
class Runtime:
    """What the calls of a whole run share.

    Attributes
    ----------
    cache
        Answers by content.
    ledger
        Money and tokens.
    replay
        Answer from the cache alone.
    retries
        How often a call is tried again after a passing fault.
    first_wait
        Seconds before the first of them; doubles each time.
    per_minute
        Calls a minute of each model or endpoint, where it says nothing itself.
    stopping
        Set where the run is to end in good order.
    interrupted
        Set where somebody waits for its end, so that calls under way are given up soon.
    """

    cache: Cache = field(default_factory=lambda: Cache(None))
    ledger: Ledger = field(default_factory=Ledger)
    replay: bool = False
    retries: int = 4
    first_wait: float = FIRST_WAIT
    per_minute: float | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    interrupted: threading.Event = field(default_factory=threading.Event)
    _paces: dict[str, Pace] = field(default_factory=dict)
    _seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pace(self, name: str, per_minute: float | None) -> Pace:
        """The pace of one model or endpoint, made at its first call."""
        with self._lock:
            if name not in self._paces:
                self._paces[name] = Pace(per_minute or self.per_minute, sleep=self.sleep)
            return self._paces[name]

    def expected(self, target: str, tokens_in: int, most_out: int) -> tuple[int, int]:
        """Tokens in and out that a call is likely to take, by what calls before it took.

        Parameters
        ----------
        target
            The model.
        tokens_in
            Of the request, by its length.
        most_out
            Most that the reply may have.

        Returns
        -------
        tuple of int
            `tokens_in` and the most that a request went beyond its length; a quarter more than the
            longest reply, or `FIRST_REPLY` before any came.
        """
        with self._lock:
            beyond, longest = self._seen.get(target, (0, 0))
        likely = math.ceil(1.25 * longest) if longest else FIRST_REPLY
        return tokens_in + beyond, min(most_out, likely)

    def learn(self, target: str, tokens_in: int, answer: Answer) -> None:
        """Take what a call took for `expected`; arguments as there."""
        used = _usage(answer)
        with self._lock:
            beyond, longest = self._seen.get(target, (0, 0))
            self._seen[target] = (
                max(beyond, used.tokens_in - tokens_in), max(longest, used.tokens_out),
            )  # fmt: skip

    def sleep(self, seconds: float) -> None:
        """Sleep, but wake up where the run is to end."""
        if self.stopping.wait(seconds):
            raise RunStopped("interrupted")


@dataclass
class Calls:
    """The calls of one episode.

    Attributes
    ----------
    usage
        What the episode's answers cost, from the cache or not: the same however it was run.
    paid
        What was really called and spent, calls that failed included.
    truncated
        Replies of the agent that ran out of tokens.
    """

    runtime: Runtime
    episode: str = ""
    usage: Usage = field(default_factory=Usage)
    paid: Usage = field(default_factory=Usage)
    truncated: int = 0

    def remembered(
        self,
        request: Mapping[str, Any],
        call: Callable[[], Answer],
        *,
        target: str,
        live: bool = False,
        most: tuple[float, int] = (0.0, 0),
        per_minute: float | None = None,
    ) -> Answer:
        """The answer to a request, from the cache or by a call.

        Parameters
        ----------
        request
            Everything that the answer depends on; holds no secret.
        call
            Makes the call; raises `Transient` where trying again may help.
        target
            Model or endpoint, for pace and messages.
        live
            The same request may be answered anew (an endpoint of the user's own): the cache is
            read in a replay only.
        most
            Likely cost and tokens of the call, for the budget.
        per_minute
            Calls a minute that the target allows.

        Raises
        ------
        ReplayMiss
            In a replay, where the cache does not hold the answer.
        RunStopped
            Where the budget does not allow the call, or the run is to end.
        EpisodeFault
            Where the call failed for good.
        """
        runtime = self.runtime
        if runtime.stopping.is_set():
            raise RunStopped("interrupted")
        key = content_key(request)
        found = None if live and not runtime.replay else runtime.cache.get(key)
        if found is not None:
            self._count(found, cached=1)
            return dict(found)
        if runtime.replay:
            raise ReplayMiss(
                f"--replay: the cache holds no answer of {target} with key {key[:16]}"
                f"{f' (episode {self.episode})' if self.episode else ''}; run without --replay, "
                "or with the cache of the run that is to be repeated"
            )
        answer = self._tried(call, target=target, most=most, per_minute=per_minute)
        runtime.cache.put(key, answer)
        self._count(answer, cached=0)
        return answer

    def _tried(
        self,
        call: Callable[[], Answer],
        *,
        target: str,
        most: tuple[float, int],
        per_minute: float | None,
    ) -> Answer:
        runtime, attempt = self.runtime, 0
        remember_environment()
        pace = runtime.pace(target, per_minute)
        while True:
            attempt += 1
            pace.wait()
            runtime.ledger.hold(*most)
            used = Usage(calls=1)
            try:
                answer = _checked(call(), target)
                used = used + _usage(answer)
                return answer
            except Transient as fault:
                if attempt > runtime.retries:
                    detail = f"{fault.detail} ({attempt} attempts)"
                    raise EpisodeFault(fault.reason, detail) from None
                wait = backoff(attempt, first=runtime.first_wait)
                if fault.retry_after is not None:
                    wait = fault.retry_after
                    pace.pause(wait)
            finally:
                runtime.ledger.settle(*most, used)
                self.paid = self.paid + used
            runtime.sleep(wait)

    def _count(self, answer: Answer, *, cached: int) -> None:
        self.usage = self.usage + _usage(answer) + Usage(calls=1, cached=cached)


def _checked(answer: Answer, target: str) -> Answer:
    """The answer as the cache would give it, without secrets; what is not JSON is a fault.

    Somebody else's program may give anything: sets, NaN, endless nesting, a price that is a text.
    """
    try:
        plain = dict(json.loads(canonical(answer, nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        detail = f"{target}: the answer is not JSON ({str(error)[:80]})"
        raise EpisodeFault("malformed_response", detail) from None
    for name in ("cost", "tokens_in", "tokens_out"):
        value = plain.get(name) or 0
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            detail = f"{target}: {name} is {hidden(repr(value)):.40}"
            raise EpisodeFault("malformed_response", detail)
    return dict(without_known(plain))


def _usage(answer: Mapping[str, Any]) -> Usage:
    return Usage(
        cost=float(answer.get("cost") or 0.0),
        tokens_in=int(answer.get("tokens_in") or 0),
        tokens_out=int(answer.get("tokens_out") or 0),
    )
