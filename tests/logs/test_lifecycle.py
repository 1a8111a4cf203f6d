"""Start and complete of an activity are two ends of one event."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import usi

STATES = ("Open", "In Progress", "Waiting", "In Progress", "Closed")


def xes(path: Path, moments: tuple[str, ...], cases: int = 12) -> Path:
    """A log in which every activity lasts half an hour and has these moments."""
    lines = ['<log xmlns="http://www.xes-standard.org/">']
    for case in range(cases):
        lines.append(f'<trace><string key="concept:name" value="c{case}"/>')
        for step, state in enumerate(STATES):
            for k, moment in enumerate(moments):
                minute = 30 * k
                time = f"2026-01-{1 + case:02d}T{9 + step + case % 3:02d}:{minute:02d}:00Z"
                mark = f'<string key="lifecycle:transition" value="{moment}"/>' if moment else ""
                lines.append(
                    f'<event><string key="concept:name" value="{state}"/>{mark}'
                    f'<date key="time:timestamp" value="{time}"/></event>'
                )
        lines.append("</trace>")
    path.write_text("\n".join([*lines, "</log>"]), encoding="utf-8")
    return path


def table(path: Path, moments: tuple[str, ...], header: str) -> Path:
    rows = [f"case_id,activity,timestamp,{header}"]
    for case in range(12):
        for step, state in enumerate(STATES):
            hour = f"2026-01-{1 + case:02d}T{9 + step + case % 3:02d}"
            rows += [
                f"c{case},{state},{hour}:{30 * k:02d}:00Z,{moment}"
                for k, moment in enumerate(moments)
            ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def features(path: Path, folder: Path, *more: str) -> list[dict[str, object]]:
    """Features of the cases, without what names the file."""
    out = folder / f"{path.stem}.jsonl"
    done = usi("logs", "features", path, "--no-classes", "--side", "human", "-o", out, *more)
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    return [{k: v for k, v in row.items() if k not in ("simulator", "layout")} for row in rows]


def validated(path: Path, *more: str) -> dict[str, object]:
    done = usi("logs", "validate", path, "--no-classes", *more)
    assert done.code == 0, done.err
    found: dict[str, object] = done.json()
    return found.get("log", found)  # type: ignore[return-value]


@pytest.mark.parametrize(
    "moments", [("start", "complete"), ("schedule", "complete"), ("START", "COMPLETE")]
)
def test_other_moments_of_an_event_do_not_count(tmp_path: Path, moments: tuple[str, ...]) -> None:
    both = xes(tmp_path / "both.xes", moments)
    # The same completions alone: the other moments never were.
    alone = xes(tmp_path / "alone.xes", ("", moments[-1]))
    text = alone.read_text("utf-8").splitlines()
    alone.write_text(
        "\n".join(line for line in text if "<event>" not in line or "lifecycle" in line), "utf-8"
    )
    assert features(both, tmp_path) == features(alone, tmp_path)
    assert validated(both)["other_moments"] == 60
    assert validated(alone)["other_moments"] == 0


@pytest.mark.parametrize("header", ["lifecycle:transition", "Lifecycle", "transition"])
def test_tables_are_read_alike(tmp_path: Path, header: str) -> None:
    made = table(tmp_path / "both.csv", ("start", "complete"), header)
    found = validated(made)
    assert found["transitions"] == {"complete": 60, "start": 60}
    assert found["other_moments"] == 60


def test_a_log_without_completions_keeps_its_rows(tmp_path: Path) -> None:
    found = validated(xes(tmp_path / "starts.xes", ("start",)))
    assert (found["events"], found["other_moments"]) == (60, 0)


def test_which_transitions_count_may_be_declared(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('name = "mine"\n[read]\nlifecycle = ["Start"]\n', encoding="utf-8")
    path = xes(tmp_path / "both.xes", ("start", "complete"))
    done = usi("logs", "validate", path, "--config", config, "--no-classes")
    assert done.code == 0, done.err
    assert (
        "60 rows are other moments"
        in usi("logs", "validate", path, "--config", config, "--no-classes", "--print", "table").out
    )


def test_a_transition_that_is_the_activity_stays(tmp_path: Path) -> None:
    made = table(tmp_path / "states.csv", ("start", "complete"), "lifecycle:transition")
    found = validated(made, "--activity", "lifecycle:transition")
    assert found["activities"] == {"complete": 60, "start": 60}
    assert found["other_moments"] == 0
