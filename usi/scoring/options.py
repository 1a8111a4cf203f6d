"""What the caller may choose about a scoring, and what the road tells the profile about inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from usi.errors import unknown_name
from usi.loading.options import MAX_RECORD, LoadOptions

if TYPE_CHECKING:
    from usi.extraction.table import SessionTable
    from usi.records import SurveyAnswer
    from usi.scoring.parts import Facts
    from usi.scoring.profiles import ProfileChoices
    from usi.scoring.robust.options import RobustOptions
    from usi.scoring.scorecard import InputFile, LoadNote

RunIds = Literal["auto", "suffix", "none"]
HumanSource = Literal["auto", "human", "simulated"]

Surveys = Mapping[str, Mapping[str, "tuple[SurveyAnswer, ...] | None"]]
"""Label -> session id -> answers, in file order (``survey_comparable_<label>.json``)."""

HUMAN_EVAL = "human-eval-100"
"""Label of the survey that other people filled in for the conversations of batch 1."""


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Choices of one scoring; every field has the default of the command line.

    Attributes
    ----------
    difficulty
        ``"frozen"`` (the map shipped with usi), ``"self"`` (pooled over the simulators being
        scored) or the path of a JSON file with task -> success rate.
    run_ids
        How ids split into base id and run: see `usi.scoring.keys`.
    human_source
        Which cleaning the reference gets; ``"auto"`` looks at what the files are.
    surveys
        A directory, ``None`` for none, or ``"auto"`` for a ``survey_data/`` beside the reference.
    domain, name, format
        Overrides for loading: domain of rows that name none, label of the simulator, loader.
    max_record
        Largest record that is read, in bytes.
    user_role, user_speaker, map
        Who the user is and which column means what (see `usi.loading.LoadOptions`), on both sides.
    flip
        User and assistant of the simulators' transcripts change places; people's never do.
    seed
        Seed of every random draw of the profile ``robust``. The profile ``tau-usi`` has the
        published seed 42 and takes no other.
    robust
        Choices that only the profile ``robust`` knows; ``None`` for its defaults.
    log
        How operational logs are read and compared (profile ``log``): `usi.logs.inputs.LogChoices`.
    held_out
        Whether the held-out part of a corpus may be read: only where the card is gated at once.
    language
        Language of sessions that declare none, on both sides, such as ``"de"``.
    """

    difficulty: str = "frozen"
    run_ids: RunIds = "auto"
    human_source: HumanSource = "auto"
    surveys: str | Path | None = "auto"
    domain: str | None = None
    name: str | None = None
    format: str | None = None
    max_record: int = MAX_RECORD
    user_role: str | None = None
    user_speaker: str | None = None
    flip: bool = False
    map: Mapping[str, str] = field(default_factory=dict)
    seed: int = 7
    robust: RobustOptions | None = None
    log: ProfileChoices | None = None
    held_out: bool = False
    language: str | None = None

    def __post_init__(self) -> None:
        if self.run_ids not in get_args(RunIds):
            raise unknown_name("--run-ids", str(self.run_ids), get_args(RunIds))
        if self.human_source not in get_args(HumanSource):
            raise unknown_name("--human-source", str(self.human_source), get_args(HumanSource))

    def load_options(self, *, human: bool) -> LoadOptions:
        """Options of the loaders for one side: format, name and flip are the simulators' alone."""
        return LoadOptions(
            format=None if human else self.format,
            domain=self.domain,
            name=None if human else self.name,
            max_record=self.max_record,
            user_role=self.user_role,
            user_speaker=self.user_speaker,
            flip=self.flip and not human,
            map=self.map,
        )


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
    inputs
        Base name and content digest of every file that was read, sorted.
    left_out
        Label (``""`` is the reference) -> reason -> count, from loading.
    warnings
        ``(code, message)`` pairs for the head of the card.
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
    redistribute: bool = True
    terms: str | None = None
    expires: str | None = None
    inputs: tuple[InputFile, ...] = ()
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warnings: tuple[tuple[str, str], ...] = ()
    anchors: Mapping[str, SessionTable] = field(default_factory=dict)
    facts: Mapping[str, Facts] = field(default_factory=dict)
    load_notes: tuple[LoadNote, ...] = ()
    surveys: str | None = None
    tasks_sha256: str | None = None
