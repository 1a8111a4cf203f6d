"""Write docs/settings.md and the tables of options in docs/commands.md from usi/options.py."""

from __future__ import annotations

import re
import types
from dataclasses import MISSING
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from usi.cli.flags import Flag, made_flags
from usi.cli.settings import TABLES, keys_of
from usi.cli.verbs import VERBS
from usi.options import (
    LOG_KEYS,
    MAX_RECORD,
    BootstrapOptions,
    CallOptions,
    Delivery,
    LoadOptions,
    Option,
    declared,
    default_of,
    flag_of,
    type_of,
)

COMMANDS = Path(__file__).with_name("commands.md")
SETTINGS = Path(__file__).with_name("settings.md")

SHARED: dict[str, type[Any]] = {
    "Reading": LoadOptions,
    "Output and messages": Delivery,
    "Success and its bounds": BootstrapOptions,
    "Calls of models": CallOptions,
}
BEGIN, END = "<!-- made by docs/build_options.py from usi/options.py -->", "<!-- end of options -->"
HEAD = """# Settings

<!-- made by docs/build_options.py from usi/options.py; do not edit -->

`usi.toml` in the workspace, or `[tool.usi]` in `pyproject.toml`: the nearest one upwards from the
working folder. The command line goes over the file, the file over the defaults. Unknown keys are
errors with a suggestion. Paths in it are relative to the file. A key has the name of its flag, with
underscores, and of the keyword of `usi.load`, `usi.features` and `usi.score`.

`[load]` is of every verb that reads transcripts; the other tables are of the verb of their name and
go over it. `[gate]` holds criteria as [a criteria file](gate.md) does.
"""


LOGS = """## Log configurations

A file of its own (`usi score --log-config FILE.toml`, `usi logs ... --config FILE.toml`);
`usi logs suggest FILES` drafts one. A key `read.epoch` is `epoch` in the table `[read]`.

| key | meaning |
|---|---|"""


def settings() -> str:
    """The page of the settings."""
    lines = [HEAD]
    for table in TABLES:
        lines += [f"## [{table}]", "", "| key | value | default | meaning |", "|---|---|---|---|"]
        for name, (group, about) in keys_of(table).items():
            lines.append(_row(f"`{name}`", group, name, about))
        lines.append("")
    lines += [LOGS, *(f"| `{key}` | {text} |" for key, text in LOG_KEYS.items())]
    return "\n".join(lines).rstrip() + "\n"


def commands(page: str) -> str:
    """The page of the commands with its tables made anew."""
    made = {verb.name: _verb(verb.name) for verb in VERBS} | {"": _shared()}
    parts = re.split(r"(?m)^(?=## )", page)
    return "".join(_with_table(part, made) for part in parts)


def _with_table(part: str, made: dict[str, str]) -> str:
    named = re.match(r"## (?:usi ([a-z-]+)|Options that several verbs share)\n", part)
    if named is None:
        return part
    block = f"{BEGIN}\n\n{made[named.group(1) or '']}\n{END}\n"
    if BEGIN in part:
        return re.sub(f"{BEGIN}.*?{END}\n", lambda _: block, part, flags=re.DOTALL)
    return f"{part.rstrip()}\n\n{block}\n"


def _shared() -> str:
    parts = []
    for title, group in SHARED.items():
        parts += [f"*{title}*", "", "| option | value | default | meaning |", "|---|---|---|---|"]
        parts += [_row(_flags(name, about), group, name, about)
                  for name, about in declared(group).items()]  # fmt: skip
        parts.append("")
    return "\n".join(parts)


def _verb(name: str) -> str:
    verb = next(one for one in VERBS if one.name == name)
    parts = []
    for words, function in verb.functions().items():
        flags = made_flags(function)
        own = [flag for flag in flags if flag.group not in SHARED.values()]
        if len(verb.functions()) > 1 and flags:
            parts += [f"*usi {words}*", ""]
        if own:
            parts += ["| option | value | default | meaning |", "|---|---|---|---|"]
            parts += [_row(_flags(f.name, f.option), f.group, f.name, f.option) for f in own]
            parts.append("")
        parts += _mentioned(flags)
    return "\n".join(parts) if parts else "No options.\n"


def _mentioned(flags: tuple[Flag, ...]) -> list[str]:
    """Options of the groups that several verbs share, by their flags alone."""
    lines = []
    for title, group in SHARED.items():
        found = [_flags(flag.name, flag.option) for flag in flags if flag.group is group]
        if found:
            lines += [f"{title}: {', '.join(found)}.", ""]
    return lines


def _flags(name: str, about: Option) -> str:
    texts = [*(about.flags or (flag_of(name),)), *([about.off] if about.off else [])]
    return ", ".join(f"`{text}`" for text in texts)


def _row(first: str, group: type[Any], name: str, about: Option) -> str:
    meaning = " ".join(text for text in (about.help, about.more) if text)
    cells = (first, _value(type_of(group, name), about), _default(group, name), meaning)
    plain = (cell.replace("|", chr(92) + "|").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(plain)} |"


def _value(hint: Any, about: Option) -> str:
    """What may be given."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is Literal:
        return ", ".join(f"`{word}`" for word in get_args(hint))
    if hint is bool:
        return "yes or no"
    several = get_origin(hint) is tuple
    text = about.metavar or getattr(get_args(hint)[0] if several else hint, "__name__", "text")
    if about.least is not None:
        text += f" from {about.least:g}"
    if about.most is not None:
        text += f" to {about.most:g}"
    return f"{text}, several times" if several and about.parse is None else text


def _default(group: type[Any], name: str) -> str:
    value = default_of(group, name)
    if value is MISSING:
        return "must be given"
    if value is None or value in ((), {}, ""):
        return "none"
    if value == MAX_RECORD:
        return f"`{value // 2**20}MB`"
    return ("yes" if value else "no") if isinstance(value, bool) else f"`{value}`"


if __name__ == "__main__":
    SETTINGS.write_text(settings(), encoding="utf-8")
    COMMANDS.write_text(commands(COMMANDS.read_text(encoding="utf-8")), encoding="utf-8")
