"""Every benchmark, one after another, each in a process of its own; ``make bench`` calls this.

Benchmarks print; they are no timed tests. At the end stands one table: wall time of each, how it
ended, and every line in which it printed a ratio; below it the peak memory of the largest process.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
_RATIO = re.compile(r"(?<![\w.])\d+(?:\.\d+)?x(?!\w)")
_NOT_IN_ALL = frozenset({"bench_study.py"})
"""Studies that take minutes and write a page of their own."""


@dataclass(frozen=True)
class Result:
    """What one benchmark took and the ratios that it printed."""

    name: str
    code: int
    seconds: float
    ratios: tuple[str, ...]


def scripts(names: list[str]) -> list[Path]:
    """The benchmarks of that names (``kernel`` or ``bench_kernel.py``), or all of them."""
    found = {path.name: path for path in sorted(HERE.glob("bench_*.py"))}
    if not names:
        return [path for name, path in found.items() if name not in _NOT_IN_ALL]
    chosen = []
    for name in names:
        full = f"bench_{name.removeprefix('bench_').removesuffix('.py')}.py"
        if full not in found:
            raise SystemExit(f"there is no benchmark {name!r}; known: {', '.join(found)}")
        chosen.append(found[full])
    return chosen


def _largest_process_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def run(path: Path) -> Result:
    """One benchmark; its output is shown as it comes."""
    print(f"\n=== {path.name} ===", flush=True)
    start = time.perf_counter()
    ratios: list[str] = []
    command = [sys.executable, "-u", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # it was asked for
        for line in process.stdout:
            print(line, end="", flush=True)
            if _RATIO.search(line):
                ratios.append(" ".join(line.split()))
    seconds = time.perf_counter() - start
    return Result(path.name, process.returncode, seconds, tuple(ratios))


def main() -> None:
    """Run them and print the table; the exit code is 1 where a benchmark broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="such as kernel, stream; default: all")
    options = parser.parse_args()
    results = [run(path) for path in scripts(options.names)]
    print("\n=== all benchmarks ===")
    print(f"{'benchmark':<24} {'seconds':>8} {'ends':>6}  ratios")
    for result in results:
        ends = "well" if result.code == 0 else f"code {result.code}"
        first, *rest = result.ratios or ("-",)
        print(f"{result.name:<24} {result.seconds:>8.1f} {ends:>6}  {first}")
        for line in rest:
            print(f"{'':<41} {line}")
    print(f"largest process: {_largest_process_mb():.0f} MB")
    if any(result.code for result in results):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
