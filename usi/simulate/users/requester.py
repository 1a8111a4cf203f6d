"""A scripted requester whose waiting, reopening and follow-up are those of an event log.

Rates of requesters from the session table of an event log (`usi logs features`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

from usi.errors import InputError, UsageError, unknown_name
from usi.extraction.table import SessionTable
from usi.reading import read_toml
from usi.simulate.calls import Calls
from usi.simulate.protocol import Message, Task
from usi.simulate.user import STOP
from usi.simulate.users.scripted import ScriptedUser, Traits, occasion


@dataclass(frozen=True)
class LogRates:
    """What a log tells of its requesters.

    Attributes
    ----------
    shares
        Rate -> share in 0 to 1.
    unknown
        Rate -> why the log can't tell it.
    """

    shares: dict[str, float] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


def rates_of_table(path: str | Path) -> LogRates:
    """Shares of the cases in which requesters do what a scripted one can do.

    ``waiting``: of all cases, those that wait for the user. ``reopening``: of the cases that were
    ever resolved or closed, those opened again. ``follow_up``: of all cases, those in which the
    requester comes back unasked while the case is with the desk
    (`usi.logs.behaviour`); a log in which requesters never act after the opening does
    not tell, since it may just not record them.

    Parameters
    ----------
    path
        A ``.sessions.parquet`` of the profile ``log``.

    Raises
    ------
    UsageError
        For a table of another profile.
    """
    table = SessionTable.read(path)
    if table.profile != "log":
        raise UsageError(
            f"{path} is a session table of the profile {table.profile!r}; make one of a log with "
            "usi logs features LOG --side human -o NAME.sessions.parquet"
        )
    frame, found = table.frame, LogRates()
    _add(found, "waiting", frame["waits_user"], "no activity is of the class wait_user")
    ended = pl.col("last_class").is_in(["resolved", "closed"]) | (pl.col("reopened") == 1)
    known = pl.col("last_class").is_null()  # without classes a flag alone tells of reopenings
    cases = frame.filter(ended | known)
    _add(found, "reopening", cases["reopened"], "no case is resolved or closed")
    if frame["requester_events"].null_count() == len(frame):
        why = "no column says who made an event (role actor)"
    elif not frame["requester_events"].sum():
        why = "no event after the opening is the requester's"
    else:
        why = "activities have no classes"
    told = bool(frame["requester_events"].sum())
    _add(found, "follow_up", frame["followed_up"] if told else None, why)
    return found


def _add(found: LogRates, name: str, values: pl.Series | None, why: str) -> None:
    told = pl.Series([], dtype=pl.Int64) if values is None else values.drop_nulls()
    if len(told):
        found.shares[name] = int((told > 0).sum()) / len(told)
    else:
        found.unknown[name] = why


@dataclass(frozen=True)
class Rates:
    """What requesters do in a log.

    Attributes
    ----------
    waiting
        Share of cases that wait for the user: a question is not answered at once.
    reopening
        Share of resolved cases that the user opens again.
    follow_up
        Share of cases in which the user comes back unasked, for news.
    """

    waiting: float = 0.0
    reopening: float = 0.0
    follow_up: float = 0.0

    def __post_init__(self) -> None:
        for rate in fields(self):
            value = getattr(self, rate.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise UsageError(f"rate {rate.name}: give a number from 0 to 1, not {value!r:.40}")


def rates_of(data: Mapping[str, Any], folder: Path = Path()) -> Rates:
    """Rates of a TOML table; `table` names a session table, which single rates go over.

    Raises
    ------
    UsageError
        For an unknown key, with near matches; for rates that the log can't tell and that are not
        given either.
    """
    known = [f.name for f in fields(Rates)]
    for name in data:
        if name not in (*known, "table"):
            raise unknown_name("rate", name, [*known, "table"])
    given = {name: value for name, value in data.items() if name != "table"}
    if "table" in data:
        return _with_log(folder / str(data["table"]), given)
    return replace(Rates(), **given)


def _with_log(path: Path, given: Mapping[str, Any]) -> Rates:
    """Rates of a log's session table, those that are given in their place."""

    log = rates_of_table(path)
    missing = [f"{name} ({why})" for name, why in log.unknown.items() if name not in given]
    if missing:
        raise UsageError(
            f"{path}: this log can't tell {', '.join(missing)}. Give "
            f"{'it' if len(missing) == 1 else 'them'} under [rates], beside the table, as a number "
            "from 0 to 1"
        )
    return Rates(**{**log.shares, **given})


def read_rates(path: str | Path) -> Rates:
    """Rates from a TOML file (table ``rates``, or the file itself), or from a session table.

    Raises
    ------
    InputError
        Where the file can't be read.
    """
    if Path(path).suffix == ".parquet":
        return _with_log(Path(path), {})
    data = read_toml(path)
    table = data.get("rates", data)
    if not isinstance(table, dict):
        raise InputError("must be a table of rates", file=str(path), field="rates")
    return rates_of(table, Path(path).parent)


@dataclass(frozen=True)
class Requesters:
    """A candidate made of requesters."""

    rates: Rates
    traits: Traits
    seed: int = 0
    synthetic: bool = True

    @property
    def identity(self) -> Mapping[str, Any]:
        """Rates, traits and seed."""
        return {
            "kind": "requester",
            "rates": asdict(self.rates),
            "traits": asdict(self.traits),
            "seed": self.seed,
        }

    def new(self, task: Task, seed: int, runtime: Calls) -> Requester:
        """A requester; what it will do is drawn once, from the seed."""
        rng = random.Random(f"requester|{self.seed}|{task.id}|{seed}")
        r = self.rates
        waits, reopens, follows = (
            rng.random() < rate for rate in (r.waiting, r.reopening, r.follow_up)
        )
        return Requester(task, self.traits, rng, waits=waits, reopens=reopens, follows=follows)


@dataclass
class Requester(ScriptedUser):
    """One requester in one episode."""

    waits: bool = False
    reopens: bool = False
    follows: bool = False

    def reply(self, history: Sequence[Message]) -> Message:
        """As a scripted user, with waiting, reopening and follow-up of the log."""
        heard = next((m["content"] for m in reversed(history) if m["role"] == "assistant"), "")
        if self.waits and self.turns and occasion(heard, self.task.facts) == "asked":
            self.turns += 1
            self.waits = False
            return {"role": "user", "content": self._say("wait", "requester")}
        text = self.answer(heard)
        if STOP in text and not self.left:
            if self.follows:
                self.follows = False
                return {"role": "user", "content": self._say("followup", "requester")}
            if self.reopens:
                self.reopens = False
                return {"role": "user", "content": self._say("reopen", "requester")}
        return {"role": "user", "content": text}
