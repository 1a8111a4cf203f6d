"""Fetching a public corpus: downloads resume, hashes are held to, gates are explained.

Downloads go through pooch (with a downloader that resumes) or huggingface_hub; both come with the
extra ``fetch`` and are imported only here.

Public corpora that can be fetched: addresses, licences and terms, as data.
"""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError, unknown_name
from usi.loading.archive import members
from usi.loading.source import BUFFER, file_source

_ABOUT = (
    "title", "licence", "terms", "redistribute", "research_only", "source", "citation",
    "language", "channel", "protocol", "agent", "task_set", "task_sample", "batch_by",
)  # fmt: skip


@dataclass(frozen=True)
class RemoteFile:
    """One file of a public corpus.

    Attributes
    ----------
    name
        Under which it is kept.
    url
        Where it is; or, on the Hugging Face Hub, `hub` (data set) and `path`.
    sha256
        Expected hash; ``None`` where the host packs it anew.
    take
        Patterns of the members of an archive that are data; ``()`` keeps the file as it is.
    """

    name: str
    url: str | None = None
    hub: str | None = None
    path: str | None = None
    sha256: str | None = None
    take: tuple[str, ...] = ()


@dataclass(frozen=True)
class CorpusSource:
    """A public corpus: what its manifest says, and its files."""

    name: str
    about: dict[str, Any]
    files: tuple[RemoteFile, ...]

    @property
    def terms(self) -> str | None:
        """Terms that have to be accepted; ``None`` where the licence is all."""
        terms: str | None = self.about.get("terms")
        return terms


@cache
def known_sources() -> dict[str, CorpusSource]:
    """All corpora of ``sources.toml`` by name."""
    text = resources.files("usi.corpora").joinpath("sources.toml").read_text("utf-8")
    return {name: _source(name, data) for name, data in tomllib.loads(text).items()}


def _source(name: str, data: dict[str, Any]) -> CorpusSource:
    files = tuple(
        RemoteFile(**{**file, "take": tuple(file.get("take", ()))}) for file in data["file"]
    )
    return CorpusSource(name, {k: data[k] for k in _ABOUT if k in data}, files)


def get_source(name: str) -> CorpusSource:
    """A known corpus; the data set's own name on the Hub is understood, too.

    Raises
    ------
    UsageError
        For an unknown name, with near matches.
    """
    sources = known_sources()
    for source in sources.values():
        if name == source.name or any(name == file.hub for file in source.files):
            return source
    raise unknown_name("public corpus", name, list(sources))


TIMEOUT = 30
ATTEMPTS = 4
"""Times that a download that breaks off is taken up again where it stopped."""
PIECE = 8192
"""Bytes that are kept at a time: of a piece that breaks off nothing is kept."""
_GATE = (401, 403)


def fetch_files(
    source: CorpusSource,
    folder: Path,
    *,
    accepted: bool = False,
    endpoint: str | None = None,
) -> list[Path]:
    """Download the files of a corpus into a folder; archives are taken apart there.

    A download that was interrupted is taken up where it stopped, also by the next call.

    Parameters
    ----------
    source
        From `usi.corpora.fetch.get_source`.
    folder
        Where to; made if it is not there.
    accepted
        Whether the terms of the corpus are accepted.
    endpoint
        Address of the Hub, where it is another one.

    Raises
    ------
    UsageError
        Where terms are to be accepted, or the extra is not installed.
    InputError
        Where a file can't be had: no connection, a gate, another hash than expected.
    """
    check_terms(source, accepted)
    folder.mkdir(parents=True, exist_ok=True)
    kept: list[Path] = []
    for file in source.files:
        path = _hub(file, folder, source, endpoint) if file.hub else _web(file, folder, source)
        kept += take(path, file.take, folder) if file.take else [path]
    return kept


def check_terms(source: CorpusSource, accepted: bool) -> None:
    """Refuse a corpus with terms of its own until they are accepted."""
    if source.terms and not accepted:
        raise UsageError(
            f"{source.name} has terms of its own ({source.about.get('licence')}):\n{source.terms}\n"
            "Read them, and where you accept them add --accept-terms"
        )


def _web(file: RemoteFile, folder: Path, source: CorpusSource) -> Path:
    pooch = _extra("pooch")
    url = file.url or ""
    known = f"sha256:{file.sha256}" if file.sha256 else None
    pooch.get_logger().setLevel("ERROR")
    try:
        found = pooch.retrieve(
            url,
            known_hash=known,
            fname=file.name,
            path=folder,
            downloader=_Resuming(folder / f".{file.name}.part", source),
        )
    except ValueError as error:
        if "hash" not in str(error).lower():
            raise
        raise InputError(
            f"has another hash than expected ({file.sha256}): it was changed there or on the way. "
            "It was not kept",
            file=url,
        ) from None
    return Path(found)


class _Resuming:
    """Downloader for pooch: keeps what came in a file beside, and asks for the rest alone."""

    def __init__(self, part: Path, source: CorpusSource) -> None:
        self._part, self._source = part, source

    def __call__(self, url: str, output_file: Any, _pooch: Any) -> None:
        requests = _extra("requests")
        problem: Exception | None = None
        for _ in range(ATTEMPTS):
            try:
                if self._get(requests, url):
                    break
            except (requests.ConnectionError, requests.Timeout,
                    requests.exceptions.ChunkedEncodingError) as error:  # fmt: skip
                problem = error
        else:
            raise InputError(
                f"the download broke off {ATTEMPTS} times"
                + (f" ({type(problem).__name__})" if problem else "")
                + "; what came is kept: run the command again and it goes on from there",
                file=url,
            )
        with self._part.open("rb") as stream:
            target = output_file if hasattr(output_file, "write") else Path(output_file).open("wb")  # noqa: SIM115
            try:
                while block := stream.read(BUFFER):
                    target.write(block)
            finally:
                if target is not output_file:
                    target.close()
        self._part.unlink()

    def _get(self, requests: Any, url: str) -> bool:
        """One request; whether the file is whole now."""
        have = self._part.stat().st_size if self._part.exists() else 0
        # Bytes as stored: a host that compresses on the way would spoil sizes and ranges.
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            status = answer.status_code
            if status == 416 and have:  # nothing is left to send, or the file has changed
                total = answer.headers.get("Content-Range", "").rpartition("/")[2]
                if total == str(have):
                    return True
                self._part.unlink()
                return False
            if status in _GATE:
                raise gate_refused(self._source, url, status)
            if status >= 400:
                raise InputError(f"the server answers {status} {answer.reason}", file=url)
            if have and status != 206:  # it sends the whole file again
                have = 0
            size = answer.headers.get("Content-Length")
            with self._part.open("ab" if have else "wb") as stream:
                for block in answer.iter_content(PIECE):
                    stream.write(block)
                stream.flush()
                came = stream.tell()
        return size is None or came >= have + int(size)


def _hub(file: RemoteFile, folder: Path, source: CorpusSource, endpoint: str | None) -> Path:
    hub = _extra("huggingface_hub")
    errors = _extra("huggingface_hub.errors")
    place = f"{file.hub}/{file.path}"
    try:
        found = hub.hf_hub_download(
            repo_id=file.hub,
            filename=file.path,
            repo_type="dataset",
            local_dir=folder / ".hub",
            endpoint=endpoint,
        )
    except errors.GatedRepoError as error:
        raise gate_refused(source, place, _status(error)) from None
    except errors.HfHubHTTPError as error:
        status = _status(error)
        if status in _GATE:
            raise gate_refused(source, place, status) from None
        raise InputError(f"the Hub answers {status}", file=place) from None
    except (errors.LocalEntryNotFoundError, OSError) as error:
        raise InputError(f"can't be reached ({type(error).__name__})", file=place) from None
    target = folder / file.name
    Path(found).replace(target)
    if file.sha256:
        from usi.provenance.record import sha256_file

        if sha256_file(target) != file.sha256:
            target.unlink()
            raise InputError("has another hash than expected. It was not kept", file=place)
    return target


def _status(error: Any) -> int:
    answer = getattr(error, "response", None)
    return int(getattr(answer, "status_code", 403))


def gate_refused(source: CorpusSource, place: str, status: int) -> InputError:
    """What to do where a gate says no."""
    terms = f" Its terms:\n{source.terms}" if source.terms else ""
    return InputError(
        f"access is refused ({status}). {source.name} is gated: ask for access at "
        f"{source.about.get('source', place)}, log in there, and try again; or give the files you "
        f"already have with --from PATH.{terms}",
        file=place,
    )


def take(archive: Path, patterns: tuple[str, ...], folder: Path) -> list[Path]:
    """Take the data members out of an archive, by their base names; the archive goes.

    Raises
    ------
    InputError
        For a hostile archive (see `usi.loading.archive`), no archive, or one without such members.
    """
    found = members(file_source(archive, archive.name))
    if found is None:
        raise InputError("is no archive", file=archive.name)
    kept = []
    for member in found:
        inner = member.name.removeprefix(f"{archive.name}/")
        if not any(fnmatch.fnmatch(f"/{inner}", pattern) for pattern in patterns):
            continue
        target = folder / member.filename
        if target in kept:
            raise InputError(f"two members are named {member.filename!r}", file=archive.name)
        with member.open() as stream, target.open("wb") as out:
            while block := stream.read(BUFFER):
                out.write(block)
        kept.append(target)
    if not kept:
        raise InputError(f"holds no {' or '.join(patterns)}", file=archive.name)
    archive.unlink()
    return kept


def _extra(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise UsageError(
            "fetching needs the extra: pip install 'usi[fetch]'; or give files at hand with "
            "--from PATH"
        ) from None
