"""The run record beside a scorecard: when, by which command, with which packages.

It holds what a scorecard must not: clock time, arguments (with their paths) and versions. It
holds no host name and no secret.

Content hashes: what a number rests on, without saying where it was kept.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from usi._version import __version__
from usi.errors import InputError
from usi.provenance.digest import DIGEST, require_intact, with_digest
from usi.reading import held_to, read_json
from usi.secrets import HIDDEN, hidden

_CHUNK = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """Hexadecimal SHA-256 of bytes.

    >>> sha256_bytes(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces.

    Raises
    ------
    InputError
        Where the file can't be read.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise InputError(f"can't read the file ({error.strerror})", file=str(path)) from error
    return digest.hexdigest()


def combined_sha256(hashes: Iterable[str]) -> str:
    """One hash for a set of files, whatever their order; that of a single file is its own."""
    ordered = sorted(hashes)
    if len(ordered) == 1:
        return ordered[0]
    return sha256_bytes("\n".join(ordered).encode("ascii"))


RECORD_VERSION = "3"
PACKAGES: tuple[str, ...] = (
    "numpy",
    "polars",
    "pyarrow",
    "pandas",
    "scipy",
    "scikit-learn",
    "pydantic",
    "msgspec",
    "matplotlib",
    "spacy",
    "litellm",
    "rustxes",
)
_SECRET_OPTION = re.compile(r"(?i)(key|token|secret|passw|credential|auth|cookie|bearer)")
_ASSIGNMENT = re.compile(r"^([^=\s]+)=(.*)$", re.DOTALL)


class FileHash(BaseModel):
    """A file: SHA-256 and number of its bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: str
    name: str
    sha256: str
    bytes: int | None = None


class RunRecord(BaseModel):
    """One run of usi.

    `command` is the argument list; `options` has every option by its name as it was resolved
    (command line over settings over default). Both hide secrets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    record_version: str = RECORD_VERSION
    usi_version: str
    command: tuple[str, ...]
    options: dict[str, Any] = {}
    started: str
    finished: str
    python: str
    implementation: str
    system: str
    machine: str
    packages: dict[str, str]
    inputs: tuple[FileHash, ...] = ()
    outputs: tuple[FileHash, ...] = ()
    signature: str | None = None
    remarks: tuple[str, ...] = ()

    def to_json(self) -> str:
        """JSON text with a final newline, with the digest of what it says."""
        data = with_digest(self.model_dump(mode="json"))
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def without_secrets(arguments: Iterable[str]) -> tuple[str, ...]:
    """Command line arguments with everything that may be a secret replaced by ``***``.

    Hidden are: the value of any option whose name speaks of a key, token, password and the like
    (also as ``NAME=value``), and what `usi.secrets.hidden` hides.

    >>> without_secrets(["--api-key", "abc", "--token=x", "https://me:pw@host/a", "in.json"])
    ('--api-key', '***', '--token=***', 'https://***@host/a', 'in.json')
    """
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        if hide_next and not argument.startswith("--"):
            shown.append(HIDDEN)
            hide_next = False
            continue
        hide_next = False
        assignment = _ASSIGNMENT.match(argument)
        if assignment and "/" not in assignment[1] and _SECRET_OPTION.search(assignment[1]):
            shown.append(f"{assignment[1]}={HIDDEN}")
            continue
        if argument.startswith("-") and not assignment and _SECRET_OPTION.search(argument):
            hide_next = True
        shown.append(hidden(argument))
    return tuple(shown)


def _hidden(name: str, value: Any) -> Any:
    """The value of an option, or stars where it may be a secret."""
    if isinstance(value, str):
        (told,) = without_secrets([f"{name}={value}"])
        return told.removeprefix(f"{name}=")
    if isinstance(value, list):
        return [_hidden(name, one) for one in value]
    return value


def package_versions() -> dict[str, str]:
    """Installed versions of the packages that numbers may depend on."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def now() -> str:
    """Clock time, UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0).isoformat()


def make_record(
    command: Sequence[str],
    *,
    options: Mapping[str, Any] | None = None,
    started: str,
    inputs: Iterable[FileHash] = (),
    outputs: Iterable[FileHash] = (),
    signature: str | None = None,
    remarks: Iterable[str] = (),
) -> RunRecord:
    """Describe this run.

    Parameters
    ----------
    command
        Command line arguments as given; secrets are hidden here.
    options
        Every option by its name, as plain data; secrets are hidden here.
    started
        From `now`, taken before the work.
    inputs, outputs
        Files read and written, with their hashes.
    signature, remarks
        Of what was scored.
    """
    return RunRecord(
        usi_version=__version__,
        command=without_secrets(command),
        options={name: _hidden(name, value) for name, value in (options or {}).items()},
        started=started,
        finished=now(),
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        system=platform.system(),
        machine=platform.machine(),
        packages=package_versions(),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        signature=signature,
        remarks=tuple(remarks),
    )


def record_path(scorecard: str | Path) -> Path:
    """Where the run record of a file stands: ``card.json`` -> ``card.run.json``.

    >>> record_path("reports/card.json").name, record_path("card.tau-usi.json").name
    ('card.run.json', 'card.tau-usi.run.json')
    """
    path = Path(scorecard)
    return path.with_name(f"{path.stem}.run.json")


def read_record(file: str | Path) -> RunRecord | None:
    """The run record beside a file; ``None`` where there is none that vouches for this very file.

    Raises
    ------
    InputError
        Where there is a record that can't be read, or was changed after it was written.
    """
    path = record_path(file)
    if not path.is_file():
        return None
    data = read_json(path)
    told = (
        {key: value for key, value in data.items() if key != DIGEST}
        if isinstance(data, dict)
        else data
    )
    record = held_to(RunRecord, told, str(path), strict=True)
    require_intact(
        data, "the run record was changed after it was written", again="score again",
        file=str(path),
    )  # fmt: skip
    return record if sha256_file(file) in {part.sha256 for part in record.outputs} else None
