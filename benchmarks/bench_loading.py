"""Loading: time and peak memory of a big tau-bench array, and small sessions a second.

Run ``python benchmarks/bench_loading.py [MB]`` (default 200). Each case runs in a process of its
own, since peak memory is that of a process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SMALL_SESSIONS = 100_000
TALK = "I would like to change my reservation, the number is 3RK2T9 — thank you. "


def tau_bench_rows() -> Iterator[bytes]:
    """Rows of about 20 KB, as a real run has them: policy, calls, tool results, talk."""
    number = 0
    while True:
        call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        traj: list[dict[str, object]] = [{"role": "system", "content": "policy " * 800}]
        for turn in range(12):
            traj.append({"role": "user", "content": TALK * (1 + turn % 3)})
            traj.append({"role": "assistant", "content": None, "tool_calls": [call]})
            traj.append({"role": "tool", "name": "f", "content": json.dumps({"a": "b" * 700})})
        row = {"task_id": number, "trial": 0, "reward": 1.0, "info": {"task": {}}, "traj": traj}
        yield json.dumps(row, indent=2, ensure_ascii=False).encode()
        number += 1


def write_array(path: Path, size: int) -> None:
    """A tau-bench array of about `size` bytes."""
    with path.open("wb") as file:
        written = file.write(b"[\n")
        for number, row in enumerate(tau_bench_rows()):
            written += file.write((b",\n" if number else b"") + row)
            if written >= size:
                break
        file.write(b"\n]\n")


def write_small(path: Path) -> None:
    """Many small sessions as usi JSONL."""
    messages = [{"role": role, "content": TALK} for _ in range(4) for role in ("user", "assistant")]
    with path.open("w", encoding="utf-8") as file:
        for number in range(SMALL_SESSIONS):
            record = {"id": f"s{number}", "task_id": number, "reward": 1, "messages": messages}
            file.write(json.dumps(record) + "\n")


def measure(path: str) -> None:
    """Load one file and print what it took (runs in a process of its own)."""
    from usi.loading import open_sessions

    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    sessions = sum(1 for _ in open_sessions(path))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = Path(path).stat().st_size / 1e6
    print(
        f"{Path(path).name}: {size:,.0f} MB, {sessions:,} sessions in {seconds:.1f} s: "
        f"{size / seconds:.0f} MB/s, {sessions / seconds:,.0f} sessions/s, "
        f"peak {peak:.0f} MB (before: {base:.0f} MB)"
    )


def main() -> None:
    """Write the files, measure each, delete them."""
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2])
        return
    size = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 200_000_000
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (
            ("array.json", lambda path: write_array(path, size)),
            ("small.jsonl", write_small),
        ):
            path = Path(folder, name)
            make(path)
            subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True)
            path.unlink()


if __name__ == "__main__":
    main()
