"""Users outside usi: a process that speaks JSON lines, an HTTP endpoint, a Python callable.

Each request holds the whole talk, so that the other side needs no memory:
``{"type": "reply" | "survey", "task_id", "instruction", "traits", "seed", "history": [...]}``,
a survey with ``"questions": [{"item", "question", "options"}]``. The answer to a reply is
``{"content": text, "stop": bool}`` (and ``"finish": "length"`` where it was cut), to a survey
``{"answers": {item: option}}``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from usi.secrets import hidden
from usi.simulate.calls import Answer, Calls
from usi.simulate.client import post_json
from usi.simulate.faults import EpisodeFault, RunStopped
from usi.simulate.protocol import Message, Task
from usi.simulate.questions import Instrument, checked
from usi.simulate.user import STOP
from usi.simulate.users.line_process import Broken, LineProcess


class Exchange(Protocol):
    """Sends a request and gives the answer."""

    def __call__(self, request: Mapping[str, Any], calls: Calls) -> Answer:
        """Exchange one request."""
        ...


@dataclass(frozen=True)
class OutsideUsers:
    """A candidate that answers requests: `exchange` carries them, `about` identifies it."""

    exchange: Exchange
    about: Mapping[str, Any]
    synthetic: bool = False

    @property
    def identity(self) -> Mapping[str, Any]:
        """Kind and place of the candidate."""
        return self.about

    def new(self, task: Task, seed: int, runtime: Calls) -> OutsideUser:
        """A user for a task."""
        return OutsideUser(self, task, seed, runtime)


@dataclass
class OutsideUser:
    """One user in one episode."""

    simulator: OutsideUsers
    task: Task
    seed: int
    calls: Calls

    def reply(self, history: Sequence[Message]) -> Message:
        """Ask for the next message."""
        answer = self._ask("reply", history)
        content = answer.get("content")
        if answer.get("stop") is True:
            content = f"{content or ''} {STOP}".strip()
        return {
            "role": answer.get("role", "user"),
            "content": content,
            "finish": answer.get("finish"),
        }

    def survey(
        self, history: Sequence[Message], instrument: Instrument
    ) -> Mapping[str, str | None]:
        """Ask for the answers of a survey; what is no option is unanswered."""
        questions = [
            {"item": q.item, "question": q.question, "options": list(q.options)}
            for q in instrument.questions
        ]
        answers = self._ask("survey", history, questions=questions).get("answers")
        return checked(instrument, answers if isinstance(answers, dict) else None)

    def _ask(self, what: str, history: Sequence[Message], **more: Any) -> Answer:
        request = {
            "type": what,
            "task_id": self.task.id,
            "instruction": self.task.instruction,
            "traits": list(self.task.traits),
            "seed": self.seed,
            "history": list(history),
            **more,
        }
        return self.simulator.exchange(request, self.calls)


@dataclass(frozen=True)
class OverHttp:
    """Requests go to an endpoint as POST."""

    url: str
    key_env: str | None = None
    timeout: float = 120.0
    per_minute: float | None = None

    def __call__(self, request: Mapping[str, Any], calls: Calls) -> Answer:
        """Exchange one request."""
        return post_json(
            self.url,
            request,
            calls=calls,
            key_env=self.key_env,
            timeout=self.timeout,
            per_minute=self.per_minute,
        )


@dataclass
class OverProcess:
    """Requests go to a process, one JSON line each way; one process a thread, started when needed.

    The command is split as a shell would, and no shell runs it.
    """

    command: str
    timeout: float = 120.0
    _own: threading.local = field(default_factory=threading.local)
    _all: list[LineProcess] = field(default_factory=list)

    def __call__(self, request: Mapping[str, Any], calls: Calls) -> Answer:
        """Exchange one request."""
        return calls.remembered(
            {"kind": "process", "command": hidden(self.command), "payload": request},
            lambda: self._talk(request, calls.runtime.interrupted),
            target=self.command,
            live=True,
        )

    def _talk(self, request: Mapping[str, Any], interrupted: threading.Event) -> Answer:
        process: LineProcess | None = None
        try:
            process = self._process()
            line = process.ask(
                json.dumps(request).encode() + b"\n", self.timeout, interrupted.is_set
            )
        except Broken as why:
            if process is not None:
                process.kill()
            if interrupted.is_set():
                raise RunStopped("interrupted") from None
            raise EpisodeFault("user_process_failed", f"{self.command}: {why}") from None
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise EpisodeFault(
                "user_process_failed", f"{self.command}: the answer is not a JSON object"
            )
        return answer

    def _process(self) -> LineProcess:
        found: LineProcess | None = getattr(self._own, "process", None)
        if found is None or not found.alive:
            found = self._own.process = LineProcess(self.command)
            self._all.append(found)
        return found

    def close(self) -> None:
        """End every process that was started."""
        for process in self._all:
            process.close()


@dataclass(frozen=True)
class OverCall:
    """Requests go to a Python function; a text is an answer, too."""

    function: Callable[[dict[str, Any]], Any]
    name: str

    def __call__(self, request: Mapping[str, Any], calls: Calls) -> Answer:
        """Exchange one request."""
        return calls.remembered(
            {"kind": "callable", "name": self.name, "payload": request},
            lambda: self._call(request),
            target=self.name,
            live=True,
        )

    def _call(self, request: Mapping[str, Any]) -> Answer:
        try:
            answer = self.function(dict(request))
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001  (theirs)
            detail = f"{self.name}: {type(error).__name__}: {error}"
            raise EpisodeFault("plugin_error", detail) from None
        if isinstance(answer, dict):
            return answer
        return {"content": answer}
