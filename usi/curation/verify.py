"""``usi corpus verify``: do hashes, counts and schema hold, and has the corpus expired?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import polars as pl

from usi.corpora.manifest import DATASHEET, MANIFEST, Counts, Manifest, left_to_fill, read_manifest
from usi.corpora.parts import COLUMNS, read_split
from usi.corpora.resolve import resolve
from usi.curation.add import hashes
from usi.errors import UsiError
from usi.provenance.record import sha256_file
from usi.reasons import PARTICIPANTS_UNKNOWN
from usi.scoring.people import counts_of, read_people_of

State = Literal["ok", "note", "wrong"]


@dataclass(frozen=True)
class CorpusCheck:
    """One thing that was looked at."""

    state: State
    what: str
    detail: str

    def to_dict(self) -> dict[str, str]:
        """The JSON form."""
        return asdict(self)


def verify(home: Path, *, as_of: str | None = None) -> list[CorpusCheck]:
    """Look at everything that a manifest says.

    Parameters
    ----------
    home
        Folder of the corpus.
    as_of
        Day that the expiry counts to; without it expiry is only told.

    Returns
    -------
    list of CorpusCheck
        In reading order; any of state ``wrong`` means that the corpus is not what it says.
    """
    path = home / MANIFEST
    if not path.is_file():
        text = f"there is no {MANIFEST}; make the corpus with: usi corpus add FILES --name NAME"
        return [CorpusCheck("wrong", "manifest", text)]
    try:
        manifest = read_manifest(path)
    except UsiError as error:
        return [CorpusCheck("wrong", "manifest", str(error))]
    found = [
        CorpusCheck("ok", "manifest", f"schema {manifest.schema_}, version {manifest.version}")
    ]
    found += _files(home, manifest)
    found += _content(home, manifest)
    found += _terms(home, manifest, as_of)
    return found


def _files(home: Path, manifest: Manifest) -> list[CorpusCheck]:
    if not manifest.sha256:
        return [CorpusCheck("wrong", "files", "the manifest holds no hashes ([sha256])")]
    found = []
    for name, digest in manifest.sha256.items():
        path = home / name
        if not path.is_file():
            found.append(CorpusCheck("wrong", name, "is missing"))
        elif not path.resolve().is_relative_to(home.resolve()):
            found.append(CorpusCheck("wrong", name, "is a link that leads out of the folder"))
        elif sha256_file(path) != digest:
            found.append(CorpusCheck("wrong", name, "has changed: the manifest has another hash"))
        else:
            found.append(CorpusCheck("ok", name, f"sha256 {digest[:12]}"))
    found += [
        CorpusCheck("wrong", name, "is not in the manifest")
        for name in hashes(home)
        if name not in manifest.sha256
    ]
    return found


def _content(home: Path, manifest: Manifest) -> list[CorpusCheck]:
    try:
        reference = resolve(home)
        side = read_people_of(replace(reference, part=None))
    except UsiError as error:
        return [CorpusCheck("wrong", "content", str(error))]
    frame = side.tables[""].frame
    counts = counts_of(side.tables[""])
    found = _counts(manifest.counts, counts)
    unknown = frame["participant"].null_count()
    if unknown:
        told = PARTICIPANTS_UNKNOWN(sessions=unknown, all=frame.height)
        found.append(CorpusCheck("note", "participants", told.text))
    else:
        people = frame["participant"].n_unique()
        found.append(CorpusCheck("ok", "participants", f"{people:,} people"))
    if manifest.split is not None:
        split = read_split(home / manifest.split.file)
        column = frame[COLUMNS[split.by]].cast(pl.String)
        units = {unit for part in split.parts.values() for unit in part}
        missing = len(set(column.drop_nulls()) - units)
        state: State = "wrong" if missing or column.null_count() else "ok"
        sizes = ", ".join(f"{name} {len(own)}" for name, own in split.parts.items())
        text = f"by {split.by}: {sizes}"
        if missing or column.null_count():
            text += f"; {missing + column.null_count()} units are in no part: split again"
        found.append(CorpusCheck(state, "split", text))
    return found


def _counts(said: Counts | None, counted: Counts) -> list[CorpusCheck]:
    words = ", ".join(f"{name} {value:,}" for name, value in counted.model_dump().items() if value)
    if said is None:
        return [CorpusCheck("note", "counts", f"the manifest has none; counted: {words}")]
    odd = [
        f"{name}: {want:,} in the manifest, {got:,} in the files"
        for (name, want), got in zip(
            said.model_dump().items(), counted.model_dump().values(), strict=True
        )
        if want != got
    ]
    return [
        CorpusCheck("wrong", "counts", "; ".join(odd))
        if odd
        else CorpusCheck("ok", "counts", words)
    ]


def _terms(home: Path, manifest: Manifest, as_of: str | None) -> list[CorpusCheck]:
    found = []
    if manifest.licence:
        found.append(CorpusCheck("ok", "licence", manifest.licence))
    else:
        found.append(
            CorpusCheck("note", "licence", "none is named: nobody else may use the corpus")
        )
    if manifest.expires is not None:
        gone = as_of is not None and manifest.expired(as_of)
        text = f"expires {manifest.expires}" + (f": expired on {as_of}" if gone else "")
        found.append(CorpusCheck("wrong" if gone else "ok", "expiry", text))
    sheet = home / DATASHEET
    if not sheet.is_file():
        found.append(CorpusCheck("note", "datasheet", f"there is no {DATASHEET}"))
    else:
        places = left_to_fill(sheet.read_text(encoding="utf-8"))
        state: State = "note" if places else "ok"
        found.append(CorpusCheck(state, "datasheet", f"{places} places to fill in"))
    return found
