"""Event logs: events a second and peak memory of features by case, from a phantom log on disk.

Run ``python benchmarks/bench_logs.py [MILLIONS]`` (default 10). Memory is that of a process of
its own; the same is run on a tenth of the log, and the ratio of the peaks is printed: it stays
near 1 where memory does not grow with the log.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVENTS_PER_CASE = 6.6


def measure(path: str, config: str, table: str) -> None:
    """Features of one log, written as a session table (runs in a process of its own)."""
    from usi.extraction.table import write_stream
    from usi.logs import load_config
    from usi.logs.extract import run_log

    start, spent = time.perf_counter(), time.process_time()
    run = run_log(path, load_config(config), side="human")
    cases = write_stream(run.blocks(), table, profile="log", settings=run.settings)
    seconds = time.perf_counter() - start
    spent = time.process_time() - spent
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    events = run.notes.events
    print(
        f"{Path(path).name}: {os.path.getsize(path) / 1e6:,.0f} MB, {events:,} events of {cases:,} "
        f"cases in {seconds:.1f} s: {events / seconds:,.0f} events/s, "
        f"{events / spent:,.0f} a second of processor time, peak {peak:.0f} MB",
        flush=True,
    )
    print(f"peak={peak}", file=sys.stderr)


def main() -> None:
    """Write the logs, measure each, delete them."""
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:5])
        return
    from usi.phantom.log_build import config_text, write_phantom_log
    from usi.phantom.log_spec import load_log_phantom

    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "phantom.toml")
        config.write_text(config_text(), encoding="utf-8")
        for name, size in (("tenth.csv", millions / 10), ("whole.csv", millions)):
            path = Path(folder, name)
            cases = max(1, round(size * 1e6 / EVENTS_PER_CASE))
            write_phantom_log(load_log_phantom("human"), path, cases=cases)
            command = [sys.executable, __file__, "--measure", str(path), str(config),
                       str(Path(folder, "table.parquet"))]  # fmt: skip
            done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
            peaks.append(float(done.stderr.rpartition("peak=")[2]))
            path.unlink()
    print(f"ten times the events take {peaks[1] / peaks[0]:.2f}x the memory")


if __name__ == "__main__":
    main()
