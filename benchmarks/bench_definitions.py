"""What each mended definition changes on real text, and how fast it is counted.

Prints, for three corpora below ``../shared/data``, the mean over sessions of every published
feature (profile tau-usi) beside its mended form (profile robust), the style features, what
cleaning repaired, and the speed of the kernel against the plain oracle of the tests.

    python benchmarks/bench_definitions.py [DATA]

The corpora share neither tasks nor agents: differences between them say nothing about the
simulator, only what the definitions do to real text.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import oracle_robust  # noqa: E402
import polars as pl  # noqa: E402

from usi.extraction.extract import extract_table  # noqa: E402
from usi.extraction.profile import get_specs  # noqa: E402
from usi.extraction.robust.turns import REPAIR_COLUMNS  # noqa: E402
from usi.loading import open_sessions  # noqa: E402
from usi.records import MISSING, Session, Side, Turn  # noqa: E402

PAIRS = {
    "politeness": "politeness_rate",
    "short_turn": "short_msg_rate",
    "dash": "formality_rate",
    "ack_only": "ack_only_rate",
    "verbosity_cv": "verbosity_cv",
    "repeated_turn": "repeat_rate",
    "role_confusion": "id_confuse_rate",
    "turns_per_session": None,
    "info_frontload": "info_frontload",
    "identifiers": "id_density",
    "words_per_turn": "user_words_per_turn",
    "opening_words": "opening_words",
    "uncertainty": "uncertainty_rate",
    "lack_of_information": "uncertainty_rate",
    "certainty": "certainty_rate",
    "pushback": "pushback_q_rate",
    "clarify": "clarify_q_rate",
    "info_question": "info_q_rate",
    "request": "info_q_rate",
    "emotion": "emotion_rate",
    "accusation": "accusation_rate",
    "pivot": "pivot_rate",
}
"""Feature of the profile robust -> the published one that it mends or splits."""

EXPECTED_STYLE = {
    "casual": (0.56, 0.04),
    "echo": (0.08, 0.35),
    "several_sentences": (0.34, 0.82),
    "comma": (0.25, 0.73),
    "shortest_turn": (2, 13),
}
"""Figures of the definition: people of STAR, models (mean over simulators)."""

MODELS = (
    "taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json",
    "taubench/retail_agent-gpt-4o-mini_user-gpt-4o-mini_115x1.json",
    "taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json",
    "tau2/airline_agent-claude-sonnet-4-5_user-gpt-4.1_50x1.json",
    "tau2/airline_user-grok-3_4x4.json",
    "tau2/airline_user-grok-3-mini_4x4.json",
    "tau2/airline_user-grok-4_4x4.json",
)


def multidogo(folder: Path) -> list[Session]:
    """Customer turns, read with no quoting."""
    turns: dict[str, list[Turn]] = {}
    for file in sorted(folder.glob("airline_*.tsv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                turns.setdefault(row["conversationId"], []).append(Turn("user", row["utterance"]))
    return [Session(session_id=key, turns=tuple(found)) for key, found in turns.items()]


def means(
    sessions: Iterable[Session], profile: str, side: Side
) -> tuple[dict[str, float], dict[str, int]]:
    """Mean of every feature over sessions, and how often each repair was needed."""
    table = extract_table(sessions, profile=profile, side=side)
    row = table.values().select(spec.name for spec in get_specs(profile)).mean()
    repairs = {}
    if profile == "robust":
        sums = table.frame.select(pl.col(REPAIR_COLUMNS).sum()).row(0, named=True)
        repairs = {name: int(n) for name, n in sums.items() if n}
    return {name: row[name][0] for name in row.columns}, repairs


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def definitions(corpora: dict[str, tuple[list[Session], Side]]) -> None:
    found = {
        name: (means(sessions, "tau-usi", side), means(sessions, "robust", side))
        for name, (sessions, side) in corpora.items()
    }
    print(f"{'feature':20}" + "".join(f"{name:>26}" for name in found))
    print(f"{'':20}" + "".join(f"{'published -> mended':>26}" for _ in found))
    for mended, published in PAIRS.items():
        cells = []
        for (old, _), (new, _) in found.values():
            before = number(old[published]) if published else "-"
            cells.append(f"{before:>14} -> {number(new[mended]):>8}")
        print(f"{mended:20}" + "".join(cells))
    print("\nwhat cleaning repaired or left out (user messages)")
    for name, (_, (_, repairs)) in found.items():
        print(f"  {name}: " + ", ".join(f"{kind[4:]} {n}" for kind, n in repairs.items()))


def style(people: list[Session], models: dict[str, list[Session]]) -> None:
    human, _ = means(people, "robust", "human")
    simulated = [means(sessions, "robust", "simulated")[0] for sessions in models.values()]
    print("\nstyle: STAR people, gpt-4o airline, mean over simulators (expected: people, models)")
    for name, (people_expected, models_expected) in EXPECTED_STYLE.items():
        values = [row[name] for row in simulated]
        print(
            f"  {name:20}{human[name]:8.3f}{values[0]:8.3f}{sum(values) / len(values):8.3f}"
            f"   ({people_expected}, {models_expected})"
        )


def speed(sessions: list[Session], rounds: int = 3) -> None:
    messages = [
        [
            {"role": t.role, "content": None if t.content is MISSING else t.content}
            for t in session.turns
        ]
        for session in sessions
    ]
    kernel, oracle = [], []
    for _ in range(rounds):
        start = time.process_time()
        extract_table(sessions, profile="robust", side="human")
        kernel.append(time.process_time() - start)
        start = time.process_time()
        for conversation in messages:
            oracle_robust.features(conversation)
        oracle.append(time.process_time() - start)
    k, o = sorted(kernel)[rounds // 2], sorted(oracle)[rounds // 2]
    print(
        f"  {len(sessions):6} sessions: kernel {k:.3f} s, oracle {o:.3f} s of CPU, "
        f"{o / k:.1f} times as fast, {len(sessions) / k:,.0f} sessions a second"
    )


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "data"
    if not data.exists():
        print(f"no data at {data}: nothing to measure")
        return
    star = list(open_sessions(data / "star" / "dialogues_even.tar.xz"))
    models = {name: list(open_sessions(data / name)) for name in MODELS}
    airline = next(iter(models.values()))
    definitions(
        {
            "gpt-4o airline": (airline, "simulated"),
            "STAR people": (star, "human"),
            "MultiDoGO people": (multidogo(data / "multidogo"), "human"),
        }
    )
    style(star, models)
    print("\nkernel against the plain oracle, median of 3 interleaved rounds in one process")
    speed(star[:1000])
    speed(star)
    speed((airline * 5)[:1000])


if __name__ == "__main__":
    main()
