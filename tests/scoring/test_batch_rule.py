"""Batches of people by date, participant, or a field of their sessions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from command import refused, usi
from hypothesis import given
from hypothesis import strategies as st

from usi.corpora.resolve import resolve
from usi.errors import InputError
from usi.scoring.batch_rule import STARTED, with_batches
from usi.scoring.people import read_people_of

DAY = 86_400.0


def table(**columns: list[object]) -> pl.DataFrame:
    """Rows that count."""
    n = len(next(iter(columns.values())))
    return pl.DataFrame({"status": ["ok"] * n, **columns})


def batches(frame: pl.DataFrame, by: str, number: int | None = None) -> list[int]:
    found: list[int] = with_batches(frame, by, number, file="m.toml")["batch"].to_list()
    return found


def test_participants_are_spread_over_parts_of_equal_size() -> None:
    names = ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + ["d"]
    # a -> 1, b -> 2, then c joins the smaller part (2: 3 < 4), d the smaller (1: 4 < 5).
    assert batches(table(participant=names), "participant", 2) == [1] * 4 + [2] * 3 + [2] * 2 + [1]


def test_days_stay_whole_and_in_order() -> None:
    # Days 0, 0, 0, 1, 2, 2 cut in two: the middle of day 1 (3.5 of 6) lies in the second half.
    days = [0.0, 1.0, 2.0, DAY, 2 * DAY, 2 * DAY + 5]
    assert batches(table(**{STARTED: days}), "date", 2) == [1, 1, 1, 2, 2, 2]


def test_each_value_of_a_field_is_a_batch_in_natural_order() -> None:
    assert batches(table(site=["s10", "s2", "s2"]), "site") == [2, 1, 1]


@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=60).filter(lambda x: len(set(x)) > 1)
)
def test_no_participant_is_in_two_batches_and_sizes_differ_by_one_person(names: list[str]) -> None:
    found = batches(table(participant=list(names)), "participant", 2)
    assert len({*zip(names, found, strict=True)}) == len(set(names))
    sizes = Counter(found)
    assert abs(sizes[1] - sizes[2]) <= max(Counter(names).values())


@given(st.lists(st.floats(0, 40 * DAY), min_size=2, max_size=60))
def test_later_sessions_are_never_in_an_earlier_batch(times: list[float]) -> None:
    if len({int(time // DAY) for time in times}) < 2:
        return
    frame = table(**{STARTED: list(times)})
    try:
        found = batches(frame, "date", 3)
    except InputError:  # nearly all sessions of one day
        return
    order = sorted(zip(times, found, strict=True))
    numbers = [number for _, number in order]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, max(numbers) + 1))


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("participant", "1 of 2 sessions name no participant"),
        ("date", "2 of 2 sessions have no time that can be read"),
        ("site", "2 of 2 sessions have no field 'site'"),
    ],
)
def test_sessions_that_lack_it_are_an_error_with_file_and_field(by: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        batches(table(participant=["a", None]), by)
    assert (caught.value.file, caught.value.field) == ("m.toml", "batch_by")


def test_sessions_without_an_utterance_may_lack_it() -> None:
    frame = pl.DataFrame({"status": ["ok", "no_user_turn", "ok"], "participant": ["a", None, "b"]})
    assert batches(frame, "participant", 2) == [1, 1, 2]


def test_one_batch_is_refused() -> None:
    with pytest.raises(InputError, match="gives 1 batch of 2 sessions"):
        batches(table(participant=["a", "a"]), "participant")


def rows(n: int = 12) -> str:
    """Two tasks, four people, one session a day; the first message bears the time."""
    lines = []
    for k in range(n):
        messages = [
            {
                "role": "user",
                "content": f"hello {k}",
                "timestamp": f"2026-03-{k + 1:02d}T10:00:00Z",
            },
            {"role": "assistant", "content": "yes"},
        ]
        line = {"session_id": f"s{k}", "task_id": f"t{k % 2}", "participant": f"p{k % 4}",
                "wave": "AB"[k % 2], "messages": messages}  # fmt: skip
        lines.append(json.dumps(line))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("participant", {"p0": {1}, "p1": {2}, "p2": {1}, "p3": {2}}),
        ("date", {"p0": {1, 2}, "p1": {1, 2}, "p2": {1, 2}, "p3": {1, 2}}),
    ],
)
def test_the_manifest_decides_for_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, expected: dict[str, set[int]]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human_corpus").mkdir()
    (tmp_path / "people.jsonl").write_text(rows(), encoding="utf-8")
    asked = ["--name", "desk", "--batch-by", by, "--batches", "2", "--yes"]
    done = usi("corpus", "add", "people.jsonl", *asked)
    assert done.code == 0, done.err
    assert "2 batches" in done.err
    frame = read_people_of(resolve("desk")).tables[""].frame
    found: dict[str, set[int]] = {}
    for name, batch in frame.select("participant", "batch").iter_rows():
        found.setdefault(name, set()).add(batch)
    assert found == expected
    assert STARTED not in frame.columns


def test_a_field_that_is_missing_is_refused_before_anything_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human_corpus").mkdir()
    (tmp_path / "people.jsonl").write_text(rows(), encoding="utf-8")
    done = usi("corpus", "add", "people.jsonl", "--name", "desk", "--batch-by", "site", "--yes")
    refused(done, "field batch_by: 12 of 12 sessions have no field 'site'")
    assert list((tmp_path / "human_corpus").iterdir()) == []
