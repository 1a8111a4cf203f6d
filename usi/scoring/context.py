"""What is known about the inputs of a scoring and can't be read off the session tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from usi.reasons import (
    Reason,
)

if TYPE_CHECKING:
    from usi.extraction.table import SessionTable
    from usi.records import SurveyAnswer
    from usi.scoring.parts import Facts
    from usi.scoring.scorecard import InputFile, LoadNote

Surveys = Mapping[str, Mapping[str, "tuple[SurveyAnswer, ...] | None"]]
"""Label -> session id -> answers, in file order (``survey_comparable_<label>.json``)."""

HUMAN_EVAL = "human-eval-100"
"""Label of the survey that other people filled in for the conversations of batch 1."""


@dataclass(frozen=True, kw_only=True)
class ScoreContext:
    """What is known about the inputs and can't be read off the session tables.

    Attributes
    ----------
    corpus_name, corpus_digest
        Name and content digest of the reference, for the signature.
    human_name
        Name of the human row.
    is_human
        Whether the reference is said to be people (false: it is simulator output).
    source
        Cleaning that the reference got.
    synthetic
        Whether any input says that it is a phantom.
    licence, terms, research_only, redistribute, expires
        From the manifest of the reference, where it has one.
    show_words
        Whether words of people may stand on the card: where their corpus may be passed on, or
        where they were asked for.
    inputs
        Base name and content digest of every file that was read, sorted.
    left_out
        Label (``""`` is the reference) -> reason -> count, from loading.
    warnings
        What a reader of the whole card must know.
    anchors
        Session tables of degenerate users by name (echo of the agent, ...), for the floors of
        the profile ``robust``.
    facts
        Label -> what reading knows of the simulator.
    load_notes
        What loading dropped, guessed or merged of the reference.
    surveys
        Name of the folder of survey files, or ``"none"``; ``None`` where surveys do not apply.
    tasks_sha256
        Hash of the per-task sums that stand beside the card.
    """

    corpus_name: str = "reference"
    corpus_digest: str = ""
    human_name: str = "Human (inter-ann.)"
    is_human: bool = True
    source: Literal["human", "simulated"] = "human"
    synthetic: bool = False
    licence: str | None = None
    research_only: bool = False
    redistribute: bool | None = None
    show_words: bool = False
    terms: str | None = None
    expires: str | None = None
    inputs: tuple[InputFile, ...] = ()
    left_out: Mapping[str, Mapping[Reason, int]] = field(default_factory=dict)
    warnings: tuple[Reason, ...] = ()
    anchors: Mapping[str, SessionTable] = field(default_factory=dict)
    facts: Mapping[str, Facts] = field(default_factory=dict)
    load_notes: tuple[LoadNote, ...] = ()
    surveys: str | None = None
    tasks_sha256: str | None = None
