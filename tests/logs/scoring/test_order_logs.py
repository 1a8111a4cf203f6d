"""Rows of a log in another order: the same bytes, unless events of one case share their time."""

from __future__ import annotations

import random

import pytest
from logs.scoring.conftest import options

from usi.pipeline import score_with_tables


@pytest.fixture
def turned(logs, tmp_path):
    """Both logs with their rows shuffled."""

    def change(path, seed):
        head, *rows = path.read_text().splitlines(keepends=True)
        random.Random(seed).shuffle(rows)
        (tmp_path / path.name).write_text("".join([head, *rows]))
        return tmp_path / path.name

    return change(logs.human, 1), change(logs.simulators["copy"], 2)


def test_shuffled_events_give_the_same_card_and_the_record_tells(logs, turned):
    chosen = options(logs.config, replicates=100)
    people, model = turned
    one = score_with_tables([logs.simulators["copy"]], logs.human, options=chosen)
    other = score_with_tables([model], people, options=chosen)
    assert one.card.to_json() == other.card.to_json()
    assert one.asides == ()
    assert [text.partition(":")[0] for text in other.asides] == ["the real log", "copy"]
    assert all("out of order" in text for text in other.asides)
    assert [file.sha256 for file in one.files] != [file.sha256 for file in other.files]


def test_the_order_of_events_at_one_time_is_content(tmp_path, logs):
    """What happened first is told by the row alone there."""
    head = "case_id,activity,timestamp\n"
    rows = [f"c{k},{what},2024-01-0{day}T0{hour}:00:00Z\n"
            for k in range(3) for what, day, hour in (("New", 1, 1), ("Active", 1, 1),
                                                      ("Resolved", 2, 1))]  # fmt: skip
    swapped = [rows[1], rows[0], *rows[2:]]
    moved = [*rows[3:], *rows[:3]]
    digests = []
    for k, own in enumerate((rows, swapped, moved)):
        path = tmp_path / str(k) / "log.csv"
        path.parent.mkdir()
        path.write_text(head + "".join(own))
        card = score_with_tables(
            [logs.simulators["copy"]], path, options=options(logs.config, no_classes=True)
        ).card
        digests.append(next(f.content_digest for f in card.inputs if f.role == "human"))
    assert digests[0] == digests[2] != digests[1]
