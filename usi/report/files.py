"""Output files: the form by suffix, never over somebody else's file, whole or not at all.

Which forms a scorecard can be written in.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from usi.decisions.verdict import Verdict
from usi.errors import UsageError, UsiError
from usi.report import html, long_table, markdown
from usi.report.text import printable
from usi.scoring.published.export import aggregate_metrics, published_rows, to_text
from usi.scoring.scorecard import Scorecard

AGGREGATE = "_aggregate_metrics.json"


def _json(card: Scorecard, _: Path, __: Verdict | None = None) -> str:
    return card.to_json()


def _published(card: Scorecard, _: Path, __: Verdict | None = None) -> str:
    return to_text({"written_by": f"usi {card.usi_version}", **published_rows(card)})


def _aggregate(card: Scorecard, path: Path, _: Verdict | None = None) -> str:
    """The public scorer's file of one simulator, whose label is the file name's beginning."""
    data = aggregate_metrics(card, path.name[: -len(AGGREGATE)])
    return to_text({"written_by": f"usi {card.usi_version}", **data})


def _markdown(card: Scorecard, _: Path, verdict: Verdict | None = None) -> str:
    return markdown.render(card, verdict)


def _page(card: Scorecard, _: Path, verdict: Verdict | None = None) -> str:
    """The page of a scorecard alone; `usi.cli.score` knows more and shows it."""
    return html.render(card, verdict=verdict)


def _csv(card: Scorecard, _: Path, verdict: Verdict | None = None) -> str:
    return long_table.render(card, verdict)


class Form(Protocol):
    """Text of a card for a file of that name, with a verdict on it where there is one."""

    def __call__(self, card: Scorecard, path: Path, verdict: Verdict | None = None, /) -> str: ...


FORMS: dict[str, Form] = {
    ".json": _json,
    ".md": _markdown,
    ".html": _page,
    ".csv": _csv,
    ".tau-usi.json": _published,
    AGGREGATE: _aggregate,
}
"""Suffix -> text of the card for a file of that name. A new form is one line here."""


Writer = Callable[[Path], None]

_MARKS = (
    b'"usi_version"',
    b"written by usi ",
    b'"written_by": "usi ',
    b"usi_session_table",
    b"usi_feature_values",
    b"usi_aggregate",
    b'"usi":{"id":',
    b"tEXtSoftware\x00usi",
)
_SESSION_HEAD = (
    b"session_id,side,simulator,domain,task,run,batch,status,n_turns",
    b"session_id,task_id,trial,batch,domain,simulator,participant,agent",
    b'{"session_id":',
    b"name,index,terms,value,low,high,sd,",
    b"simulator,kind,part,unit,people,value,low,high,gap,",
    b"table,row,column,value,low,high,n,unit,status,reason",
    b'{"schemaVersion": 1, "label": "USI',
    b'{"schemaVersion": 1, "label": "SYNTHETIC USI',
)
_TASK_SUMS = (
    (b"spoken", b"rewarded", b"value:"),
    (b"bin_index", b"label.correct_refusal", b"sums."),
)
_JSONL_HEAD = re.compile(rb'\{"id":"(?:[^"\\]|\\.)*","simulator":"')
_LOOK = 65536
_PARQUET, _MOST_FOOTER = b"PAR1", 2**24


def form_of(path: Path, known: Iterable[str]) -> str:
    """Longest of the known suffixes that the file name ends with.

    Raises
    ------
    UsageError
        Where there is none; the message lists them.
    """
    name = path.name.lower()
    fitting = [suffix for suffix in known if name.endswith(suffix) and name != suffix]
    if not fitting:
        raise UsageError(
            f"-o {printable(str(path))}: the suffix chooses the form; known: {', '.join(known)}"
        )
    return max(fitting, key=len)


def written_by_usi(path: Path) -> bool:
    """Whether the file carries a mark that every file written by usi carries.

    JSON has the key ``usi_version`` (or ``written_by``), Markdown and HTML a line "written by
    usi", Parquet the key ``usi_session_table`` or
    ``usi_feature_values``; tables of sessions and usi JSONL start with their
    own heads.
    An empty file is nobody's.
    """
    with path.open("rb") as stream:
        start = stream.read(_LOOK)
        stream.seek(0, os.SEEK_END)
        size = stream.tell()
        stream.seek(max(0, size - _LOOK))
        end = stream.read(_LOOK)
        if end.endswith(_PARQUET) and len(end) >= 8:
            # The footer names every column, and it grows with them; its length stands before the
            # closing mark.
            length = int.from_bytes(end[-8:-4], "little")
            stream.seek(max(0, size - 8 - min(length, _MOST_FOOTER)))
            end = stream.read(_MOST_FOOTER + 8)
    if size == 0:
        return True
    if start.startswith(_PARQUET) and any(
        all(name in end for name in names) for names in _TASK_SUMS
    ):
        return True
    head = start.startswith(_SESSION_HEAD) or _JSONL_HEAD.match(start) is not None
    return head or any(mark in start or mark in end for mark in _MARKS)


def claim(
    outputs: Sequence[Path],
    *,
    known: Iterable[str],
    force: bool,
    inputs: Iterable[Path] = (),
) -> dict[Path, str]:
    """Check every output before any work: suffix, folder, overwriting.

    Returns
    -------
    dict
        Path -> its form.

    Raises
    ------
    UsageError
        For an unknown suffix, a path given twice, a folder, an input that would be overwritten
        (also with `force`), or a file that usi did not write (without `force`).
    """
    known = tuple(known)
    forms: dict[Path, str] = {}
    taken = {_same(path) for path in inputs}
    for path in outputs:
        shown = printable(str(path))
        if path.is_dir():
            raise UsageError(f"-o {shown}: this is a folder; name a file in it")
        form = form_of(path, known)
        if _same(path) in taken:
            raise UsageError(
                f"-o {shown}: this file is an input (or given twice); take another name"
            )
        if path.exists() and not force and not written_by_usi(path):
            raise UsageError(
                f"-o {shown}: the file exists and was not written by usi; "
                "take another name or add --force"
            )
        if not path.parent.exists() and not _can_make(path.parent):
            raise UsageError(f"-o {shown}: the folder {printable(str(path.parent))} can't be made")
        taken.add(_same(path))
        forms[path] = form
    return forms


def write_all(writers: Mapping[Path, Writer]) -> None:
    """Write all files or none: each beside its place first, then all moved there.

    Raises
    ------
    UsageError
        Where a file can't be written (no right, disk full).
    """
    ready: list[tuple[Path, Path]] = []
    try:
        for path, writer in writers.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".usi-", suffix=path.suffix, dir=path.parent)
            os.close(handle)
            ready.append((Path(name), path))
            writer(Path(name))
            _usual_rights(Path(name), path)
        while ready:
            ready[0][0].replace(ready[0][1])
            ready.pop(0)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"can't write {printable(str(path))}: {why}") from error
    except UsiError as error:  # of a writer, which knows the temporary file alone
        raise UsageError(str(error).replace(name, printable(str(path)))) from error
    finally:
        for left, _ in ready:
            with suppress(OSError):
                left.unlink()


def raw(data: bytes) -> Writer:
    """Writer of these bytes."""

    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


def text(content: str) -> Writer:
    """Writer of UTF-8 text with plain line ends, whatever the platform."""
    return raw(content.encode("utf-8"))


def _same(path: Path) -> str:
    return os.path.realpath(path)


def _can_make(folder: Path) -> bool:
    while not folder.exists():
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _usual_rights(made: Path, target: Path) -> None:
    """A temporary file is private; give it the rights that the file has or would have got."""
    if target.exists():
        made.chmod(target.stat().st_mode & 0o777)
        return
    mask = os.umask(0)
    os.umask(mask)
    made.chmod(0o666 & ~mask)
