"""One episode: a user and an agent talk about a task until one of a few reasons ends it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from usi.simulate.agents.agent import AgentFactory
from usi.simulate.calls import Calls, Usage
from usi.simulate.faults import INFRASTRUCTURE, EpisodeFault
from usi.simulate.protocol import Domain, Grade, Message, State, Task
from usi.simulate.questions import Instrument, checked
from usi.simulate.user import GREETING, Defects, UserFactory, ask, visible

MAX_TURNS = 30
MAX_STEPS = 20
"""Tool rounds of an agent without a word to the user."""
MOST_TOOL_TEXT = 64 * 2**10


@dataclass(frozen=True)
class Cell:
    """Which episode: the task, its run, and the seeds of the two parties."""

    task: Task
    trial: int
    user_seed: int
    agent_seed: int

    @property
    def key(self) -> str:
        """Identity of the episode inside one simulator's run log."""
        return f"{self.task.id}|u{self.user_seed}|a{self.agent_seed}"


@dataclass(frozen=True)
class Setting:
    """What is fixed for all episodes of a run."""

    domain: Domain
    agent: AgentFactory
    agent_name: str
    policy: bool = True
    max_turns: int = MAX_TURNS
    max_steps: int = MAX_STEPS
    greeting: str = GREETING
    instrument: Instrument | None = None


class TimedTalk(list[Message]):
    """The messages of a talk, and when each was said (UTC, ISO 8601, to the millisecond)."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[str] = []

    def append(self, message: Message) -> None:
        """Add a message, said now."""
        super().append(message)
        self.times.append(datetime.now(UTC).isoformat(timespec="milliseconds"))


@dataclass
class Episode:
    """How an episode went.

    Attributes
    ----------
    termination
        ``user_stop``, ``max_turns`` (the user never ended), ``max_agent_steps`` (the agent called
        tools without end), ``empty_user_reply``, ``empty_agent_reply``, or an infrastructure
        reason (`usi.simulate.faults.INFRASTRUCTURE`).
    grade
        ``None`` where an infrastructure fault ended it.
    defects
        What rules had to mend in the user's replies, counted.
    survey
        Option text or ``None`` by item; ``None`` where no survey was asked.
    times
        When each message was said; it stands beside the transcript, never in it.
    agent_truncated
        Replies of the agent that ran out of tokens.
    """

    messages: list[Message]
    termination: str
    detail: str = ""
    grade: Grade | None = None
    defects: Mapping[str, int] = field(default_factory=dict)
    survey: Mapping[str, str | None] | None = None
    usage: Usage = field(default_factory=Usage)
    times: Sequence[str] = ()
    agent_truncated: int = 0

    @property
    def infrastructure(self) -> bool:
        """Whether it ended for a reason that is nobody's behaviour."""
        return self.termination in INFRASTRUCTURE


def run_episode(cell: Cell, users: UserFactory, fixed: Setting, calls: Calls) -> Episode:
    """Run one episode.

    Parameters
    ----------
    cell
        Task and seeds.
    users
        The candidate.
    fixed
        Domain, agent, limits.
    calls
        For everything that leaves usi.

    Raises
    ------
    RunStopped, Refused, ReplayMiss
        The episode did not end; nothing of it counts.
    """
    messages = TimedTalk()
    messages.append({"role": "assistant", "content": fixed.greeting})
    defects, state = Defects(), fixed.domain.new_state()
    survey: Mapping[str, str | None] | None = None
    try:
        user = users.new(cell.task, cell.user_seed, calls)
        policy = fixed.domain.policy if fixed.policy else None
        agent = fixed.agent.new(fixed.domain, cell.task, cell.agent_seed, calls, policy)
        ended = _talk(user, agent, state, messages, fixed, defects)
        if fixed.instrument is not None:
            survey = _survey(user, messages, fixed.instrument, defects)
    except EpisodeFault as fault:
        return Episode(
            messages, fault.reason, fault.detail, defects=dict(defects.counts), usage=calls.usage,
            times=messages.times, agent_truncated=calls.truncated,
        )  # fmt: skip
    grade = fixed.domain.grade(cell.task, state, messages)
    return Episode(
        messages, ended, grade=grade, defects=dict(defects.counts), survey=survey,
        usage=calls.usage, times=messages.times, agent_truncated=calls.truncated,
    )  # fmt: skip


def _talk(
    user: Any,
    agent: Any,
    state: State,
    messages: list[Message],
    fixed: Setting,
    defects: Defects,
) -> str:
    for _ in range(fixed.max_turns):
        said = ask(user, visible(messages), defects)
        if said.text:
            messages.append({"role": "user", "content": said.text})
        if said.end is not None:
            return said.end
        ended = agent_turn(agent, state, messages, fixed.max_steps)
        if ended is not None:
            return ended
    return "max_turns"


def agent_turn(agent: Any, state: State, messages: list[Message], most: int) -> str | None:
    """Let the agent call tools until it says something; a reason where the episode ends.

    Parameters
    ----------
    agent, state
        Of the episode.
    messages
        The talk so far; what the agent does and its tool results are appended.
    most
        Rounds of tool calls.
    """
    for _ in range(most):
        message = agent.act(list(messages))
        wanted = message.get("tool_calls") or []
        text = message.get("content")
        if not wanted and not (isinstance(text, str) and text.strip()):
            return "empty_agent_reply"
        messages.append(message)
        for call in wanted:
            messages.append(tool_result(call, state))
        if not wanted:
            return None
    return "max_agent_steps"


def tool_result(call: Mapping[str, Any], state: State) -> Message:
    """Run one tool call and give its result as a message."""
    function = call["function"]
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        result = state.call(function["name"], arguments)
    else:
        result = {"error": "the arguments are not a JSON object"}
    text = json.dumps(result, ensure_ascii=False, default=str)
    return {"role": "tool", "tool_call_id": call["id"], "content": text[:MOST_TOOL_TEXT]}


def _survey(
    user: Any, messages: Sequence[Message], instrument: Instrument, defects: Defects
) -> Mapping[str, str | None]:
    ask_user = getattr(user, "survey", None)
    if ask_user is None:
        defects.note("no_survey")
        return checked(instrument, None)
    answers = checked(instrument, ask_user(visible(messages), instrument))
    missing = sum(answer is None for answer in answers.values())
    defects.counts["survey_unanswered"] += missing
    if not missing:
        del defects.counts["survey_unanswered"]
    return answers


def grade_fields(grade: Grade) -> dict[str, Any]:
    """What of a grade is kept beside reward and label."""
    return {
        "violations": [asdict(v) for v in grade.violations],
        "triage": [asdict(f) for f in grade.triage],
    }
