"""Whether the rules of a domain speak of what there is: a misspelt one would never be broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from usi.errors import InputError, unknown_name
from usi.simulate.domains.definition import FILE, Definition
from usi.simulate.domains.kit import Tables
from usi.simulate.domains.rules import (
    AtMost,
    Before,
    Confirmation,
    InOrder,
    Never,
    Own,
    Rule,
    Transitions,
)
from usi.simulate.domains.tasks import Tool

ANY = "*"


def wrong_names(
    definition: Definition, tools: Mapping[str, Tool], tables: Tables, shown: str
) -> list[InputError]:
    """Every name in ``domain.toml`` that is no tool, argument or table of the domain."""
    found, seen = [], set()
    for rule in definition.rule:
        texts = [*_tools(rule, tools), *_arguments(rule, tools), *_start(rule, tables)]
        if rule.id in seen:
            texts.append("another rule has this id")
        seen.add(rule.id)
        found += [InputError(t, file=f"{shown}/{FILE}", field=f"rule {rule.id}") for t in texts]
    for kind in ("ignored", "unordered"):
        for name in getattr(definition.compare, kind):
            table, dot, _ = name.partition(".")
            if table not in tables or (kind == "unordered" and not dot):
                text = f"{name}: write table.field; tables are {', '.join(sorted(tables))}"
                found.append(InputError(text, file=f"{shown}/{FILE}", field=f"compare.{kind}"))
    return found


def _tools(rule: Rule, tools: Mapping[str, Tool]) -> Iterator[str]:
    for field in ("tools", "needs", "exempt"):
        for name in getattr(rule, field, ()):
            anything = field == "tools" and isinstance(rule, Before | Never) and name == ANY
            if name not in tools and not anything:
                yield f"{field}: {unknown_name('tool', name, list(tools))}"


def _arguments(rule: Rule, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Arguments that a rule looks at have to be arguments of each tool that it is about."""
    match rule:
        case Confirmation() | Own():
            return
        case Before():
            wanted = {"same": list(rule.same), "when": list(rule.when)}
            for name in rule.needs:
                yield from _lacks(name, tools, {"same": list(rule.same.values())})
        case Never():
            wanted = {"when": list(rule.when)}
        case AtMost():
            wanted = {"per": [rule.per] if rule.per else []}
        case InOrder() | Transitions():
            wanted = {"per": [rule.per], "value": [rule.value]}
    for name in rule.tools:
        yield from _lacks(name, tools, wanted)


def _lacks(name: str, tools: Mapping[str, Tool], wanted: Mapping[str, list[str]]) -> Iterator[str]:
    if name not in tools:
        return
    known = list(tools[name].model.model_fields)
    for field, arguments in wanted.items():
        for argument in arguments:
            if argument not in known:
                yield f"{field}: {unknown_name(f'argument of {name}', argument, known)}"


def _start(rule: Rule, tables: Tables) -> Iterator[str]:
    if not isinstance(rule, Transitions):
        return
    table, _, field = rule.start.partition(".")
    records = tables.get(table, {}).values()
    if not field or table not in tables or (records and not any(field in r for r in records)):
        yield f"start: {rule.start!r} is no table.field of this domain"
