"""From transcripts to a page that opens: ``usi score -o card.json -o report.html`` as a whole.

Run ``python benchmarks/bench_report.py`` (3 x 165 sessions a side) or with ``--tasks 33334``
(100,002 a side, some minutes). Each command runs in a process of its own, with its wall time, its
processor time and its peak memory. Where node, the npm modules of ``tests/report/html`` and a
Chromium are there, the page is opened, too.

Limits: a report of 3 x 165 against 3 x 165 builds in under 5 s and is under 3 MiB; 100,000
sessions a side give a page that opens quickly.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOOK = ROOT / "tests" / "report" / "html"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
DRAW = """import sys; from usi.phantom import build_phantom
build_phantom(sys.argv[1], seed=7, tasks=int(sys.argv[2]), batches=int(sys.argv[3]),
    runs=int(sys.argv[3]), simulators=("mild",))"""
RUN = "import sys; from usi.cli.main import run; run(sys.argv[1:])"
OPENED = """(() => { const seen = performance.getEntriesByType('navigation')[0];
  return [seen.domContentLoadedEventEnd, seen.loadEventEnd,
    document.getElementsByTagName('*').length]; })()"""


def measured(*words: str) -> None:
    """Run one usi command and print what it took."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", RUN, *words], env=ENVIRONMENT)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1, 3):
        raise SystemExit(f"usi {words[0]} ended with {code}")
    scale = 1024 if sys.platform != "darwin" else 1
    print(
        f"usi {words[0]:<7} wall {wall:7.1f} s   processor {used.ru_utime + used.ru_stime:7.1f} s"
        f"   peak memory {used.ru_maxrss * scale / 2**20:6.0f} MiB"
    )


def opened(page: Path) -> None:
    """Open a page in Chromium and print how long that took."""
    node, chromium = shutil.which("node"), shutil.which("chromium")
    if not (node and chromium and (LOOK / "node_modules" / "playwright-core").is_dir()):
        print("page not opened: no node, npm modules or chromium")
        return
    job = json.dumps({"page": page.as_uri(), "browser": chromium, "script": OPENED})
    done = subprocess.run(
        [node, str(LOOK / "look.mjs")], input=job, capture_output=True, text=True, check=True
    )
    content, load, elements = json.loads(done.stdout)["result"]
    print(
        f"page opened: DOMContentLoaded {content:.0f} ms, load {load:.0f} ms, {elements} elements"
    )


def main() -> None:
    """Draw a phantom, score it into a page, make the page again from its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=165)
    parser.add_argument("--repeats", type=int, default=3, help="batches, and runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: a child's peak memory counts that of its parent at the fork.
        subprocess.run(
            [sys.executable, "-c", DRAW, name, str(options.tasks), str(options.repeats)],
            env=ENVIRONMENT, check=True,
        )  # fmt: skip
        human, simulator = folder / "human_corpus" / "phantom", folder / "runs" / "mild.jsonl"
        print(f"{options.repeats} x {options.tasks:,} sessions a side")
        card, page, again = folder / "card.json", folder / "report.html", folder / "again.html"
        measured(
            "score", str(simulator), "--human", str(human), "--gate", "B",
            "-o", str(card), "-o", str(page), "--print", "none", "--quiet",
        )  # fmt: skip
        measured("report", str(card), "--gate", "B", "-o", str(again), "--quiet")
        for path in (page, card, folder / "card.report.json", folder / "card.evidence.json"):
            print(f"{path.name:<20} {path.stat().st_size / 2**20:6.2f} MiB")
        opened(page)


if __name__ == "__main__":
    main()
