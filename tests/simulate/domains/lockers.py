"""A domain small enough to count by hand: three lockers, four tools, a few tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TOOLS = '''
from typing import Literal
from usi.simulate.domains import Database, FreeText, ToolError, read, write


@read
def look(db: Database, locker: str) -> dict:
    """Show a locker.

    Parameters
    ----------
    locker
        Its number,
        such as L1.
    """
    return {"locker": locker, **db.get("lockers", locker)}


@write
def take(db: Database, locker: str, person: Literal["ann", "ben"], size: int = 1) -> dict:
    """Give a locker to a person."""
    record = db.get("lockers", locker)
    record["size"] = size
    if record["owner"] is not None:
        raise ToolError("taken")
    record["owner"] = person
    return {"locker": locker, "owner": person}


@write
def free(db: Database, locker: str) -> dict:
    """Take a locker back."""
    db.get("lockers", locker)["owner"] = None
    return {"locker": locker}


@write
def order_key(db: Database, locker: str, remark: FreeText = "") -> dict:
    """Order a key for a locker."""
    return {"key": db.insert("keys", "K", {"locker": locker, "remark": remark})}


@write
def breaks(db: Database) -> dict:
    """A defective tool."""
    db.tables["lockers"].clear()
    return db.tables["nothing"]


def odd_lockers(way):
    for call in way.writes:
        if call.arguments.get("locker") == "L3":
            yield "L3 is out of order", call.at
'''
DEFINITION = """
name = "lockers"
title = "Lockers"
now = "2025-01-01T08:00"

[compare]
ignored = ["keys.remark"]

[references]
"keys.locker" = "lockers"

[[rule]]
id = "ask_first"
kind = "confirmation"
text = "Ask before each change."
exempt = ["order_key"]

[[rule]]
id = "look_first"
kind = "before"
text = "Look at a locker before it is freed."
tools = ["free"]
needs = ["look"]
same = { locker = "locker" }

[[rule]]
id = "not_l2"
kind = "never"
text = "L2 is never freed."
tools = ["free"]
when = { locker = ["L2"] }

[[rule]]
id = "one_key"
kind = "at_most"
text = "One key a locker."
tools = ["order_key"]
per = "locker"
times = 1

[[rule]]
id = "ann_before_ben"
kind = "in_order"
text = "Ann comes before Ben."
tools = ["take"]
per = "size"
value = "person"
order = ["ann", "ben"]

[[rule]]
id = "hands"
kind = "transitions"
text = "Lockers go from nobody to Ann only."
tools = ["take"]
per = "locker"
value = "person"
start = "lockers.owner"
allowed = { None = ["ann"] }

[[rule]]
id = "not_l3"
kind = "predicate"
text = "L3 is out of order."
function = "odd_lockers"
"""
TASKS: list[dict[str, Any]] = [
    {
        "id": "take",
        "instruction": "You are Ann. You want\n  locker L1.",
        "difficulty": "easy",
        "requests": ["I want locker L1."],
        "facts": {"name": "ann"},
        "reply": "Your code is 1,234.",
        "outputs": ["1234"],
        "step": [
            {"call": "look", "args": {"locker": "L1"}},
            {
                "call": "take",
                "args": {"locker": "L1", "person": "ann"},
                "ask": ["name"],
                "describe": "give you locker L1",
            },
        ],
    },
    {
        "id": "two",
        "instruction": "You want locker L1, and two keys.",
        "difficulty": "hard",
        "requests": ["I want L1.", "I want two keys."],
        "reply": "All done.",
        "step": [
            {"id": "t", "call": "take", "args": {"locker": "L1", "person": "ann"}, "describe": "t"},
            {
                "id": "k1",
                "call": "order_key",
                "args": {"locker": "L1", "remark": "x"},
                "describe": "k1",
                "after": ["t"],
            },
            {"id": "k2", "call": "order_key", "args": {"locker": "L2"}, "describe": "k2"},
        ],
    },
    {
        "id": "refuse",
        "instruction": "You want locker L2, which is Ben's.",
        "difficulty": "medium",
        "refusal": True,
        "requests": ["I want L2."],
        "reply": "I can't give you L2: it is taken.",
        "never_said": ["ben"],
        "step": [
            {"call": "look", "args": {"locker": "L2"}},
            {"call": "free", "args": {"locker": "L2"}, "describe": "free L2", "offer": True},
        ],
    },
    {
        "id": "either",
        "instruction": "You want L1 or L3.",
        "difficulty": "easy",
        "requests": ["I want a locker."],
        "reply": "Done.",
        "step": [
            {"call": "take", "args": {"locker": "L1", "person": "ann"}, "describe": "give L1"}
        ],
        "path": [{"step": [{"call": "take", "args": {"locker": "L3", "person": "ann"}}]}],
    },
]


def build(folder: Path, **changes: str) -> Path:
    """Write the domain; `changes` replaces the content of files (``tools`` for tools.py ...)."""
    (folder / "tables").mkdir(parents=True)
    (folder / "tasks").mkdir()
    lockers = {
        "L1": {"owner": None, "size": 1},
        "L2": {"owner": "ben", "size": 1},
        "L3": {"owner": None, "size": 1},
    }
    files = {
        "definition": ("domain.toml", DEFINITION),
        "tools": ("tools.py", TOOLS),
        "policy": ("policy.md", "# Rules\n\nAsk first.\n"),
        "lockers": ("tables/lockers.json", json.dumps(lockers)),
        "keys": ("tables/keys.json", json.dumps({"K007": {"locker": "L2", "remark": ""}})),
        "tasks": ("tasks/tasks.json", json.dumps(TASKS)),
    }
    for name, (file, content) in files.items():
        (folder / file).write_text(changes.get(name, content), encoding="utf-8")
    return folder


def say(role: str, text: str) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": text}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A message that makes one call."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }
