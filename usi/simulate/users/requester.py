"""A scripted requester whose waiting, reopening and follow-up are those of an event log."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError, unknown_name
from usi.simulate.calls import Calls
from usi.simulate.protocol import Message, Task
from usi.simulate.user import STOP
from usi.simulate.users.listening import occasion
from usi.simulate.users.scripted import ScriptedUser, Traits


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
    from usi.simulate.users.log_rates import rates_of_table

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
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"can't be read as TOML ({error})", file=str(path)) from None
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
