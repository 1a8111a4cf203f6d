"""Settings of a workspace: ``usi.toml``, or ``[tool.usi]`` in ``pyproject.toml``.

Command line over file over default. Unknown keys are errors with a suggestion, since a typing
error that is silently ignored is a wrong score.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from usi.errors import InputError, unknown_name


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScoreSettings(_Table):
    """``[score]``: the options of ``usi score`` by the same names, with underscores."""

    human: str | None = Field(None, description="path, or a name under human_corpus/")
    surveys: str | None = Field(None, description="folder, or none")
    profile: str | None = None
    difficulty: str | None = Field(None, description="frozen, none, self or a file")
    run_ids: Literal["auto", "suffix", "none"] | None = None
    human_source: Literal["human", "simulated"] | None = None
    domain: str | None = None
    format: str | None = None
    max_record: str | int | None = None
    seed: int | None = None
    # What only the profile robust knows.
    design: Literal["auto", "paired", "unpaired"] | None = None
    tasks: Literal["all", "common"] | None = None
    human_runs: tuple[str, ...] = ()
    sim_runs: tuple[str, ...] = ()
    human_where: tuple[str, ...] = ()
    sim_where: tuple[str, ...] = ()
    cluster: str | None = Field(None, description="task, participant or a column")
    group: str | None = None
    strata: str | None = None
    by: tuple[str, ...] = ()
    success_at: float | None = None
    other_agent: bool = False
    survey_design: Literal["same-transcript", "same-task"] | None = None
    c2st: Literal["off", "fast", "full"] | None = None
    replicates: int | None = None


class FeaturesSettings(_Table):
    """``[features]``: the options of ``usi features``."""

    profile: str | None = None
    domain: str | None = None
    format: str | None = None
    max_record: str | int | None = None


class LoadSettings(_Table):
    """``[load]``: how transcripts are read, for every verb; ``[load.map]`` names columns."""

    user_role: str | None = None
    user_speaker: str | None = None
    flip: bool = False
    map: dict[str, str] = Field(default_factory=dict)


class DemoSettings(_Table):
    """``[demo]``: the options of ``usi demo``."""

    output: str | None = None
    seed: int | None = None


class Settings(_Table):
    """The whole file. ``[gate]`` holds criteria as a criteria file does."""

    score: ScoreSettings = ScoreSettings()
    features: FeaturesSettings = FeaturesSettings()
    demo: DemoSettings = DemoSettings()
    load: LoadSettings = LoadSettings()
    gate: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class Workspace:
    """Where the settings were found; `file` is ``None`` where there are none."""

    root: Path
    file: Path | None
    settings: Settings

    def path(self, value: str | None) -> str | None:
        """A path of the settings file is relative to the file, not to the working folder."""
        if value is None or self.file is None or Path(value).is_absolute():
            return value
        beside = self.root / value
        return str(beside) if beside.exists() else value


def find_workspace(start: Path | None = None) -> Workspace:
    """Settings of the nearest folder upwards that has them; defaults where none has.

    Raises
    ------
    InputError
        For a file that is no TOML, a wrong type or an unknown key (with near matches).
    """
    start = Path.cwd() if start is None else start
    for folder in (start, *start.parents):
        own = folder / "usi.toml"
        if own.is_file():
            return Workspace(folder, own, _checked(_read(own), own.name))
        project = folder / "pyproject.toml"
        if project.is_file():
            table = _read(project).get("tool", {}).get("usi")
            if table is not None:
                return Workspace(folder, project, _checked(table, project.name, "tool.usi."))
    return Workspace(start, None, Settings())


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"can't be read as TOML ({error})", file=path.name) from error


def _checked(table: Any, file: str, prefix: str = "") -> Settings:
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise _explained(error, file, prefix) from None


def _explained(error: ValidationError, file: str, prefix: str) -> InputError:
    lines = []
    for problem in error.errors(include_url=False):
        place = [str(part) for part in problem["loc"]]
        if problem["type"] == "extra_forbidden":
            model: type[BaseModel] = Settings
            for part in place[:-1]:
                inner = model.model_fields[part].annotation
                model = inner if isinstance(inner, type) and issubclass(inner, _Table) else model
            unknown = unknown_name("key", place[-1], list(model.model_fields))
            lines.append(f"{prefix}{'.'.join(place)}: {unknown}")
        else:
            lines.append(f"{prefix}{'.'.join(place)}: {problem['msg']}")
    return InputError("; ".join(lines), file=file)
