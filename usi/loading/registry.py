"""All readers by name: those of usi, and those that installed packages bring (``usi.loaders``).

A plug-in that can't be imported, lacks a part of the protocol or takes a name that is taken is
passed over with one message; every other format works as before. The format is chosen by what a
file holds, never by its name: every reader is asked in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from usi.errors import InputError, UsiError, unknown_name
from usi.loading import surveys
from usi.loading.context import Context
from usi.loading.corpora import abcd, abredial, multidogo, multiwoz, star
from usi.loading.formats import (
    inspect_log,
    odyssim,
    openai_chat,
    openinference,
    otel,
    sharegpt,
    table,
    tau2,
    tau_usi,
    taubench,
    usi_jsonl,
    wildchat,
)
from usi.loading.formats.call_logs import CALL_LOGS
from usi.loading.formats.exports import EXPORTS
from usi.loading.jsonstream import Cursor
from usi.loading.reader import About, Reader, Target, Writer
from usi.loading.sample import Sample
from usi.loading.source import Source
from usi.options import LoadOptions
from usi.reading import as_input_error, reading
from usi.records import Session

GROUP = "usi.loaders"
OWN: tuple[Reader, ...] = (
    inspect_log,
    otel,
    openinference,
    multiwoz,
    multidogo,
    abcd,
    abredial,
    *EXPORTS,
    *CALL_LOGS,
    wildchat,
    sharegpt,
    openai_chat,
    table,
    # Told by a walk through the file, since their marks may come late:
    tau_usi,
    taubench,
    tau2,
    odyssim,
    star,
    usi_jsonl,
)
"""Readers of usi, in the order in which they are asked whether a file is theirs."""


@dataclass(frozen=True)
class Found:
    """Readers by name, and one message for every plug-in that can't be used."""

    readers: Mapping[str, Reader]
    plugins: frozenset[str] = frozenset()
    broken: tuple[str, ...] = ()


@dataclass
class _Plugin:
    """A plug-in between usi and the package: its errors become input errors that name it."""

    NAME: str
    inner: Reader
    origin: str
    ABOUT: About = field(default_factory=lambda: About(""))

    def recognise(self, sample: Sample) -> bool:
        try:
            return bool(self.inner.recognise(sample))
        except UsiError:
            return False
        except Exception as error:  # noqa: BLE001  foreign code; told, and never in the way
            sample.complaints.append(self._complaint("looking at the file", error))
            return False

    def read(self, context: Context) -> Iterator[Session]:
        try:
            for session in self.inner.read(context):
                if not isinstance(session, Session):
                    kind = type(session).__name__
                    raise InputError(
                        f"the loader {self.NAME!r} ({self.origin}) gave a {kind}, not a Session",
                        file=context.source.name,
                    )
                yield session
        except (UsiError, GeneratorExit):
            raise
        except Exception as error:
            raise InputError(self._complaint("reading", error), file=context.source.name) from error

    def _complaint(self, doing: str, error: Exception) -> str:
        return (
            f"the loader {self.NAME!r} ({self.origin}) broke while {doing}: "
            f"{type(error).__name__}: {error}"
        )


@cache
def registry() -> Found:
    """Own readers and plug-ins; looked up once a process."""
    return collect(tuple(entry_points(group=GROUP)))


def collect(points: tuple[EntryPoint, ...]) -> Found:
    """Own readers and those of some entry points."""
    readers: dict[str, Reader] = {reader.NAME: reader for reader in OWN}
    plugins: set[str] = set()
    broken: list[str] = []
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        origin = f"entry point {point.name} = {point.value}"
        try:
            inner = point.load()
        except Exception as error:  # noqa: BLE001  a broken package must not break the others
            broken.append(f"{origin} can't be loaded: {type(error).__name__}: {error}")
            continue
        missing = [
            name for name in ("NAME", "ABOUT", "recognise", "read") if not hasattr(inner, name)
        ]
        if missing or not isinstance(inner.NAME, str) or not isinstance(inner.ABOUT, About):
            what = f"lacks {', '.join(missing)}" if missing else "has a NAME or ABOUT of wrong type"
            broken.append(f"{origin} is no reader: it {what}; see docs/own-format.md")
            continue
        if inner.NAME in readers:
            broken.append(f"{origin} calls itself {inner.NAME!r}, which is taken")
            continue
        readers[inner.NAME] = _Plugin(inner.NAME, inner, origin, inner.ABOUT)
        plugins.add(inner.NAME)
    return Found(readers, frozenset(plugins), tuple(broken))


FORMATS: tuple[str, ...] = tuple(reader.NAME for reader in OWN)
"""Formats of usi itself; `usi.loading.registry.registry` has those of installed packages, too."""
SURVEYS = "surveys"
"""Not a format of sessions: a ``survey_comparable_*`` file, which belongs to ``--surveys``."""


def sniff(source: Source, options: LoadOptions) -> str:
    """Name of the format of one file (or `SURVEYS`).

    Raises
    ------
    InputError
        Empty, not UTF-8, no JSON, or JSON of no known shape.
    UsageError
        ``options.format`` is no format.
    """
    if options.format is not None:
        found = registry()
        if options.format not in found.readers:
            error = unknown_name("format", options.format, list(found.readers))
            if found.broken:
                raise type(error)(
                    f"{error}. Plug-ins that can't be used: {'; '.join(found.broken)}"
                )
            raise error
        return options.format
    sample = Sample(source, options)
    name = recognise(source, options, sample)
    if name is None:
        raise InputError(
            "not recognised as any format of transcripts. Known: "
            f"{', '.join(registry().readers)}. Choose one with --format; name the keys of JSON "
            "Lines with --map session=KEY,role=KEY,text=KEY; write usi JSONL (one "
            '{"id": ..., "messages": [{"role": "user", "content": ...}]} a line); or add a reader '
            "of some twenty lines (docs/own-format.md)"
            + "".join(f"\n{text}" for text in (*sample.complaints, *registry().broken)),
            file=source.name,
        )
    return name


def recognise(source: Source, options: LoadOptions, sample: Sample | None = None) -> str | None:
    """Name of the format, or ``None`` where the content is JSON of no known shape.

    Plug-ins are asked last, so that none changes the reading of a file that usi knows.
    """
    if source.layout is not None:
        return source.layout
    source.check_not_empty()
    sample = sample or Sample(source, options)
    odd: list[InputError] = []
    for reader in OWN:
        if _is_of(reader, sample, odd):
            return reader.NAME
    if surveys.recognise(sample):
        return SURVEYS
    if sample.trouble is not None:
        raise sample.trouble
    if odd:
        raise odd[0]
    found = registry()
    for name in sorted(found.plugins):
        if found.readers[name].recognise(sample):
            return name
    if sample.first in (b"[", b"{"):
        return None
    if table.looks_like_table(sample):
        raise table.unnamed_columns(sample)
    with source.open() as stream:
        cursor = Cursor(stream, file=source.name, max_record=options.max_record)
        cursor.row = 1
        cursor.raw()
    raise InputError(
        "not a file of transcripts: it begins with neither { nor [, and is no table", row=1,
        file=source.name,
    )  # fmt: skip


def _is_of(reader: Reader, sample: Sample, odd: list[InputError]) -> bool:
    """Whether a reader takes a file for its own; values that it can't look at are noted."""
    try:
        return reader.recognise(sample)
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError) as error:
        found = as_input_error(error, sample.source.name, None)
        odd.append(InputError(f"{found.message} (looked at as {reader.NAME})",
                              file=found.file, field=found.field))  # fmt: skip
        return False


def describe(source: Source, options: LoadOptions) -> str:
    """What a file is, in a word, for the message about a folder of mixed things."""
    try:
        with reading(source.name):
            return recognise(source, options) or "not recognised"
    except UsiError as error:
        return f"not readable ({error.message if isinstance(error, InputError) else error})"


def targets() -> Iterator[Target]:
    """Formats of usi that can be written, the general one first."""
    written = [reader.TARGET for reader in OWN if isinstance(reader, Writer)]
    yield from sorted(written, key=lambda target: target.name != usi_jsonl.NAME)
