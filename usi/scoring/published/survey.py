"""Agreement of survey answers, as published: ordinals, normalised, missing ones imputed.

An answer of the simulator that is missing or no listed option is drawn uniformly from the sorted
distinct ordinals of its item; one stream of random numbers (numpy ``default_rng(42)``) runs
through items, tasks and batches in order. That is kept although it rewards not answering
(arXiv 2603.11245 and its public scorer).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from usi.records import SurveyAnswer

SEED = 42
"""Seed of the published imputation."""

Answers = Mapping[str, str | None]
"""Item -> option text as found."""


@dataclass(frozen=True)
class SurveyItem:
    """One item of the instrument.

    Attributes
    ----------
    name, question
        Field id and the text that is asked.
    ordinals
        Option text -> ordinal (not always injective).
    """

    name: str
    question: str
    ordinals: Mapping[str, int]

    @property
    def distinct(self) -> list[int]:
        """Sorted distinct ordinals."""
        return sorted(set(self.ordinals.values()))

    def normalised(self, ordinal: int) -> float:
        """Ordinal on the scale 0 to 1 over the distinct ordinals."""
        low, high = self.distinct[0], self.distinct[-1]
        return (ordinal - low) / (high - low)


@cache
def instrument() -> tuple[SurveyItem, ...]:
    """The eight items in the order in which the score goes through them."""
    text = resources.files("usi.scoring").joinpath("data/survey.toml").read_text("utf-8")
    return tuple(
        SurveyItem(item["id"], item["question"], {str(o): int(n) for o, n in item["options"]})
        for item in tomllib.loads(text)["item"]
    )


def published_rng() -> np.random.Generator:
    """A fresh stream of the published imputation."""
    return np.random.default_rng(SEED)


def answers_of(survey: Iterable[SurveyAnswer] | None) -> Answers:
    """Answers as a mapping; a null survey counts as unanswered."""
    return {} if survey is None else {answer.item: answer.answer for answer in survey}


def answers_from_json(text: str | None) -> Answers:
    """Answers from the ``survey`` column of a session table."""
    if not text:
        return {}
    data = json.loads(text)
    return data if isinstance(data, dict) else {}


def _ordinal(item: SurveyItem, answer: object) -> int | None:
    return item.ordinals.get(answer) if isinstance(answer, str) else None


def is_whole(surveys: Mapping[str, Iterable[SurveyAnswer] | None]) -> bool:
    """Whether every item of every survey has an answer that counts, so that none is drawn."""
    return all(
        _ordinal(item, given.get(item.name)) is not None
        for given in map(answers_of, surveys.values())
        for item in instrument()
    )


@dataclass
class Imputed:
    """How many answers were drawn at random because there was none that counts."""

    answers: int = 0


def agreement(
    human: Answers, simulator: Answers, rng: np.random.Generator, imputed: Imputed | None = None
) -> float | None:
    """Agreement on one conversation, in points: ``100 (1 - mean |h - m|)`` over the items.

    Parameters
    ----------
    human, simulator
        Answers; items that people did not answer with a listed option do not count.
    rng
        Stream for the answers that the simulator did not give; it advances by one draw for each.
    imputed
        Counts the draws.

    Returns
    -------
    float or None
        0 to 100; ``None`` where people answered nothing that counts.

    Examples
    --------
    >>> agreement({"human_like": "Yes"}, {"human_like": "Partially"}, published_rng())
    50.0
    """
    gaps: list[float] = []
    for item in instrument():
        h = _ordinal(item, human.get(item.name))
        if h is None:
            continue
        m = _ordinal(item, simulator.get(item.name))
        if m is None:
            m = int(rng.choice(item.distinct))
            if imputed is not None:
                imputed.answers += 1
        gaps.append(abs(item.normalised(h) - item.normalised(m)))
    return (1 - float(np.mean(gaps))) * 100 if gaps else None


def batch_agreement(
    human: Mapping[str, Answers],
    simulator: Mapping[str, Answers],
    ids: Sequence[str],
    rng: np.random.Generator,
    imputed: Imputed | None = None,
) -> list[float]:
    """Agreement of every task that has one, in the order of `ids` (which the stream follows)."""
    scores = (agreement(human[i], simulator[i], rng, imputed) for i in ids)
    return [score for score in scores if score is not None]
