"""``blind.toml``: what a blind check fixes before the first rater arrives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from usi.errors import InputError
from usi.reading import read_text, read_toml
from usi.study.settings import (
    Choice,
    Completion,
    Consent,
    Recruiting,
    Table,
    check_open,
    checked_table,
)

BLIND, DATABASE, ITEMS = "blind.toml", "blind.sqlite", "items.jsonl"


class BlindLimits(Table):
    """``[limits]``: when the check takes no more raters."""

    participants: int | None = Field(None, ge=1, description="raters who begin")
    closes: date | None = Field(None, description="last day, in UTC")


class BlindStudy(Table):
    """Every key of a ``blind.toml``; ``usi blind new`` writes one with comments.

    Attributes
    ----------
    sessions_per_rater
        Half of them of people, half of simulators.
    experience
        Asked once; results are told apart by the answer.
    """

    title: str = Field(min_length=1, max_length=200)
    institution: str = ""
    contact: str = ""
    language: str = "en"
    url: str | None = Field(None, pattern=r"^https?://[^\s/]+(/\S*)?$")
    sessions_per_rater: int = Field(20, ge=2, le=200)
    seed: int = Field(7, ge=0)
    limits: BlindLimits = BlindLimits()
    consent: Consent = Consent()
    experience: Choice = Choice(
        question="How much experience do you have with support conversations?",
        options=("None", "As a customer", "I have worked in support", "I study such conversations"),
    )
    recruiting: Recruiting = Recruiting()
    completion: Completion = Completion()
    texts: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _open_needs_a_limit(self) -> Self:
        check_open(self.recruiting, self.limits.participants)
        return self


@dataclass(frozen=True)
class BlindPlace:
    """A blind check in its folder."""

    folder: Path
    study: BlindStudy

    @property
    def database(self) -> Path:
        """The file of all ratings."""
        return self.folder / DATABASE

    @cached_property
    def consent(self) -> str:
        """The consent text."""
        return read_text(self.folder / self.study.consent.file).strip()

    @property
    def consent_sha256(self) -> str:
        """SHA-256 of the consent text, as in a study."""
        return hashlib.sha256(self.consent.encode("utf-8")).hexdigest()


def read_blind(folder: str | Path) -> BlindPlace:
    """Read the settings of a blind check.

    Raises
    ------
    InputError
        With every mistake together.
    """
    path = Path(folder) / BLIND
    if not path.is_file():
        raise InputError("there is no such file; usi blind new FOLDER makes one", file=str(path))
    return BlindPlace(Path(folder), checked_table(BlindStudy, read_toml(path), str(path)))
