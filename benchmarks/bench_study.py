"""The validation study: bounds and gate on phantom populations whose truth is known, and the
gauntlet on public people (`usi audit` on corpora beside the project, left out where absent).

    python benchmarks/bench_study.py                    # default size, two processes
    python benchmarks/bench_study.py --studies 2000     # smaller Monte-Carlo errors
    python benchmarks/bench_study.py --only versions    # one part; the others stay as they are
    python benchmarks/bench_study.py --page             # no study: the page from validation.json

Writes docs/validation.json, docs/validation.md and docs/figures/validation-*.svg. Seeded: the
same size gives the same numbers, on any number of processes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
DOCS = HERE.parent / "docs"
STUDIES = 400
KINDS = ("paired", "unpaired", "versions", "classifier", "people")
DRAWS = 0.05
"""Draws of the gauntlet on people, as a part of the number of studies: each takes a minute."""


def rounded(value: object) -> object:
    """Numbers of a result to six significant digits, as they stand in the file."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main() -> None:
    """Run the study and write its page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=STUDIES, help="in a cell of share 1")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=KINDS, action="append", help="this part alone")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--kept", type=Path, help="finished draws of people; goes on from there")
    parser.add_argument("--docs", type=Path, default=DOCS, help="where the page is written")
    chosen = parser.parse_args()

    from study.many import one_thread

    one_thread()
    from study import figures, many, page, real, summary

    from usi.extraction.profile import get_feature_profile

    target = chosen.docs / "validation.json"
    results = json.loads(target.read_text(encoding="utf-8")) if target.is_file() else {}
    start = time.perf_counter()

    def told(text: str) -> None:
        print(f"{time.perf_counter() - start:7.0f} s  {text}", flush=True)

    of = {
        "paired": summary.of_scores,
        "unpaired": summary.of_scores,
        "versions": summary.of_versions,
        "classifier": summary.of_classifier,
    }
    for kind in () if chosen.page else chosen.only or KINDS:
        if kind == "people":
            draws = max(2, round(DRAWS * chosen.studies))
            results[kind] = rounded(
                real.run(draws, processes=chosen.processes, told=told, kept=chosen.kept)
            )
        else:
            found = many.run(kind, chosen.studies, processes=chosen.processes, told=told)
            results[kind] = rounded(of[kind](found))
        results.setdefault("studies", {})[kind] = chosen.studies
        results.setdefault("profiles", {})[kind] = get_feature_profile("robust").tag
        chosen.docs.mkdir(parents=True, exist_ok=True)
        text = json.dumps(results, indent=1, allow_nan=False)
        target.write_text(text + "\n", encoding="utf-8")
    missing = [kind for kind in KINDS if kind not in results]
    if missing:
        raise SystemExit(f"no page yet: {', '.join(missing)} was never run")
    results = json.loads(target.read_text(encoding="utf-8"))
    (chosen.docs / "validation.md").write_text(page.render(results), encoding="utf-8")
    for path in figures.write(results, chosen.docs / "figures"):
        print(path.name)


if __name__ == "__main__":
    main()
