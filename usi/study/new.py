"""``usi study new``: a folder with settings and a consent text to fill in."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from string import Template

from usi.errors import UsageError
from usi.study.settings import STUDY

_IGNORED = "study.sqlite*\n.server.lock\n"


def new_study(
    folder: Path,
    *,
    domain: str,
    agent: str,
    people: int,
    each: int,
    subset: int | None,
) -> list[Path]:
    """Write ``study.toml`` and ``consent.md`` into a new folder; what was written.

    Raises
    ------
    UsageError
        Where there is a study already.
    """
    if (folder / STUDY).exists():
        raise UsageError(f"{folder / STUDY} exists; a new study needs a folder of its own")
    shipped = resources.files("usi.study").joinpath("files")
    settings = Template(shipped.joinpath("study.toml").read_text("utf-8")).substitute(
        domain=_quoted(domain),
        agent=_quoted(agent),
        people=people,
        each=each,
        subset=""
        if subset is None
        else f"subset = {subset}                      "
        "# so many of them, in proportion to their difficulty\n",
        name=_name(folder),
    )
    made = {
        STUDY: settings,
        "consent.md": shipped.joinpath("consent.md").read_text("utf-8"),
        ".gitignore": _IGNORED,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in made]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _name(folder: Path) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in folder.name)
    return plain.strip("-._")[:80] or "people"
