"""Recorded human turns said again: the fixed half of a counterfactual, whatever the agent says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from usi.errors import UsageError
from usi.loading import open_sessions
from usi.simulate.calls import Calls, canonical
from usi.simulate.protocol import Message, Task
from usi.simulate.user import STOP


@dataclass(frozen=True)
class ReplayUsers:
    """Users that say what people said in a transcript of the same task.

    Attributes
    ----------
    recorded
        Task id -> recorded talks, each the user's turns in order.
    source
        The file of the talks.
    """

    recorded: Mapping[str, tuple[tuple[str, ...], ...]]
    synthetic: bool = False
    source: str = ""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Hash of what is said."""
        text = canonical({task: list(map(list, talks)) for task, talks in self.recorded.items()})
        return {"kind": "replay", "turns": hashlib.sha256(text.encode()).hexdigest()[:16]}

    def new(self, task: Task, seed: int, runtime: Calls) -> ReplayUser:
        """The recorded talk of a task; with several, the run's seed chooses in turn.

        Raises
        ------
        UsageError
            Where nothing is recorded for the task.
        """
        talks = self.recorded.get(task.id)
        if not talks:
            raise UsageError(
                f"no talk is recorded for task {task.id!r}; choose tasks with --tasks: "
                + ", ".join(sorted(self.recorded)[:20])
            )
        return ReplayUser(list(talks[(seed - 1) % len(talks)]))


@dataclass
class ReplayUser:
    """One recorded talk."""

    turns: list[str]
    at: int = field(default=0)

    def reply(self, history: Sequence[Message]) -> Message:
        """The next recorded turn; after the last one the user ends the talk."""
        if self.at >= len(self.turns):
            return {"role": "user", "content": STOP}
        self.at += 1
        return {"role": "user", "content": self.turns[self.at - 1]}


def read_turns(path: str | Path, domain: str) -> ReplayUsers:
    """Read recorded talks of any known format.

    Parameters
    ----------
    path
        Transcripts with task ids.
    domain
        Name that task ids may begin with (``airline_3`` is task ``3`` of ``airline``).
    """
    found: dict[str, list[tuple[str, ...]]] = {}
    for session in open_sessions(path):
        if session.status != "ok" or session.task_id is None:
            continue
        said = tuple(
            turn.content
            for turn in session.turns
            if turn.role == "user" and isinstance(turn.content, str) and turn.content.strip()
        )
        if said:
            found.setdefault(session.task_id.removeprefix(f"{domain}_"), []).append(said)
    if not found:
        raise UsageError(f"{path}: no session has a task id and a user turn")
    return ReplayUsers(
        {task: tuple(talks) for task, talks in sorted(found.items())}, source=str(path)
    )
