"""Endpoints that are broken in every way: a call ends in time, with a reason; the run goes on."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from simulate.server import Server

from usi.simulate.calls import Calls, Runtime
from usi.simulate.client import ModelSettings, complete, post_json, ready
from usi.simulate.deadline import GRACE, within
from usi.simulate.faults import EpisodeFault, RunStopped

TIMEOUT = 0.6
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
COMPLETION: dict[str, Any] = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"},
                 "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip


def whole(body: bytes, head: bytes = OK) -> list[bytes]:
    return [head + b"Content-Length: %d\r\n\r\n" % len(body) + body]


def with_choice(**changes: Any) -> bytes:
    choice = {**COMPLETION["choices"][0], **changes}
    return json.dumps({**COMPLETION, "choices": [choice]}).encode()


def dripped(start: bytes, piece: bytes) -> Iterator[bytes]:
    yield start
    while True:
        time.sleep(0.1)
        yield piece


DRIPS: dict[str, Callable[[], Iterator[bytes]]] = {
    "status line": lambda: dripped(b"", b"H"),
    "headers": lambda: dripped(OK, b"a"),
    "many headers": lambda: dripped(OK, b"a: b\r\n"),
    "body": lambda: dripped(OK + b"Content-Length: 100000\r\n\r\n", b" "),
    "chunks": lambda: dripped(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
}
BROKEN: dict[str, list[bytes]] = {
    "nothing": [],
    "no HTTP": [b"hello\r\n\r\n"],
    "damaged status": [b"HTTP/1.1 abc\r\n\r\n"],
    "endless header": [OK + b"x: " + b"a" * 200_000 + b"\r\n\r\n"],
    "truncated body": [OK + b"Content-Length: 1000\r\n\r\n{"],
    "truncated chunks": [OK + b'Transfer-Encoding: chunked\r\n\r\n20\r\n{"content"'],
    "damaged chunks": [OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"],
    "not JSON": whole(b"<html>"),
    "other shape": whole(b"[1, 2]"),
    "null": whole(b"null"),
    "another charset": whole(b'{"content": "\xe4\xf6\xff"}'),
    "unknown charset": whole(b"\xff\xfe\x00", OK.replace(b"json", b"json; charset=klingon")),
    "not gzip": whole(b"{", OK + b"Content-Encoding: gzip\r\n"),
    "10 MB": whole(b'{"choices": "' + b"x" * (10 * 2**20) + b'"}'),
}  # fmt: skip


@contextlib.contextmanager
def saying(pieces: Callable[[], Any]) -> Iterator[str]:
    """A server that answers every request with these bytes; gives its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def talk(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.recv(2**16)
            for piece in pieces():
                if over.is_set():
                    return
                connection.sendall(piece)

    def accept() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                connection, _ = listening.accept()
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        over.set()
        listening.close()


def asked(url: str, *, model: bool, timeout: float = 20.0) -> str:
    """The reason with which one call ends."""
    calls = Calls(Runtime(retries=0, first_wait=0.0))
    settings = ModelSettings(model="openai/m", api_base=f"{url}/v1", timeout=timeout)

    def call() -> object:
        if model:
            return complete(settings, [{"role": "user", "content": "hi"}], calls=calls)
        return post_json(url, {"a": 1}, calls=calls, timeout=timeout)

    with pytest.raises(EpisodeFault) as caught:
        call()
    assert caught.value.detail
    return caught.value.reason


@pytest.mark.parametrize("model", [False, True], ids=["endpoint", "model"])
@pytest.mark.parametrize("how", DRIPS)
def test_a_deadline_holds_for_the_whole_call(how: str, model: bool, server: Server) -> None:
    assert server  # litellm is there
    ready()
    with saying(DRIPS[how]) as url:
        began = time.monotonic()
        reason = asked(url, model=model, timeout=TIMEOUT)
        assert time.monotonic() - began < TIMEOUT + 5
    assert reason == "timeout"


@pytest.mark.parametrize("model", [False, True], ids=["endpoint", "model"])
@pytest.mark.parametrize("how", BROKEN)
def test_a_bad_answer_has_a_reason(how: str, model: bool, server: Server) -> None:
    assert server
    with saying(lambda: BROKEN[how]) as url:
        assert asked(url, model=model) in ("malformed_response", "provider_error")


@pytest.mark.parametrize(
    "body",
    [
        with_choice(message={"role": "assistant", "content": ["a"]}),
        with_choice(message={"role": "assistant", "content": {"text": "a"}}),
        with_choice(message="hi"),
        with_choice(message={"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}),
        json.dumps({**COMPLETION, "usage": {"prompt_tokens": -5}}).encode(),
        json.dumps({**COMPLETION, "usage": {"prompt_tokens": "many"}}).encode(),
        json.dumps({**COMPLETION, "choices": {}}).encode(),
        json.dumps({**COMPLETION, "choices": [None]}).encode(),
    ],
)
def test_a_completion_of_another_shape_is_malformed(body: bytes, server: Server) -> None:
    assert server
    with saying(lambda: whole(body)) as url:
        assert asked(url, model=True) in ("malformed_response", "provider_error")


def test_redirects_end_the_call() -> None:
    where: list[str] = []
    head = b"HTTP/1.1 302 Found\r\nLocation: %s/again\r\nContent-Length: 0\r\n\r\n"
    with saying(lambda: [head % where[0].encode()]) as url:
        where.append(url)
        assert asked(url, model=False) == "provider_error"


def test_an_interruption_waits_only_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted, gave_up = threading.Event(), []
    interrupted.set()
    began = time.monotonic()
    monkeypatch.setattr("usi.simulate.deadline.GRACE", 0.2)
    with pytest.raises(RunStopped):
        within(60.0, lambda: time.sleep(2), interrupted, give_up=lambda: gave_up.append(1))
    assert time.monotonic() - began < 1.5
    assert gave_up
    assert GRACE <= 10
