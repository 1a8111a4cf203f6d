"""Who is compared with whom in a survey: pairs of answers by task, in a declared design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.records import SurveyAnswer
from usi.score.robust.instrument import Item, answers_of

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Pairs of one person's and one respondent's answers.

    Attributes
    ----------
    unit
        Index of the task of each pair, shape (pairs,).
    human, other
        Level of every item, -1 = no valid answer, shape (pairs, items).
    """

    unit: Index
    human: Index
    other: Index


def levels_of(answers: Sequence[Mapping[str, object]], items: Sequence[Item]) -> Index:
    """Levels of all items for a list of answer sheets, -1 where there is no valid answer."""
    result = np.full((len(answers), len(items)), -1, dtype=np.int64)
    for row, own in enumerate(answers):
        for column, item in enumerate(items):
            level = item.level(own.get(item.name))
            if level is not None:
                result[row, column] = level
    return result


def sheets(frame: pl.DataFrame) -> list[dict[str, object]]:
    """Answer sheets of the sessions of a table, empty where there is no survey."""
    return [answers_of(text) for text in frame["survey"].to_list()]


def _sheet(answers: Sequence[SurveyAnswer] | None) -> dict[str, object]:
    return {answer.item: answer.answer for answer in answers or ()}


def by_session(
    frame: pl.DataFrame,
    unit: Index,
    human: Index,
    answers: Mapping[str, Sequence[SurveyAnswer] | None],
    items: Sequence[Item],
) -> Pairs:
    """Pairs by the id of the human session that a survey file names.

    A session that the file does not name has no pair; one that it names without answers has an
    unanswered pair.
    """
    ids = frame["session_id"].to_list()
    rows = np.array([k for k, i in enumerate(ids) if i in answers and unit[k] >= 0], dtype=np.int64)
    other = levels_of([_sheet(answers[ids[k]]) for k in rows], items)
    return Pairs(unit[rows], human[rows], other)


def by_task(
    unit_h: Index,
    human: Index,
    unit_s: Index,
    other: Index,
    transcripts: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Pairs:
    """All pairs of a human session and a simulator session of the same task.

    With `transcripts` (one label a session, of both sides) only those of the same transcript.
    """
    left, right = _matches(unit_h, unit_s)
    if transcripts is not None:
        left, right = _equal(left, right, *transcripts)
    return Pairs(unit_h[left], human[left], other[right])


def among_humans(
    unit: Index, batch: Sequence[str], human: Index, transcripts: Sequence[str] | None = None
) -> Pairs:
    """All ordered pairs of sessions of one task from different batches.

    With `transcripts` only pairs of people who rated the same transcript.
    """
    left, right = _matches(unit, unit)
    labels = np.array([str(b) for b in batch], dtype=object)
    keep = np.array(labels[left] != labels[right], dtype=bool)
    left, right = left[keep], right[keep]
    if transcripts is not None:
        left, right = _equal(left, right, transcripts, transcripts)
    return Pairs(unit[left], human[left], human[right])


def transcript_labels(frame: pl.DataFrame) -> list[str]:
    """A label that two sessions share where their user turns have the same counts of words."""
    names = ("user_turns", "words", "words_sq", "words_first", "words_first_two", "n_turns")
    columns = [pl.col(name).cast(pl.String).fill_null("") for name in names]
    return frame.select(pl.concat_str(columns, separator="/").alias("label"))["label"].to_list()


def _equal(left: Index, right: Index, a: Sequence[str], b: Sequence[str]) -> tuple[Index, Index]:
    one, other = np.array(a, dtype=object)[left], np.array(b, dtype=object)[right]
    keep = np.array(one == other, dtype=bool)
    return left[keep], right[keep]


def _matches(a: Index, b: Index) -> tuple[Index, Index]:
    """Rows of `a` and `b` with the same unit (0 or more), in canonical order."""
    frames = [
        pl.DataFrame({"unit": side, name: np.arange(len(side))})
        for side, name in ((a, "left"), (b, "right"))
    ]
    joined = frames[0].filter(pl.col("unit") >= 0).join(frames[1], on="unit", how="inner")
    joined = joined.sort("unit", "left", "right")
    return joined["left"].to_numpy().astype(np.int64), joined["right"].to_numpy().astype(np.int64)
