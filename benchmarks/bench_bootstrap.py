"""Time of the cluster bootstrap: 10,000 replicates at 165, 495 and 100,000 tasks.

    python benchmarks/bench_bootstrap.py

Paired sums of 22 features and 5 difficulty bins on both sides, weights included, against naive
resampling task by task (timed on fewer replicates and scaled up). Best of three runs; the largest
case runs once.
"""

from __future__ import annotations

import time

import numpy as np

from usi.scoring.robust.bootstrap import Sums, replicate

REPLICATES, COLUMNS = 10_000, 27
NAIVE = 200


def sides(tasks: int, seed: int = 0) -> tuple[Sums, Sums]:
    """Random per-task means of both sides, a few of them missing."""
    rng = np.random.default_rng(seed)
    bottom = (rng.random((tasks, COLUMNS)) > 0.02).astype(float)
    made = [Sums(rng.random((tasks, COLUMNS)) * bottom, bottom, np.arange(tasks)) for _ in "sh"]
    return made[0], made[1]


def naive(simulator: Sums, human: Sums, replicates: int) -> None:
    """Draw tasks, index both sides, average: the obvious way."""
    rng = np.random.default_rng(0)
    n = len(simulator.top)
    for _ in range(replicates):
        drawn = rng.integers(0, n, n)
        for side in (simulator, human):
            side.top[drawn].sum(axis=0) / np.maximum(side.bottom[drawn].sum(axis=0), 1)


def main() -> None:
    """Print one line a size."""
    print(f"cluster bootstrap, {REPLICATES:,} replicates, {COLUMNS} columns a side")
    print(f"{'tasks':>8}  {'seconds':>8}  {'naive':>8}  {'ratio':>6}")
    for tasks in (165, 495, 100_000):
        simulator, human = sides(tasks)
        best = float("inf")
        for _ in range(1 if tasks > 1000 else 3):
            start = time.perf_counter()
            replicate(simulator, human, paired=True, replicates=REPLICATES, seed=7)
            best = min(best, time.perf_counter() - start)
        few = NAIVE if tasks < 1000 else 3
        start = time.perf_counter()
        naive(simulator, human, few)
        plain = (time.perf_counter() - start) * REPLICATES / few
        print(f"{tasks:>8,}  {best:>8.2f}  {plain:>8.1f}  {plain / best:>5.1f}x", flush=True)


if __name__ == "__main__":
    main()
