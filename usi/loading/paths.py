"""From what the user names to the files that are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from usi.errors import InputError
from usi.loading.archive import may_be_archive, members
from usi.loading.corpora.star import join_dialogues
from usi.loading.formats.inspect_log import join_eval
from usi.loading.source import STDIN, Source, file_source, stdin_source, walk
from usi.loading.workbook import sheets_of

_BESIDE = (
    "license", "licence", "readme", "notice", "changelog", "citation", "datasheet", "contributing",
)  # fmt: skip
_BESIDE_DATA_SETS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""What Hugging Face's data sets write beside their data."""
_UTTERANCES = "utterances.jsonl"
_CONVOKIT = ("speakers.json", "users.json", "conversations.json", "corpus.json", "index.json")
_BESIDE_SUFFIXES = (".times.json", ".md", ".toml", ".rst")
_SURVEY = "survey_comparable_"
RESULTS, SIMULATIONS = "results.json", "simulations"


def expand(path: str | Path, passed_over: list[str] | None = None) -> list[Source]:
    """The files behind one argument, folders and archives walked in sorted order.

    Documentation that lies beside data (licence, readme, manifest) and survey files are passed
    over and named in `passed_over`; everything else must be data.
    """
    aside = [] if passed_over is None else passed_over
    name = str(path)
    if name == STDIN:
        source = stdin_source()
        found = members(source)
        if found is None:
            return [source]
        return _joined(source, found) or _without_documentation(found, name, "archive", aside)
    if not name:
        raise InputError("an empty path names no file; use . for the folder you are in")
    path = Path(path)
    if path.is_dir():
        inside = list(walk(path, name))
        for file, shown in inside:
            _check_no_pipe(file, shown)
        found = []
        for file, shown in inside:
            found += _file_or_members(file_source(file, shown, name), aside)
        return _without_documentation(found, name, "folder", aside)
    if not path.exists():
        raise InputError("there is no such file or folder", file=name)
    _check_no_pipe(path, name)
    source = file_source(path, name)
    found = members(source)
    if found is not None:
        return _joined(source, found) or _without_documentation(found, name, "archive", aside)
    beside = path.parent / SIMULATIONS
    if path.name == RESULTS and beside.is_dir():
        shown = name[: -len(RESULTS)] + SIMULATIONS
        parts = [file_source(part, called) for part, called in walk(beside, shown)]
        return join_tau2_folders([source, *parts])
    return [source]


def _check_no_pipe(path: Path, name: str) -> None:
    """Files are read several times, which a pipe can't be: it would wait for ever."""
    if path.is_fifo() or path.is_socket():
        raise InputError("is a pipe, no file; give - and pass it to stdin", file=name)


def _file_or_members(source: Source, aside: list[str]) -> list[Source]:
    """A file of a folder; of an archive its members, an ``.eval`` log as one source."""
    if is_beside_data(source.filename) or not may_be_archive(source):
        return [source]
    found = members(source)
    if found is None:
        return [source]
    return _joined(source, found) or _without_documentation(found, source.name, "archive", aside)


def _joined(source: Source, found: list[Source]) -> list[Source] | None:
    """What an archive is as a whole: a log of Inspect, or the sheets of a workbook."""
    log = join_eval(source, found)
    return [log] if log else sheets_of(source, found)


def is_beside_data(filename: str) -> bool:
    """Whether a file of a folder is no data by its name: documentation, or a survey file."""
    lower = filename.lower()
    return (
        lower.startswith((*_BESIDE, _SURVEY))
        or lower.endswith(_BESIDE_SUFFIXES)
        or lower in _BESIDE_DATA_SETS
        or lower.startswith(".")
    )


def _without_documentation(
    found: list[Source], name: str, kind: str, aside: list[str]
) -> list[Source]:
    beside = [source.name for source in found if is_beside_data(source.filename)]
    beside += _beside_utterances(found)
    sources = [source for source in found if source.name not in beside]
    aside += beside
    if not sources:
        raise InputError(f"the {kind} holds no data files", file=name)
    return join_tau2_folders(join_dialogues(sources, name))


def _beside_utterances(found: list[Source]) -> list[str]:
    """What ConvoKit writes beside the utterances of a corpus: speakers, conversations, an index."""
    folders = {
        source.name.removesuffix(_UTTERANCES) for source in found if source.filename == _UTTERANCES
    }
    own = {folder + name for folder in folders for name in _CONVOKIT}
    return [source.name for source in found if source.name in own]


def join_tau2_folders(sources: list[Source]) -> list[Source]:
    """Join a ``results.json`` with the ``simulations/*.json`` beside it: one source, one simulator.

    Its label is the name of the folder, since all such files have the same name.
    """
    joined, taken = [], set()
    for source in sources:
        if source.filename != RESULTS:
            continue
        folder = source.name[: -len(RESULTS)]
        below = f"{folder}{SIMULATIONS}/"
        parts = tuple(part for part in sources if part.name.startswith(below))
        if parts:
            taken |= {part.name for part in parts} | {source.name}
            label = Path(folder).name or Path(folder).resolve().name
            joined.append(replace(source, parts=parts, label=label))
    kept = [source for source in sources if source.name not in taken]
    return sorted([*kept, *joined], key=lambda source: source.name) if joined else sources
