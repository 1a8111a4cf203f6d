"""The files beside a scorecard that a report reads, and whether texts may be shown."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from usi.diagnose.evidence_records import Evidence, ReportData
from usi.score.scorecard import Scorecard

NO_EXAMPLES = "left out on request (--no-examples)"
NO_RIGHT = "the licence of the human reference forbids to pass its texts on"
NO_TEXT = "there are no transcripts to read a second time (a session table, stdin or aggregates)"
NO_LOG_TEXT = "a log of events holds no texts of conversations"
NOT_HERE = "the file of examples (NAME.evidence.json) is not beside the scorecard"


@dataclass(frozen=True)
class Beside:
    """What a page knows beside the scorecard.

    Attributes
    ----------
    data
        Distributions, pass^k, the published index.
    evidence
        Sampled texts, or ``None``.
    why_no_text
        Why there is no text.
    """

    data: ReportData | None = None
    evidence: Evidence | None = None
    why_no_text: str = NOT_HERE


def text_refused(card: Scorecard, *, examples: bool = True) -> str | None:
    """Why texts of transcripts must not be kept or shown; ``None`` where they may be."""
    if not examples:
        return NO_EXAMPLES
    return None if card.human.redistribute else NO_RIGHT


def read_beside(scorecard: str | Path, card: Scorecard, *, examples: bool = True) -> Beside:
    """Read the files beside a scorecard.

    Raises
    ------
    InputError
        Where one of them belongs to another scorecard.
    """
    from usi.diagnose.evidence_records import EVIDENCE, REPORT_DATA, beside, read

    data = read(beside(scorecard, REPORT_DATA), ReportData, card)
    refused = text_refused(card, examples=examples)
    if refused is not None:
        return Beside(data, None, refused)
    evidence = read(beside(scorecard, EVIDENCE), Evidence, card)
    return Beside(data, evidence, NOT_HERE)
