"""Python callables as users and agents: by entry point or by ``module:function``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from usi.errors import UsageError, unknown_name


def find_callable(name: str, group: str) -> Any:
    """What an entry point or ``module:function`` names; nothing is imported that was not named.

    Parameters
    ----------
    name
        Name of an entry point of the group, or ``module:attribute``; modules of the working
        folder are found, too.
    group
        ``usi.users`` or ``usi.agents``.

    Raises
    ------
    UsageError
        Where there is no such thing, with near matches for entry points.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        found = {point.name: point for point in entry_points(group=group)}
        if name not in found:
            raise unknown_name(f"entry point of {group}", name, [*sorted(found), "module:function"])
        return _run(found[name].load, name)
    if not module or not attribute:
        raise UsageError(f"{name}: write module:function, or the name of an entry point of {group}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    value = _run(lambda: import_module(module), name)
    for part in attribute.split("."):
        value = getattr(value, part, None)
    if value is None or not (callable(value) or hasattr(value, "new")):
        raise UsageError(f"{name}: the module has no such function")
    return value


def _run(load: Callable[[], Any], name: str) -> Any:
    """Import somebody else's module, which may raise anything."""
    try:
        return load()
    except (Exception, SystemExit) as error:
        what = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"{name} can't be imported: {what}") from error
