"""Agent success as people read it: pass^k, corrected success and agent rankings as tables."""

from __future__ import annotations

from usi.decisions.agents import AgentRanking
from usi.decisions.correct import CorrectedSuccess
from usi.decisions.passk import PassK
from usi.report.tables import Cell, Column, Table, shown

FEW_TASKS = 20


def _rough(tasks: int) -> tuple[str, ...]:
    """A caution for bounds that rest on few tasks."""
    return (f"Only {tasks} tasks: the bounds are rough.",) if tasks < FEW_TASKS else ()


def passk_tables(found: PassK) -> tuple[Table, ...]:
    """pass^k by k, and the crossed split where seeds are recorded."""
    rows = []
    for k, value in found.values.items():
        rest = found.enough.get(k)
        over = Cell(rest, after=f"over {rest.n} tasks") if rest else ""
        rows.append((k, value, over))
    low, high = found.trials_range
    trials = str(low) if low == high else f"{low} to {high}"
    notes = [f"{found.tasks} tasks, {trials} graded trials a task.", found.note]
    notes += _rough(found.tasks)
    notes += [f"left out: {n} sessions ({reason})" for reason, n in sorted(found.left_out.items())]
    head = (
        Column("k", "i"),
        Column("pass^k", "3", why=True),
        Column("over the tasks that have k trials", "3", why=True),
    )
    tables = [Table(f"pass^k of {found.label}", head, tuple(rows), tuple(notes))]
    if found.crossed:
        part = found.crossed
        names = ("same script", "cross script", "drop that goes with the user's seed")
        tables.append(
            Table(
                f"{part.users} user seeds x {part.agents} agent seeds",
                (Column("k", "i"), *(Column(name, "3", why=True) for name in names)),
                tuple((k, part.same[k], part.cross[k], part.drop[k]) for k in part.same),
                (f"share of within-task variance between users: {shown(part.user_share)}",),
            )
        )
    return tuple(tables)


def corrected_tables(found: CorrectedSuccess) -> tuple[Table, ...]:
    """Corrected success, and that of humans alone."""
    rows = (
        ("corrected", found.corrected, found.sd_corrected),
        ("humans alone", found.humans_alone, found.sd_humans_alone),
        ("simulator, tasks with people", found.simulator_on_human_tasks, ""),
        ("simulator, all tasks", found.simulator_on_all_tasks, ""),
    )
    notes = [
        f"{found.human_tasks} tasks with people of {found.all_tasks}, in {found.strata} strata of "
        f"simulated success; weight of the simulator (lambda) {found.weight:.2f}.",
        "Bounds are at nominal 90 % (task bootstrap). They hold where people's tasks are a random "
        "sample of all, or of each stratum.",
    ]
    low, high = found.selection.low or 0.0, found.selection.high or 0.0
    if low > 0 or high < 0:
        word = "easier" if low > 0 else "harder"
        notes.append(
            f"NOT A RANDOM SAMPLE: by the simulator people did {word} tasks "
            f"({shown(found.selection, '+3')} against all). The strata make up for it only as far "
            "as simulated success tells the difficulty of a task, which few runs do badly: the "
            "bounds can be far off. Let people do tasks drawn at random from all."
        )
    if found.empty:
        notes.append(
            f"{found.empty:.0%} of the tasks are in strata that people did not do; their success "
            "counts as anything from 0 to 1 in the bounds, and as the simulator's in the value."
        )
    head = ("estimate", Column("success", "3", why=True), Column("sd", "3"))
    return (Table(f"Agent success, {found.label}", head, rows, tuple(notes)),)


def agents_tables(found: AgentRanking) -> tuple[Table, ...]:
    """Agents under both users, and the pairs whose order may flip."""
    ranked = sorted(found.reference, key=lambda agent: (-found.reference[agent], agent))
    rows = tuple(
        (agent, found.reference[agent], found.other[agent], found.gaps[agent]) for agent in ranked
    )
    flips = tuple(
        (
            f"{flip.first} against {flip.second}",
            flip.reference_difference,
            flip.other_difference,
            flip.change,
            Cell(flip.probability, "%"),
            Cell(flip.by_chance, "%"),
            "yes" if flip.flips else "not sure",
        )
        for flip in found.flips
    )
    tops = tuple(
        (
            "winner" if top.k == 1 else f"best {top.k}",
            ", ".join(top.reference),
            ", ".join(top.other),
            Cell(top.probability, "%"),
            Cell(top.by_chance, "%"),
            "yes" if top.differ else "not sure",
        )
        for top in found.tops
    )
    chance = found.tau_by_chance
    notes = [
        f"Kendall tau-b {shown(found.tau, '2')} over {found.tasks} shared tasks.",
        f"A perfect simulator with as many data would show {shown(chance, '2')}.",
        f"Whether the differences between agents change at all: p = {found.p_value:.3f}.",
        *_rough(found.tasks),
        *found.notes,
    ]
    if found.winner_needs is not None:
        tasks, sessions = found.winner_needs
        notes.append(
            f"To tell people's two best agents apart (80 % power): about {tasks:,} tasks with "
            f"people, {sessions:,} sessions an agent."
        )
    return (
        Table(
            "Agents under people and under the simulator",
            (
                "agent",
                Column("reference", "3"),
                Column("simulated", "3"),
                Column("gap (simulated - reference)", "+3", why=True),
            ),
            rows,
            tuple(notes),
        ),
        Table(
            "Winners",
            (
                "which",
                "reference",
                "simulated",
                Column("differ, tasks drawn anew", "%"),
                Column("the same of a perfect simulator", "%"),
                "surely another",
            ),
            tops,
            (),
        ),
        Table(
            "Pairs",
            (
                "pair",
                Column("difference, reference", "+3", why=True),
                Column("difference, simulated", "+3", why=True),
                Column("change", "+3", why=True),
                Column("order differs, tasks drawn anew", "%"),
                Column("the same of a perfect simulator", "%"),
                "flips",
            ),
            flips,
            ("A pair flips where both differences leave out 0 (90 % bounds), on opposite sides.",),
        ),
    )
