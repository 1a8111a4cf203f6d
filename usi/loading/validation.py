"""What files hold, told without scoring anything: the report behind ``usi validate``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from usi.errors import InputError, InputErrors, UsiError, told
from usi.loading.fields import kind
from usi.loading.notes import InputFile
from usi.loading.stream import Paths, SessionStream, open_sessions
from usi.options import LoadOptions
from usi.records import MISSING, Session

_DEFAULT = LoadOptions()
MAX_REASON = 200
"""Characters of a reason that are told; some harnesses put whole tracebacks there."""
_AGENT_GREETINGS = ("how can i help", "how may i help", "how can i assist", "how may i assist")


@dataclass(frozen=True)
class Validation:
    """What was recognised and counted.

    Attributes
    ----------
    files
        Files that were read, with format, digest and number of sessions.
    simulators
        Labels that the files (or their records) give.
    sessions, messages, user_turns, actions
        Counts; actions are user messages that only call tools, and no user turns.
    roles, user_content
        Messages kept by role; user turns by the type of their content.
    unknown_roles
        Messages whose role is not known, by role: none of them is scored.
    tasks, sessions_without_task
        Distinct tasks that the data name, and sessions for which they name none.
    trials, batches, domains, statuses, status_reasons
        Sessions by each of them, as found.
    rewards, rewards_missing, rewards_not_binary
        Sessions with and without a reward, and with one that is neither 0 nor 1.
    surveys, outcome_labels, set_to_drop
        Sessions with a survey, with an outcome label, and with a `keep` that is false.
    error_tags
        Sessions by what their harness says the simulated user did wrong.
    left_out, guessed, merged
        The lossiness note: what the loader set aside or dropped, what it decided because the
        data don't say it, and what became one thing of several; by reason.
    problems
        Every bad row, one line each; nothing is scored while there is one.
    remarks
        What is worth knowing and needs no mending.
    """

    files: tuple[InputFile, ...] = ()
    simulators: tuple[str, ...] = ()
    sessions: int = 0
    messages: int = 0
    user_turns: int = 0
    actions: int = 0
    roles: dict[str, int] = field(default_factory=dict)
    user_content: dict[str, int] = field(default_factory=dict)
    unknown_roles: dict[str, int] = field(default_factory=dict)
    tasks: int = 0
    sessions_without_task: int = 0
    trials: dict[str, int] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    domains: dict[str, int] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    status_reasons: dict[str, int] = field(default_factory=dict)
    rewards: int = 0
    rewards_missing: int = 0
    rewards_not_binary: int = 0
    surveys: int = 0
    outcome_labels: dict[str, int] = field(default_factory=dict)
    set_to_drop: int = 0
    error_tags: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    guessed: dict[str, int] = field(default_factory=dict)
    merged: dict[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything could be read."""
        return not self.problems

    @property
    def layout(self) -> str | None:
        """Formats of the files, joined by ``+``."""
        return "+".join(sorted({file.layout for file in self.files})) or None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self) | {"ok": self.ok, "layout": self.layout}


class _Tally:
    """Counts sessions as they pass."""

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()
        self.by: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.tasks: set[tuple[str, str]] = set()
        self.simulators: set[str] = set()
        self.tasks_of_trial: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self.greetings: Counter[str] = Counter()
        self.silent = 0

    def add(self, session: Session) -> None:
        count, by = self.numbers, self.by
        count["sessions"] += 1
        by["statuses"][session.status] += 1
        if session.status_reason is not None:
            by["status_reasons"][session.status_reason[:MAX_REASON]] += 1
        by["domains"][session.domain] += 1
        self.simulators.add(session.simulator)
        if session.task_id is None:
            count["sessions_without_task"] += 1
        else:
            self.tasks.add((session.domain, session.task_id))
        if session.trial is not None:
            by["trials"][session.trial] += 1
            if session.task_id is not None:
                self.tasks_of_trial[session.simulator, session.trial].add(session.task_id)
        for tag in session.error_tags or ():
            by["error_tags"][tag] += 1
        if session.batch is not None:
            by["batches"][str(session.batch)] += 1
        self._add_outcome(session)
        self.silent += _agent_is_silent(session)
        for turn in session.turns:
            count["messages"] += 1
            by["roles"][told(turn.role) if isinstance(turn.role, str) else kind(turn.role)] += 1
            text = turn.content.lower() if isinstance(turn.content, str) else ""
            if text and any(greeting in text for greeting in _AGENT_GREETINGS):
                self.greetings[str(turn.role)] += 1
            if turn.is_action:
                count["actions"] += 1
            elif turn.role == "user":
                count["user_turns"] += 1
                by["user_content"][kind(turn.content)] += 1

    def _add_outcome(self, session: Session) -> None:
        count, reward = self.numbers, session.outcome.reward
        if reward is None:
            count["rewards_missing"] += 1
        else:
            count["rewards"] += 1
            count["rewards_not_binary"] += reward not in (0.0, 1.0)
        count["surveys"] += session.survey is not None
        if session.outcome.label is not None:
            self.by["outcome_labels"][session.outcome.label] += 1
        count["set_to_drop"] += session.keep is not MISSING and not session.keep

    def remarks(self) -> list[str]:
        """What the counts say, in words."""
        found = []
        for status, what in (("failed", "left no conversation"), ("infrastructure_error", "broke")):
            if number := self.by["statuses"][status]:
                found.append(f"{number} sessions {what} ({status}): counted, never scored")
        for simulator in sorted({label for label, _ in self.tasks_of_trial}):
            trials = [t for (label, _), t in self.tasks_of_trial.items() if label == simulator]
            if len(trials) > 1 and all(len(tasks) == 1 for tasks in trials):
                found.append(
                    f"{simulator}: every trial holds one task only, so the trial is no run; "
                    "all sessions are taken for one run"
                )
            elif len({len(tasks) for tasks in trials}) > 1:
                sizes = sorted(len(tasks) for tasks in trials)
                found.append(f"{simulator}: uneven trials ({sizes[0]} to {sizes[-1]} tasks)")
        if self.silent:
            found.append(
                f"{self.silent} sessions hold words of the user and none of the agent: was its "
                "text lost?"
            )
        if self.greetings["user"] > max(2, self.greetings["assistant"]):
            found.append(
                f"{self.greetings['user']} user turns speak like an agent ('how can I help'), more "
                "than assistant turns do: are the roles of this log the wrong way round?"
            )
        return found


def _agent_is_silent(session: Session) -> bool:
    """Whether the user says something and the agent never does."""
    held = (turn for turn in session.turns if turn.content not in (None, MISSING, "", []))
    spoken = {turn.role for turn in held if isinstance(turn.role, str)}
    return "user" in spoken and "assistant" not in spoken


def validate(paths: Paths, options: LoadOptions = _DEFAULT) -> Validation:
    """Read files to their end and tell what they hold; a problem in one stops no other.

    Parameters
    ----------
    paths, options
        As for `usi.loading.open_sessions`.

    Returns
    -------
    Validation
        With ``ok`` false where anything could not be read.

    Raises
    ------
    UsageError
        ``options.format`` is unknown, or there is no input.
    """
    given: Sequence[str | Path] = [paths] if isinstance(paths, str | Path) else list(paths)
    tally, problems = _Tally(), list[str]()
    left_out, guessed, merged = Counter[str](), Counter[str](), Counter[str]()
    roles = Counter[str]()
    files, remarks = list[InputFile](), list[str]()
    for path in given or [given]:  # type: ignore[list-item]
        try:
            stream = open_sessions(path, options=options)
        except InputError as error:
            problems.append(str(error))
            continue
        problems += _read(stream, tally)
        left_out += stream.notes.left_out
        guessed += stream.notes.guessed
        merged += stream.notes.merged
        roles += stream.notes.roles
        files += stream.notes.files
        remarks += [text for text in stream.notes.remarks if text not in remarks]
    numbers: dict[str, Any] = dict(tally.numbers)
    by: dict[str, Any] = {
        name: dict(sorted(counts.items(), key=lambda item: _natural(item[0])))
        for name, counts in tally.by.items()
    }
    return Validation(
        files=tuple(files),
        simulators=tuple(sorted(tally.simulators)),
        tasks=len(tally.tasks),
        left_out=dict(sorted(left_out.items())),
        guessed=dict(sorted(guessed.items())),
        merged=dict(sorted(merged.items())),
        unknown_roles=dict(sorted(roles.items())),
        problems=tuple(problems),
        remarks=(*remarks, *tally.remarks()),
        **numbers,
        **by,
    )


def _natural(name: str) -> tuple[int, str]:
    """Sort key that puts 2 before 10."""
    return (int(name) if name.isdecimal() and len(name) < 19 else 2**63, name)


def _read(stream: SessionStream, tally: _Tally) -> list[str]:
    """Count a stream to its end; its problems, one line each."""
    try:
        for session in stream:
            tally.add(session)
    except InputErrors as errors:
        return [str(problem) for problem in errors.problems]
    except UsiError as error:
        earlier = [str(problem) for problem in stream.notes.problems]
        return earlier if str(error) in earlier else [*earlier, str(error)]
    return []
