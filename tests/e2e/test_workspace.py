"""A workspace in use: references by name, settings, session tables, stdin."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import refused, usi

from usi.phantom import build_phantom

PROFILE = ("--profile", "tau-usi")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    assert usi("init", folder).code == 0
    build_phantom(folder, tasks=12, runs=2, simulators=["copy", "polite"])
    return folder


def test_a_reference_by_name_from_anywhere_in_the_workspace(place: Path) -> None:
    by_path = usi(
        "score", "runs/copy.jsonl", "--human", "human_corpus/phantom", *PROFILE, cwd=place
    )
    assert by_path.code == 0, by_path.err
    by_name = usi("score", "copy.jsonl", "--human", "phantom", *PROFILE, cwd=place / "runs")
    assert by_name.out == by_path.out
    refused(
        usi("score", "copy.jsonl", "--human", "phantm", *PROFILE, cwd=place / "runs"), "'phantom'"
    )


def test_settings_name_the_reference_and_the_command_line_goes_over_them(place: Path) -> None:
    refused(usi("score", "runs/copy.jsonl", cwd=place), "--human")
    (place / "usi.toml").write_text(
        '[score]\nhuman = "phantom"\nprofile = "tau-usi"\nsurveys = "none"\n'
    )
    card = usi("score", "runs/copy.jsonl", cwd=place).json()
    assert card["profile"] == "tau-usi"
    assert card["simulators"][0]["index"]["terms"] == 5
    over = usi(
        "score", "runs/copy.jsonl", "--surveys", "human_corpus/phantom/survey_data", cwd=place
    ).json()
    assert over["simulators"][0]["index"]["terms"] == 6
    usi_toml = place / "usi.toml"
    usi_toml.unlink()


def test_session_tables_score_as_their_files_do(place: Path, tmp_path: Path) -> None:
    runs, people = place / "runs" / "polite.jsonl", place / "human_corpus" / "phantom"
    for path, side, out in ((runs, "simulated", "polite"), (people, "human", "people")):
        done = usi(
            "features", path, "--side", side, *PROFILE, "-o", tmp_path / f"{out}.sessions.parquet"
        )
        assert done.code == 0, done.err
    whole = usi("score", runs, "--human", people, *PROFILE, "--surveys", "none").json()
    tables = usi(
        "score", tmp_path / "polite.sessions.parquet", "--human",
        tmp_path / "people.sessions.parquet", *PROFILE, "--surveys", "none",
    )  # fmt: skip
    assert tables.code == 0, tables.err
    (left,), (right,) = whole["simulators"], tables.json()["simulators"]
    assert right["index"] == left["index"]
    assert right["components"] == left["components"]
    assert tables.json()["synthetic"] is True


def test_a_simulator_from_stdin(place: Path) -> None:
    piped = usi(
        "score", "-", "--name", "copy", "--human", "phantom", *PROFILE, "--surveys", "none",
        cwd=place, stdin=(place / "runs" / "copy.jsonl").read_bytes(),
    )  # fmt: skip
    assert piped.code == 0, piped.err
    (side,) = piped.json()["simulators"]
    assert side["name"] == "copy"
    assert side["n"]["sessions"] == 24


def test_runs_of_one_simulator_in_several_files(place: Path, tmp_path: Path) -> None:
    """With --name all files are one simulator: other talks under the same ids are other runs."""
    done = usi(
        "score", "runs/copy.jsonl", "runs/polite.jsonl", "--name", "both", "--human", "phantom",
        *PROFILE, "--surveys", "none", cwd=place,
    )  # fmt: skip
    assert done.code == 0, done.err
    (side,) = done.json()["simulators"]
    runs = side["n"]["runs"]
    assert (side["name"], side["n"]["sessions"], runs) == ("both", 48, 4), "two of each file"
    again = usi(
        "score", "runs/copy.jsonl", "runs/copy.jsonl", "--name", "both", "--human", "phantom",
        *PROFILE, "--surveys", "none", cwd=place,
    )  # fmt: skip
    assert again.code == 0, again.err
    (side,) = again.json()["simulators"]
    assert side["n"]["sessions"] == 24
    left_out = {item["reason"]["text"]: item["count"] for item in side["left_out"]}
    assert left_out["session: duplicate id"] == 24
    assert "24" in again.err


def test_every_form_of_a_card_is_written_together(place: Path, tmp_path: Path) -> None:
    names = ["c.json", "c.md", "c.html", "c.csv", "c.tau-usi.json", "c.sessions.parquet",
             "copy_aggregate_metrics.json"]  # fmt: skip
    outputs = [x for name in names for x in ("-o", tmp_path / "new" / name)]
    base = ("score", place / "runs" / "copy.jsonl", "--human",
            place / "human_corpus" / "phantom", *PROFILE)  # fmt: skip
    done = usi(*base, *outputs, "--print", "none")
    assert done.code == 0, done.err
    assert done.out == ""
    made = {path.name for path in (tmp_path / "new").iterdir()}
    beside = {"c.run.json", "c.tasks.parquet", "c.report.json", "c.evidence.json"}
    assert made == {*names, *beside}
    again = usi(*base, *outputs, "--print", "none")
    assert again.code == 0, again.err  # every file carries usi's mark


def test_an_input_of_a_survey_is_not_overwritten(place: Path) -> None:
    survey = next((place / "human_corpus" / "phantom" / "survey_data").glob("*copy.json"))
    before = survey.read_bytes()
    done = usi(
        "score", place / "runs" / "copy.jsonl", "--human", place / "human_corpus" / "phantom",
        *PROFILE, "--surveys", survey.parent, "-o", survey, "--force",
    )  # fmt: skip
    refused(done, "input")
    assert survey.read_bytes() == before
