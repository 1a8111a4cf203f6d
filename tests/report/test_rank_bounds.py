"""No score of a ranking stands without its bounds, in whatever form it is read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import usi
from report.boards import rankings

from usi.phantom import build_phantom
from usi.report import leaderboard
from usi.report.as_json import plain
from usi.report.comparison_tables import ranking_tables
from usi.report.tables import to_markdown

SHOWN = "90.5 [88.0, 91.8]"  # conversation of the first simulator: 2.5 below, 1.25 above


def test_every_score_of_a_simulator_has_bounds_in_the_table() -> None:
    grid = ranking_tables(rankings("alpha"))[0]
    rows = {row[0]: row[3:] for row in grid.texts()}
    assert rows["alpha"][0] == "91.2 [88.0, 95.7]"
    assert rows["alpha"][1] == SHOWN
    assert all(re.fullmatch(r"[\d.]+ \[[\d.]+, [\d.]+\]", cell)
               for name in ("alpha", "b/two~", "third") for cell in rows[name])  # fmt: skip
    assert any("[low, high]" in note for note in grid.notes)
    assert SHOWN in to_markdown((grid,)).replace("\\", "")


def test_the_page_and_the_json_have_them() -> None:
    found = rankings("alpha")
    text = re.sub(r"<[^>]+>", "", leaderboard.render(found)).replace("\u202f", " ")
    assert re.search(r"90\.5\s+\[88\.0, 91\.8\]", text)
    scores = plain(found)["tables"][0]["components"]["alpha"]["conversation"]
    assert (scores["value"], scores["low"], scores["high"]) == (90.5, 88.0, 91.75)


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("cards")
    files = build_phantom(place / "p", tasks=26, runs=2, simulators=["copy"], seed=3)
    done = usi("score", files.simulators["copy"], "--human", files.human, "--c2st", "off",
               "--replicates", "100", "-o", place / "copy.json", "--print", "none")  # fmt: skip
    assert done.code == 0, done.err
    return place


def test_a_rank_of_files_has_the_bounds_of_the_card(cards: Path) -> None:
    card = json.loads((cards / "copy.json").read_text())["simulators"][0]
    found = usi("rank", cards, "--print", "json").json()["tables"][0]["components"]["copy"]
    for name, part in found.items():
        own = card["components"][name]
        assert (part["value"], part["low"], part["high"]) == (
            own["value"], own["low"], own["high"])  # fmt: skip
    assert set(found) == {"conversation", "information", "clarification", "reaction", "outcome"}
