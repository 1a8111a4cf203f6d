"""Parts of a corpus: halves to develop on, and a part that only decisions read.

``split.toml`` beside the manifest says which task, batch, participant or session belongs to which
part. Without a part named, everything is read but ``held-out``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from usi.errors import InputError, UsageError, unknown_name
from usi.provenance.record import sha256_file
from usi.reading import read_toml

if TYPE_CHECKING:
    from usi.corpora.manifest import Manifest

HELD_OUT = "held-out"
By = Literal["task", "batch", "participant", "time"]
COLUMNS: Mapping[str, str] = {
    "task": "task",
    "batch": "batch",
    "participant": "participant",
    "time": "session_id",
}
"""What a corpus is split by -> column of the session table that holds the units."""


@dataclass(frozen=True)
class Part:
    """Which sessions are read.

    Attributes
    ----------
    name
        Name of the part; ``""`` for all but the held-out one.
    by
        What the corpus is split by.
    units
        Units that are read.
    left_out
        How many units are not.
    sha256
        Hash of the file that says so: what is read depends on it.
    """

    name: str
    by: By
    units: frozenset[str]
    left_out: int
    sha256: str = ""

    @property
    def column(self) -> str:
        """Column of the session table that the units are values of."""
        return COLUMNS[self.by]


@dataclass(frozen=True)
class Split:
    """Units by part, as ``split.toml`` has them."""

    by: By
    seed: int
    parts: Mapping[str, tuple[str, ...]]

    def to_toml(self) -> str:
        """The file's text: the same split gives the same bytes."""
        from usi.corpora.manifest import toml_value

        head = [
            "# Which units of this corpus belong to which part (usi corpus split). The part",
            f'# "{HELD_OUT}" is read by decisions alone.',
            f"by = {toml_value(self.by)}",
            f"seed = {self.seed}",
            "",
            "[parts]",
        ]
        body = [
            f"{toml_value(name)} = [\n"
            + "".join(f"  {toml_value(unit)},\n" for unit in units)
            + "]"
            for name, units in self.parts.items()
        ]
        return "\n".join([*head, *body]) + "\n"


def read_split(path: Path) -> Split:
    """Read ``split.toml``.

    Raises
    ------
    InputError
        Where it is no split: no TOML, an unknown `by`, parts that are no lists of texts, or a
        unit in two parts.
    """
    file = str(path)
    data = read_toml(path)
    by, parts = data.get("by"), data.get("parts")
    if by not in COLUMNS:
        raise InputError(f"must be one of {', '.join(COLUMNS)}", file=file, field="by")
    if not isinstance(parts, dict) or not parts:
        raise InputError("must be a table of parts", file=file, field="parts")
    seen: dict[str, str] = {}
    for name, units in parts.items():
        if not isinstance(units, list) or not all(isinstance(unit, str) for unit in units):
            raise InputError("must be a list of texts", file=file, field=f"parts.{name}")
        for unit in units:
            if unit in seen:
                text = f"{unit!r} stands in {seen[unit]!r}, too"
                raise InputError(text, file=file, field=f"parts.{name}")
            seen[unit] = name
    seed = data.get("seed", 0)
    if not isinstance(seed, int):
        raise InputError("must be a whole number", file=file, field="seed")
    return Split(cast(By, by), seed, {k: tuple(v) for k, v in parts.items()})


def choose_part(home: Path, manifest: Manifest, name: str | None, *, file: str) -> Part | None:
    """The part that is read: the one named, else all but the held-out one.

    Raises
    ------
    UsageError
        Where a part is named that does not exist.
    """
    keys = manifest.split
    if keys is None:
        if name is None:
            return None
        raise UsageError(
            f"{manifest.name or home.name} has no parts; make some with: usi corpus split "
            f"{manifest.name or home.name} --by task"
        )
    path = home / keys.file
    if not path.is_file():
        raise InputError(f"there is no {keys.file!r} here", file=file, field="split.file")
    split = read_split(path)
    if name is not None and name not in split.parts:
        raise unknown_name("part", name, list(split.parts))
    chosen = [name] if name else [part for part in split.parts if part != HELD_OUT]
    units = frozenset(unit for part in chosen for unit in split.parts[part])
    total = sum(len(units) for units in split.parts.values())
    return Part(name or "", split.by, units, total - len(units), sha256_file(path))


def make_split(
    units: Iterable[str],
    *,
    by: By,
    seed: int,
    held_out: float,
    ordered: Sequence[str] | None = None,
) -> Split:
    """Two halves, and a held-out part first where a share is kept for it.

    Parameters
    ----------
    units
        Values to divide: tasks, batches, participants or (by time) session ids.
    by, seed
        What they are; the seed of the draw. Time is not drawn: the first half is the earlier one
        and the held-out part the latest.
    held_out
        Share of the units that only decisions read, 0 to below 1.
    ordered
        By time: the units from the earliest to the latest.

    Raises
    ------
    UsageError
        For a share outside 0 to 1, or too few units for the parts.
    """
    if not 0 <= held_out < 1:
        raise UsageError(f"--held-out {held_out:g}: give a share of at least 0 and below 1")
    names = list(ordered) if ordered is not None else sorted(set(units))
    n_held = round(held_out * len(names)) if held_out else 0
    if held_out and not n_held:
        n_held = 1
    if len(names) - n_held < 2:
        raise UsageError(
            f"{len(names)} units by {by} are too few for two halves"
            + (f" and a held-out share of {held_out:g}" if held_out else "")
        )
    if ordered is None:
        import numpy as np

        order = np.random.Generator(np.random.Philox(seed)).permutation(len(names))
        names = [names[k] for k in order]
    rest, held = names[: len(names) - n_held], names[len(names) - n_held :]
    middle = (len(rest) + 1) // 2
    parts = {"half-1": rest[:middle], "half-2": rest[middle:]}
    if n_held:
        parts[HELD_OUT] = held
    return Split(by, seed, {name: tuple(sorted(own)) for name, own in parts.items()})
