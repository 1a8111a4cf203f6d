"""Every call that leaves usi goes through here: cache, replay, budget, pace, retries, counting."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from usi.simulate.cache import Cache, canonical, content_key
from usi.simulate.faults import EpisodeFault, ReplayMiss, RunStopped
from usi.simulate.ledger import Ledger, Usage
from usi.simulate.pace import FIRST_WAIT, Pace, backoff

Answer = dict[str, Any]
"""JSON object; ``cost``, ``tokens_in`` and ``tokens_out`` are counted where they are there."""


class Transient(Exception):
    """A call failed in a way that may pass; `retry_after` is what the provider asks for."""

    def __init__(self, reason: str, detail: str, retry_after: float | None = None) -> None:
        self.reason, self.detail, self.retry_after = reason, detail, retry_after
        super().__init__(f"{reason}: {detail}")


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
    """

    cache: Cache = field(default_factory=lambda: Cache(None))
    ledger: Ledger = field(default_factory=Ledger)
    replay: bool = False
    retries: int = 4
    first_wait: float = FIRST_WAIT
    per_minute: float | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    _paces: dict[str, Pace] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pace(self, name: str, per_minute: float | None) -> Pace:
        """The pace of one model or endpoint, made at its first call."""
        with self._lock:
            if name not in self._paces:
                self._paces[name] = Pace(per_minute or self.per_minute, sleep=self.sleep)
            return self._paces[name]

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
    """

    runtime: Runtime
    episode: str = ""
    usage: Usage = field(default_factory=Usage)
    paid: Usage = field(default_factory=Usage)

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
            Largest possible cost and tokens of the call, for the budget.
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
    """The answer as the cache would give it, to the byte; what is no JSON is a fault.

    Somebody else's program may give anything: sets, NaN, endless nesting, a price that is a text.
    """
    try:
        plain = dict(json.loads(canonical(answer, nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        detail = f"{target}: the answer is no JSON ({str(error)[:80]})"
        raise EpisodeFault("malformed_response", detail) from None
    for name in ("cost", "tokens_in", "tokens_out"):
        value = plain.get(name) or 0
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise EpisodeFault("malformed_response", f"{target}: {name} is {value!r:.40}")
    return plain


def _usage(answer: Mapping[str, Any]) -> Usage:
    return Usage(
        cost=float(answer.get("cost") or 0.0),
        tokens_in=int(answer.get("tokens_in") or 0),
        tokens_out=int(answer.get("tokens_out") or 0),
    )
