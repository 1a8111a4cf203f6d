"""One run of usi score reads each transcript file once and compares each simulator once."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import shared

COUNTING = """
import collections, json, sys

opened = collections.Counter()

def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened[arguments[0] if isinstance(arguments[0], str) else arguments[0].decode()] += 1

sys.addaudithook(hook)

import usi.scoring.robust.profile as profile

studied = collections.Counter()
whole = profile.study

def counting(ref, simulator, *arguments, **choices):
    studied[simulator["simulator"][0]] += 1
    return whole(ref, simulator, *arguments, **choices)

profile.study = counting

from usi.cli.main import run

try:
    run(sys.argv[2:])
finally:
    with open(sys.argv[1], "w") as file:
        json.dump({"opened": opened, "studied": studied}, file)
"""


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, int]]]:
    """Folder of the outputs, how often each file was opened, and each simulator studied."""
    folder = tmp_path_factory.mktemp("once")
    golden = shared("golden/score_six_terms")
    surveys = folder / "surveys"
    surveys.mkdir()
    for file in (golden / "survey_data").iterdir():
        shutil.copy(file, surveys / file.name.replace("_sim-", "_"))
    people, sims = folder / "people.json", [folder / "human-like.json", folder / "polite.json.gz"]
    people.write_bytes((golden / "tau_bench_tasks_unified.json").read_bytes())
    # Longer than what stays in memory of the beginning: white space at the end of the file.
    first = (golden / "eval_results_sim-human-like.json").read_bytes()
    sims[0].write_bytes(first + b" " * 2**20)
    sims[1].write_bytes(gzip.compress((golden / "eval_results_sim-polite.json").read_bytes()))
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, str(folder / "counts.json"), "score", *map(str, sims),
         "--human", str(people), "--surveys", str(surveys),
         "--c2st", "off", "--replicates", "100", "--examples", "-o", str(folder / "card.json"),
         "-o", str(folder / "card.html"), "--quiet"],
        capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return folder, json.loads((folder / "counts.json").read_text())


def test_each_transcript_is_opened_once(counted):
    folder, counts = counted
    for name in ("people.json", "human-like.json", "polite.json.gz"):
        assert counts["opened"].get(str(folder / name)) == 1, name


def test_each_simulator_is_studied_once(counted):
    _, counts = counted
    own = {label: n for label, n in counts["studied"].items() if label}
    assert own == {"human-like": 1, "polite": 1}


def test_the_one_reading_gives_card_published_index_and_examples(counted):
    folder, _ = counted
    card = json.loads((folder / "card.json").read_text())
    report = json.loads((folder / "card.report.json").read_text())
    evidence = json.loads((folder / "card.evidence.json").read_text())
    assert {part["name"] for part in card["simulators"]} == {"human-like", "polite"}
    expected = json.loads(shared("golden/score_six_terms/expected.json").read_text("utf-8"))
    published = {row["name"].removeprefix("sim-"): row["usi"][0] for row in expected["rows"]}
    found = {"Human (inter-ann.)": report["published"]["human"]["value"]}
    found |= {name: point["value"] for name, point in report["published"]["simulators"].items()}
    assert found == pytest.approx(published, abs=1e-8)  # eight digits in the file
    assert set(evidence["sessions"]) == {"", "human-like", "polite"}


def test_the_sums_beside_the_card_are_those_of_its_study(counted):
    folder, _ = counted
    card = json.loads((folder / "card.json").read_text())
    own = hashlib.sha256((folder / "card.tasks.parquet").read_bytes()).hexdigest()
    assert card["tasks_sha256"] == own
