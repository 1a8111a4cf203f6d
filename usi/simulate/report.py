"""Results of simulated runs, and checks of a domain, as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from usi.estimate import Estimate
from usi.report.names import name_of
from usi.report.success import passk_tables
from usi.report.tables import Column, Entry, Table, shown
from usi.simulate.domains.check import DomainCheck, Tried
from usi.simulate.results import Results, TaskResult


def results_tables(found: Sequence[Results]) -> tuple[Table, ...]:
    """Everything of every simulator: a summary of all, then each."""
    head = (
        "simulator",
        "sessions",
        Column("reward", "3", why=True),
        Column("reward 1 that broke a rule", "3", why=True),
        "cost",
    )
    rows = tuple(
        (r.simulator, f"{r.graded} of {r.sessions}", r.reward, r.way.hidden, _usd(r)) for r in found
    )
    notes = []
    if len({r.agents for r in found}) > 1:
        notes.append("The simulators met different agents: their rewards are not comparable.")
    tables = [Table("Results", head, rows, tuple(notes))]
    for one in found:
        tables += _simulator(one)
    return tuple(tables)


def _usd(found: Results) -> str:
    cost = found.cost
    if cost.usd is None or cost.usd_a_session is None:
        return "not recorded"
    return f"${cost.usd:.4f} (${cost.usd_a_session:.5f} a session)"


def _simulator(found: Results) -> list[Table]:
    name = found.simulator
    tables = [_questions(found), *passk_tables(found.pass_k), _levels(name, found.by_difficulty)]
    if found.labels:
        tables.append(
            Table(f"How sessions ended, {name}", ("label", _SESSIONS), _pairs(found.labels))
        )
    tables.append(_way(found))
    if found.triaged:
        tables.append(
            Table(
                f"Why {found.triaged} sessions failed, {name}",
                ("finding", _SESSIONS),
                _pairs(found.triage),
                ("A session may have several findings.",),
            )
        )
    odd = tasks_table(f"Tasks that always or never succeed, {name}", found.tasks)
    return [*tables, odd]


_SESSIONS = Column("sessions", "i")


def _pairs(counts: Mapping[str, int]) -> tuple[tuple[Entry, ...], ...]:
    return tuple((name_of(name), n) for name, n in counts.items())


def _levels(name: str, levels: Mapping[str, Estimate]) -> Table:
    rows = tuple((level, part.n or 0, part) for level, part in levels.items())
    notes = () if any(e.ok for e in levels.values()) else ("The files record no difficulty.",)
    head = ("level", _SESSIONS, Column("success", "3"))
    return Table(f"Success by a-priori difficulty, {name}", head, rows, notes)


def _way(found: Results) -> Table:
    way = found.way
    rows = tuple((check, n, hidden) for check, (n, hidden) in way.broken.items())
    notes = [
        f"{way.checked} sessions have trajectory checks.",
        f"Sessions with reward 1 that broke a rule: {shown(way.hidden)}.",
        f"Sessions with reward 1 that skipped a confirmation: {shown(way.unconfirmed)}.",
    ]
    if not way.checked:
        notes = ["No session has trajectory checks; --regrade DOMAIN grades recorded tool calls."]
    head = (
        "rule",
        Column("sessions that broke it", "i"),
        Column("of these with reward 1", "i"),
    )
    return Table(f"Rules broken on the way, {found.simulator}", head, rows, tuple(notes))


def _questions(found: Results) -> Table:
    """What an owner of a benchmark asks, answered."""
    way, crossed = found.way, found.pass_k.crossed
    if crossed is None:
        noise = f"not assessed: {found.pass_k.note} usi simulate --user-seeds U "
        noise += "--agent-seeds A crosses them."
    else:
        drops = [f"pass^{k} {shown(drop)}" for k, drop in crossed.drop.items() if drop.ok and k > 1]
        share = shown(crossed.user_share, "2")
        noise = f"lost to it: {', '.join(drops) or 'k is too large'}; share of variance {share}"
    never = [task.task for task in found.tasks if task.verdict == "never"]
    enough = any(task.verdict != "too few trials" for task in found.tasks)
    tasks = ", ".join(never) or ("none" if enough else "not assessed: too few trials of each task")
    rows = (
        ("Does reward 1 hide skipped confirmations?", _answer(way.unconfirmed)),
        ("Does reward 1 hide any broken rule?", _answer(way.hidden)),
        ("How much of pass^k is the user's noise?", noise),
        ("Which tasks may be ambiguous (never succeed)?", tasks),
    )
    return Table(f"Questions, {found.simulator}", ("question", "answer"), rows)


def _answer(hidden: Estimate) -> str:
    if not hidden.ok:
        return shown(hidden)
    return f"{'yes' if hidden.value else 'no'}: {shown(hidden)} of {hidden.n} sessions"


def tasks_table(title: str, tasks: Sequence[TaskResult]) -> Table:
    """Tasks that never succeed, row by row, and those that always do, by name."""
    rows = tuple(
        (
            task.task,
            f"{task.successes} of {task.trials}",
            task.difficulty or "",
            "" if task.same_failure is None else task.same_failure,
        )
        for task in tasks
        if task.verdict == "never"
    )
    always = [task.task for task in tasks if task.verdict == "always"]
    few = sum(task.verdict == "too few trials" for task in tasks)
    told = any(task.verdict != "too few trials" for task in tasks)
    notes = ["No task with enough trials never succeeds."] if told and not rows else []
    if rows:
        notes = [
            "Where a task never succeeds and its failures agree, look at its goal and words first."
        ]
    notes.append(f"{len(always)} tasks always succeed: {', '.join(always)}" if always else "")
    notes.append(f"{few} of {len(tasks)} tasks have too few trials to tell." if few else "")
    head = ("never succeeds", "successes", "level", Column("failures that agree", "%"))
    return Table(title, head, rows, tuple(filter(None, notes)))


def check_tables(
    check: DomainCheck, tasks: Sequence[TaskResult] | None = None, without: Sequence[str] = ()
) -> tuple[Table, ...]:
    """A domain's check, task by task; with runs the tasks that always or never succeed."""
    rows = tuple(
        (
            task.id,
            task.difficulty,
            ", ".join([*task.kinds, *(["refusal"] if task.refusal else [])]),
            task.goal_states,
            task.writes,
            "  ".join(map(_caught, (task.omissions, task.additions, task.arguments))),
            "; ".join(task.problems) or "ok",
        )
        for task in check.tasks
    )
    bad = sum(bool(task.problems) for task in check.tasks)
    notes = [
        f"{len(check.tasks)} tasks, {check.tools} tools ({check.write_tools} write), "
        f"{check.rules} rules of the way, fingerprint {check.fingerprint}.",
        "Changes caught (graded 0): single omissions, additions, changed arguments of writes.",
        f"{bad} tasks have problems." if bad else "Every goal is reached, every change misses it.",
        *check.remarks,
    ]
    head = (
        "task",
        "level",
        "kinds",
        Column("goals", "i"),
        Column("writes", "i"),
        "changes caught",
        "problems",
    )
    tables = [Table(f"{check.name}: {check.title}", head, rows, tuple(notes))]
    if tasks is not None:
        table = tasks_table("Tasks that always or never succeed in the runs", tasks)
        if without:
            note = f"tasks without a graded run: {', '.join(without)}"
            table = replace(table, notes=(*table.notes, note))
        tables.append(table)
    return tuple(tables)


def _caught(tried: Tried) -> str:
    return f"{tried.n - len(tried.survived)}/{tried.n}"
