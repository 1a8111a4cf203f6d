"""``usi corpus add``: files become a corpus with a manifest and a datasheet."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from usi.corpora.manifest import DATASHEET, MANIFEST, Frozen, LoadKeys, Manifest, datasheet, to_toml
from usi.corpora.resolve import FOLDER, SURVEYS, Corpus, resolve
from usi.errors import InputError, UsageError
from usi.extraction.profile import get_feature_profile
from usi.extraction.table import SessionTable
from usi.loading.paths import is_beside_data
from usi.provenance.record import sha256_file
from usi.scoring.people import PROFILE, counts_of, read_people_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True)
class Added:
    """A corpus that was made: where, its manifest, and what loading had to say."""

    folder: Path
    manifest: Manifest
    remarks: tuple[str, ...]


def check_name(name: str) -> None:
    """Refuse a name that is no plain folder name.

    Raises
    ------
    UsageError
        For anything but letters, digits, ``. _ -``, or more than 80 characters.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"--name {name[:80]!r}: a corpus is named by letters, digits, dot, dash and "
            "underscore, such as support-2026"
        )


def frozen_set(table: SessionTable) -> Frozen:
    """The features that these people can be scored with, as the manifest fixes them."""
    from usi.scoring.robust.reference import reference

    own = get_feature_profile(PROFILE)
    ref = reference(table.frame, own.specs)
    names = tuple(s.name for s in ref.specs if s.scored and ref.verdicts[s.name].reason is None)
    return Frozen(profile=own.tag, features=names)


def add_corpus(
    files: Sequence[str | Path],
    facts: Manifest,
    *,
    root: Path,
    surveys: str | Path | None = None,
    freeze: bool = False,
) -> Added:
    """Copy files into ``human_corpus/NAME/`` and write manifest and datasheet beside them.

    Nothing is left behind where anything is wrong: files that can't be read, hostile names.

    Parameters
    ----------
    files
        Transcripts, or folders of them; they are copied byte for byte.
    facts
        What people say about the corpus; counts and hashes are made here.
    root
        Folder of the workspace.
    surveys
        Folder of surveys to copy, too.
    freeze
        Whether to fix the set of scored features now.

    Raises
    ------
    UsageError
        For a bad name, or one that is taken.
    InputError
        With every bad row of the files.
    """
    check_name(facts.name)
    home = root / FOLDER / facts.name
    if home.exists():
        raise UsageError(
            f"{FOLDER}/{facts.name} exists; take another name, or remove the folder if you mean it"
        )
    parts = _members(files)
    home.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{facts.name}.", dir=home.parent))
    try:
        for name, path in parts.items():
            _copy(path, building / name)
        if surveys is not None:
            for path in sorted(Path(surveys).glob("survey_comparable_*")):
                _copy(path, building / SURVEYS / path.name)
        data = facts.model_copy(update={"sessions": list(parts)})
        side = read_people_of(_reference(building, data))
        table = side.tables[""]
        data = data.model_copy(
            update={
                "synthetic": data.synthetic or table.synthetic,
                "counts": counts_of(table),
                "scorable": frozen_set(table) if freeze else data.scorable,
                "sha256": hashes(building),
            }
        )
        write_manifest(building, data)
        (building / DATASHEET).write_text(datasheet(data), encoding="utf-8")
        building.chmod(0o755)
        building.rename(home)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return Added(home, data, tuple(remark.text for remark in side.remarks))


def write_manifest(home: Path, manifest: Manifest) -> None:
    """Write ``manifest.toml`` whole or not at all."""
    path = home / MANIFEST
    part = path.with_suffix(".part")
    part.write_text(to_toml(manifest), encoding="utf-8")
    part.replace(path)


def hashes(home: Path) -> dict[str, str]:
    """SHA-256 of every data file of a corpus, by name, sorted."""
    paths = [path for path in sorted(home.rglob("*")) if path.is_file()]
    named = {path.relative_to(home).as_posix(): path for path in paths}
    return {
        name: sha256_file(path)
        for name, path in named.items()
        if not _is_ours(name) and not Path(name).name.startswith(".")
    }


def _is_ours(name: str) -> bool:
    """Files that usi or people write about a corpus: they may change without it."""
    return "/" not in name and name.lower().endswith((".md", "manifest.toml", "split.toml"))


def _reference(folder: Path, facts: Manifest) -> Corpus:
    write_manifest(folder, facts)
    return resolve(folder)


def _members(files: Sequence[str | Path]) -> dict[str, Path]:
    """Name inside the corpus -> file; folders keep their inner names."""
    found: dict[str, Path] = {}
    for given in files:
        path = Path(given)
        if path.is_dir():
            inner = [p for p in sorted(path.rglob("*")) if p.is_file()]
            pairs = [(p.relative_to(path).as_posix(), p) for p in inner]
            pairs = [(n, p) for n, p in pairs if not is_beside_data(p.name)]
        elif path.is_file():
            pairs = [(path.name, path)]
        else:
            raise InputError("there is no such file or folder", file=str(given))
        for name, source in pairs:
            if name in found:
                raise UsageError(f"two files are named {name!r}: rename one, or add their folder")
            found[name] = source
    if not found:
        raise InputError("holds no data files", file=", ".join(str(f) for f in files))
    return found


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise InputError(f"can't be copied: {error.strerror}", file=str(source)) from error


def load_keys(
    *,
    format_: str | None,
    domain: str | None,
    user_role: str | None,
    user_speaker: str | None,
    map_: dict[str, str],
) -> LoadKeys:
    """How the files are read, as the manifest keeps it."""
    return LoadKeys(
        format=format_, domain=domain, user_role=user_role, user_speaker=user_speaker, map=map_
    )
