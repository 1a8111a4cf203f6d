"""Write the keywords of the functions in usi/api.py from usi/options.py.

A function of usi/api.py names the groups of options that are its keywords in a comment of its
signature, and the keywords follow until the comment ``# end of options``::

    def load(
        transcripts: Transcripts,
        *,
        # options: LoadOptions
        format: str | None = None,
        # end of options
    ) -> Loaded:

``Group`` stands for all options of a class of usi/options.py, ``Group.name`` for one of them. The
keywords and their entries in the docstring, which stand behind those of the other parameters, are
made here; everything else is written by hand.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, Union, get_args, get_origin

from usi import options
from usi.options import Option, declared, default_of, type_of

MODULE = Path(__file__).resolve().parents[1] / "usi" / "api.py"
BEGIN, END = "    # options: ", "    # end of options\n"
BUILTINS = ("format", "map", "print")
WIDTH = 100


def chosen(words: str) -> dict[str, type[Any]]:
    """Options of the groups that a comment names, each with its group, in this order."""
    found: dict[str, type[Any]] = {}
    for word in re.split(r",\s*", words.strip()):
        group_name, _, name = word.partition(".")
        group = getattr(options, group_name)
        found |= {one: group for one in declared(group) if name in ("", one) and one not in found}
    return found


def annotation(hint: Any) -> str:
    """A type as it is written in the signature; what takes a tuple takes any sequence."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(annotation(part) for part in inner)
    if origin is Literal:
        return f"Literal[{', '.join(repr(word) for word in inner)}]".replace("'", '"')
    if origin is tuple:
        return f"Sequence[{annotation(inner[0])}]"
    if origin is not None and issubclass(origin, Mapping):
        return f"Mapping[{', '.join(annotation(part) for part in inner)}] | None"
    return "None" if hint is types.NoneType else str(hint.__name__)


def default(value: Any) -> str:
    """A default as it is written in the signature."""
    if isinstance(value, Mapping):
        return "None"
    if isinstance(value, int) and value >= 2**20:
        return f"{value // 2**20} * 2**20"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def keyword(group: type[Any], name: str) -> str:
    """One keyword of the signature."""
    line = f"    {name}: {annotation(type_of(group, name))} = {default(default_of(group, name))},"
    return line + ("  # noqa: A002" if name in BUILTINS else "") + "\n"


def entry(about: Option, name: str) -> str:
    """One keyword of the docstring."""
    text = " ".join(part for part in (about.help, about.more) if part)
    lines = wrap(text, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in (f"    {name}", *(f"        {line}" for line in lines)))


def documented(function: str, made: Mapping[str, type[Any]]) -> str:
    """A function with the entries of its docstring made anew."""
    head, rule, rest = function.partition("    Parameters\n    ----------\n")
    end = r'(\n(?=    [A-Z][a-z]+\n    -{4,})|(?=    """))'
    parameters, blank, tail = re.split(end, rest, maxsplit=1)
    parts = re.split(r"(?m)^(?=    \w)", parameters)
    kept = [part for part in parts if part.split("\n")[0].strip() not in made]
    own = [entry(declared(group)[name], name) for name, group in made.items()]
    return head + rule + "".join([*kept, *own]) + blank + tail


def render(module: str) -> str:
    """The module with its keywords and their entries made anew."""
    parts = re.split(r"(?m)^(?=def |class |# )", module)
    for place, part in enumerate(parts):
        if not part.startswith("def ") or BEGIN not in part:
            continue
        head, _, rest = part.partition(BEGIN)
        words, _, rest = rest.partition("\n")
        _, _, tail = rest.partition(END)
        made = chosen(words)
        keywords = "".join(keyword(group, name) for name, group in made.items())
        parts[place] = documented(f"{head}{BEGIN}{words}\n{keywords}{END}{tail}", made)
    return "".join(parts)


if __name__ == "__main__":
    MODULE.write_text(render(MODULE.read_text(encoding="utf-8")), encoding="utf-8")
