"""Domains: folders of tables, tools, a rule book and tasks, with their grading.

``load_domain("service_desk")`` gives the embedded one; ``load_domain("path/to/folder")`` a domain
of one's own. The latter runs the folder's ``tools.py``, and only then: no folder is loaded that
was not named.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from usi.errors import unknown_name
from usi.simulate.domains.definition import FILE
from usi.simulate.domains.folder import FolderDomain
from usi.simulate.domains.kit import Database, FreeText, ToolError, read, write
from usi.simulate.domains.trajectory import Called, Trajectory

__all__ = [
    "Called",
    "Database",
    "FolderDomain",
    "FreeText",
    "ToolError",
    "Trajectory",
    "domain_names",
    "load_domain",
    "read",
    "write",
]


def _root() -> Path:
    return Path(str(files("usi.simulate.domains")))


def domain_names() -> tuple[str, ...]:
    """Names of the embedded domains."""
    return tuple(sorted(path.parent.name for path in _root().glob(f"*/{FILE}")))


def load_domain(name: str | Path) -> FolderDomain:
    """Load an embedded domain by name, or any by the path of its folder.

    Parameters
    ----------
    name
        A name of `domain_names`, or a path: text with a separator, or an existing folder.

    Raises
    ------
    UsageError
        There is neither a domain nor a folder of this name.
    InputError
        The folder holds something wrong.
    """
    if str(name) in domain_names():
        return FolderDomain(_root() / str(name), str(name))
    folder = Path(name)
    if folder.is_dir() or folder.name != str(name):
        return FolderDomain(folder, str(name).rstrip("/\\"))
    raise unknown_name("domain", str(name), domain_names())
