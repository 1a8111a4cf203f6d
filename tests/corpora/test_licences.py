"""Which licences let anybody pass texts on, and what is done where nobody says."""

from __future__ import annotations

from pathlib import Path

import pytest

from usi.corpora.candidate import read_candidate
from usi.corpora.licences import REDISTRIBUTABLE, may_pass_on, texts_shown
from usi.corpora.manifest import Manifest
from usi.corpora.resolve import resolve, terms_near
from usi.errors import quoted, told_columns
from usi.records import Session, Turn
from usi.scoring.texts import SaidByPeople


def test_the_page_lists_the_licences() -> None:
    page = Path(__file__).parents[2] / "docs" / "corpora.md"
    if not page.is_file():
        pytest.skip("an installed usi has no docs folder")
    listed = " ".join(page.read_text("utf-8").split())
    assert ", ".join(f"`{name}`" for name in REDISTRIBUTABLE) in listed


@pytest.mark.parametrize(
    ("declared", "licence", "allowed"),
    [
        (None, None, None),
        (None, "", None),
        (None, "internal", None),
        (None, "CC-BY-NC-4.0", None),
        (None, "MIT or so", None),
        (None, "cc-by-4.0", True),
        (True, "internal", True),
        (True, None, True),
        (False, "MIT", False),
    ],
)
def test_texts_are_passed_on_only_by_word_or_by_licence(
    declared: bool | None, licence: str | None, allowed: bool | None
) -> None:
    assert may_pass_on(declared, licence) is allowed
    assert Manifest(name="x", redistribute=declared, licence=licence).passed_on is allowed


def test_asking_shows_what_nobody_forbids() -> None:
    shown = {
        (allowed, asked): texts_shown(allowed, asked)
        for allowed in (True, False, None)
        for asked in (True, False, None)
    }
    assert {key for key, value in shown.items() if value} == {
        (True, True), (True, None), (None, True),
    }  # fmt: skip


def test_a_plain_file_and_an_empty_manifest_allow_nothing(tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    assert resolve(file).redistribute is None
    assert terms_near(file) is True, "a simulator's file, without any manifest"
    (tmp_path / "manifest.toml").write_text('name = "people"\n', encoding="utf-8")
    assert resolve(file).redistribute is None
    assert terms_near(file) is None, "the file lies in a human corpus"
    (tmp_path / "manifest.toml").write_text("name = ", encoding="utf-8")
    assert terms_near(file) is None, "nobody knows what a broken manifest says"


@pytest.mark.parametrize(
    ("said", "allowed"),
    [
        ("", True),
        ('licence = "MIT"', True),
        ('licence = "ours"', None),
        ("redistribute = false", False),
    ],
)
def test_a_candidate_declares_what_becomes_of_its_texts(
    said: str, allowed: bool | None, tmp_path: Path
) -> None:
    (tmp_path / "runs.jsonl").write_text("{}\n", encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(f'kind = "recorded"\nruns = "runs.jsonl"\n{said}\n', encoding="utf-8")
    found = read_candidate(path)
    assert found is not None
    assert found.redistribute is allowed


def talk(*texts: str) -> Session:
    turns = tuple(Turn("user", text) for text in texts)
    return Session(session_id="s", turns=turns, simulator="", domain="d", layout="usi-jsonl")


def test_copies_of_long_messages_and_whole_copies_are_left_out() -> None:
    said = SaidByPeople()
    said.add(talk("my name is Ada Lovelace of London", "yes please", "why"))
    texts = [turn.content for turn in said.without(
        talk("My name is  ada lovelace of London", "Yes please", "something of its own")
    ).turns]  # fmt: skip
    assert texts == [SaidByPeople.INSTEAD, SaidByPeople.INSTEAD, "something of its own"]
    alike = talk("yes please", "something of its own")
    assert said.without(alike) is alike, "two people may say the same few words"
    assert {turn.content for turn in said.without(talk("why", "yes please")).turns} == {
        SaidByPeople.INSTEAD
    }


def test_long_values_are_told_by_their_size() -> None:
    assert quoted("chatbot") == "'chatbot'"
    assert quoted("22/Jun/26 08:42 AM") == "'22/Jun/26 08:42 AM'"
    assert quoted("call me Ada Lovelace") == "a text of 20 characters"
    assert told_columns(["Issue key", "Time in status (hours)"], 5) == (
        "Issue key, Time in status (hours)"
    )
    first_row = ["p1", "user", "my name is Ada Lovelace and I live in a small house in London"]
    assert told_columns(first_row, 5) == "p1, user, a text of 61 characters"
