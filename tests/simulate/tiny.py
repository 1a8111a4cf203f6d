"""A domain of one counter and a few tasks, so that tests of the runner rest on nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.episode import Setting
from usi.simulate.protocol import Action, Grade, Message, Mismatch, Task

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add to the counter.",
        "parameters": {
            "type": "object",
            "properties": {"amount": {"type": "integer"}},
            "required": ["amount"],
        },
    },
}


@dataclass
class TinyState:
    total: int = 0

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if name != "add":
            return {"error": f"no tool {name}"}
        self.total += int(arguments["amount"])
        return {"total": self.total}


@dataclass(frozen=True)
class TinyDomain:
    count: int = 4
    name: str = "tiny"
    policy: str = "RULEBOOK: add what the user asks for, after asking."
    tools: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [TOOL])

    @property
    def tasks(self) -> list[Task]:
        levels = ("easy", "medium", "hard")
        return [
            Task(
                id=f"t{n}",
                instruction=f"SECRET-{n}: have {n} added to the counter. Your badge is B{n}.",
                difficulty=levels[n % 3],
                requests=(f"please add {n} to the counter",),
                facts={"badge": f"B{n}"},
                kinds=("first",) if n == 1 else (),
            )
            for n in range(1, self.count + 1)
        ]

    def new_state(self) -> TinyState:
        return TinyState()

    def grade(self, task: Task, state: Any, messages: Sequence[Message]) -> Grade:
        if state.total == int(task.id[1:]):
            return Grade(1, "full")
        return Grade(0, "failure", triage=(Mismatch("missing_write", "counter"),))

    def oracle_actions(self, task: Task) -> list[Action]:
        n = int(task.id[1:])
        return [Action("add", {"amount": n}, True, ("badge",), f"add {n} to the counter")]

    def oracle_reply(self, task: Task) -> str:
        return "The counter is set."


def setting(domain: TinyDomain | None = None, agent: Any = None, **more: Any) -> Setting:
    return Setting(domain or TinyDomain(), agent or OracleAgents(), "oracle@test", **more)
