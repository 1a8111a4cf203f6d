"""Which files a human reference consists of: a path, or a name under ``human_corpus/``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from usi.errors import InputError
from usi.load.labels import simulator_label

FOLDER = "human_corpus"
MANIFEST = "manifest.toml"
SURVEYS = "survey_data"
STDIN = "-"


@dataclass(frozen=True)
class Reference:
    """A human reference on disk.

    Attributes
    ----------
    name
        From its manifest, else from its file or folder name.
    paths
        What to load.
    surveys
        The ``survey_data/`` beside it, where there is one.
    synthetic, licence, research_only, redistribute
        From its manifest; cautious defaults are the caller's business.
    """

    name: str
    paths: tuple[Path, ...]
    surveys: Path | None = None
    synthetic: bool = False
    licence: str | None = None
    research_only: bool = False
    redistribute: bool = True


def workspace_folder(start: Path | None = None) -> Path | None:
    """The nearest ``human_corpus/`` at or above a folder (default: the working folder)."""
    start = Path.cwd() if start is None else start
    for folder in (start, *start.parents):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return None


def corpus_names(start: Path | None = None) -> tuple[str, ...]:
    """Names of the references of the workspace, sorted."""
    folder = workspace_folder(start)
    if folder is None:
        return ()
    return tuple(sorted(p.name for p in folder.iterdir() if p.is_dir() and p.name[0] != "."))


def resolve(corpus: str | Path, *, start: Path | None = None) -> Reference:
    """Find a reference.

    Parameters
    ----------
    corpus
        A file or folder, or the name of a folder under ``human_corpus/`` of the workspace. A
        path that exists goes before a name.
    start
        Where to look for the workspace upwards; default: the working folder.

    Raises
    ------
    InputError
        Where there is neither, with near matches, or where its manifest can't be read.
    """
    path = Path(corpus)
    if str(corpus) == STDIN:
        return Reference(name="stdin", paths=(path,))
    if path.exists():
        return _from_path(path)
    folder = workspace_folder(start)
    name = str(corpus)
    # A name is one folder name: nothing that leads out of human_corpus/.
    if folder is not None and path.name == name and name not in ("", ".", ".."):
        found = folder / name
        if found.is_dir():
            return _from_path(found)
    raise InputError(_not_found(name, corpus_names(start)), file=name)


def _not_found(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    listed = f" References of this workspace: {', '.join(known)}." if known else ""
    return f"there is no such file or folder, nor a {FOLDER}/{name[:80]}/{hint}{listed}"


def _from_path(path: Path) -> Reference:
    home = path if path.is_dir() else path.parent
    # Of a folder: inside it, or beside it.
    surveys = next((p for p in (home / SURVEYS, path.parent / SURVEYS) if p.is_dir()), None)
    manifest = home / MANIFEST
    data = _read(manifest) if manifest.is_file() else {}
    paths: tuple[Path, ...] = (path,)
    if path.is_dir() and data.get("sessions"):
        paths = tuple(_member(home, name, manifest) for name in _names(data["sessions"], manifest))
    default = path.resolve().name if path.is_dir() else simulator_label(path.name)
    return Reference(
        name=_text(data, "name", manifest) or default,
        paths=paths,
        surveys=surveys,
        synthetic=_flag(data, "synthetic", False, manifest),
        licence=_text(data, "licence", manifest),
        research_only=_flag(data, "research_only", False, manifest),
        redistribute=_flag(data, "redistribute", True, manifest),
    )


def _read(manifest: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"can't be read as TOML ({error})", file=str(manifest)) from error


def _names(value: Any, manifest: Path) -> Iterable[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise InputError(
            "must be a file name or a list of them", file=str(manifest), field="sessions"
        )
    return names


def _member(home: Path, name: str, manifest: Path) -> Path:
    path = home / name
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise InputError(
            f"{name!r} leads out of the corpus folder", file=str(manifest), field="sessions"
        )
    if not path.exists():
        raise InputError(f"there is no {name!r} here", file=str(manifest), field="sessions")
    return path


def _text(data: dict[str, Any], key: str, manifest: Path) -> str | None:
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError("must be a text", file=str(manifest), field=key)
    return value or None


def _flag(data: dict[str, Any], key: str, default: bool, manifest: Path) -> bool:
    value = data.get(key, default)
    if not isinstance(value, bool):
        raise InputError("must be true or false", file=str(manifest), field=key)
    return value
