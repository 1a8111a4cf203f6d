"""A domain and its tasks as tables and as JSON values."""

from __future__ import annotations

from typing import Any

from usi.report.tables import Table
from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.tasks import GoalTask


def domain_data(domain: FolderDomain) -> dict[str, Any]:
    """What a domain holds, without instructions and goals."""
    return {
        "name": domain.name,
        "title": domain.title,
        "version": domain.definition.version,
        "fingerprint": domain.fingerprint,
        "now": domain.definition.now,
        "tables": {name: len(table) for name, table in domain.database.tables.items()},
        "tools": [dict(tool) for tool in domain.tools],
        "write_tools": sorted(domain.writes),
        "rules": [rule.model_dump(mode="json") for rule in domain.definition.rule],
        "tasks": [
            {
                "id": task.id,
                "difficulty": task.difficulty,
                "refusal": task.refusal,
                "kinds": list(task.kinds),
                "requests": list(task.requests),
            }
            for task in domain.tasks
        ],
    }


def domain_tables(domain: FolderDomain) -> tuple[Table, ...]:
    """Tasks, tools and rules."""
    tasks = tuple(
        (
            task.id,
            task.difficulty,
            ", ".join([*task.kinds, *(["refusal"] if task.refusal else [])]),
            "; ".join(task.requests),
        )
        for task in domain.tasks
    )
    tools = tuple(
        (name, "write" if tool.write else "read", tool.schema["function"]["description"])
        for name, tool in domain.functions.items()
    )
    rules = tuple((rule.id, rule.kind, rule.text) for rule in domain.definition.rule)
    tables = ", ".join(f"{name} {len(t)}" for name, t in domain.database.tables.items())
    notes = (f"Tables: {tables}. Every episode takes place at {domain.definition.now}.",)
    return (
        Table(
            f"{domain.name}: {domain.title}", ("task", "level", "kinds", "requests"), tasks, notes
        ),
        Table("Tools", ("tool", "kind", "what it does"), tools),
        Table("Rules of the way", ("rule", "kind", "text"), rules),
    )


def task_data(domain: FolderDomain, task: GoalTask) -> dict[str, Any]:
    """A task whole: what the user is told, and its goal."""
    return {
        "domain": domain.name,
        "id": task.id,
        "difficulty": task.difficulty,
        "refusal": task.refusal,
        "kinds": list(task.kinds),
        "traits": list(task.traits),
        "instruction": task.instruction,
        "requests": list(task.requests),
        "facts": dict(task.facts),
        "outputs": [list(forms) for forms in task.outputs],
        "never_said": list(task.never_said),
        "goal_states": sorted(domain.goals(task).states),
        "oracle": [
            {
                "call": action.name,
                "arguments": dict(action.arguments),
                "write": action.write,
                "offer": action.offer,
            }
            for action in domain.oracle_actions(task)
        ],
        "reply": task.reply,
    }


def task_tables(domain: FolderDomain, task: GoalTask) -> tuple[Table, ...]:
    """A task in tables."""
    data = task_data(domain, task)
    about = tuple(
        (name, "; ".join(" or ".join(v) if isinstance(v, list) else str(v) for v in value)
         if isinstance(value, list) else str(value))
        for name, value in data.items()
        if name not in ("oracle", "facts", "goal_states") and value not in ([], "")
    )  # fmt: skip
    facts = tuple((name, value) for name, value in task.facts.items())
    calls = tuple(
        (
            call["call"],
            ", ".join(f"{name}={value}" for name, value in call["arguments"].items()),
            "offer" if call["offer"] else "write" if call["write"] else "read",
        )
        for call in data["oracle"]
    )
    notes = (f"{len(data['goal_states'])} goal state(s).",)
    return (
        Table(f"Task {task.id}", ("field", "value"), about),
        Table("What the user can tell", ("datum", "value"), facts),
        Table("The oracle's calls", ("tool", "arguments", "kind"), calls, notes),
    )
