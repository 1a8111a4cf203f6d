"""Which episodes a run has: tasks, trials and seeds."""

from __future__ import annotations

from collections.abc import Sequence

from usi.errors import UsageError, unknown_name
from usi.simulate.episode import Cell
from usi.simulate.protocol import Domain, Task


def choose_tasks(domain: Domain, chosen: str | None) -> list[Task]:
    """Tasks by ids (``a,b``), a level (``easy``), a mark of the task, or the first n (``10``).

    Raises
    ------
    UsageError
        Where there is no such task, with near matches.
    """
    tasks = list(domain.tasks)
    if chosen in (None, "", "all"):
        return tasks
    wanted: list[Task] = []
    by_id = {task.id: task for task in tasks}
    for part in str(chosen).split(","):
        name = part.strip()
        group = [t for t in tasks if name in (t.difficulty, *t.kinds)]
        if name in by_id:
            wanted.append(by_id[name])
        elif group:
            wanted += group
        elif name.isdecimal() and chosen == name and int(name) > 0:
            wanted += tasks[: int(name)]
        else:
            raise unknown_name("task", name, list(by_id))
    keep = {task.id for task in wanted}
    return [task for task in tasks if task.id in keep]


def make_cells(
    tasks: Sequence[Task],
    *,
    runs: int = 1,
    user_seeds: int | None = None,
    agent_seeds: int | None = None,
    first_seed: int = 1,
) -> list[Cell]:
    """Episodes, run after run.

    Parameters
    ----------
    tasks
        In order.
    runs
        Passes over the tasks; run r has user seed and agent seed r.
    user_seeds, agent_seeds
        A full crossing of so many seeds each instead (each pair is a run), by which pass^k tells
        the user's part of the noise from the agent's.
    first_seed
        Smallest seed.
    """
    if user_seeds is None and agent_seeds is None:
        pairs = [(n, n) for n in range(runs)]
    else:
        users, agents = user_seeds or 1, agent_seeds or 1
        if runs != 1:
            raise UsageError("give --runs, or --user-seeds and --agent-seeds: they are two designs")
        pairs = [(u, a) for u in range(users) for a in range(agents)]
    return [
        Cell(task, trial, first_seed + u, first_seed + a)
        for trial, (u, a) in enumerate(pairs, start=1)
        for task in tasks
    ]
