"""Python callables as users and agents: by entry point or by ``module:function``."""

from __future__ import annotations

import sys
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
        return found[name].load()
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        value: Any = import_module(module)
    except ImportError as error:
        raise UsageError(f"{name}: {error}") from None
    for part in attribute.split("."):
        value = getattr(value, part, None)
    if value is None or not (callable(value) or hasattr(value, "new")):
        raise UsageError(f"{name}: the module has no such function")
    return value
