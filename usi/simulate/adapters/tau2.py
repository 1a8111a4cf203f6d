"""A candidate as the user of tau2-bench.

tau2-bench makes a user from ``(instructions, tools, llm, llm_args, ...)`` and asks it for
``get_init_state(message_history) -> state``, ``generate_next_message(message, state) ->
(user message, state)``, the class method ``is_stop(message)``, ``set_seed`` and ``stop``. Its own
classes are asked for only when the user is made, so that usi needs no tau2-bench::

    from usi.simulate.adapters.tau2 import register
    register("mine", "simulators/mine.toml")      # then: tau2 run --user mine ...
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from usi.errors import UsageError
from usi.simulate.adapters.candidate import Talk
from usi.simulate.calls import Runtime
from usi.simulate.user import STOPS, UserFactory

_BASES = ("tau2.user.user_simulator_base:HalfDuplexUser", "tau2.user.base:BaseUser")
_STATES = ("tau2.user.user_simulator_base:UserState", "tau2.user.base:UserState")


def _first(places: Sequence[str]) -> Any:
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise UsageError("tau2-bench is not installed here, or is of an unknown version")


def _content(message: Any) -> str:
    if getattr(message, "tool_calls", None):
        return ""
    content = getattr(message, "content", None)
    return content if isinstance(content, str) else ""


def user_class(
    candidate: str | UserFactory, *, domain: str = "benchmark", runtime: Runtime | None = None
) -> type:
    """A user class for tau2-bench's registry.

    Parameters
    ----------
    candidate
        As `usi simulate` takes it, or a factory. Users that call tools of their own (telecom)
        are beyond it: what the candidate says is text.
    domain
        Name of the domain.
    runtime
        Cache, budget and pace of all talks.

    Raises
    ------
    UsageError
        Where tau2-bench is not installed.
    """
    base, state_class = _first(_BASES), _first(_STATES)
    user_message = _first(("tau2.data_model.message:UserMessage",))
    shared = runtime or Runtime()

    class CandidateUser(base):  # type: ignore[misc, valid-type]
        """The candidate behind tau2-bench's interface."""

        def __init__(self, instructions: Any = None, tools: Any = None, **_: Any) -> None:
            self.instructions, self.tools = instructions, tools
            self.seed = 1
            self.talk: Talk | None = None

        def set_seed(self, seed: int) -> None:
            """Seed of the talk; comes before it begins."""
            self.seed = seed

        def get_init_state(self, message_history: Any = None) -> Any:
            """Begin a talk, with what was said already."""
            self.talk = Talk(
                candidate,
                str(self.instructions or ""),
                task_id=domain,
                seed=self.seed,
                domain=domain,
                runtime=shared,
            )
            messages = list(message_history or [])
            self.talk.history += [
                {"role": m.role, "content": text} for m in messages if (text := _content(m))
            ]
            return state_class(system_messages=[], messages=messages)

        def generate_next_message(self, message: Any, state: Any) -> tuple[Any, Any]:
            """Answer the agent's message."""
            if self.talk is None:
                raise RuntimeError("get_init_state comes before the first message")
            before = self.talk.cost
            text = self.talk.answer(_content(message))
            state.messages.append(message)
            answer = user_message(role="user", content=text, cost=self.talk.cost - before)
            state.messages.append(answer)
            return answer, state

        @classmethod
        def is_stop(cls, message: Any) -> bool:
            """Whether a message of the user ends the talk."""
            return any(token in _content(message) for token in STOPS)

        def stop(self, message: Any = None, state: Any = None) -> None:
            """Nothing is left open."""

    return CandidateUser


def register(
    name: str, candidate: str | UserFactory, *, domain: str = "benchmark", runtime: Any = None
) -> type:
    """Make a candidate known to tau2-bench under a name; the class."""
    made = user_class(candidate, domain=domain, runtime=runtime)
    _first(("tau2.registry:registry",)).register_user(made, name)
    return made
