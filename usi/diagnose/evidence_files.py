"""The two files beside a scorecard that a report reads: one without text, one with.

``card.report.json`` (`ReportData`) holds binned distributions, pass^k and the published index.
``card.evidence.json`` (`Evidence`) holds sampled turns and sessions, and is written only where
texts may be kept. Both name the scorecard that they belong to.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from usi.errors import InputError
from usi.reading import reading
from usi.scoring.scorecard import Scorecard

SCHEMA_VERSION = "1"
REPORT_DATA = ".report.json"
EVIDENCE = ".evidence.json"


class Histogram(msgspec.Struct, frozen=True):
    """One side of a binned distribution; `shares` are those of the `n` sessions with a value."""

    n: int
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    mean: float | None
    low: float | None
    median: float | None
    high: float | None


class Distribution(msgspec.Struct, frozen=True):
    """Values of one feature by session, in common bins.

    Attributes
    ----------
    labels
        What each bin holds, in `unit`.
    human, simulators
        Counts of the reference and of each simulator; `low` and `high` are the 10 % and 90 %
        quantiles.
    """

    unit: str
    labels: tuple[str, ...]
    human: Histogram
    simulators: dict[str, Histogram]


class Point(msgspec.Struct, frozen=True):
    """One value with its bounds."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


class PassCurve(msgspec.Struct, frozen=True):
    """pass^k of one agent: with people (batches as trials) and with a simulator (runs)."""

    ks: tuple[int, ...]
    human: tuple[Point | None, ...]
    simulator: tuple[Point | None, ...]


class PublishedIndex(msgspec.Struct, frozen=True):
    """The published index (profile ``tau-usi``) of the same sessions, or why there is none."""

    signature: str = ""
    label: str = ""
    human: Point | None = None
    simulators: dict[str, Point] = {}
    reason: str = ""


class ReportData(msgspec.Struct, frozen=True, kw_only=True):
    """What a report shows beside the scorecard, without any text of transcripts."""

    usi_version: str
    schema_version: str = SCHEMA_VERSION
    signature: str
    tasks_sha256: str | None
    distributions: dict[str, Distribution] = {}
    passk: dict[str, PassCurve] = {}
    published: PublishedIndex = PublishedIndex(reason="it was not computed")


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a transcript.

    Attributes
    ----------
    role
        Exactly as found, as text.
    text
        As counted (cleaned) for user turns, else as found; long ones are cut.
    turn
        Number of the user turn, from 1; 0 where it is none.
    marks
        Features that the turn counts for.
    spans
        Character ranges of `text` that made it count.
    cut
        Characters left out at the end.
    note
        Why a message of the user is no turn.
    """

    role: str
    text: str
    turn: int = 0
    marks: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    cut: int = 0
    note: str = ""


class EvidenceTurn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn that counts for a feature, and what the agent had said before it."""

    session: str
    message: Message
    before: Message | None = None


class Deviation(msgspec.Struct, frozen=True):
    """How far a session is from people in one feature, in human standard deviations."""

    feature: str
    value: float
    human_mean: float
    z: float


class Transcript(msgspec.Struct, frozen=True):
    """One session in full.

    Attributes
    ----------
    kind
        ``unlike`` any human session, ``typical`` of its own side.
    distance
        Root mean square over features of the difference to the nearest session of people, in
        human standard deviations.
    far
        The features in which it is furthest from the mean of people.
    left_out
        Messages at the end that are not shown.
    """

    session: str
    kind: str
    distance: float | None
    far: tuple[Deviation, ...]
    messages: tuple[Message, ...]
    left_out: int = 0


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Sampled texts.

    Attributes
    ----------
    turns
        Feature -> simulator (people: ``""``) -> turns.
    sessions
        Simulator (people: ``""``) -> transcripts.
    """

    usi_version: str
    schema_version: str = SCHEMA_VERSION
    signature: str
    tasks_sha256: str | None
    seed: int
    turns: dict[str, dict[str, tuple[EvidenceTurn, ...]]] = {}
    sessions: dict[str, tuple[Transcript, ...]] = {}


Sidecar = TypeVar("Sidecar", ReportData, Evidence)


def beside(scorecard: str | Path, suffix: str) -> Path:
    """Path of a file beside a scorecard: ``card.json`` -> ``card.report.json``."""
    path = Path(scorecard)
    return path.with_name(f"{path.stem}{suffix}")


def encode(data: ReportData | Evidence) -> bytes:
    """Deterministic JSON, one line, with a final newline; the mark of usi stands first."""
    return msgspec.json.encode(data) + b"\n"


def read(path: str | Path, kind: type[Sidecar], card: Scorecard) -> Sidecar | None:
    """Read a file beside a scorecard; ``None`` where there is none.

    Raises
    ------
    InputError
        Where it can't be read or belongs to another scorecard.
    """
    path = Path(path)
    if not path.is_file():
        return None
    with reading(str(path)):
        found = msgspec.json.decode(path.read_bytes(), type=kind)
    if (found.signature, found.tasks_sha256) != (card.signature, card.tasks_sha256):
        raise InputError(
            "it belongs to another scorecard: keep the files of one usi score together, or "
            "score again",
            file=str(path),
        )
    return found
