"""The way in: files of any format become one stream of sessions.

Data in memory as transcripts: frames, tables and rows of dictionaries.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeGuard

from usi.errors import InputError, InputErrors, UsageError
from usi.loading.context import Context, Records
from usi.loading.digest import Namer, session_digest
from usi.loading.fields import BadField
from usi.loading.formats.cells import plain_record, talk_columns
from usi.loading.formats.table import NAME, chosen, is_one_conversation, sessions_of_rows
from usi.loading.growing import whole_histories
from usi.loading.labels import simulator_label
from usi.loading.messages import (
    FlipDetector,
    TranscriptDetector,
    choose_user,
    in_usual_roles,
    spoken,
)
from usi.loading.notes import InputFile, LoadNotes
from usi.loading.paths import expand
from usi.loading.registry import SURVEYS, describe, registry, sniff
from usi.loading.role_names import unknown_roles
from usi.loading.sample import Sample
from usi.loading.source import Source, Window
from usi.options import LoadOptions
from usi.provenance.content import ContentDigest
from usi.reading import each, reading
from usi.records import Session

_DEFAULT = LoadOptions()
GROWING = frozenset(("usi-jsonl", "openai-chat", "sharegpt", "wildchat", "rasa", "intercom"))
"""Formats in which a record may be one call of a longer conversation."""
Read = Callable[[Context], Iterator[Session]]
Paths = Sequence[str | Path] | str | Path


@dataclass(frozen=True)
class _Recognised:
    """A source, its format and the label that its name gives."""

    source: Source
    layout: str
    label: str
    read: Read | None = None


class SessionStream:
    """Sessions of one or several files, read as they are iterated; memory stays constant.

    Iterate once. Bad rows are collected and raised together (`InputErrors`) at the end; a file
    that can't go on (truncated, not UTF-8) raises at once.

    Attributes
    ----------
    notes
        Complete when the iteration has ended.
    label
        Label of the simulator: ``--name``, else from the name of the first file.
    """

    def __init__(
        self,
        files: Sequence[_Recognised],
        options: LoadOptions,
        label: str,
        passed_over: Sequence[str] = (),
    ) -> None:
        self._files, self._options, self.label = tuple(files), options, label
        self.notes = LoadNotes()
        if passed_over:
            self.notes.remark(f"passed over beside the data: {', '.join(passed_over)}")
        self._sessions = (session for session, _ in self._read(digest=False))

    @classmethod
    def of_reader(
        cls, read: Read, source: Source, layout: str, options: LoadOptions
    ) -> SessionStream:
        """A stream of what one reader gives, for data that lie in no file."""
        label = options.name or source.filename
        return cls([_Recognised(source, layout, label, read)], options, label)

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, as they were named."""
        return tuple(found.source.name for found in self._files)

    def __iter__(self) -> Iterator[Session]:
        return self._sessions

    def __next__(self) -> Session:
        return next(self._sessions)

    def with_digests(self) -> Iterator[tuple[Session, str]]:
        """The sessions, each with the digest of its content in hexadecimal digits.

        In place of iterating the stream itself. The digests of the files stand in `notes` then.
        """
        return self._read(digest=True)

    def _read(self, *, digest: bool) -> Iterator[tuple[Session, str]]:
        seen: defaultdict[str, set[object]] = defaultdict(set)
        namer = Namer()
        for found in self._files:
            label = self.label if len(self._files) == 1 else self._options.name or found.label
            content: dict[int, ContentDigest] = {}
            for session in self._read_file(found, label, seen[label]):
                if not digest and session.session_id:
                    yield session, ""
                    continue
                own = session_digest(session, label)
                content.setdefault(len(self.notes.files) - 1, ContentDigest()).add_hash(own)
                named = session if session.session_id else namer.named(session, own)
                yield named, own.hex()
            if digest:
                self._note_content(content)
        if self.notes.roles:
            self.notes.remark(unknown_roles(self.notes.roles))
        if len(self.notes.problems) == 1:
            raise self.notes.problems[0]
        if self.notes.problems:
            raise InputErrors(self.notes.problems)

    def _note_content(self, content: dict[int, ContentDigest]) -> None:
        """Put the digests on the files that the sessions came from, of parts each its own."""
        for place, file in enumerate(self.notes.files):
            if file.content_digest is None:
                file.content_digest = content.get(place, ContentDigest()).hexdigest()

    def _read_file(self, found: _Recognised, label: str, seen: set[object]) -> Iterator[Session]:
        source = found.source
        file = InputFile(source.name, found.layout)
        self.notes.files.append(file)
        context = Context(source, self._options, self.notes, label, file, seen, _read_records)
        problems = len(self.notes.problems)
        before = sum(self.notes.left_out.values())
        detector, inside = FlipDetector(), TranscriptDetector()
        read = found.read or registry().readers[found.layout].read
        sessions = each(read(context), source.name, context.row)
        if found.layout in GROWING:
            sessions = whole_histories(sessions, context)
        for found_session in sessions:
            named = spoken(in_usual_roles(found_session, context), context)
            session = choose_user(named, self._options, context)
            detector.add(session)
            inside.add(session)
            file.sessions += 1
            yield session
        if detector.flipped and self._options.user_role is None and not self._options.user_speaker:
            self.notes.add_problem(detector.problem(source.name))
        if inside.inside:
            self.notes.add_problem(inside.problem(source.name))
        nothing = len(self.notes.problems) == problems
        if not file.sessions and nothing and sum(self.notes.left_out.values()) == before:
            raise InputError("the file holds no sessions", file=source.name)


def open_sessions(paths: Paths, *, options: LoadOptions = _DEFAULT) -> SessionStream:
    """Open files, folders, archives or ``-`` (stdin) as one stream of sessions.

    Parameters
    ----------
    paths
        One or several; folders are walked in sorted order.
    options
        See `LoadOptions`.

    Returns
    -------
    SessionStream
        Not read yet, apart from what recognising the format takes.

    Raises
    ------
    InputError
        A file is missing, empty, of no known format, or a folder holds mixed things.
    UsageError
        ``options.format`` is unknown.
    """
    files, aside = _recognise(paths, options)
    return SessionStream(files, options, options.name or files[0].label, aside)


def group_by_simulator(paths: Paths, options: LoadOptions = _DEFAULT) -> list[SessionStream]:
    """One stream a simulator: every file is one, and a tau2 folder is one.

    With ``options.name`` all files are runs of the one simulator of that name. Two files of the
    same label are told apart by the folder that they lie in.

    Raises
    ------
    UsageError
        Two simulators would have the same name.
    """
    files, aside = _recognise(paths, options)
    if options.name is not None:
        return [SessionStream(files, options, options.name, aside)]
    labels = [file.label for file in files]
    if len(set(labels)) < len(labels):
        labels = [
            "/".join([*file.source.name.replace("\\", "/").split("/")[-2:-1], label])
            if labels.count(label) > 1
            else label
            for label, file in zip(labels, files, strict=True)
        ]
    for label, file in zip(labels, files, strict=True):
        if labels.count(label) > 1:
            raise UsageError(
                f"two inputs give the simulator name {label!r} (one is {file.source.name}); "
                "rename one, or pass --name where they are runs of one simulator"
            )
    return [
        SessionStream([file], options, label, aside)
        for label, file in zip(labels, files, strict=True)
    ]


def _recognise(paths: Paths, options: LoadOptions) -> tuple[list[_Recognised], list[str]]:
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise UsageError("no input: give files, folders, or - for standard input")
    found: list[_Recognised] = []
    aside: list[str] = []
    for path in given:
        with reading(str(path)):
            sources = _join_conversations(path, expand(path, aside), options)
        if len(sources) > 1 and options.format is None:
            _refuse_mixed(path, sources, options)
        for source in sources:
            with reading(source.name):
                layout = sniff(source, options)
            if layout == SURVEYS:
                raise InputError(
                    "holds surveys and no conversations; pass its folder with --surveys",
                    file=source.name,
                )
            label = source.label or simulator_label(source.filename)
            found.append(_Recognised(source, layout, label))
    return found, aside


def _join_conversations(
    path: str | Path, sources: list[Source], options: LoadOptions
) -> list[Source]:
    """Files of a folder that are tables of one conversation each, as one source of its name."""
    if options.format not in (None, NAME) or any(source.folder is None for source in sources):
        return sources
    if not all(is_one_conversation(Sample(source, options)) for source in sources):
        return sources
    first, *rest = sources
    label = simulator_label(str(path).rstrip("/").rsplit("/", 1)[-1])
    return [replace(first, parts=tuple(rest), label=label, layout=NAME)]


def _refuse_mixed(path: str | Path, sources: Sequence[Source], options: LoadOptions) -> None:
    """One message that lists what was recognised as what, where a folder is not of one kind."""
    kinds = [describe(source, options) for source in sources]
    if len(set(kinds)) == 1 and kinds[0] in registry().readers:
        return
    listed = "\n".join(
        f"  {source.name}: {what}" for source, what in zip(sources, kinds, strict=True)
    )
    raise InputError(
        "the folder holds mixed things. Give the files you mean, or move the others away:\n"
        + listed,
        file=str(path),
    )


LABEL = "frame"
ROWS_LABEL = "rows"
ACCEPTED = (
    "paths of files, folders or archives; what usi.load gave; frames of pandas or polars, tables "
    "of pyarrow; lists of dictionaries, or anything that gives one dictionary a row when iterated"
)
"""What stands for transcripts in Python, for messages."""


def is_paths(value: object) -> TypeGuard[Paths]:
    """Whether a value is a path, or a list or tuple of paths."""
    if isinstance(value, str | Path):
        return True
    return isinstance(value, list | tuple) and all(isinstance(v, str | Path) for v in value)


def is_frame(value: object) -> bool:
    """Whether a value is a data frame; neither library is imported to find out."""
    kind = type(value)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] in (
        "pandas",
        "polars",
    )


def open_data(data: object, options: LoadOptions) -> SessionStream:
    """A stream of the sessions in data that lie in memory (or come row by row).

    Rows are messages, as in a table, or whole sessions with a list of messages, in any layout of
    JSON Lines that usi reads. The data are not changed.

    Raises
    ------
    InputError
        Session, role or text are neither mapped nor told by the names of the columns; or rows of
        sessions have no known layout.
    UsageError
        For data of another kind, or a mapped column that is not there.
    """
    if isinstance(data, SessionStream):
        return data
    names, rows = _table_of(data)
    first = next(rows, None)
    whole = chain([] if first is None else [first], rows)
    if first is not None and (
        talk_columns([first]) or any(_is_list_of_mappings(value) for value in first.values())
    ):
        return _open_records(whole, options)
    label = LABEL if is_frame(data) else ROWS_LABEL
    columns = names or list(first or ())

    def read(context: Context) -> Iterator[Session]:
        numbered = enumerate((_complete(row, columns) for row in whole), start=1)
        yield from sessions_of_rows(numbered, chosen(columns, context), context)

    return SessionStream.of_reader(read, Source(label, _nothing), NAME, options)


def _complete(row: Mapping[str, Any], columns: Sequence[str]) -> Mapping[str, Any]:
    return {name: row.get(name) for name in columns}


def _nothing() -> Any:
    raise OSError("rows have no bytes")


def _table_of(data: Any) -> tuple[list[str], Iterator[Mapping[str, Any]]]:
    """Names of the columns, where the data tell them, and the rows as dictionaries."""
    library = type(data).__module__.partition(".")[0]
    if is_frame(data):
        names = [str(name) for name in data.columns]
        if library == "polars":
            return names, (dict(zip(names, row, strict=True)) for row in data.iter_rows())
        cells = (data.iloc[:, k].tolist() for k in range(len(names)))
        return names, (dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True))
    if library == "pyarrow" and hasattr(data, "to_batches"):
        names = [str(name) for name in data.schema.names]
        return names, (row for batch in data.to_batches() for row in batch.to_pylist())
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise UsageError(f"transcripts can't be a {type(data).__name__}; they are {ACCEPTED}")
    named = getattr(data, "column_names", None)
    names = [str(name) for name in named] if isinstance(named, list | tuple) else []
    if not names and isinstance(data, list | tuple):
        found = (dict.fromkeys(row) for row in data if isinstance(row, Mapping))
        names = [str(name) for name in dict.fromkeys(chain.from_iterable(found))]
    return names, _checked_rows(data)


def _checked_rows(data: Iterable[object]) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(data, start=1):
        if not isinstance(row, Mapping):
            raise UsageError(
                f"row {number} of the transcripts is a {type(row).__name__}, and no dictionary; "
                f"transcripts are {ACCEPTED}"
            )
        yield row


def _is_list_of_mappings(value: object) -> bool:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        plain = getattr(value, "tolist", None)  # an array of numpy
        value = plain() if plain is not None else None
    return isinstance(value, Sequence) and bool(value) and isinstance(value[0], Mapping)


def _open_records(rows: Iterable[Mapping[str, Any]], options: LoadOptions) -> SessionStream:
    """Rows that are whole sessions, by way of JSON Lines."""

    def records() -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, row in enumerate(rows, start=1):
            try:
                yield number, plain_record(row)
            except BadField as bad:
                raise bad.at(ROWS_LABEL, number) from None

    source = _lines_of(records(), ROWS_LABEL)
    label = options.name or ROWS_LABEL
    return SessionStream([_Recognised(source, sniff(source, options), label)], options, label)


def _lines_of(records: Records, name: str) -> Source:
    """JSON Lines in an unnamed temporary file, each record on the line of its number."""
    kept = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the source
    line = 1
    for number, record in records:
        kept.write(b"\n" * (number - line))
        kept.write(json.dumps(record, default=_plain).encode("ascii") + b"\n")
        line = max(line, number) + 1
    kept.flush()
    return Source(name, lambda: Window(kept, 0, kept.seek(0, io.SEEK_END)))


def _read_records(context: Context, records: Records) -> Iterator[Session]:
    """Sessions of a table with a record a row, in whatever format of JSON Lines the records are."""
    source = _lines_of(records, context.source.name)
    if context.notes.problems:
        return
    options = replace(context.options, format=None)
    layout = sniff(source, options)
    context.file.layout = layout
    file = InputFile(source.name, layout)
    inner = replace(context, source=source, options=options, file=file)
    yield from registry().readers[layout].read(inner)


def _plain(value: Any) -> Any:
    """What JSON has no form for: arrays and numbers of numpy as Python's, the rest as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)
