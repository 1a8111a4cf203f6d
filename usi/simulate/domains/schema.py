"""Tools: from a typed function to its JSON schema and to checked arguments."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from usi.errors import InputError
from usi.simulate.domains.kit import FREE_TEXT, ToolError


@dataclass(frozen=True)
class Tool:
    """One tool of a domain.

    Attributes
    ----------
    schema
        In OpenAI's function form, derived from types and docstring.
    free
        Arguments whose wording is not graded.
    """

    name: str
    write: bool
    function: Callable[..., Any]
    model: type[BaseModel]
    schema: Mapping[str, Any]
    free: frozenset[str]

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as the function takes them.

        Raises
        ------
        ToolError
            One is missing, unknown or of another type; the text names each.
        """
        try:
            found = self.model.model_validate(dict(arguments), strict=True)
        except ValidationError as error:
            parts = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
            raise ToolError(f"{self.name}: " + "; ".join(parts)) from None
        return {name: getattr(found, name) for name in found.model_fields_set}


def tools_of(modules: Iterable[ModuleType], *, file: str) -> dict[str, Tool]:
    """Every marked function of the modules, in the order of their source.

    Raises
    ------
    InputError
        There is none, or one lacks a type or a docstring.
    """
    found = {
        name: _tool(name, function, file)
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function) and getattr(function, "__usi_tool__", None)
    }
    if not found:
        raise InputError("no function is marked with @read or @write", file=file)
    return found


def _tool(name: str, function: Callable[..., Any], file: str) -> Tool:
    parameters = list(inspect.signature(function).parameters.values())
    hints = typing.get_type_hints(function, include_extras=True)
    if not parameters:
        raise InputError("the first parameter of a tool is the database", file=file, field=name)
    text = inspect.getdoc(function)
    if not text:
        raise InputError("a tool needs a docstring: agents read it", file=file, field=name)
    told = _parameter_docs(text)
    fields: dict[str, Any] = {}
    free = set()
    for parameter in parameters[1:]:
        if parameter.name not in hints:
            raise InputError(f"parameter {parameter.name} has no type", file=file, field=name)
        hint = hints[parameter.name]
        if FREE_TEXT in getattr(hint, "__metadata__", ()):
            free.add(parameter.name)
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hint, Field(default, description=told.get(parameter.name)))
    model = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    schema = {
        "type": "function",
        "function": {
            "name": name,
            "description": " ".join(text.split("\n\n")[0].split()),
            "parameters": _plain(model.model_json_schema()),
        },
    }
    write = getattr(function, "__usi_tool__") == "write"  # noqa: B009 (mypy knows no such name)
    return Tool(name, write, function, model, schema, frozenset(free))


def _plain(schema: Any) -> Any:
    """Without the titles that pydantic adds; a parameter named title stays."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _plain(part) for name, part in value.items()}
        if key == "properties"
        else _plain(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def _parameter_docs(text: str) -> dict[str, str]:
    """What a numpydoc section Parameters says of each parameter."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    told: dict[str, str] = {}
    name = ""
    for line in section[1].splitlines() if section else ():
        if line and not line[0].isspace():
            name = line.split(":")[0].strip()
        elif name and line.strip():
            told[name] = f"{told[name]} {line.strip()}" if name in told else line.strip()
    return told
