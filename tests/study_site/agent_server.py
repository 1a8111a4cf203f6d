"""An agent on 127.0.0.1 in a process of its own: python agent_server.py [PORT] [SECONDS].

Below /v1 it speaks as an OpenAI-compatible server, elsewhere as an endpoint of usi.

It answers from the talk alone, so that a killed study server finds the same agent again. Where the
user gives a number of an employee and a staff code, it makes one tool call before it answers.
"""

from __future__ import annotations

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SLEEP = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    said = [m for m in messages if m["role"] == "user"]
    last = messages[-1]
    if last["role"] == "user" and "E1" in str(last["content"]) and len(said) == 2:
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "get_account", "arguments": '{"employee_id": "E1001"}'},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    text = f"Reply {len(said)}: I have noted “{str(said[-1]['content'])[:60]}”. Anything else?"
    return {"role": "assistant", "content": text}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(SLEEP)
        message = answer(request["messages"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        whole = {
            "id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }  # fmt: skip
        body = json.dumps(whole if self.path.startswith("/v1/") else message).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        return


if __name__ == "__main__":
    server = ThreadingHTTPServer(
        ("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler
    )
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
