"""Survey instruments, and getting valid answers out of a model: one repair, then unanswered."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from usi.errors import InputError
from usi.reading import read_toml
from usi.simulate.protocol import Message
from usi.simulate.user import strip_reasoning


@dataclass(frozen=True)
class Question:
    """One item: its id, what is asked, and the options in order."""

    item: str
    question: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Instrument:
    """A survey: name, version and questions in order."""

    name: str
    version: str
    questions: tuple[Question, ...]

    @property
    def tag(self) -> str:
        """Name and version, such as ``tau-survey@1``."""
        return f"{self.name}@{self.version}"


@cache
def published_instrument() -> Instrument:
    """The eight questions of the published index (arXiv 2603.11245)."""
    text = resources.files("usi.scoring").joinpath("data/survey.toml").read_text("utf-8")
    return _instrument(tomllib.loads(text), "survey.toml")


def read_instrument(path: str | Path | None) -> Instrument:
    """An instrument from TOML in the shape of ``usi/scoring/data/survey.toml``; ``None``: that one.

    Raises
    ------
    InputError
        Where it can't be read or lacks something.
    """
    if path is None:
        return published_instrument()
    data = read_toml(path)
    return _instrument(data, str(path))


def _instrument(data: Mapping[str, Any], file: str) -> Instrument:
    questions, seen = [], set()
    items = data.get("item")
    if not isinstance(items, list) or not items:
        raise InputError("has no [[item]]", file=file)
    for row, item in enumerate(items, start=1):
        if not isinstance(item, dict) or not isinstance(item.get("options"), list):
            raise InputError("needs a list of options", file=file, row=row, field="item.options")
        name, question = item.get("id"), item.get("question")
        options = [o[0] if isinstance(o, list) and o else o for o in item["options"]]
        if not isinstance(name, str) or not name or name in seen:
            raise InputError("needs an id of its own", file=file, row=row, field="item.id")
        if not isinstance(question, str) or not question:
            raise InputError("needs a question", file=file, row=row, field="item.question")
        if len(options) < 2 or not all(isinstance(o, str) and o for o in options):
            raise InputError("needs two options or more", file=file, row=row, field="item.options")
        seen.add(name)
        questions.append(Question(name, question, tuple(options)))
    return Instrument(
        str(data.get("name", "survey")), str(data.get("version", "1")), tuple(questions)
    )


def prompt(instrument: Instrument) -> str:
    """What is asked after the talk."""
    lines = [
        "The conversation is over. Please answer these questions about it, as the person that you "
        "are. Answer with a JSON object and nothing else: each id below with one of its options, "
        "word for word.",
        "",
    ]
    for q in instrument.questions:
        lines += [f"{q.item}: {q.question}", *(f"  - {option}" for option in q.options), ""]
    return "\n".join(lines).rstrip()


@dataclass(frozen=True)
class Filled:
    """Answers by item (``None``: unanswered) and whether a repair was asked for."""

    answers: Mapping[str, str | None]
    repaired: bool = False

    @property
    def unanswered(self) -> int:
        """Items without a valid answer."""
        return sum(answer is None for answer in self.answers.values())


def fill_in(instrument: Instrument, ask: Callable[[list[Message]], Any]) -> Filled:
    """Ask for answers, once more where some are not valid; what is invalid then is unanswered.

    Parameters
    ----------
    instrument
        The questions.
    ask
        Gets messages to append to the talk, gives the text of the answer.
    """
    question: Message = {"role": "user", "content": prompt(instrument)}
    first = ask([question])
    answers, problems = read_answers(instrument, first)
    if not problems:
        return Filled(answers)
    repair = "\n".join(
        ["These answers can't be used:", *(f"- {p}" for p in problems[:12]), "", prompt(instrument)]
    )
    said = first if isinstance(first, str) and first else "(no answer)"
    again = ask(
        [question, {"role": "assistant", "content": said}, {"role": "user", "content": repair}]
    )
    second, _ = read_answers(instrument, again)
    return Filled({item: second[item] or answers[item] for item in answers}, repaired=True)


def read_answers(instrument: Instrument, text: Any) -> tuple[dict[str, str | None], list[str]]:
    """Valid answers of a text that should be a JSON object, and what is wrong with the rest.

    An answer counts where it is an option, spaces and case aside; nothing is guessed.
    """
    found = first_object(strip_reasoning(text) if isinstance(text, str) else "")
    if found is None:
        return {q.item: None for q in instrument.questions}, ["the answer is not a JSON object"]
    answers: dict[str, str | None] = {}
    problems = []
    for q in instrument.questions:
        value = found.get(q.item)
        if isinstance(value, dict):
            value = value.get("answer")
        options = {_plain(option): option for option in q.options}
        answers[q.item] = options.get(_plain(value)) if isinstance(value, str) else None
        if answers[q.item] is None:
            shown = "missing" if value is None else f"{value!r:.60} is no option"
            problems.append(f"{q.item}: {shown}")
    return answers, problems


def first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object inside a text.

    >>> first_object('Sure: {"a": "b"} Anything else?')
    {'a': 'b'}
    """
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(text, at)
        except RecursionError:
            return None  # nested without end: no answer of a survey
        except ValueError:
            at = text.find("{", at + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def checked(instrument: Instrument, answers: Mapping[str, Any] | None) -> dict[str, str | None]:
    """Answers of any user held to the instrument: what is no option is unanswered."""
    valid, _ = read_answers(instrument, json.dumps(dict(answers or {}), default=str))
    return valid


def survey_file(
    rows: Sequence[tuple[str, Mapping[str, str | None]]], instrument: Instrument
) -> str:
    """Text of ``survey_comparable_<label>.json``, in the shape of the published layout."""
    asked = {q.item: q.question for q in instrument.questions}
    data = {
        name: {
            "survey": {
                item: {"question": asked[item], "answer": answer}
                for item, answer in answers.items()
            }
        }
        for name, answers in rows
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
