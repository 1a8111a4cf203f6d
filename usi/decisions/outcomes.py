"""Graded outcomes by task: what pass^k, corrected success and agent ranking are computed from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from usi.corpora.parts import Part
from usi.errors import NotScorable, UsageError
from usi.extraction.spec import IDENTITY_SCHEMA
from usi.loading import LoadOptions, open_sessions
from usi.records import Session, Side
from usi.scoring.agents import is_fingerprint
from usi.scoring.keys import assign_keys

FloatArray = npt.NDArray[np.float64]
Z90 = (0.05, 0.95)
UNREAD = "in a part of the corpus that is not read"
"""Reason of sessions that are left out on purpose."""
_KEYS = ("session_id", "task_id", "trial", "batch_id", "domain", "layout", "participant")


@dataclass(frozen=True)
class Trial:
    """One graded session: success, and the seeds of its two parties where they are recorded."""

    success: int
    user_seed: str | None = None
    agent_seed: str | None = None


@dataclass(frozen=True)
class Outcomes:
    """Graded sessions by task, and what could not be used.

    Attributes
    ----------
    trials
        Task name -> its graded sessions.
    left_out
        Reason -> count: failed runs, no reward, no task id.
    threshold
        Reward at or above which a session counts as a success.
    agents
        Fingerprints of the agents that took part, sorted; empty where none is known.
    """

    label: str
    trials: dict[str, list[Trial]]
    left_out: dict[str, int] = field(default_factory=dict)
    threshold: float = 1.0
    agents: tuple[str, ...] = ()

    def means(self) -> dict[str, float]:
        """Success share of each task."""
        return {task: sum(t.success for t in ts) / len(ts) for task, ts in self.trials.items()}


def _keyed(sessions: list[Session], side: Side) -> pl.DataFrame:
    """Session, task, batch and participant of each session by the rules of the session table."""
    frame = pl.DataFrame(
        {
            "session_id": [s.session_id for s in sessions],
            "task_id": [s.task_id for s in sessions],
            "trial": [s.trial for s in sessions],
            "batch_id": [s.batch for s in sessions],
            "domain": [s.domain for s in sessions],
            "layout": [s.layout for s in sessions],
            "participant": [s.participant for s in sessions],
        },
        schema={name: IDENTITY_SCHEMA[name] for name in _KEYS},
    )
    return assign_keys(frame, side=side)


def _inside(frame: pl.DataFrame, part: Part | None) -> list[bool]:
    """Which sessions are of the part that may be read."""
    if part is None:
        return [True] * frame.height
    units = frame[part.column].cast(pl.String)
    return units.is_in(list(part.units)).fill_null(False).to_list()


def collect(
    sessions: Iterable[Session],
    *,
    label: str,
    side: Side = "simulated",
    threshold: float = 1.0,
    part: Part | None = None,
) -> Outcomes:
    """Group graded sessions by task; failed runs, null rewards and unnamed tasks are counted.

    Parameters
    ----------
    sessions
        All sessions of one side; messages are dropped as they stream by.
    side
        Which key rules name the tasks (batches of people, runs of simulators).
    threshold
        Reward at or above which a session is a success.
    part
        Part of a corpus that may be read; ``None``: everything.
    """
    if not math.isfinite(threshold):
        raise UsageError("--success-at needs a finite number")
    kept = [msgspec.structs.replace(session, turns=()) for session in sessions]
    trials: dict[str, list[Trial]] = {}
    left_out: Counter[str] = Counter()
    frame = _keyed(kept, side)
    for session, task, inside in zip(kept, frame["task"], _inside(frame, part), strict=True):
        if not inside:
            left_out[UNREAD] += 1
        elif session.status != "ok":
            left_out[session.status] += 1
        elif session.outcome.reward is None:
            left_out["no reward"] += 1
        elif task is None:
            left_out["no task id"] += 1
        else:
            seeds = (session.meta.get("user_seed"), session.meta.get("agent_seed"))
            user, agent = (None if seed is None else str(seed) for seed in seeds)
            success = int(session.outcome.reward >= threshold)
            trials.setdefault(task, []).append(Trial(success, user, agent))
    agents = sorted({s.agent for s in kept if s.agent is not None and is_fingerprint(s.agent)})
    return Outcomes(label, dict(sorted(trials.items())), dict(left_out), threshold, tuple(agents))


def read_outcomes(
    paths: Sequence[str | Path],
    *,
    options: LoadOptions | None = None,
    side: Side = "simulated",
    threshold: float = 1.0,
    part: Part | None = None,
) -> Outcomes:
    """Outcomes of one simulator, agent or human corpus, from its files.

    Raises
    ------
    NotScorable
        Where no session has both a task id and a reward.
    """
    stream = open_sessions(list(paths), options=options or LoadOptions())
    found = collect(stream, label=stream.label, side=side, threshold=threshold, part=part)
    if not found.trials:
        why = ", ".join(f"{n} {reason}" for reason, n in sorted(found.left_out.items()))
        raise NotScorable(
            f"{stream.label}: no graded session with a task id ({why or 'no session at all'})"
        )
    return found


def task_weights(tasks: int, replicates: int, seed: int) -> FloatArray:
    """(replicates, tasks) multinomial weights of a task bootstrap, from a fixed seed."""
    rng = np.random.default_rng([seed, 0x7A5C])
    drawn = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=replicates)
    return drawn.astype(np.float64)


def percentile_bounds(values: FloatArray) -> tuple[float, float]:
    """5th and 95th percentile of bootstrap replicates (nominal 90 %)."""
    low, high = np.quantile(values, Z90)
    return float(low), float(high)
