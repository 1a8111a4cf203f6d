"""Recorded candidates: ``simulators/NAME.toml`` says what a simulator is and where its runs are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from usi.corpora.licences import may_pass_on
from usi.corpora.manifest import LoadKeys
from usi.errors import InputError, InputErrors, UsiError, unknown_name
from usi.provenance.record import sha256_bytes
from usi.reading import read_toml

FOLDER = "simulators"
KIND = "recorded"
NEEDED: tuple[str, ...] = ("model", "provider", "prompt_sha256", "harness", "date")
"""Parts of an identity that a submission needs."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Identity(_Table):
    """``[identity]``: whoever changes one of these has another simulator."""

    model: str | None = None
    provider: str | None = None
    prompt_sha256: str | None = Field(None, description="of the prompt, or a name of its version")
    parameters: dict[str, str | int | float | bool] = Field(default_factory=dict)
    harness: str | None = Field(None, description="what ran it, with its version")
    date: str | None = Field(None, description="when the runs were made")


class CandidateFile(_Table):
    """Every key of the file."""

    kind: Literal["recorded"]
    name: str | None = None
    runs: str | list[str]
    licence: str | None = None
    redistribute: bool | None = Field(
        None, strict=True, description="whether its texts may be passed on; default: by the licence"
    )
    language: str | None = None
    note: str | None = None
    identity: Identity = Identity()
    load: LoadKeys = LoadKeys()


@dataclass(frozen=True)
class Candidate:
    """A recorded simulator.

    Attributes
    ----------
    name
        Its label.
    paths
        Its runs.
    identity
        Part -> value as text, sorted; parameters as ``parameters.NAME``.
    licence, language, load
        From its file.
    redistribute
        Whether its texts may be passed on: as its file says, else as its licence allows; without
        either they may, since a program wrote them.
    file
        The file itself.
    """

    name: str
    paths: tuple[Path, ...]
    identity: Mapping[str, str]
    licence: str | None
    language: str | None
    load: LoadKeys
    file: Path
    redistribute: bool | None = True

    @property
    def fingerprint(self) -> str:
        """Eight hex digits of the hash of the identity."""
        return fingerprint(self.identity)

    def missing(self) -> list[str]:
        """What a submission needs and the file does not say."""
        found = [f"identity.{key}" for key in NEEDED if key not in self.identity]
        return found if self.licence else [*found, "licence"]


def fingerprint(identity: Mapping[str, str]) -> str:
    """Eight hex digits of the hash of an identity.

    >>> fingerprint({"model": "m"}) == fingerprint({"model": "m"}) != fingerprint({"model": "n"})
    True
    """
    text = json.dumps(dict(sorted(identity.items())), ensure_ascii=False)
    return sha256_bytes(text.encode("utf-8", "surrogatepass"))[:8]


def find_candidate(name: str | Path, start: Path | None = None) -> Candidate | None:
    """The recorded candidate of a name (or of the path of its file); ``None`` where there is none.

    A path that exists and is no TOML goes before a name. Files of other kinds (users that can be
    run) are no recorded candidates.

    Raises
    ------
    InputError
        For a file that is one and is wrong: every unknown key and wrong value together.
    """
    path = Path(name)
    if path.is_file():
        return read_candidate(path) if path.suffix == ".toml" else None
    if path.exists() or path.name != str(name) or str(name) in ("", ".", "..", "-"):
        return None
    start = Path.cwd() if start is None else start
    for folder in (start, *start.parents):
        file = folder / FOLDER / f"{name}.toml"
        if file.is_file():
            return read_candidate(file)
    return None


def candidate_called(label: str, start: Path | None = None) -> Candidate | None:
    """The recorded candidate that has a label on scorecards: its `name`, else its file's."""
    found = find_candidate(label, start)
    if found is not None and found.name == label:
        return found
    start = Path.cwd() if start is None else start
    for folder in (start, *start.parents):
        for file in sorted((folder / FOLDER).glob("*.toml")):
            try:
                other = read_candidate(file)
            except UsiError:  # a file that nobody asked for
                continue
            if other is not None and other.name == label:
                return other
        if (folder / FOLDER).is_dir():
            break
    return None


def read_candidate(path: Path) -> Candidate | None:
    """Read the file of a candidate; ``None`` where it is of another kind."""
    file = str(path)
    data = read_toml(path)
    if data.get("kind") != KIND:
        return None
    try:
        found = CandidateFile.model_validate(data)
    except ValidationError as error:
        problems = [_explained(part, file) for part in error.errors(include_url=False)]
        raise problems[0] if len(problems) == 1 else InputErrors(problems) from None
    runs = [found.runs] if isinstance(found.runs, str) else found.runs
    paths = tuple(path.parent / run for run in runs)
    for run, place in zip(runs, paths, strict=True):
        if not place.exists():
            text = f"there is no {run!r} beside this file"
            raise InputError(text, file=file, field="runs")
    return Candidate(
        name=found.name or path.stem,
        paths=paths,
        identity=_identity(found.identity),
        licence=found.licence,
        language=found.language,
        load=found.load,
        file=path,
        redistribute=may_pass_on(found.redistribute, found.licence, otherwise=True),
    )


def _identity(identity: Identity) -> dict[str, str]:
    plain = identity.model_dump(exclude={"parameters"}, exclude_none=True)
    parts = {f"parameters.{key}": value for key, value in identity.parameters.items()}
    return {key: str(value) for key, value in sorted({**plain, **parts}.items())}


def _explained(problem: Any, file: str) -> InputError:
    place = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        models: dict[str, type[BaseModel]] = {"identity": Identity, "load": LoadKeys}
        model = models.get(place[0], CandidateFile) if len(place) > 1 else CandidateFile
        known = list(model.model_fields)
        return InputError(str(unknown_name("key", place[-1], known)), file=file,
                          field=".".join(place))  # fmt: skip
    return InputError(problem["msg"], file=file, field=".".join(place))
