"""Agent success as people read it: pass^k, corrected success and agent rankings as tables."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from usi._version import __version__
from usi.decisions.agents import AgentRanking
from usi.decisions.correct import CorrectedSuccess
from usi.decisions.passk import PassK
from usi.estimate import Estimate, with_bounds
from usi.report.text import markdown, markdown_table, printable
from usi.rounding import rounded

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Grid:
    """A titled table of text cells with notes below it; without rows only title and notes show."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def shown(estimate: Estimate, digits: int = 3) -> str:
    """A value with its bounds, or the reason for none.

    >>> shown(Estimate(value=0.5, low=0.4, high=0.6, unit="share"))
    '0.500 [0.400, 0.600]'
    """
    if estimate.value is None:
        return f"not assessed: {estimate.reason}"
    return with_bounds(estimate.value, estimate.low, estimate.high, digits)


FEW_TASKS = 20


def _rough(tasks: int) -> tuple[str, ...]:
    """A caution for bounds that rest on few tasks."""
    return (f"Only {tasks} tasks: the bounds are rough.",) if tasks < FEW_TASKS else ()


def passk_grids(found: PassK) -> tuple[Grid, ...]:
    """pass^k by k, and the crossed split where seeds are recorded."""
    rows = []
    for k, value in found.values.items():
        rest = found.enough.get(k)
        beside = f"{shown(rest)} over {rest.n} tasks" if rest else ""
        rows.append((str(k), shown(value), beside))
    low, high = found.trials_range
    trials = str(low) if low == high else f"{low} to {high}"
    notes = [f"{found.tasks} tasks, {trials} graded trials a task.", found.note]
    notes += _rough(found.tasks)
    notes += [f"left out: {n} sessions ({reason})" for reason, n in sorted(found.left_out.items())]
    head = ("k", "pass^k", "over the tasks that have k trials")
    grids = [Grid(f"pass^k of {found.label}", head, tuple(rows), tuple(notes))]
    if found.crossed:
        part = found.crossed
        crossed_rows = tuple(
            (str(k), shown(part.same[k]), shown(part.cross[k]), shown(part.drop[k]))
            for k in part.same
        )
        grids.append(
            Grid(
                f"{part.users} user seeds x {part.agents} agent seeds",
                ("k", "same script", "cross script", "drop that goes with the user's seed"),
                crossed_rows,
                (f"share of within-task variance between users: {shown(part.user_share)}",),
            )
        )
    return tuple(grids)


def corrected_grids(found: CorrectedSuccess) -> tuple[Grid, ...]:
    """Corrected success beside humans alone."""
    rows = (
        ("corrected", shown(found.corrected), f"{found.sd_corrected:.3f}"),
        ("humans alone", shown(found.humans_alone), f"{found.sd_humans_alone:.3f}"),
        ("simulator, tasks with people", f"{found.simulator_on_human_tasks:.3f}", ""),
        ("simulator, all tasks", f"{found.simulator_on_all_tasks:.3f}", ""),
    )
    notes = (
        f"{found.human_tasks} tasks with people of {found.all_tasks}; "
        f"weight of the simulator (lambda) {found.weight:.2f}.",
        "Bounds are at nominal 90 % (task bootstrap; they cover 85 to 91 % in simulation).",
    )
    return (Grid(f"Agent success, {found.label}", ("estimate", "success", "sd"), rows, notes),)


def agents_grids(found: AgentRanking) -> tuple[Grid, ...]:
    """Agents under both users, and the pairs whose order may flip."""
    ranked = sorted(found.reference, key=lambda agent: (-found.reference[agent], agent))
    rows = tuple(
        (agent, f"{found.reference[agent]:.3f}", f"{found.other[agent]:.3f}",
         shown(found.gaps[agent]))
        for agent in ranked
    )  # fmt: skip
    flips = tuple(
        (f"{flip.first} against {flip.second}", f"{flip.reference_difference:+.3f}",
         f"{flip.other_difference:+.3f}", f"{flip.probability:.0%}")
        for flip in found.flips
    )  # fmt: skip
    return (
        Grid(
            "Agents under people and under the simulator",
            ("agent", "reference", "simulated", "gap (simulated - reference)"),
            rows,
            (
                f"Kendall tau-b {shown(found.tau, 2)} over {found.tasks} shared tasks.",
                *_rough(found.tasks),
            ),
        ),
        Grid(
            "Pairs",
            ("pair", "difference, reference", "difference, simulated", "chance of a flip"),
            flips,
            ("A flip: tasks drawn anew order the two agents differently under the two users.",),
        ),
    )


def plain(value: Any) -> Any:
    """Nested dataclasses and estimates as JSON values (keys as text)."""
    if isinstance(value, Estimate):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return rounded(value) if isinstance(value, float) else value


def to_json(value: Any) -> str:
    """Deterministic JSON text with the version that wrote it."""
    return json.dumps(
        {"usi_version": __version__, **plain(value)}, indent=2, ensure_ascii=False
    ) + ("\n")


def to_markdown(grids: tuple[Grid, ...]) -> str:
    """The grids as GitHub-flavoured Markdown."""
    lines = []
    for grid in grids:
        lines += [f"## {markdown(grid.title)}", ""]
        if grid.rows:
            rows = [[markdown(cell) for cell in row] for row in grid.rows]
            lines += [*markdown_table([markdown(cell) for cell in grid.head], rows), ""]
        lines += [f"{markdown(note)}\n" for note in grid.notes]
    lines.append(f"<!-- written by usi {__version__} -->\n")
    return "\n".join(lines)


def print_grids(grids: tuple[Grid, ...], console: Console) -> None:
    """The grids in a terminal; no cell is read as markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    for grid in grids:
        if not grid.rows:
            console.print(Text(f"\n{printable(grid.title)}", style="table.title"))
        table = Table(title=Text(printable(grid.title)), box=box.SIMPLE_HEAD, title_justify="left")
        for name in grid.head:
            table.add_column(Text(name), overflow="fold")
        for row in grid.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        if grid.rows:
            console.print(table)
        for note in grid.notes:
            console.print(Text(f"  {printable(note)}"))
