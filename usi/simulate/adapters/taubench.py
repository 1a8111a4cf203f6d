"""A candidate as the user of tau-bench (arXiv 2406.12045).

tau-bench asks its user for three methods: ``reset(instruction) -> text`` begins a task and gives
the opening, ``step(content) -> text`` answers the agent, ``get_total_cost() -> number``. A text
with ``###STOP###`` ends the task. Nothing of tau-bench is imported; put the user into its
environment after that is built::

    env = get_env("retail", user_strategy="human", user_model="", ...)
    env.user = CandidateUser("simulators/mine.toml", domain="retail")
"""

from __future__ import annotations

from dataclasses import dataclass, field

from usi.simulate.adapters.candidate import Talk
from usi.simulate.calls import Runtime
from usi.simulate.user import UserFactory


@dataclass
class CandidateUser:
    """The three methods of a tau-bench user.

    Attributes
    ----------
    candidate
        As `usi simulate` takes it, or a factory.
    domain
        Name of the environment.
    seed
        Of the first task; every further one has the next.
    """

    candidate: str | UserFactory
    domain: str = "benchmark"
    seed: int = 1
    runtime: Runtime = field(default_factory=Runtime)
    talk: Talk | None = None
    resets: int = 0
    spent: float = 0.0

    def reset(self, instruction: str | None = None) -> str:
        """Begin a task; the opening message."""
        if self.talk is not None:
            self.spent += self.talk.cost
        seed = self.seed + self.resets
        self.resets += 1
        self.talk = Talk(
            self.candidate,
            instruction or "",
            task_id=f"{self.domain}-{self.resets}",
            seed=seed,
            domain=self.domain,
            runtime=self.runtime,
        )
        return self.talk.opening()

    def step(self, content: str) -> str:
        """Answer the agent."""
        if self.talk is None:
            raise RuntimeError("step comes after reset")
        return self.talk.answer(content)

    def get_total_cost(self) -> float:
        """US dollars of the task under way (tau-bench stores it with each task)."""
        return self.talk.cost if self.talk is not None else 0.0
