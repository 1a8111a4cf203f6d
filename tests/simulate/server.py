"""An OpenAI-compatible server on 127.0.0.1 that says what a test tells it to say."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = dict[str, Any]
"""Keys: ``content``, ``tool_calls``, ``reasoning_content``, ``finish``; or ``status``, ``headers``,
``raw`` (bytes of the body as they are), ``sleep`` (seconds)."""


@dataclass
class Server:
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    answer: Callable[[dict[str, Any], int], Reply] = lambda request, n: {"content": "hello"}

    def says(self, *replies: Reply) -> None:
        """Answer with these in turn, the last one for ever."""
        self.answer = lambda request, n: replies[min(n, len(replies) - 1)]


def tool_call(name: str, arguments: Any, number: int = 1) -> Reply:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": text}}
    return {"content": None, "tool_calls": [call], "finish": "tool_calls"}


def _body(reply: Reply) -> bytes:
    message = {"role": "assistant", "content": reply.get("content")}
    for name in ("tool_calls", "reasoning_content"):
        if name in reply:
            message[name] = reply[name]
    return json.dumps(
        {
            "id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [
                {"index": 0, "message": message, "finish_reason": reply.get("finish", "stop")}
            ],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
    ).encode()  # fmt: skip


@contextmanager
def serve() -> Iterator[Server]:
    state, lock = Server(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            request = json.loads(self.rfile.read(length))
            with lock:
                number = len(state.requests)
                state.requests.append(request)
                state.headers.append({k.lower(): v for k, v in self.headers.items()})
                state.paths.append(self.path)
                reply = state.answer(request, number)
            time.sleep(reply.get("sleep", 0))
            status = reply.get("status", 200)
            error = json.dumps({"error": {"message": reply.get("message", "no"), "code": "x"}})
            body = reply.get("raw", _body(reply) if status == 200 else error.encode())
            try:
                self.send_response(status)
                for name, value in {
                    "Content-Type": "application/json", **reply.get("headers", {})
                }.items():  # fmt: skip
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                return

        def log_message(self, *_: Any) -> None:
            return

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            return

    httpd = Quiet(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
