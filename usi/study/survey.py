"""A survey in the language of a study: other words for the same items and options.

Answers are kept as the options of the survey itself, found by their place, so that people who
read it in different languages, and simulators that read the original, are compared.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from usi.errors import InputError
from usi.reading import read_toml
from usi.simulate.questions import Instrument, Question, published_instrument

ORIGINAL = "en"
"""Language of the published survey."""


@dataclass(frozen=True)
class Shown:
    """What people read of a survey.

    Attributes
    ----------
    questions
        In the order of the survey, each with as many options as there; their ids are the same.
    language
        Code of the language; empty for a survey of the study's own.
    """

    questions: tuple[Question, ...]
    language: str

    def original(self, instrument: Instrument, chosen: Mapping[str, int]) -> dict[str, str | None]:
        """Answers as options of the survey itself.

        Parameters
        ----------
        instrument
            The survey.
        chosen
            Item -> place of the option, counted from 1; other places are unanswered.
        """
        return {
            question.item: question.options[place - 1]
            if 1 <= (place := chosen.get(question.item, 0)) <= len(question.options)
            else None
            for question in instrument.questions
        }


def translations() -> tuple[str, ...]:
    """Codes of the languages that the published survey is shipped in, beside English."""
    folder = resources.files("usi.study").joinpath("surveys")
    return tuple(
        sorted(p.name.removesuffix(".toml") for p in folder.iterdir() if p.name.endswith(".toml"))
    )


def shown_survey(instrument: Instrument, language: str, *, own: Path | None = None) -> Shown:
    """A survey as it is shown in a study.

    Parameters
    ----------
    instrument
        The survey.
    language
        Of the study, such as ``de`` or ``de-AT``. The published survey is shown in it where usi
        ships it; else, and every other survey, as it is.
    own
        A translation of the study's own, in the shape of those that are shipped.

    Raises
    ------
    InputError
        Where the translation lacks an item, has one too many, or another number of options.
    """
    base = language.partition("-")[0].lower()
    published = instrument == published_instrument()
    if own is not None:
        return _translated(instrument, read_toml(own), str(own))
    if published and base in translations():
        name = f"surveys/{base}.toml"
        text = resources.files("usi.study").joinpath(name).read_text("utf-8")
        return _translated(instrument, tomllib.loads(text), name)
    return Shown(instrument.questions, ORIGINAL if published else "")


def _translated(instrument: Instrument, data: Mapping[str, Any], file: str) -> Shown:
    if data.get("of") != instrument.tag:
        raise InputError(
            f"is a translation of {data.get('of')!r:.60}, the survey is {instrument.tag!r}",
            file=file,
            field="of",
        )
    language = data.get("language")
    if not isinstance(language, str) or not language:
        raise InputError("needs the code of its language", file=file, field="language")
    known = {question.item for question in instrument.questions}
    unknown = sorted(set(data) - known - {"of", "language"})
    if unknown:
        raise InputError(f"the survey has no item {unknown[0]!r}", file=file, field=unknown[0])
    questions = []
    for question in instrument.questions:
        item = data.get(question.item)
        words = item.get("question") if isinstance(item, dict) else None
        options = item.get("options") if isinstance(item, dict) else None
        if not isinstance(words, str) or not words:
            raise InputError("needs a question", file=file, field=f"{question.item}.question")
        if (
            not isinstance(options, list)
            or len(options) != len(question.options)
            or not all(isinstance(option, str) and option for option in options)
        ):
            raise InputError(
                f"needs {len(question.options)} options, in the order of the survey",
                file=file,
                field=f"{question.item}.options",
            )
        questions.append(Question(question.item, words, tuple(options)))
    return Shown(tuple(questions), language)
