"""How fast the feature kernel is: against the plain oracle of the tests, and on hostile text.

Run ``python benchmarks/bench_kernel.py`` (``POLARS_MAX_THREADS=1`` in the environment holds it to
one thread). Both sides run in one process on the same sessions, alternating; medians are shown.
Sessions come from real airline conversations where the shared data are there, else from a small
generator below. Absolute times wander from machine to machine: hold to the ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import oracle  # noqa: E402

from usi.extraction import extract_table  # noqa: E402
from usi.records import MISSING, Session, Turn  # noqa: E402

SHARED = Path(os.environ.get("USI_SHARED", ROOT.parent / "shared"))
AIRLINE = SHARED / "data/taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json"
WORDS = (
    "i would like to change my reservation please could you check the flight number and tell me "
    "how much it is thanks yes ok sure maybe not W2378156 mia_li_3668 what about friday"
)
HOSTILE = {
    "'_'": "_",
    "'_a'": "_a",
    "'é'": "é",
    "'gift_card_'": "gift_card_",
    "'do not ask me '": "do not ask me ",
    "'<|think|>' (never closed)": "<|think|>",
    "'<function=' (never closed)": "<function=",
    "'<|tool|>' then one close": "<|tool|>",
    "'you said '": "you said ",
    "'a '": "a ",
    "'1'": "1",
    "'a@'": "a@",
    "'a_1'": "a_1",
    "'#'": "#",
    "blanks": " ",
    "'yes,'": "yes,",
}


def real_conversations() -> list[list[dict[str, Any]]]:
    """Conversations of the shared airline file: user and assistant messages as they stand."""
    rows = json.loads(AIRLINE.read_text(encoding="utf-8"))
    return [[m for m in row["traj"] if m.get("role") in ("user", "assistant")] for row in rows]


def made_conversations(count: int = 200) -> list[list[dict[str, Any]]]:
    """Stand-in where the shared data are absent: seven user turns of about twenty words."""
    rng = random.Random(7)
    vocabulary = WORDS.split()

    def text(words: int) -> str:
        return " ".join(rng.choices(vocabulary, k=words))

    return [
        [
            {"role": role, "content": text(rng.randint(1, 40) if role == "user" else 60)}
            for _ in range(7)
            for role in ("user", "assistant")
        ]
        for _ in range(count)
    ]


def as_session(name: str, messages: list[dict[str, Any]]) -> Session:
    """Wrap messages as a loader would."""
    turns = tuple(Turn(role=m.get("role"), content=m.get("content", MISSING)) for m in messages)
    return Session(session_id=name, turns=turns)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor time of one call (all threads together)."""
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def compare(pool: list[list[dict[str, Any]]], count: int, rounds: int) -> float:
    """Print one row of the table; return oracle time over kernel time."""
    conversations = [pool[i % len(pool)] for i in range(count)]
    sessions = [as_session(str(i), messages) for i, messages in enumerate(conversations)]

    def kernel() -> None:
        extract_table(sessions, profile="tau-usi", side="simulated").values()

    def plain() -> None:
        for messages in conversations:
            oracle.features(messages, "llm")

    kernel()  # compiled patterns and lazy tables are in place before anything is timed
    times = [(*seconds(plain), *seconds(kernel)) for _ in range(rounds)]
    slow, slow_cpu, fast, fast_cpu = (
        statistics.median(column) for column in zip(*times, strict=True)
    )
    print(
        f"{count:>9,} {slow:>10.3f} {fast:>10.3f} {count / slow:>12,.0f} {count / fast:>12,.0f} "
        f"{slow / fast:>7.1f}x {slow_cpu / fast_cpu:>7.1f}x"
    )
    return slow / fast


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    real = AIRLINE.exists()
    pool = real_conversations() if real else made_conversations()
    users = [m["content"] for messages in pool for m in messages if m["role"] == "user"]
    print(
        f"{'real airline' if real else 'generated'} sessions: {len(users) / len(pool):.1f} user "
        f"turns, {sum(map(len, users)) / len(pool):.0f} characters of user text each; "
        f"polars threads: {pl.thread_pool_size()}\n"
    )
    print(
        f"{'sessions':>9} {'oracle s':>10} {'kernel s':>10} {'oracle /s':>12} {'kernel /s':>12} "
        f"{'wall':>8} {'cpu':>8}"
    )
    for count in options.sessions:
        compare(pool, count, options.rounds)
    print("\nhostile text, one user message of 1 MB (seconds in the kernel)")
    for label, unit in HOSTILE.items():
        text = unit * (2**20 // len(unit.encode()))
        if label.endswith("close"):
            text += "<|/tool|>"
        session = as_session("hostile", [{"role": "user", "content": text}])
        spent, _ = seconds(
            lambda s=session: extract_table([s], profile="tau-usi", side="simulated")
        )
        print(f"{spent:>8.3f}  {label}")


if __name__ == "__main__":
    main()
