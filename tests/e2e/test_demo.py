"""`usi demo`: offline, synthetic everywhere, readable in a browser, the same every time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path

import browser
import pytest
from command import Done, refused, usi
from helpers import ROOT

from usi.provenance.digest import with_digest

NO_NETWORK = """
import socket
class Blocked(socket.socket):
    def __init__(self, *a, **k):
        raise RuntimeError("the network was used")
socket.socket = Blocked
def refuse(*a, **k):
    raise RuntimeError("the network was used")
socket.create_connection = socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which opening a socket fails."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(NO_NETWORK)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, offline: dict[str, str]) -> tuple[Done, Path]:
    place = tmp_path_factory.mktemp("demo")
    return usi("demo", cwd=place, env=offline), place / "reports" / "demo"


def test_the_block_blocks(offline: dict[str, str], tmp_path: Path) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", "import urllib.request as u; u.urlopen('http://localhost:1')"],
        env={**os.environ, **offline}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "the network was used" in done.stderr


def test_it_says_where_the_report_is_and_what_it_says(demo: tuple[Done, Path]) -> None:
    done, place = demo
    assert done.code == 0, done.err
    first, *said = done.out.splitlines()
    assert "SYNTHETIC" in first
    assert str(place / "scorecard.html") in first
    assert len(said) == 3
    for label in (r"USI-R\(5\)", r"USI\(6\)"):
        assert re.search(label + r": .*copy [\d.]+ > .*polite [\d.]+", said[0])
    assert "a perfect simulator would score about" in said[1]
    assert "Least like synthetic people: polite" in said[1]
    gate = said[2].strip()
    assert gate == (
        "Gate at tier B: copy PASS, off-topic FAIL, near INCONCLUSIVE, collapsed FAIL, polite FAIL."
    )


def test_the_verdict_beside_the_scorecard_is_the_one_that_is_said(demo: tuple[Done, Path]) -> None:
    verdict = json.loads((demo[1] / "verdict.json").read_text())
    assert verdict["verdict"] == "FAIL"
    assert verdict["synthetic"] is True
    found = {part["name"]: part["verdict"] for part in verdict["simulators"]}
    assert found == {
        "copy": "PASS", "off-topic": "FAIL", "near": "INCONCLUSIVE", "collapsed": "FAIL",
        "polite": "FAIL",
    }  # fmt: skip


def test_the_collapsed_simulator_is_named_as_such(demo: tuple[Done, Path]) -> None:
    card = json.loads((demo[1] / "scorecard.json").read_text())
    found = {entry["name"]: entry["collapsed"] for entry in card["simulators"]}
    assert [name for name, collapsed in found.items() if collapsed] == ["collapsed"]
    assert set(found) == {"copy", "collapsed", "near", "off-topic", "polite"}


def test_settings_of_a_workspace_do_not_touch_the_demo(
    demo: tuple[Done, Path], tmp_path: Path
) -> None:
    (tmp_path / "usi.toml").write_text('[score]\nstrata = "priority"\nreplicates = 100\n')
    done = usi("demo", "-o", "made", cwd=tmp_path)
    assert done.code == 0, done.err
    made = (tmp_path / "made" / "scorecard.json").read_bytes()
    assert made == (demo[1] / "scorecard.json").read_bytes()


def test_the_known_defects_are_found(demo: tuple[Done, Path]) -> None:
    card = json.loads((demo[1] / "scorecard.json").read_text())
    assert card["synthetic"] is True
    side = {entry["name"]: entry for entry in card["simulators"]}
    assert set(side) == {"copy", "near", "off-topic", "polite", "collapsed"}
    value = {name: entry["index"]["value"] for name, entry in side.items()}
    assert value["copy"] > value["near"] > value["polite"]
    # Behaviour like people's: only what it talks about is wrong, and no score of counts sees it.
    assert value["off-topic"] == pytest.approx(value["copy"], abs=2)
    for entry in side.values():
        assert entry["n"] == {**entry["n"], "tasks": 165, "sessions": 495, "runs": 3}
        assert entry["index"]["name"] == "USI-R"
        assert entry["index"]["terms"] == 5
    polite, copy = side["polite"]["components"], side["copy"]["components"]
    for name in ("conversation", "information", "reaction"):
        assert polite[name]["value"] < copy[name]["value"] - 10


def test_everything_is_called_synthetic(demo: tuple[Done, Path]) -> None:
    for form in ("md", "html"):
        assert "SYNTHETIC" in (demo[1] / f"scorecard.{form}").read_text()


def test_it_can_run_again_and_gives_the_same_bytes(demo: tuple[Done, Path], tmp_path: Path) -> None:
    done = usi("demo", "-o", tmp_path / "x", "--quiet")
    assert done.code == 0
    assert done.err == ""
    for form in ("json", "md", "html", "report.json", "evidence.json"):
        name = f"scorecard.{form}"
        assert (tmp_path / "x" / name).read_bytes() == (demo[1] / name).read_bytes()
    assert usi("demo", "-o", tmp_path / "x").code == 0
    (tmp_path / "x" / "scorecard.md").write_text("my notes")
    refused(usi("demo", "-o", tmp_path / "x"), "--force")
    other = usi("demo", "-o", tmp_path / "y", "--seed", "8")
    assert other.code == 0
    assert (tmp_path / "y" / "scorecard.json").read_bytes() != (
        demo[1] / "scorecard.json"
    ).read_bytes()


def test_scoring_files_needs_no_network(offline: dict[str, str], tmp_path: Path) -> None:
    from usi.phantom import build_phantom

    files = build_phantom(tmp_path, tasks=12, runs=1, simulators=["copy"])
    done = usi(
        "score", files.simulators["copy"], "--human", files.human, "--profile", "tau-usi",
        "-o", tmp_path / "card.html", env=offline,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.json()["synthetic"] is True


def test_the_report_opens_in_a_browser(demo: tuple[Done, Path], tmp_path: Path) -> None:
    dom = browser.run(demo[1] / "scorecard.html", tmp_path, "--dump-dom")
    assert "SYNTHETIC DATA" in dom
    for name in ("copy", "near", "off-topic", "polite", "collapsed"):
        assert f">{name}</span></a></th>" in dom


def test_the_page_is_small_enough_to_pass_on(demo: tuple[Done, Path]) -> None:
    # The limit is 1 MiB; what is added to a page must leave room, or shorten something.
    assert (demo[1] / "scorecard.html").stat().st_size < 2**20 - 2**16


def test_the_kept_report_is_the_page_of_its_own_files(
    demo: tuple[Done, Path], tmp_path: Path
) -> None:
    """Where a page is changed, `make demo` renews what stands in the repository.

    The run record holds times and is not kept; that of another run of the demo tells the same
    options.
    """
    kept = ROOT / "reports" / "demo"
    again = tmp_path / "again"
    again.mkdir()
    for path in kept.glob("*.json"):
        if not path.name.endswith(".run.json"):
            shutil.copy(path, again)
    # The sums are not kept, either; without them a page says that nobody verified its numbers.
    shutil.copy(demo[1] / "scorecard.tasks.parquet", again)
    record = json.loads((demo[1] / "scorecard.run.json").read_text())
    digest = hashlib.sha256((kept / "scorecard.json").read_bytes()).hexdigest()
    record["outputs"] = [{**record["outputs"][0], "sha256": digest}]
    (again / "scorecard.run.json").write_text(json.dumps(with_digest(record)))
    done = usi(
        "report", again / "scorecard.json", "--verdict", again / "verdict.json",
        "-o", tmp_path / "page.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert (kept / "scorecard.html").stat().st_size < 2**20
    assert (kept / "scorecard.html").read_bytes() == (tmp_path / "page.html").read_bytes(), (
        "reports/demo is of another page: run make demo and commit it"
    )


def test_the_demo_page_says_how_many_tasks_would_settle_it(demo: tuple[Done, Path]) -> None:
    verdict = json.loads((demo[1] / "verdict.json").read_text())
    page = (demo[1] / "scorecard.html").read_text()
    near = next(part for part in verdict["simulators"] if part["name"] == "near")
    tasks = [need for need in near["needed"] if need["kind"] == "tasks"]
    assert tasks
    assert tasks[0]["amount"] > tasks[0]["now"] == 165
    assert tasks[0]["text"] in page


def test_the_people_s_own_kappa_is_of_the_design_of_the_simulators(
    demo: tuple[Done, Path],
) -> None:
    """Every respondent of the phantom's survey files judged the people's own transcripts."""
    card = json.loads((demo[1] / "scorecard.json").read_text())
    copy = next(s for s in card["simulators"] if s["name"] == "copy")
    assert copy["survey_design"] == "same-transcript"
    # The copy judges as people do: its agreement is theirs, but for noise.
    assert copy["survey_kappa"]["value"] == pytest.approx(copy["human_kappa"]["value"], abs=0.06)
