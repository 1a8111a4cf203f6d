"""From the options that `usi.options` declares to flags of the command line, and back to values.

A verb names groups of options as types of its parameters::

    @flags
    def command(files: Files, own: ConvertOptions, reading: LoadOptions) -> None: ...

`flags` puts a flag for every option in their place, and gives the verb finished groups: the
command line goes over ``usi.toml``, the file over the default. ``Annotated[Group, only("force")]``
and ``Annotated[Group, without("name")]`` offer some of a group; the others keep their defaults.
``Given[Group]`` gives what the command line says, for a verb that has to look at it first.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import typer

from usi.options import Option, declared, default_of, flag_of, type_of

G = TypeVar("G")

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...", help="Transcript files or folders; - reads stdin.", show_default=False
    ),
]


@dataclass(frozen=True)
class Chosen:
    """Which options of a group a verb offers."""

    names: frozenset[str]
    wanted: bool

    def offers(self, name: str) -> bool:
        """Whether the option is one of them."""
        return (name in self.names) is self.wanted


def only(*names: str) -> Chosen:
    """These options of a group."""
    return Chosen(frozenset(names), True)


def without(*names: str) -> Chosen:
    """All options of a group but these."""
    return Chosen(frozenset(names), False)


@dataclass(frozen=True)
class Given(Generic[G]):
    """What the command line says of a group: values by name, only of the flags that were used."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class Flag:
    """One flag of a verb: which option of which group it is, and what typer is told of it."""

    parameter: str
    group: type[Any]
    name: str
    annotation: Any
    default: Any

    @property
    def option(self) -> Option:
        """Its declaration."""
        return declared(self.group)[self.name]


def made_flags(verb: Callable[..., Any]) -> tuple[Flag, ...]:
    """Every flag of a verb that `flags` has made, in the order of their declaration."""
    found: tuple[Flag, ...] = getattr(verb, "made_flags", ())
    return found


def flags(verb: Callable[..., None]) -> Callable[..., None]:
    """Make flags out of the groups of options that a verb's parameters are of."""
    return flags_of(None)(verb)


def flags_of(table: str | None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `flags`, for a verb whose options may stand in a table of ``usi.toml``."""
    return functools.partial(_make, table=table)


def _make(verb: Callable[..., None], *, table: str | None) -> Callable[..., None]:
    shape = inspect.signature(verb, eval_str=True)
    made: list[Flag] = []
    parameters: list[inspect.Parameter] = []
    raw: dict[str, bool] = {}
    for own in shape.parameters.values():
        group, offers, as_given = _group(own.annotation)
        if group is None:
            parameters.append(own.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        raw[own.name] = as_given
        for name in declared(group):
            if offers(name):
                made.append(Flag(own.name, group, name, *_typer(group, name)))
    parameters += [
        inspect.Parameter(
            flag.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=flag.default,
            annotation=flag.annotation,
        )
        for flag in made
    ]

    @functools.wraps(verb)
    def wrapper(**given: Any) -> None:
        from usi.cli.settings import filled

        said: dict[str, dict[str, Any]] = {name: {} for name in raw}
        groups = {flag.parameter: flag.group for flag in made}
        for flag in made:
            value = given.pop(flag.name)
            if value != flag.default and value not in ([], ()):
                said[flag.parameter][flag.name] = _value(flag, value)
        for parameter, values in said.items():
            group = groups[parameter]
            given[parameter] = Given(values) if raw[parameter] else filled(group, values, table)
        verb(**given)

    wrapper.__signature__ = shape.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {one.name: one.annotation for one in parameters}
    wrapper.made_flags = tuple(made)  # type: ignore[attr-defined]
    return wrapper


def _group(hint: Any) -> tuple[type[Any] | None, Callable[[str], bool], bool]:
    """Group of a parameter, which of its options are offered, and whether as they were given."""
    offers: Callable[[str], bool] = lambda name: True  # noqa: E731
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        for note in notes:
            if isinstance(note, Chosen):
                offers = note.offers
    as_given = get_origin(hint) is Given
    if as_given:
        (hint,) = get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint) and declared(hint):
        return hint, offers, as_given
    return None, offers, False


def _typer(group: type[Any], name: str) -> tuple[Any, Any]:
    """Annotation and default of a flag, for typer."""
    about, default = declared(group)[name], default_of(group, name)
    kind, several = _kind(type_of(group, name), f"{group.__name__}_{name}")
    if about.parse is not None:
        kind, several = str, False
    texts = about.flags or (flag_of(name),)
    if about.off is not None:
        texts = (f"{texts[0]}/{about.off}", *texts[1:])
    info = typer.Option(
        *texts,
        metavar=about.metavar,
        help=about.help,
        min=about.least,
        max=about.most,
        show_default=about.shown,
        rich_help_panel=about.panel or None,
    )
    noted: Any = Annotated  # made here, so no type that a checker could know
    many: Any = list
    if default is MISSING:
        return noted[many[kind] if several else kind, info], inspect.Parameter.empty
    if about.shown:
        shown = kind(default) if isinstance(kind, type) and issubclass(kind, StrEnum) else default
        return noted[kind, info], shown
    if kind is bool and about.off is None:
        return noted[bool, info], False
    return noted[(many[kind] if several else kind) | None, info], None


def _kind(hint: Any, name: str) -> tuple[Any, bool]:
    """What typer reads a value as, and whether there may be several."""
    if get_origin(hint) in (Union, types.UnionType):
        kept = [part for part in get_args(hint) if part is not type(None)]
        return _kind(kept[0], name)
    if get_origin(hint) is tuple:
        return get_args(hint)[0], True
    if get_origin(hint) is Literal:
        words = get_args(hint)
        return StrEnum(name, {word.upper().replace("-", "_"): word for word in words}), False
    return hint, False


def _value(flag: Flag, value: Any) -> Any:
    """From what typer read to the value of the option."""
    if flag.option.parse is not None:
        return flag.option.parse(value)
    if isinstance(value, StrEnum):
        return value.value
    return tuple(value) if isinstance(value, list) else value
