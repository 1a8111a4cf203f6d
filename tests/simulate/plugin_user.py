"""Users and agents of somebody else, for tests of callables and processes."""

from __future__ import annotations

import json
import sys
from typing import Any


def reply(request: dict[str, Any]) -> Any:
    if request["type"] == "survey":
        return {"answers": {"human_like": "Yes", "reuse": "perhaps"}}
    if len(request["history"]) > 2:
        return {"content": "bye", "stop": True}
    return f"I am {request['task_id']} with seed {request['seed']}"


def breaks(request: dict[str, Any]) -> Any:
    raise ValueError("my bug")


def act(request: dict[str, Any]) -> Any:
    if request["messages"][-1]["role"] == "user" and request["tools"]:
        return {"tool_calls": [{"name": "add", "arguments": {"amount": 1}}]}
    return {"content": "done"}


class Factory:
    identity = {"kind": "own"}  # noqa: RUF012
    synthetic = True

    def new(self, task: Any, seed: int, runtime: Any) -> Any:
        return self

    def reply(self, history: Any) -> Any:
        return {"role": "user", "content": "###STOP###"}


def main() -> None:
    for line in sys.stdin:
        if "--die" in sys.argv:
            sys.exit(3)
        if "--babble" in sys.argv:
            print("no json", flush=True)
            continue
        answer = reply(json.loads(line))
        print(json.dumps(answer if isinstance(answer, dict) else {"content": answer}), flush=True)


if __name__ == "__main__":
    main()
