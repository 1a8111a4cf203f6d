"""Candidates and agents by name: a TOML file, or a short form such as ``scripted:terse``.

Python callables as users and agents: by entry point or by ``module:function``.

What took part in a run, hashed: candidate, agent, domain, survey, limits.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from usi._version import __version__
from usi.errors import InputError, UsageError, unknown_name
from usi.loading.labels import simulator_label
from usi.reading import read_toml
from usi.secrets import hidden, name_of_address, public_address
from usi.simulate.agents.agent import AgentFactory, OutsideAgents
from usi.simulate.agents.model import ModelAgents
from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.calls import canonical
from usi.simulate.client import ModelSettings
from usi.simulate.episode import Setting
from usi.simulate.protocol import Domain
from usi.simulate.user import UserFactory
from usi.simulate.users.external import OutsideUsers, OverCall, OverHttp, OverProcess
from usi.simulate.users.model import PROMPT, ModelUsers
from usi.simulate.users.replay import read_turns
from usi.simulate.users.requester import Requesters, rates_of, read_rates
from usi.simulate.users.scripted import VARIED, ScriptedUsers, preset, with_traits


def find_callable(name: str, group: str) -> Any:
    """What an entry point or ``module:function`` names; nothing is imported that was not named.

    Parameters
    ----------
    name
        Name of an entry point of the group, or ``module:attribute``; modules of the working
        folder are found, too.
    group
        ``usi.users`` or ``usi.agents``.

    Raises
    ------
    UsageError
        Where there is no such thing, with near matches for entry points.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        found = {point.name: point for point in entry_points(group=group)}
        if name not in found:
            raise unknown_name(f"entry point of {group}", name, [*sorted(found), "module:function"])
        return _run(found[name].load, name)
    if not module or not attribute:
        raise UsageError(f"{name}: write module:function, or the name of an entry point of {group}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    value = _run(lambda: import_module(module), name)
    for part in attribute.split("."):
        value = getattr(value, part, None)
    if value is None or not (callable(value) or hasattr(value, "new")):
        raise UsageError(f"{name}: the module has no such function")
    return value


def _run(load: Callable[[], Any], name: str) -> Any:
    """Import somebody else's module, which may raise anything."""
    try:
        return load()
    except (Exception, SystemExit) as error:
        what = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"{name} can't be imported: {what}") from error


SHOWN = {
    "simulator": "the simulator",
    "agent": "the agent",
    "domain": "the domain",
    "survey": "the survey",
    "limits": "the limits of an episode",
    "design": "the design of seeds",
}
"""Entry of a header -> how messages call it."""


def digest(value: Any) -> str:
    """First 12 hex digits of the hash of a value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:12]


def user_fingerprint(label: str, users: UserFactory) -> str:
    """Label and hash of a candidate."""
    return f"{label}@{digest({'user': dict(users.identity), 'harness': __version__})}"


def domain_digest(domain: Domain) -> str:
    """Hash of what a domain gives to users and agents."""
    tasks = [
        [t.id, t.instruction, list(t.traits), list(t.requests), dict(t.facts), t.difficulty]
        for t in domain.tasks
    ]
    return digest([domain.name, domain.policy, list(domain.tools), tasks])


def header(label: str, users: UserFactory, setting: Setting, design: str) -> dict[str, Any]:
    """First line of a run log: what must be the same for a run to be continued."""
    return {
        "kind": "run",
        "simulator": user_fingerprint(label, users),
        "agent": setting.agent_name,
        "domain": f"{setting.domain.name}@{domain_digest(setting.domain)}",
        "survey": setting.instrument.tag if setting.instrument else "none",
        "limits": f"{setting.max_turns} turns, {setting.max_steps} steps, "
        f"greeting {digest(setting.greeting)}",
        "design": design,
    }


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What differs between two headers, in words."""
    return [text for name, text in SHOWN.items() if found.get(name) != wanted[name]]


USER_KINDS = ("model", "scripted", "requester", "replay", "process", "http", "callable")
AGENT_KINDS = ("model", "oracle", "http", "callable")
STRATEGIES = ("plain", "reflect", "verify")
_MAIN = {
    "model": "model", "scripted": "preset", "requester": "rates", "replay": "file",
    "process": "command", "http": "url", "callable": "name", "oracle": "preset",
}  # fmt: skip
"""Key that the text behind the colon of a short form fills."""
_SECRET = re.compile(r"api[-_]?key|secret|token$|password|^authorization$|cookie", re.IGNORECASE)
_BARE = "_.-"
A_DAY = 86_400


@dataclass(frozen=True)
class Named:
    """A candidate or agent as it was given: its label, and the table that describes it."""

    label: str
    table: Mapping[str, Any]
    folder: Path


def describe(text: str, kinds: tuple[str, ...], *, what: str = "simulator") -> Named:
    """Read a description.

    Parameters
    ----------
    text
        Path of a TOML file, a name under ``simulators/`` (or ``agents/``) of the working folder,
        or ``kind:rest`` with ``kind`` one of `kinds`.

    Raises
    ------
    UsageError, InputError
        Where it is none of these, can't be read, or holds a key.
    """
    folder = Path(f"{what}s")
    for path in (Path(text), folder / f"{text}.toml"):
        if path.suffix == ".toml" and path.is_file():
            return Named(path.stem, _read(path), path.parent)
    kind, colon, rest = text.partition(":")
    if kind in ("http", "https") and rest.startswith("//"):
        return Named(label_of(name_of_address(text)), {"kind": "http", "url": text}, Path())
    if kind in kinds and (colon or kind in ("oracle", "scripted")):
        return _short(kind, rest)
    if text.endswith(".toml"):
        raise InputError("there is no such file", file=text)
    known = [*(path.stem for path in sorted(folder.glob("*.toml"))), *(f"{k}:..." for k in kinds)]
    raise unknown_name(what, text, known)


def _short(kind: str, rest: str) -> Named:
    """``oracle:shirk=0.2,miss=0.1``, ``scripted:terse``, ``model:openai/gpt-4o-mini``."""
    table: dict[str, Any] = {"kind": kind}
    if kind == "oracle" and rest:
        for part in rest.split(","):
            name, sign, value = part.partition("=")
            try:
                table[name] = float(value)
            except ValueError:
                sign = ""
            if not sign:
                raise UsageError(f"oracle:{rest}: write oracle:shirk=0.2,miss=0.1")
    elif rest:
        table[_MAIN[kind]] = rest
    shown = simulator_label(Path(rest).name) if kind == "replay" else rest
    return Named(label_of(shown or kind), table, Path())


def label_of(text: str) -> str:
    """A label that is a safe file name.

    >>> label_of("openai/gpt-4o mini"), label_of("../x")
    ('openai-gpt-4o-mini', 'x')
    """
    plain = "".join(c if c.isalnum() or c in _BARE else "-" for c in hidden(text))
    return plain.strip("-._")[:80] or "simulator"


def _read(path: Path) -> dict[str, Any]:
    table = read_toml(path)
    for name in _names(table):
        if _SECRET.search(name.rpartition(".")[2]):
            raise InputError(
                'put the key into an environment variable and name it: key_env = "MY_KEY"',
                file=str(path),
                field=name,
            )
    return table


def _names(table: Any, above: str = "") -> Iterator[str]:
    """Dotted names of all keys of a table and of the tables in it."""
    if isinstance(table, list):
        for part in table:
            yield from _names(part, above)
    elif isinstance(table, dict):
        for name, value in table.items():
            yield f"{above}{name}"
            yield from _names(value, f"{above}{name}.")


class Table:
    """Takes keys out of a description; what is left over at the end is an error."""

    def __init__(self, named: Named, kinds: tuple[str, ...], what: str) -> None:
        self.rest = dict(named.table)
        self.named, self.what, self.seen = named, what, {"kind"}
        kind = self.rest.pop("kind", None)
        if kind not in kinds:
            raise unknown_name(f"kind of {what}", str(kind), kinds)
        self.kind: str = kind

    def take(self, name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """The value of a key."""
        self.seen.add(name)
        value = self.rest.pop(name, default)
        no_bool = isinstance(value, bool) and kind is not bool  # true is an int to Python
        if value is not None and (no_bool or not isinstance(value, kind)):
            raise self.wrong(name, f"has the wrong type ({type(value).__name__})")
        return value

    def need(self, name: str) -> str:
        """A text that must be there."""
        value = self.take(name, str)
        if not value:
            raise self.wrong(name, f"is needed for kind {self.kind!r}")
        return str(value)

    def seconds(self, name: str, default: float) -> float:
        """A time above 0 and at most a day."""
        value = float(self.take(name, (int, float), default))
        if not 0 < value <= A_DAY:
            raise self.wrong(name, f"must be seconds above 0 and at most {A_DAY}, not {value:g}")
        return value

    def wrong(self, name: str, why: str) -> InputError:
        """The error about a key."""
        return InputError(why, file=f"{self.what} {self.named.label}", field=name)

    def path(self, name: str) -> Path:
        """A path beside the description's file."""
        return self.named.folder / self.need(name)

    def done(self) -> None:
        """Complain about keys that nobody took."""
        for name in self.rest:
            raise unknown_name(f"key of {self.what} {self.named.label}", name, sorted(self.seen))

    def settings(self) -> ModelSettings:
        """What is left, as settings of a model."""
        self.seen |= set(ModelSettings.model_fields)
        for name in self.rest:
            if name not in ModelSettings.model_fields:
                self.done()
        try:
            settings = ModelSettings.model_validate(self.rest)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise self.wrong(".".join(map(str, problem["loc"])), problem["msg"]) from None
        self.rest = {}
        return settings


def read_users(text: str, *, domain: str) -> tuple[str, UserFactory]:
    """A candidate and its label."""
    named = describe(text, USER_KINDS)
    table = Table(named, USER_KINDS, "simulator")
    label = label_of(named.label)
    users = _users(table, domain)
    table.done()
    return label, users


def _users(table: Table, domain: str) -> UserFactory:
    match table.kind:
        case "model":
            return _model_users(table)
        case "scripted" | "requester":
            return _scripted(table)
        case "replay":
            return read_turns(table.path("file"), domain)
        case "process":
            process = OverProcess(table.need("command"), table.seconds("timeout", 120))
            try:
                words = shlex.split(process.command)
            except ValueError as error:
                raise table.wrong("command", f"can't be split into words: {error}") from None
            if not words:
                raise table.wrong("command", "names no program")
            return OutsideUsers(process, {"kind": "process", "command": hidden(process.command)})
        case "http":
            http = _http(table)
            return OutsideUsers(http, {"kind": "http", "url": public_address(http.url)})
        case _:
            name = table.need("name")
            found = find_callable(name, "usi.users")
            if hasattr(found, "new") and hasattr(found, "identity"):
                return found  # type: ignore[no-any-return]
            return OutsideUsers(OverCall(found, name), {"kind": "callable", "name": name})


def _model_users(table: Table) -> ModelUsers:
    strategy = table.take("strategy", str, "plain")
    if strategy not in STRATEGIES:
        raise unknown_name("strategy", strategy, STRATEGIES)
    prompt = table.take("prompt", str)
    if "prompt_file" in table.rest:
        path = table.path("prompt_file")
        try:
            prompt = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"can't be read ({error})", file=str(path)) from None
    if prompt is not None and "{instruction}" not in prompt:
        raise table.wrong("prompt", "needs the mark {instruction}, where the task's text goes")
    traits = tuple(str(t) for t in table.take("traits", list, []))
    return ModelUsers(table.settings(), prompt or PROMPT, strategy, traits)


def _scripted(table: Table) -> UserFactory:
    name = table.take("preset", str, "plain")
    seed = int(table.take("seed", int, 0))
    changes = table.take("traits", dict, {})
    if name == VARIED and (changes or table.kind == "requester"):
        raise table.wrong("preset", f"{VARIED}: every user draws traits of its own; name another")
    if table.kind == "requester":
        rates, folder = table.take("rates", (dict, str), {}), table.named.folder
        found = rates_of(rates, folder) if isinstance(rates, dict) else read_rates(folder / rates)
        return Requesters(found, with_traits(preset(name), changes), seed)
    if name == VARIED:
        return ScriptedUsers(None, seed)
    return ScriptedUsers(with_traits(preset(name), changes), seed)


def _http(table: Table) -> OverHttp:
    per_minute = table.take("per_minute", (int, float))
    if per_minute is not None and not per_minute > 0:
        raise table.wrong("per_minute", f"must be above 0, not {per_minute:g}")
    url = table.need("url")
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        shown = public_address(url)[:80]
        raise table.wrong("url", f"{shown} is not an address such as http://127.0.0.1:8000/user")
    return OverHttp(url, table.take("key_env", str), table.seconds("timeout", 120), per_minute)


def read_agent(text: str) -> AgentFactory:
    """An agent by name, TOML file or short form."""
    named = describe(text, AGENT_KINDS, what="agent")
    table = Table(named, AGENT_KINDS, "agent")
    agent: AgentFactory
    match table.kind:
        case "model":
            agent = ModelAgents(table.settings())
        case "oracle":
            defects = ("shirk", "miss", "rush")
            agent = OracleAgents(*(float(table.take(n, (int, float), 0.0)) for n in defects))
        case "http":
            http = _http(table)
            agent = OutsideAgents(http, {"kind": "http", "url": public_address(http.url)})
        case _:
            name = table.need("name")
            found = find_callable(name, "usi.agents")
            if hasattr(found, "new") and hasattr(found, "identity"):
                return found  # type: ignore[no-any-return]
            agent = OutsideAgents(OverCall(found, name), {"kind": "callable", "name": name})
    table.done()
    return agent
