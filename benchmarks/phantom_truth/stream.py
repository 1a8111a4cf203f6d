"""Phantom sessions one after another, in memory that does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from phantom_truth.counts import count_frame
from usi.errors import UsageError
from usi.phantom.drawn_sessions import DrawnSessions, draw_sessions
from usi.phantom.realise import realise
from usi.phantom.spec import PhantomSpec
from usi.phantom.tasks import TaskSet, default_tasks
from usi.records import Session, Side

BLOCK = 4096
"""Sessions that are planned at once; part of the definition of a stream's random numbers."""


def stream_plans(
    spec: PhantomSpec, n: int, *, seed: int = 0, tasks: TaskSet | None = None
) -> Iterator[DrawnSessions]:
    """Plans of `BLOCK` sessions, `n` sessions in all, going round the tasks again and again.

    Raises
    ------
    UsageError
        Where `n` is negative.
    """
    if n < 0:
        raise UsageError(f"a stream has 0 or more sessions, not {n}")
    chosen = tasks or default_tasks()
    for block, begin in enumerate(range(0, n, BLOCK)):
        number = np.arange(begin, min(begin + BLOCK, n), dtype=np.int64)
        replicate = 1 + number // len(chosen)
        yield draw_sessions(spec, chosen, number % len(chosen), replicate, seed=(seed, 41, block))


def stream_sessions(
    spec: PhantomSpec,
    n: int,
    *,
    seed: int = 0,
    side: Side = "simulated",
    simulator: str | None = None,
    tasks: TaskSet | None = None,
) -> Iterator[Session]:
    """`n` sessions with texts, lazily.

    Parameters
    ----------
    spec
        The population.
    n
        How many sessions.
    seed
        Same seed, same sessions; a longer stream begins with the shorter one's full blocks.
    side, simulator
        As in `usi.phantom.realise.realise`; the simulator is called after the spec by default.
    tasks
        Default: the 165 published tasks.

    Examples
    --------
    >>> from usi.phantom import load_spec
    >>> next(stream_sessions(load_spec("human"), 10)).meta
    {'synthetic': True, 'language': 'en'}
    """
    label = "" if side == "human" else (spec.name if simulator is None else simulator)
    for plan in stream_plans(spec, n, seed=seed, tasks=tasks):
        yield from realise(plan, side=side, simulator=label)


def stream_counts(
    spec: PhantomSpec,
    n: int,
    profile: str,
    *,
    seed: int = 0,
    side: Side = "simulated",
    tasks: TaskSet | None = None,
) -> Iterator[pl.DataFrame]:
    """Blocks of the session table of the same stream, without texts."""
    seen = 0
    label = "" if side == "human" else spec.name
    for plan in stream_plans(spec, n, seed=seed, tasks=tasks):
        yield count_frame(plan, profile, side=side, simulator=label, first_seq=seen)
        seen += len(plan)
