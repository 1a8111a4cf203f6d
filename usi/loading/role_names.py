"""Names of roles: however a format or a team spells them, they are read by one list."""

from __future__ import annotations

import tomllib
from collections import Counter
from importlib.resources import files
from typing import Any

DATA: dict[str, Any] = tomllib.loads(
    files("usi.loading").joinpath("roles.toml").read_text(encoding="utf-8")
)
"""Word lists and names of ``roles.toml``."""
SYNONYMS: dict[str, str] = {
    name: role for role, names in DATA["synonyms"].items() for name in names
}
"""Other names of roles, in small letters."""
USUAL = frozenset(("user", "assistant", "system", "developer", "tool", "function"))
"""Names of roles that are kept as they are."""
OTHER_ROLE = "message: another role than user and assistant"
MISSING_ROLE = "message: names no role"
MOST_NAMED = 8


def usual_name(role: Any) -> Any:
    """A role by its usual name; what is not known stays as it is.

    >>> usual_name(" Human "), usual_name("CUSTOMER"), usual_name("narrator"), usual_name(None)
    ('user', 'user', 'narrator', None)
    """
    if not isinstance(role, str) or role in USUAL:
        return role
    return SYNONYMS.get(role.strip().lower(), role)


def unknown_roles(found: Counter[str]) -> str:
    """One sentence on messages whose role is not known, for people."""
    named = [f"{name!r} ({count:,})" for name, count in found.most_common(MOST_NAMED)]
    more = f" and {len(found) - MOST_NAMED} more names" if len(found) > MOST_NAMED else ""
    return (
        f"{found.total():,} messages have a role that is not known and are not scored: "
        f"{', '.join(named)}{more}; say who the user is with --user-role NAME"
    )
