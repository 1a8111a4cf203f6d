"""One talk of a candidate, driven from outside: what both adapters are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from usi.simulate.calls import Calls, Runtime
from usi.simulate.candidates import read_users
from usi.simulate.protocol import Message, Task
from usi.simulate.user import GREETING, STOP, Defects, User, UserFactory, ask


@dataclass
class Talk:
    """A candidate's user for an instruction that somebody else gives.

    Attributes
    ----------
    candidate
        Name of a candidate as `usi simulate` takes it, or a factory.
    instruction, task_id, seed
        Of the task.
    """

    candidate: str | UserFactory
    instruction: str
    task_id: str = "task"
    seed: int = 1
    domain: str = "benchmark"
    runtime: Runtime = field(default_factory=Runtime)
    defects: Defects = field(default_factory=Defects)
    history: list[Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        users = self.candidate
        if isinstance(users, str):
            _, users = read_users(users, domain=self.domain)
        self.calls = Calls(self.runtime, self.task_id)
        task = Task(id=self.task_id, instruction=self.instruction)
        self.user: User = users.new(task, self.seed, self.calls)

    def opening(self) -> str:
        """What the user says to the greeting."""
        return self.answer(GREETING)

    def answer(self, text: str) -> str:
        """What the user says to a message of the agent; ends with the stop token at the end."""
        self.history.append({"role": "assistant", "content": text})
        said = ask(self.user, self.history, self.defects)
        if said.text:
            self.history.append({"role": "user", "content": said.text})
        return f"{said.text} {STOP}".strip() if said.end is not None else said.text

    @property
    def cost(self) -> float:
        """US dollars so far."""
        return self.calls.usage.cost
