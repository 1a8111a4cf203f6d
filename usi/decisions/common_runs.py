"""Simulators at the same tasks and the same number of runs, so that none looks better by its size.

A raw score lies below the true one by the noise of its means, which falls with the number of runs:
of two equal simulators the one with more runs looks better. So the larger one is scored at the
smaller number of runs, k of its n: once for each of at most six choices of k runs that follow each
other in a circle (every run stands in as many), and the terms are averaged. The expected noise of
both is then the same. Tasks that only one of them did are left out of both.

Where the sessions can't be made equal by leaving runs out (runs of which some tasks lack sessions),
the bounds of a difference are moved apart by the difference of the two largest biases, which
equal simulators can't exceed (`usi.decisions.compare`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from usi.decisions.simulator_terms import SimulatorTerms, terms_of_rows
from usi.errors import UsageError
from usi.scoring.robust.terms import Terms

MOST_CHOICES = 6
"""Choices of runs that a score is averaged over, where there are more."""
LEAST_TASKS = 2
UNEVEN = 0.02
"""Largest relative difference of sessions a task that counts as equal."""


@dataclass(frozen=True)
class Common:
    """Simulators at the same tasks and runs.

    Attributes
    ----------
    terms
        Of every simulator, in the order given.
    runs
        Number of runs that all were scored at.
    tasks
        Tasks (or clusters) that all did.
    even
        Whether all have the same number of sessions, up to 2 %.
    notes
        What was left out, for a reader.
    """

    terms: tuple[dict[str, Terms], ...]
    runs: int
    tasks: int
    even: bool
    notes: tuple[str, ...] = ()


def at_common_runs(found: Sequence[SimulatorTerms]) -> Common:
    """Terms of several simulators at the tasks and the number of runs that all have.

    Raises
    ------
    UsageError
        Where fewer than two tasks are common to all.
    """
    notes: list[str] = []
    units = set(found[0].units).intersection(*(set(one.units) for one in found[1:]))
    if len(units) < LEAST_TASKS:
        raise UsageError(
            f"{len(units)} tasks are common to the simulators, and a comparison needs "
            f"{LEAST_TASKS}: run them on the same tasks"
        )
    every = all(set(one.units) == units for one in found)
    if not every:
        notes.append(
            f"tasks that only some did are left out: {len(units)} are common, of "
            + _sizes(len(one.units) for one in found)
        )
    sizes = [len(_runs(one)) for one in found]
    runs = min(sizes)
    if max(sizes) > runs:
        told = "1 run" if runs == 1 else f"{runs} runs"
        notes.append(
            f"scored at {told} each (they have {_sizes(sizes)}), averaged over "
            "choices of runs: more runs alone make a score larger"
        )
    own = tuple(
        one.terms if every and size == runs else _at(one, runs, units)
        for one, size in zip(found, sizes, strict=True)
    )
    per_task = [_sessions(one, units) * runs / size for one, size in zip(found, sizes, strict=True)]
    even = max(per_task) <= (1 + UNEVEN) * min(per_task)
    if not even:
        notes.append(
            "the simulators have "
            + f"{min(per_task):.2f} to {max(per_task):.2f}"
            + " sessions a task: bounds are wider by what that alone can do"
        )
    return Common(own, runs, len(units), even, tuple(notes))


def _sizes(sizes: Iterable[int]) -> str:
    """Different sizes, largest first, whatever the order of the simulators."""
    return ", ".join(map(str, sorted(set(sizes), reverse=True)))


def _runs(found: SimulatorTerms) -> list[str]:
    """Labels of the runs, numbers in their order."""
    labels = sorted(set(found.run_rows["split"]))
    return sorted(labels, key=lambda name: (not name.isdecimal(), int(name or 0)
                  if name.isdecimal() else 0, name))  # fmt: skip


def _sessions(found: SimulatorTerms, units: set[str]) -> float:
    """Sessions of a task, on average."""
    import polars as pl

    own = found.run_rows.filter(pl.col("unit").is_in(list(units)))
    return float(own["sessions"].sum()) / len(units)


def choices(labels: Sequence[str], runs: int) -> list[tuple[str, ...]]:
    """At most six choices of so many runs that follow each other in a circle.

    >>> choices(["1", "2", "3"], 2)
    [('1', '2'), ('2', '3'), ('3', '1')]
    >>> len(choices([str(k) for k in range(10)], 3))
    6
    """
    n = len(labels)
    if runs == n:
        return [tuple(labels)]
    starts = np.unique(np.linspace(0, n, min(n, MOST_CHOICES), endpoint=False).astype(int))
    return [tuple(labels[(start + j) % n] for j in range(runs)) for start in starts.tolist()]


def _at(found: SimulatorTerms, runs: int, units: set[str]) -> dict[str, Terms]:
    """Terms at so many runs on these tasks, averaged over the choices of runs."""
    import polars as pl

    names = list(units)
    people = found.people_rows.filter(pl.col("unit").is_in(names))
    own = found.run_rows.filter(pl.col("unit").is_in(names))
    made = [
        terms_of_rows(
            found.card, found.simulator, people, own.filter(pl.col("split").is_in(list(choice)))
        )
        for choice in choices(_runs(found), runs)
    ]
    return {
        name: averaged([one[name] for one in made])
        for name in found.terms
        if all(name in one for one in made)
    }


def averaged(parts: Sequence[Terms]) -> Terms:
    """Mean of the terms of one component over several choices of runs.

    The score is linear in |x_j|, so that its mean is the score of the mean; what holds for one
    choice alone (signs, derivatives) is left out.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    names = tuple(name for name in first.names if all(name in one.names for one in parts))

    def mean(arrays: Sequence[np.ndarray]) -> np.ndarray:
        columns = [[one.names.index(name) for name in names] for one in parts]
        stacked = np.stack([a[..., c] for a, c in zip(arrays, columns, strict=True)])
        known = ~np.isnan(stacked)
        total = np.where(known, stacked, 0.0).sum(axis=0)
        count = known.sum(axis=0)
        means: np.ndarray = np.divide(
            total, count, out=np.full(total.shape, np.nan), where=count > 0
        )
        return means

    outcome = first.component == "outcome"
    weight = np.ones(len(names)) if outcome else np.full(len(names), 1 / max(1, len(names)))
    drawn = [one.folded for one in parts if one.folded is not None]
    return replace(
        first,
        names=names,
        weight=weight,
        point=mean([np.abs(one.point) for one in parts]),
        noise=mean([one.noise for one in parts]),
        shrunk=mean([one.shrunk for one in parts]),
        folded=mean(drawn) if len(drawn) == len(parts) else None,
        held=None,
        slope=np.mean([one.slope for one in parts], axis=0),
        gaps=(),
        moved=None,
    )
