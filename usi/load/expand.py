"""From what the user names to the files that are read."""

from __future__ import annotations

from pathlib import Path

from usi.errors import InputError
from usi.load.source import STDIN, Source, file_source, stdin_source, walk

_BESIDE = (
    "license", "licence", "readme", "notice", "changelog", "citation", "datasheet", "contributing",
)  # fmt: skip
_BESIDE_SUFFIXES = (".md", ".toml", ".rst")
_SURVEY = "survey_comparable_"


def expand(path: str | Path) -> list[Source]:
    """The files behind one argument, folders and archives walked in sorted order.

    Documentation that lies beside data (licence, readme, manifest) and survey files are passed
    over; everything else must be data.
    """
    name = str(path)
    if name == STDIN:
        return [stdin_source()]
    path = Path(path)
    if path.is_dir():
        return _of_folder(path, name)
    if not path.exists():
        raise InputError("there is no such file or folder", file=name)
    return [file_source(path, name)]


def is_beside_data(filename: str) -> bool:
    """Whether a file of a folder is no data by its name: documentation, or a survey file."""
    lower = filename.lower()
    return (
        lower.startswith((*_BESIDE, _SURVEY))
        or lower.endswith(_BESIDE_SUFFIXES)
        or lower.startswith(".")
    )


def _of_folder(folder: Path, name: str) -> list[Source]:
    sources = [
        file_source(path, shown, name) for path, shown in walk(folder, name)
        if not is_beside_data(path.name)
    ]  # fmt: skip
    if not sources:
        raise InputError("the folder holds no data files", file=name)
    return sources
