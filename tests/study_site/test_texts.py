"""Texts of the site: whole in every language, all used, with their marks."""

from __future__ import annotations

import re

import pytest
from helpers import ROOT

from usi.simulate.user import GREETING
from usi.study.texts import languages, shipped, texts_of

MARK = re.compile(r"\{\w+\}")


@pytest.mark.parametrize("language", languages())
def test_every_language_has_every_text_with_its_marks(language: str) -> None:
    english, other = shipped("en"), shipped(language)
    assert set(other) == set(english)
    for name, text in other.items():
        assert text.strip() == text
        assert set(MARK.findall(text)) == set(MARK.findall(english[name])), name


def test_every_text_is_used() -> None:
    folder = ROOT / "usi" / "study"
    files = [*folder.rglob("*.py"), *folder.rglob("*.j2")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    made = re.compile(r"instructions_\d|practice_reply_\d|\w+_(?:title|text)|talk_\w+|rate_\w+")
    unused = [n for n in shipped("en") if f'"{n}"' not in code and f"'{n}'" not in code]
    assert [name for name in unused if not made.fullmatch(name)] == []


def test_people_and_simulators_are_greeted_alike_in_english() -> None:
    assert shipped("en")["greeting"] == GREETING


def test_a_study_replaces_texts_and_a_region_takes_its_language() -> None:
    texts = texts_of("es-MX", {"send": "Mandar"}, file="x")
    assert texts("send") == "Mandar"
    assert texts("you") == "Usted"
    assert texts("step_task", number=2, total=5) == "Tarea 2 de 5"
