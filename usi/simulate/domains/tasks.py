"""Tasks as a domain's files write them: TOML or JSON to checked records, all mistakes at once.

Tools: from a typed function to its JSON schema and to checked arguments.
"""

from __future__ import annotations

import inspect
import re
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from usi.errors import InputError, InputErrors
from usi.reading import mistakes, read_json, read_toml
from usi.simulate.domains.kit import FREE_TEXT, ToolError
from usi.simulate.protocol import Level, Task


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
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        why = f"a type can't be read: {type(error).__name__}: {error}"
        raise InputError(why, file=file, field=name) from error
    if not parameters:
        raise InputError("the first parameter of a tool is the database", file=file, field=name)
    text = inspect.getdoc(function)
    if not text:
        raise InputError("a tool needs a docstring: agents read it", file=file, field=name)
    told = _parameter_docs(text)
    fields: dict[str, Any] = {}
    free = set()
    for parameter in parameters[1:]:
        _check_plain(parameter, file, name)
        if parameter.name not in hints:
            raise InputError(f"parameter {parameter.name} has no type", file=file, field=name)
        hint = hints[parameter.name]
        if FREE_TEXT in getattr(hint, "__metadata__", ()):
            free.add(parameter.name)
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hint, Field(default, description=told.get(parameter.name)))
    config = ConfigDict(extra="forbid", validate_default=True, protected_namespaces=())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a parameter may be called copy, or schema
            model = create_model(name, __config__=config, **fields)
            parameter_schema = _plain(model.model_json_schema())
        _check_defaults(model)
    except ValidationError as error:
        problems = "; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors())
        raise InputError(
            f"a default is of the wrong type: {problems}", file=file, field=name
        ) from None
    except Exception as error:
        why = str(error).strip().splitlines()[0]
        raise InputError(f"its types make no JSON schema: {why}", file=file, field=name) from error
    schema = {
        "type": "function",
        "function": {
            "name": name,
            "description": " ".join(text.split("\n\n")[0].split()),
            "parameters": parameter_schema,
        },
    }
    write = getattr(function, "__usi_tool__") == "write"  # noqa: B009 (mypy knows no such name)
    return Tool(name, write, function, model, schema, frozenset(free))


_TAKEN = ("model_config", "model_fields")


def _check_plain(parameter: inspect.Parameter, file: str, tool: str) -> None:
    """Refuse a parameter that no JSON object can fill."""
    why = None
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        why = "takes any number of arguments: name them one by one"
    elif parameter.kind is parameter.POSITIONAL_ONLY:
        why = "can't be given by name"
    elif parameter.name.startswith("_") or parameter.name in _TAKEN:
        why = "needs another name"
    if why:
        raise InputError(f"parameter {parameter.name} {why}", file=file, field=tool)


def _check_defaults(model: type[BaseModel]) -> None:
    """Validate each default alone, whatever other arguments are needed."""
    for name, field in model.model_fields.items():
        if not field.is_required():
            alone = create_model(name, **{name: (field.rebuild_annotation(), field.default)})  # type: ignore[call-overload]
            alone.model_validate({name: field.default}, strict=True)


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


Words = Annotated[str, Field(min_length=1, pattern=r"\S")]
"""A text that says something."""


class Step(BaseModel):
    """One call of a legal path.

    Attributes
    ----------
    id
        Name within the task, for `after` and references; the tool's name where none is given.
    call, args
        Tool and arguments; the text ``"$step.field"`` stands for a field of an earlier result.
    ask
        Facts that the agent has to ask for first.
    describe
        Clause that says what a write does, for its confirmation.
    after
        Steps that must come before. Writes without it may come in any order.
    offer
        A wrong alternative; part of no goal.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    call: str
    id: str = ""
    args: dict[str, Any] = Field(default_factory=dict)
    ask: tuple[str, ...] = ()
    describe: str = ""
    after: tuple[str, ...] = ()
    offer: bool = False

    @property
    def name(self) -> str:
        """Its id, else the name of its tool."""
        return self.id or self.call


class LegalPath(BaseModel):
    """Another legal path to a goal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: tuple[Step, ...] = ()


class TaskFile(BaseModel):
    """One task as it is written; see docs/domains.md."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    instruction: Words
    difficulty: Level
    traits: tuple[str, ...] = ()
    requests: tuple[str, ...] = Field(min_length=1)
    facts: dict[str, str] = Field(default_factory=dict)
    refusal: bool = False
    kinds: tuple[str, ...] = ()
    reply: Words
    outputs: tuple[str | tuple[str, ...], ...] = ()
    never_said: tuple[str, ...] = ()
    step: tuple[Step, ...] = ()
    path: tuple[LegalPath, ...] = ()


@dataclass(frozen=True)
class GoalTask(Task):
    """A task with what counts as reaching it.

    Attributes
    ----------
    paths
        Legal paths; the first is the oracle's.
    outputs
        What the user must be told: each entry is one text or several, any of which will do.
    never_said
        What must not be told.
    reply
        The oracle's last message.
    """

    paths: tuple[tuple[Step, ...], ...] = ()
    outputs: tuple[tuple[str, ...], ...] = ()
    never_said: tuple[str, ...] = ()
    reply: str = ""


def read_tasks(files: Sequence[Path], shown: Mapping[Path, str]) -> tuple[GoalTask, ...]:
    """Tasks of all files in their order.

    Parameters
    ----------
    files
        TOML with ``[[task]]`` tables, or JSON: a list of tasks or ``{"task": [...]}``.
    shown
        How messages name each file.

    Raises
    ------
    InputErrors
        For every task that can't be read, and every id that occurs twice.
    """
    tasks: list[GoalTask] = []
    problems: list[InputError] = []
    seen: set[str] = set()
    for file in files:
        for row, value in enumerate(_rows(file, shown[file]), start=1):
            try:
                read = TaskFile.model_validate(value)
            except ValidationError as error:
                problems += mistakes(error, shown[file], row=row)
                continue
            if read.id in seen:
                problems.append(
                    InputError(f"task id {read.id!r} twice", file=shown[file], row=row, field="id")
                )
            seen.add(read.id)
            tasks.append(_task(read))
    if problems:
        raise InputErrors(problems)
    return tuple(tasks)


def _rows(file: Path, shown: str) -> Sequence[Any]:
    value: Any = (read_toml if file.suffix == ".toml" else read_json)(file, shown=shown)
    rows = value.get("task") if isinstance(value, dict) else value
    if not isinstance(rows, list) or (isinstance(value, dict) and set(value) != {"task"}):
        raise InputError("must hold tasks and nothing else ([[task]], or a JSON list)", file=shown)
    return rows


def _task(read: TaskFile) -> GoalTask:
    return GoalTask(
        id=read.id,
        instruction=" ".join(read.instruction.split()),
        difficulty=read.difficulty,
        traits=read.traits,
        requests=read.requests,
        facts=read.facts,
        refusal=read.refusal,
        kinds=read.kinds,
        paths=(read.step, *(other.step for other in read.path)),
        outputs=tuple((o,) if isinstance(o, str) else o for o in read.outputs),
        never_said=read.never_said,
        reply=" ".join(read.reply.split()),
    )
