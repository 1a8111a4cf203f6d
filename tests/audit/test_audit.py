"""`usi audit` from the command line, on the phantom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import refused, usi

from usi.phantom import build_phantom


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("audit")
    files = build_phantom(place, tasks=40, batches=4, runs=1, simulators=["polite"])
    return files.human, files.simulators["polite"]


ATTACKS = ("self-copy", "one-word", "mix-50")


@pytest.fixture(scope="module")
def audited(corpus: tuple[Path, Path]) -> tuple[dict, Path]:
    human, model = corpus
    place = human.parent / "out"
    place.mkdir()
    done = usi(
        "audit", human, "--draws", "2", "--design", "40x2x2", "--mix", model,
        *(part for name in ATTACKS for part in ("--attack", name)),
        "--resume", place / "kept.jsonl", "-o", place / "a.json", "-o", place / "a.md",
        "-o", place / "a.html", "--print", "table",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "SYNTHETIC" not in done.err
    assert "synthetic" in done.out
    return json.loads((place / "a.json").read_text()), place


def test_every_draw_has_a_verdict(audited: tuple[dict, Path]) -> None:
    found, _ = audited
    rows = {row["name"]: row for row in found["rows"]}
    assert tuple(rows) == ("people", *ATTACKS)
    for row in rows.values():
        for letter in "ABC":
            assert sum(row["verdicts"][letter].values()) == row["draws"] == 2
    assert rows["one-word"]["verdicts"]["C"] == {"FAIL": 2}
    assert (found["sessions"], found["tasks"]) == (160, 40)


def test_finished_draws_are_taken_from_the_file(
    audited: tuple[dict, Path], corpus: tuple[Path, Path]
) -> None:
    found, place = audited
    kept = place / "kept.jsonl"
    before = kept.read_text()
    kept.write_text(before + '{"of": "cut off')
    done = usi(
        "audit", corpus[0], "--draws", "2", "--design", "40x2x2", "--mix", corpus[1],
        *(part for name in ATTACKS for part in ("--attack", name)),
        "--resume", kept, "--print", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert json.loads(done.out) == found
    assert kept.read_text() == before


def test_page_and_markdown_name_every_simulator(audited: tuple[dict, Path]) -> None:
    _, place = audited
    for form in ("a.html", "a.md"):
        text = (place / form).read_text()
        assert all(name in text for name in ("people", *ATTACKS))
    assert "SYNTHETIC DATA" in (place / "a.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--attack", "nonsens"), "nonsense"),
        (("--tier", "D"), "A, B, C"),
        (("--design", "40"), "TASKSxBATCHESxRUNS"),
        (("--design", "400x2x2"), "not for 400"),
    ],
)
def test_wrong_options_are_refused(
    corpus: tuple[Path, Path], options: tuple[str, ...], message: str
) -> None:
    refused(usi("audit", corpus[0], *options), message)


def test_a_foreign_file_of_draws_is_refused(corpus: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "notes.jsonl"
    other.write_text("not a draw\n")
    refused(usi("audit", corpus[0], "--design", "40x2x2", "--resume", other), "line 1")
    assert other.read_text() == "not a draw\n"
