"""Downloads from a server on 127.0.0.1 that breaks off, redirects and closes its gate."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from usi.corpora.fetch import CorpusSource, RemoteFile, fetch_files, get_source, known_sources
from usi.errors import InputError, UsageError

BODY = b'{"id":"a","messages":[{"role":"user","content":"hi"}]}\n' * 4000


class Server(ThreadingHTTPServer):
    breaks: int = 0
    ranges: list[str | None]
    zipped: bytes = b""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        return

    def do_HEAD(self) -> None:
        self._gate()

    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/file")
            self.end_headers()
        elif self.path == "/file":
            self._file(BODY)
        elif self.path == "/zip":
            self._file(self.server.zipped)
        elif self.path == "/gone":
            self.send_error(404)
        else:
            self._gate()

    def _gate(self) -> None:
        self.send_response(401 if self.path == "/login" else 403)
        self.send_header("X-Error-Code", "GatedRepo")
        self.send_header("X-Error-Message", "Access to this dataset is restricted")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, body: bytes) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        rest = body[start:]
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if self.server.breaks:
            self.server.breaks -= 1
            self.wfile.write(rest[: len(rest) // 2])
            self.close_connection = True
        else:
            self.wfile.write(rest)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.ranges = []
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def source(server: Server, path: str, **more: Any) -> CorpusSource:
    url = f"http://127.0.0.1:{server.server_port}{path}"
    about = {"licence": "MIT", "source": "the page of the data"}
    return CorpusSource("trial", about, (RemoteFile(name="f.jsonl", url=url, **more),))


def test_a_file_of_the_expected_hash_is_kept(server: Server, tmp_path: Path) -> None:
    digest = hashlib.sha256(BODY).hexdigest()
    (found,) = fetch_files(source(server, "/file", sha256=digest), tmp_path)
    assert found.read_bytes() == BODY


def test_an_interrupted_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.breaks = 2
    (found,) = fetch_files(source(server, "/file"), tmp_path)
    assert found.read_bytes() == BODY
    assert server.ranges[0] is None
    start = int(str(server.ranges[1]).removeprefix("bytes=").rstrip("-"))
    assert 0 < start <= len(BODY) // 2
    assert len(server.ranges) == 3


def test_the_next_call_goes_on_too(server: Server, tmp_path: Path) -> None:
    server.breaks = 4
    with pytest.raises(InputError, match="broke off 4 times"):
        fetch_files(source(server, "/file"), tmp_path)
    (found,) = fetch_files(source(server, "/file"), tmp_path)
    assert found.read_bytes() == BODY
    assert server.ranges[4] not in (None, "bytes=0-")


def test_a_wrong_hash_is_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another hash than expected"):
        fetch_files(source(server, "/file", sha256="0" * 64), tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    (found,) = fetch_files(source(server, "/moved"), tmp_path)
    assert found.read_bytes() == BODY


@pytest.mark.parametrize(("path", "status"), [("/login", "401"), ("/closed", "403")])
def test_a_gate_is_explained(server: Server, tmp_path: Path, path: str, status: str) -> None:
    with pytest.raises(InputError, match=rf"refused \({status}\).*ask for access at the page"):
        fetch_files(source(server, path), tmp_path)


def test_a_missing_file_is_told(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="answers 404"):
        fetch_files(source(server, "/gone"), tmp_path)


def test_the_gate_of_the_hub_is_explained_with_its_terms(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is gated") as caught:
        fetch_files(
            get_source("cmu-lti/tau-usi"),
            tmp_path,
            accepted=True,
            endpoint=f"http://127.0.0.1:{server.server_port}",
        )
    assert "No training" in str(caught.value)
    assert "--from PATH" in str(caught.value)


def test_terms_are_shown_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--accept-terms") as caught:
        fetch_files(get_source("tau-usi"), tmp_path)
    assert "Participants must not be identified" in str(caught.value)


def test_members_of_an_archive_are_taken_and_hostile_ones_refused(
    server: Server, tmp_path: Path
) -> None:
    good, bad = BytesIO(), BytesIO()
    with zipfile.ZipFile(good, "w") as archive:
        archive.writestr("root/dialogues/1.json", "{}")
        archive.writestr("root/other.json", "[]")
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("../../dialogues/1.json", "{}")
    server.zipped = good.getvalue()
    found = fetch_files(source(server, "/zip", take=("*/dialogues/*.json",)), tmp_path / "a")
    assert [p.name for p in found] == ["1.json"]
    assert not (tmp_path / "a" / "f.jsonl").exists()
    server.zipped = bad.getvalue()
    with pytest.raises(InputError, match="leads out of it"):
        fetch_files(source(server, "/zip", take=("*/dialogues/*.json",)), tmp_path / "b")
    assert not (tmp_path / "dialogues").exists()


def test_known_sources_tell_licence_and_where_from() -> None:
    assert {"star", "multiwoz", "multidogo-airline", "abcd", "tau-usi"} <= set(known_sources())
    for known in known_sources().values():
        assert known.about["licence"]
        assert known.about["source"].startswith("https://")
    with pytest.raises(UsageError, match="did you mean 'star'"):
        get_source("stra")
