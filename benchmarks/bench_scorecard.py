"""A whole scorecard, phase by phase: 3 x 165 synthetic people against 3 x 165 simulated sessions.

Run ``python benchmarks/bench_scorecard.py``. Limit: under 3 s of wall time after import, with
load, features, score (in the profile ``robust`` with 2,000 bootstrap replicates and bounds).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]
LIMIT = 3.0
"""Seconds of wall time after import."""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what the work gave."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def once(human: Path, simulator: Path, surveys: Path, profile: str) -> dict[str, float]:
    """Seconds of every phase of one scorecard; nothing is kept from an earlier one."""
    import usi
    from usi import pipeline

    seconds: dict[str, float] = {}
    seconds["load"], loaded = timed(lambda: [pipeline.load(path) for path in (human, simulator)])
    seconds["features"], tables = timed(
        lambda: [
            pipeline.features(part, side=side, profile=profile)
            for part, side in zip(loaded, ("human", "simulated"), strict=True)
        ]
    )
    seconds["score"], _ = timed(
        lambda: usi.score({simulator.stem: tables[1]}, tables[0], profile=profile, surveys=surveys)
    )
    seconds["phases"] = sum(seconds.values())
    seconds["in one go"], _ = timed(lambda: usi.score([simulator], human, profile=profile))
    return seconds


def four_simulators(folder: Path) -> dict[str, float]:
    """CPU seconds of each stage: 495 people against four simulators of 495 sessions, robust."""
    from usi.phantom import build_phantom
    from usi.pipeline import score_with_tables

    names = ["polite", "collapsed", "off-topic", "mild"]
    files = build_phantom(folder, seed=7, simulators=names)
    seconds: dict[str, float] = {}
    now, at = "start", time.process_time()

    def stage(text: str) -> None:
        nonlocal now, at
        seconds[now] = seconds.get(now, 0.0) + time.process_time() - at
        now, at = text, time.process_time()

    score_with_tables(
        [files.simulators[name] for name in names],
        str(files.human / "sessions.jsonl"),
        profile="robust",
        stage=stage,
    )
    stage("end")
    return seconds


def main() -> None:
    """Print the phases of each profile, medians over rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profiles", nargs="*", default=["tau-usi", "robust"])
    options = parser.parse_args()

    spent, _ = timed(lambda: __import__("usi.pipeline"))
    print(f"import of the road: {spent:.2f} s (not counted below)")
    from usi.phantom import build_phantom
    from usi.scoring.profiles import profile_names

    with tempfile.TemporaryDirectory() as folder:
        files = build_phantom(folder, seed=7, simulators=["mild"])
        human, simulator = files.human / "sessions.jsonl", files.simulators["mild"]
        for profile in options.profiles:
            if profile not in profile_names():
                print(f"profile {profile}: not installed")
                continue
            first = once(human, simulator, files.surveys, profile)
            rounds = [once(human, simulator, files.surveys, profile) for _ in range(options.rounds)]
            print(f"\n3x165 against 3x165, profile {profile} (seconds)")
            print(f"{'phase':<12} {'first':>8} {'median':>8}")
            for name in first:
                median = statistics.median(one[name] for one in rounds)
                print(f"{name:<12} {first[name]:>8.3f} {median:>8.3f}")
            total = first["phases"]
            print(
                f"scorecard {profile}: {total:.2f} s the first time, limit {LIMIT:.0f} s, "
                f"{total / LIMIT:.2f}x of it"
            )
    with tempfile.TemporaryDirectory() as folder:
        print("\n495 people against 4 x 495 sessions, profile robust (CPU seconds by stage)")
        for name, seconds in four_simulators(Path(folder)).items():
            print(f"{seconds:>8.2f}  {name}")


if __name__ == "__main__":
    main()
