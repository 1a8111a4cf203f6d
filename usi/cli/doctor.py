"""``usi doctor``: what is installed, found and wrong.

Looking at the installation and the workspace: the work of ``usi doctor``.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from usi._version import __version__
from usi.cli.console import out, printed
from usi.cli.flags import flags, only
from usi.errors import UsiError
from usi.options import Delivery
from usi.report.text import printable

State = Literal["ok", "absent", "wrong"]

EXTRAS = {
    "nlp": ("spacy", "tokens and languages"),
    "sim": ("litellm", "running simulators"),
    "logs": ("rustxes", "XES event logs"),
    "excel": ("openpyxl", "Excel workbooks"),
    "fetch": ("pooch", "fetching public corpora"),
    "study": ("starlette", "a site for studies with people"),
}
BASE = ("typer", "rich", "pydantic", "msgspec", "numpy", "polars", "pandas", "pyarrow", "scipy",
        "scikit-learn", "matplotlib", "jinja2", "junitparser")  # fmt: skip


@dataclass(frozen=True)
class SetupCheck:
    """One thing looked at: its state, and what to do where something is to be done."""

    state: State
    what: str
    detail: str
    hint: str = ""

    def to_dict(self) -> dict[str, str]:
        """The JSON form."""
        return asdict(self)


def diagnose(start: Path | None = None) -> list[SetupCheck]:
    """Everything that was looked at, in the order to read it."""
    return [*_installed(), *_extras(), *_profiles(), *_workspace(start)]


def _installed() -> Iterator[SetupCheck]:
    new_enough = sys.version_info >= (3, 11)
    yield SetupCheck(
        "ok" if new_enough else "wrong",
        "Python",
        platform.python_version(),
        "" if new_enough else "usi needs Python 3.11 or newer",
    )
    yield SetupCheck("ok", "usi", __version__)
    for name in BASE:
        try:
            yield SetupCheck("ok", name, metadata.version(name))
        except metadata.PackageNotFoundError:
            yield SetupCheck(
                "wrong", name, "not installed", "install usi again with its dependencies"
            )


def _extras() -> Iterator[SetupCheck]:
    for extra, (module, use) in EXTRAS.items():
        if find_spec(module) is None:
            hint = f"only where you need it: pip install 'usi[{extra}]'"
            yield SetupCheck("absent", f"extra {extra}", f"{use} (optional)", hint)
        else:
            yield SetupCheck("ok", f"extra {extra}", f"{use}: {module} {_version(module)}")


def _profiles() -> Iterator[SetupCheck]:
    from usi.scoring.profiles import default_profile, profile_names

    names = profile_names()
    yield SetupCheck("ok", "profiles", f"{', '.join(names)} (default {default_profile()})")


def _workspace(start: Path | None) -> Iterator[SetupCheck]:
    from usi.cli.settings import find_workspace, settings_made

    try:
        workspace = find_workspace(start)
    except UsiError as error:
        yield SetupCheck("wrong", "settings", str(error), "mend the file; the keys stand in docs")
        return
    if workspace.file is None:
        yield SetupCheck("absent", "workspace", "no usi.toml here or above", "make one: usi init")
    else:
        yield SetupCheck("ok", "settings", str(workspace.file))
        for name, text in settings_made(workspace):
            yield SetupCheck("ok", f"setting {name}", text)
    corpora = workspace.root / "human_corpus"
    names = sorted(
        entry.name
        for entry in (corpora.iterdir() if corpora.is_dir() else ())
        if entry.is_dir() and not entry.name.startswith(".")
    )
    for name in names:
        files = [path for path in (corpora / name).rglob("*") if path.is_file()]
        state: State = "ok" if files else "wrong"
        hint = "" if files else "put transcripts into it, or remove the folder"
        yield SetupCheck(state, f"human reference {name}", f"{len(files)} files", hint)
    if not names:
        yield SetupCheck(
            "absent",
            "human references",
            "none under human_corpus/",
            "put one there, or name a file with --human; usi demo needs none",
        )
    human = workspace.settings.of("score").get("human")
    if human and human not in names and not Path(workspace.path(human)).exists():
        yield SetupCheck(
            "wrong",
            "settings score.human",
            f"{human!r} is neither a path nor a name under human_corpus/",
            f"known: {', '.join(names) or 'none'}",
        )


def _version(module: str) -> str:
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        return "of unknown version"


BAD = 2


@flags
def command(
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Say what is installed, found, set and wrong, with what to do about it.

    Exit code 0 where nothing is wrong, else 2. An extra that is not installed is not wrong.

    \b
    Example:
      usi doctor
    """
    import json

    findings = diagnose()
    bad = any(item.state == "wrong" for item in findings)
    choice = printed(delivery.print)
    if choice == "json":
        data = {"ok": not bad, "findings": [item.to_dict() for item in findings]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif choice == "table":
        for item in findings:
            out(printable(f"{item.state:8} {item.what}: {item.detail}") + "\n")
            if item.hint:
                out(printable(f"{'':8} -> {item.hint}") + "\n")
    if bad:
        raise SystemExit(BAD)
