"""What runs came to, for each simulator: reward, pass^k, difficulty, the way, failures, cost.

Three questions of a benchmark's owner have their numbers here: does reward 1 hide broken rules
(`Way.hidden`), how much of pass^k is the user's noise (`Results.pass_k.crossed`), which tasks are
ambiguous (`TaskResult.verdict`).

Success by task: which tasks always or never succeed, and whether their failures agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from msgspec.structs import replace

from usi.decisions.outcomes import collect, percentile_bounds, task_weights
from usi.decisions.passk import PassK, pass_k
from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed
from usi.loading import LoadOptions, group_by_simulator
from usi.reasons import LEVEL_EMPTY, NO_CHECKS, Reason
from usi.records import MISSING, UNKNOWN_DOMAIN, Outcome, Session, Turn
from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.rules import Confirmation
from usi.simulate.protocol import Level, Message

Verdict = Literal["always", "never", "mixed", "too few trials"]
FEW_TRIALS = 3
"""Fewer graded trials of a task than this say nothing about always or never."""


@dataclass(frozen=True)
class Seen:
    """What is kept of a session for its results."""

    task: str
    graded: bool
    success: int
    level: str | None
    label: str | None
    termination: str | None
    agent: str | None
    broken: frozenset[str] | None
    findings: tuple[tuple[str, str], ...] | None
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class TaskResult:
    """One task over all its graded trials.

    Attributes
    ----------
    verdict
        ``always`` or ``never`` succeeding in at least `FEW_TRIALS` trials: a candidate for a task
        that is too plain, impossible or ambiguous.
    same_failure
        Share of the failed trials that failed in the same way (same findings), where findings are
        recorded; near 1 for a task that never succeeds, look at its goal before its users.
    """

    task: str
    difficulty: str | None
    trials: int
    successes: int
    verdict: Verdict
    same_failure: float | None


def task_results(kept: Sequence[Seen]) -> tuple[TaskResult, ...]:
    """Success of every task, by name."""
    by_task: dict[str, list[Seen]] = {}
    for one in kept:
        by_task.setdefault(one.task, []).append(one)
    return tuple(_task(task, by_task[task]) for task in sorted(by_task, key=_natural))


def _natural(task: str) -> list[tuple[int, str]]:
    """Order in which ``airline_9`` comes before ``airline_10``."""
    parts = re.findall(r"[0-9]+|[^0-9]+", task)
    return [(int(part), "") if part[0] in "0123456789" else (-1, part) for part in parts]


def _task(task: str, trials: Sequence[Seen]) -> TaskResult:
    successes, n = sum(one.success for one in trials), len(trials)
    verdict: Verdict = "mixed"
    if n < FEW_TRIALS:
        verdict = "too few trials"
    elif successes in (0, n):
        verdict = "always" if successes else "never"
    ways = Counter(one.findings for one in trials if not one.success and one.findings)
    same = max(ways.values()) / sum(ways.values()) if ways else None
    level = next((one.level for one in trials if one.level), None)
    return TaskResult(task, level, n, successes, verdict, same)


CONFIRMATION = "confirmation"
"""Name of the check on confirmations where no domain is at hand to say it."""
LEVELS: tuple[str, ...] = get_args(Level)


@dataclass(frozen=True)
class Way:
    """What happened on the way, over the sessions whose trajectories were checked.

    Attributes
    ----------
    checked
        Sessions with trajectory checks.
    broken
        Check -> (sessions that broke it, those of them with reward 1), most frequent first.
    hidden
        Share of sessions with reward 1 that broke any rule.
    unconfirmed
        The same for writes that were not confirmed.
    """

    checked: int
    broken: Mapping[str, tuple[int, int]]
    hidden: Estimate
    unconfirmed: Estimate


@dataclass(frozen=True)
class Cost:
    """What the calls of a run cost; ``None`` where nothing was recorded.

    Attributes
    ----------
    sessions
        Sessions with a recorded cost.
    usd, usd_a_session
        In US dollars, as the harness recorded it.
    tokens_in, tokens_out, calls
        Sums.
    """

    sessions: int
    usd: float | None
    usd_a_session: float | None
    tokens_in: int | None
    tokens_out: int | None
    calls: int | None


@dataclass(frozen=True)
class Results:
    """One simulator's runs."""

    simulator: str
    sessions: int
    graded: int
    left_out: Mapping[str, int]
    agents: tuple[str, ...]
    reward: Estimate
    pass_k: PassK
    by_difficulty: Mapping[str, Estimate]
    labels: Mapping[str, int]
    terminations: Mapping[str, int]
    way: Way
    triage: Mapping[str, int]
    triaged: int
    cost: Cost
    tasks: tuple[TaskResult, ...] = field(default=())
    regraded: str | None = None


def read_results(
    paths: Sequence[str | Path],
    *,
    ks: tuple[int, ...] = (1, 2, 4, 8),
    options: LoadOptions | None = None,
    regrade: FolderDomain | None = None,
    threshold: float = 1.0,
    replicates: int = 2000,
    seed: int = 7,
) -> list[Results]:
    """Results of every simulator in the files, in their order.

    Parameters
    ----------
    paths
        Files or folders; each file is a simulator, unless ``options.name`` makes them one.
    regrade
        Domain that grades the recorded conversations anew (their tool calls are run again), in
        place of the grades in the files.
    threshold
        Reward at or above which a session succeeds.
    replicates, seed
        Of the task bootstrap behind the bounds (5th and 95th percentile).

    Raises
    ------
    NotScorable
        No session of a simulator has a task and a reward.
    """
    streams = group_by_simulator(list(paths), options or LoadOptions())
    return [
        results_of(
            stream, label=stream.label, ks=ks, regrade=regrade, threshold=threshold,
            replicates=replicates, seed=seed,
        )
        for stream in streams
    ]  # fmt: skip


def results_of(
    sessions: Iterable[Session],
    *,
    label: str,
    ks: tuple[int, ...] = (1, 2, 4, 8),
    regrade: FolderDomain | None = None,
    threshold: float = 1.0,
    replicates: int = 2000,
    seed: int = 7,
) -> Results:
    """Results of one simulator's sessions; see `read_results`."""
    seen: list[Seen] = []

    def graded() -> Iterator[Session]:
        for session in sessions:
            current = session if regrade is None else regraded(session, regrade)
            seen.append(_seen(current, threshold))
            yield current

    outcomes = collect(graded(), label=label, threshold=threshold)
    if not outcomes.trials:
        why = ", ".join(f"{n} {reason}" for reason, n in sorted(outcomes.left_out.items()))
        raise NotScorable(f"{label}: no graded session with a task id ({why or 'no sessions'})")
    kept = [one for one in seen if one.graded]
    found = pass_k(outcomes, ks, replicates=replicates, seed=seed)
    checks = _confirmations(regrade)

    def share(of: Iterable[Seen], among: Iterable[Seen], nothing: Reason) -> Estimate:
        return _share(of, among, nothing, replicates, seed)

    successes = [one for one in kept if one.success]
    checked = [one for one in successes if one.broken is not None]
    levels = {level: [o for o in kept if o.level == level] for level in LEVELS}
    reward = pass_k(outcomes, (1,), replicates=replicates, seed=seed).values[1]
    return Results(
        simulator=label,
        sessions=len(seen),
        graded=len(kept),
        left_out=dict(sorted(outcomes.left_out.items())),
        agents=tuple(sorted({one.agent for one in seen if one.agent})),
        reward=reward,
        pass_k=found,
        by_difficulty={
            level: share([o for o in part if o.success], part, LEVEL_EMPTY(level=level))
            for level, part in levels.items()
        },
        labels=_counts(one.label for one in kept),
        terminations=_counts(one.termination for one in seen),
        way=Way(
            checked=sum(one.broken is not None for one in kept),
            broken=_broken(kept),
            hidden=share([o for o in checked if o.broken], checked, NO_CHECKS()),
            unconfirmed=share(
                [o for o in checked if o.broken and o.broken & checks], checked, NO_CHECKS()
            ),
        ),
        triage=_counts(k for one in kept for k in {kind for kind, _ in one.findings or ()}),
        triaged=sum(bool(one.findings) for one in kept),
        cost=_cost(seen),
        tasks=task_results(kept),
        regraded=None if regrade is None else f"{regrade.name}@{regrade.fingerprint}",
    )


def task_runs(paths: Sequence[str | Path], domain: FolderDomain) -> tuple[TaskResult, ...]:
    """Success of a domain's tasks over recorded runs of all simulators together.

    Raises
    ------
    NotScorable
        The runs hold no graded session of a task of the domain.
    """
    known = {task.id for task in domain.tasks}
    found = []
    for stream in group_by_simulator(list(paths), LoadOptions()):
        for session in stream:
            task = (session.task_id or "").removeprefix(f"{domain.name}_")
            if task in known and session.domain in (domain.name, UNKNOWN_DOMAIN):
                current = replace(session, turns=(), task_id=task, domain=domain.name)
                found.append(_seen(current, 1.0))
    graded = [one for one in found if one.graded]
    if not graded:
        raise NotScorable(f"the runs hold no graded session of a task of {domain.name}")
    return task_results(graded)


def regraded(session: Session, domain: FolderDomain) -> Session:
    """The session with the grade that the domain gives its messages.

    Sessions of other domains or tasks, and those without a conversation, lose their reward: they
    are counted as having none.
    """
    known = {task.id: task for task in domain.tasks}
    task = known.get((session.task_id or "").removeprefix(f"{domain.name}_"))
    if (
        session.status != "ok"
        or task is None
        or session.domain not in (domain.name, UNKNOWN_DOMAIN)
    ):
        return replace(session, outcome=Outcome(termination=session.outcome.termination))
    grade = domain.regrade(task, [_message(turn) for turn in session.turns])
    return replace(
        session,
        outcome=replace(session.outcome, reward=float(grade.reward), label=grade.label),
        meta={
            **session.meta,
            "difficulty": task.difficulty,
            "violations": [{"check": v.check} for v in grade.violations],
            "triage": [{"kind": f.kind, "detail": f.detail} for f in grade.triage],
        },
    )


def _message(turn: Turn) -> Message:
    message: Message = {"role": turn.role}
    if turn.content is not MISSING:
        message["content"] = turn.content
    if turn.tool_calls:
        message["tool_calls"] = turn.tool_calls
    return message


def _confirmations(domain: FolderDomain | None) -> frozenset[str]:
    if domain is None:
        return frozenset((CONFIRMATION,))
    rules = domain.definition.rule
    return frozenset(rule.id for rule in rules if isinstance(rule, Confirmation))


def _seen(session: Session, threshold: float) -> Seen:
    reward, meta = session.outcome.reward, session.meta
    broken, findings = _rows(meta.get("violations")), _rows(meta.get("triage"))
    level = meta.get("difficulty")
    keep = {k: v for k, v in meta.items() if k in _COSTS}
    info = meta.get("info")
    if "cost_usd" not in keep and isinstance(info, dict) and "user_cost" in info:
        keep["cost_usd"] = info["user_cost"]
    return Seen(
        task=_task_name(session),
        graded=session.status == "ok" and reward is not None and session.task_id is not None,
        success=int(reward is not None and reward >= threshold),
        level=level if level in LEVELS else None,
        label=session.outcome.label,
        termination=session.outcome.termination,
        agent=session.agent,
        broken=None if broken is None else frozenset(str(row.get("check")) for row in broken),
        findings=None
        if findings is None
        else tuple(sorted((str(row.get("kind")), str(row.get("detail"))) for row in findings)),
        meta=keep,
    )


def _task_name(session: Session) -> str:
    """Task with its domain before it, as in session tables."""
    task = session.task_id or ""
    if session.domain == UNKNOWN_DOMAIN or task.startswith(f"{session.domain}_"):
        return task
    return f"{session.domain}_{task}"


_COSTS = ("cost_usd", "tokens_in", "tokens_out", "calls")


def _rows(value: Any) -> list[dict[str, Any]] | None:
    """A list of objects, or ``None`` where nobody recorded one."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return None
    return value


def _counts(values: Iterable[str | None]) -> dict[str, int]:
    found = Counter(value for value in values if value is not None)
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _broken(kept: Sequence[Seen]) -> dict[str, tuple[int, int]]:
    every = _counts(check for one in kept for check in one.broken or ())
    hidden = _counts(check for one in kept if one.success for check in one.broken or ())
    return {check: (n, hidden.get(check, 0)) for check, n in every.items()}


def _share(
    of: Iterable[Seen], among: Iterable[Seen], nothing: Reason, replicates: int, seed: int
) -> Estimate:
    """Ratio of sums over sessions, with bounds from a bootstrap of tasks.

    Where no task or every task has it, resampling can't vary; the open bound is then the exact
    one of n tasks (Clopper & Pearson 1934): 1 - 0.05^(1/n) for none, 0.05^(1/n) for all.
    """
    below = Counter(one.task for one in among)
    above = Counter(one.task for one in of)
    if not below:
        return not_assessed(nothing, unit="share", n=0)
    tasks = sorted(below)
    parts = np.array([[above[task], below[task]] for task in tasks], dtype=np.float64)
    value, n = float(parts[:, 0].sum() / parts[:, 1].sum()), int(parts[:, 1].sum())
    if len(tasks) < 2:
        return Estimate(value=value, n=n, unit="share")
    if value in (0.0, 1.0):
        edge = 0.05 ** (1 / len(tasks))
        low, high = (0.0, 1 - edge) if value == 0 else (edge, 1.0)
        return Estimate(value=value, low=low, high=high, n=n, unit="share")
    drawn = task_weights(len(tasks), replicates, seed) @ parts
    low, high = percentile_bounds(drawn[:, 0] / drawn[:, 1])
    return Estimate(value=value, low=low, high=high, n=n, unit="share")


def _cost(seen: Sequence[Seen]) -> Cost:
    def total(key: str) -> float | None:
        found = [one.meta[key] for one in seen if isinstance(one.meta.get(key), int | float)]
        return sum(found) if found else None

    n = sum(isinstance(one.meta.get("cost_usd"), int | float) for one in seen)
    usd = total("cost_usd")
    whole = [None if (value := total(key)) is None else int(value) for key in _COSTS[1:]]
    return Cost(n, usd, None if usd is None else usd / n, *whole)
