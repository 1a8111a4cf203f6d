"""A million phantom sessions streamed to a session table: time and peak memory.

Run ``python benchmarks/bench_stream.py --sessions 1000000``. Each size runs in a process of its
own: texts are written from plans block by block, features extracted and the rows written to
Parquet, so memory must not grow with the number of sessions. A tenth of the size runs first, and
the ratio of both peaks is shown.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]


def peak_mb() -> float:
    """Peak resident memory of this process in MB (Linux counts kB, macOS bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def work(sessions: int, profile: str, folder: str) -> dict[str, float]:
    """Stream that many sessions to a session table; what it took."""
    import pyarrow.parquet as pq
    from phantom_truth.stream import stream_sessions

    from usi.extraction import extract
    from usi.extraction.table import write_stream
    from usi.phantom import load_spec

    base = peak_mb()
    target = Path(folder) / "sessions.parquet"
    start = time.perf_counter()
    blocks = extract(
        stream_sessions(load_spec("human"), sessions, seed=7), profile=profile, side="simulated"
    )
    rows = write_stream(blocks, target, profile=profile, synthetic=True)
    seconds = time.perf_counter() - start
    if rows != sessions or pq.ParquetFile(target).metadata.num_rows != sessions:
        raise SystemExit(f"{rows} rows were written for {sessions} sessions")
    return {
        "sessions": sessions,
        "seconds": seconds,
        "per_second": sessions / seconds,
        "imports_mb": base,
        "peak_mb": peak_mb(),
        "file_mb": target.stat().st_size / 2**20,
    }


def in_a_process(sessions: int, profile: str) -> dict[str, float]:
    """The same in a fresh process, so that its peak is its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--worker", folder]
        command += ["--sessions", str(sessions), "--profile", profile]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def realised_per_second(sessions: int) -> float:
    """Phantom sessions written as text a second, extraction left out."""
    from phantom_truth.stream import stream_sessions

    from usi.phantom import load_spec

    start = time.perf_counter()
    for _ in stream_sessions(load_spec("human"), sessions, seed=7):
        pass
    return sessions / (time.perf_counter() - start)


def main() -> None:
    """Print time, pace and peak memory at a tenth of the size and at the size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_000_000)
    parser.add_argument("--profile", default="tau-usi")
    parser.add_argument("--worker", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.sessions, options.profile, options.worker)))
        return
    sample = min(options.sessions, 20_000)
    print(f"phantom texts alone: {realised_per_second(sample):,.0f} sessions a second")
    print(f"streamed to a session table, profile {options.profile}")
    print(f"{'sessions':>12} {'seconds':>9} {'a second':>9} {'imports MB':>11} {'peak MB':>9}")
    results = []
    for size in sorted({max(options.sessions // 10, 1), options.sessions}):
        one = in_a_process(size, options.profile)
        results.append(one)
        print(
            f"{size:>12,} {one['seconds']:>9.1f} {one['per_second']:>9,.0f} "
            f"{one['imports_mb']:>11.0f} {one['peak_mb']:>9.0f}"
        )
    growth = results[-1]["peak_mb"] / results[0]["peak_mb"]
    print(f"peak memory at ten times the sessions: {growth:.2f}x (1.00x is flat)")


if __name__ == "__main__":
    main()
