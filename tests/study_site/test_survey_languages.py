"""The survey of a study in other languages: the same items, and answers kept as the original's."""

from __future__ import annotations

from pathlib import Path

import pytest

from usi.errors import InputError
from usi.simulate.questions import published_instrument
from usi.study.survey import shown_survey, translations

SURVEY = published_instrument()


def test_arabic_german_and_spanish_ship() -> None:
    assert translations() == ("ar", "de", "es")


@pytest.mark.parametrize("language", translations())
def test_a_translation_has_every_item_with_as_many_options(language: str) -> None:
    shown = shown_survey(SURVEY, f"{language}-XX")
    assert shown.language == language
    for own, original in zip(shown.questions, SURVEY.questions, strict=True):
        assert own.item == original.item
        assert len(set(own.options)) == len(original.options)
        assert own.question != original.question


def test_answers_are_kept_as_options_of_the_original() -> None:
    shown = shown_survey(SURVEY, "de")
    first = SURVEY.questions[0]
    kept = shown.original(SURVEY, {first.item: 2, SURVEY.questions[1].item: 99})
    assert kept[first.item] == first.options[1]
    assert kept[SURVEY.questions[1].item] is None
    assert set(kept) == {question.item for question in SURVEY.questions}


def test_a_language_that_does_not_ship_shows_the_original() -> None:
    shown = shown_survey(SURVEY, "fr")
    assert (shown.language, shown.questions) == ("en", SURVEY.questions)


def test_a_translation_of_ones_own_is_refused_where_an_option_lacks(tmp_path: Path) -> None:
    file = tmp_path / "fr.toml"
    text = f'of = "{SURVEY.tag}"\nlanguage = "fr"\n'
    for question in SURVEY.questions:
        options = ", ".join(f'"o{k}"' for k in range(len(question.options)))
        text += f'[{question.item}]\nquestion = "q"\noptions = [{options}]\n'
    file.write_text(text, encoding="utf-8")
    assert shown_survey(SURVEY, "fr", own=file).language == "fr"
    file.write_text(text.replace('"o0", ', "", 1), encoding="utf-8")
    with pytest.raises(InputError, match="options, in the order of the survey"):
        shown_survey(SURVEY, "fr", own=file)
