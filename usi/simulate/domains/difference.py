"""Failure triage: what lies between the final database and the nearest goal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from usi.simulate.domains.kit import Record, Tables
from usi.simulate.protocol import Finding


def triage(
    start: Tables, final: Tables, goals: Iterable[Tables], stages: Sequence[Tables] = ()
) -> tuple[Finding, ...]:
    """Findings against the goal that needs the fewest.

    Parameters
    ----------
    start, final, goals
        Tables in canonical form.
    stages
        The same after each write on the way to a goal: a new record that is as it was at a stage
        lacks a later write, and has no wrong argument.

    Returns
    -------
    tuple of Finding
        ``missing_write``: the goal changes it, the episode did not. ``extra_write``: the episode
        changed it, the goal does not. ``wrong_argument``: both changed it, differently. New
        records are paired by likeness, since their ids follow the order of creation.
    """
    return min((_against(start, final, goal, stages) for goal in goals), key=len)


def _against(
    start: Tables, final: Tables, goal: Tables, stages: Sequence[Tables]
) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for table in sorted(start):
        base, ended, wanted = start[table], final.get(table, {}), goal.get(table, {})
        for key in sorted(base):
            found += _changed(f"{table} {key}", base[key], ended.get(key), wanted.get(key))
        found += _created(table, base, ended, wanted, [stage.get(table, {}) for stage in stages])
    return tuple(found)


def _changed(
    where: str, base: Record, ended: Record | None, wanted: Record | None
) -> list[Finding]:
    if ended == wanted:
        return []
    if ended is None:
        return [Finding("extra_write", f"{where} is gone")]
    if wanted is None:
        return [Finding("missing_write", f"{where} is still there")]
    kinds: dict[str, list[str]] = {}
    for field in sorted(base.keys() | ended.keys() | wanted.keys()):
        was, now, goal = base.get(field), ended.get(field), wanted.get(field)
        if now == goal:
            continue
        kind = "missing_write" if now == was else "extra_write" if goal == was else "wrong_argument"
        kinds.setdefault(kind, []).append(f"{field} is {now!r}, not {goal!r}")
    return [Finding(kind, f"{where}: {'; '.join(why)}") for kind, why in kinds.items()]  # type: ignore[arg-type]


def _created(
    table: str,
    base: Mapping[str, Any],
    ended: Mapping[str, Any],
    wanted: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
) -> list[Finding]:
    made = {key: record for key, record in ended.items() if key not in base}
    due = {key: record for key, record in wanted.items() if key not in base}
    found: list[Finding] = []
    pairs = sorted(
        (_unlike(record, goal), key, other)
        for key, record in made.items()
        for other, goal in due.items()
    )
    for _, key, other in pairs:
        if key not in made or other not in due:
            continue
        record, goal = made.pop(key), due.pop(other)
        wrong = [
            f"{field} is {record.get(field)!r}, not {goal.get(field)!r}"
            for field in sorted(record.keys() | goal.keys())
            if record.get(field) != goal.get(field)
        ]
        if wrong and any(stage.get(other) == record for stage in stages):
            found.append(Finding("missing_write", f"{table} {key}: {'; '.join(wrong)}"))
        elif wrong:
            found.append(Finding("wrong_argument", f"{table} {key}: {'; '.join(wrong)}"))
        elif key != other:
            found.append(Finding("wrong_argument", f"{table} {key} should be {other}"))
    found += [Finding("extra_write", f"{table} {key} was created") for key in sorted(made)]
    found += [Finding("missing_write", f"{table} {key} was not created") for key in sorted(due)]
    return found


def _unlike(record: Record, goal: Record) -> int:
    return sum(record.get(field) != goal.get(field) for field in record.keys() | goal.keys())
