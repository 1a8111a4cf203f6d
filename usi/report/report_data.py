"""The data of a report that are not in the scorecard: distributions, pass^k, the published index.

They hold no text of transcripts, so they are written for every corpus. Reading them back, with the
examples of texts where these may be shown, is `read_beside`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from usi.corpora.licences import texts_shown
from usi.decisions.outcomes import Outcomes, Trial
from usi.decisions.passk import pass_k
from usi.diagnose.diagnosis import scored_sessions
from usi.diagnose.distances import distribution
from usi.diagnose.evidence_files import (
    Distribution,
    Evidence,
    PassCurve,
    Point,
    PublishedIndex,
    ReportData,
)
from usi.estimate import Estimate
from usi.extraction.profile import get_feature_profile
from usi.extraction.table import SessionTable, derive
from usi.provenance.record import read_record
from usi.scoring.robust.bounds import maybe, tidy
from usi.scoring.scorecard import Scorecard

NO_EXAMPLES = "left out on request (--no-examples)"
FORBIDDEN = "their manifest forbids to pass them on"
NO_RIGHT = (
    "no manifest or licence says that they may be passed on (--examples shows them, for your own "
    "use)"
)
NO_TEXT = "there are no transcripts among the inputs (session tables and aggregates hold no text)"
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
    asked
        Whether texts were asked for that may not be passed on (``--examples``).
    options
        Options of the scoring as its run record tells them; ``None`` where none is there.
    """

    data: ReportData | None = None
    evidence: Evidence | None = None
    why_no_text: str = NOT_HERE
    options: Mapping[str, Any] | None = None
    asked: bool = False

    def permitted(self, card: Scorecard) -> Beside:
        """Without the texts of those sides of which none may be shown."""
        if self.evidence is None:
            return self
        own, examples = self.evidence, self.asked or None
        sides = passed_on_by_side(card).items()
        kept = {name for name, allowed in sides if texts_shown(allowed, examples)}
        turns = {
            feature: left
            for feature, found in own.turns.items()
            if (left := {name: shown for name, shown in found.items() if name in kept})
        }
        sessions = {name: shown for name, shown in own.sessions.items() if name in kept}
        if not turns and not sessions:
            return replace(self, evidence=None, why_no_text=why_withheld(card))
        return replace(self, evidence=msgspec.structs.replace(own, turns=turns, sessions=sessions))

    def confidential(self, card: Scorecard) -> tuple[str, ...]:
        """Sides whose words stand here and may not be passed on (people: ``""``)."""
        held: set[str] = set()
        if self.evidence is not None:
            held.update(self.evidence.sessions)
            held.update(name for found in self.evidence.turns.values() for name in found)
        if any(part.unsaid for part in card.simulators):
            held.add("")
        return tuple(sorted(name for name in held if not passed_on_by_side(card).get(name)))


def passed_on_by_side(card: Scorecard) -> dict[str, bool | None]:
    """Whether the texts of each side may be passed on, by simulator (people: ``""``)."""
    simulators = {part.name: part.redistribute for part in card.simulators}
    return {"": card.human.redistribute, **simulators}


def why_withheld(card: Scorecard) -> str:
    """Why texts of people (else of simulators) are left out."""
    found = [allowed for allowed in passed_on_by_side(card).values() if allowed is not True]
    return NO_TEXT if not found else NO_RIGHT if found[0] is None else FORBIDDEN


def read_beside(scorecard: str | Path, card: Scorecard, *, examples: bool | None = None) -> Beside:
    """Read the files beside a scorecard.

    Texts follow `examples`: ``None`` for those that may be passed on, ``True`` for all that were
    kept, ``False`` for none.

    Raises
    ------
    InputError
        Where one of them belongs to another scorecard.
    """
    from usi.diagnose.evidence_files import EVIDENCE, REPORT_DATA, beside, read

    data = read(beside(scorecard, REPORT_DATA), ReportData, card)
    record = read_record(scorecard)
    options = record.options or None if record is not None else None
    if examples is False:
        return Beside(data, None, NO_EXAMPLES, options)
    evidence = read(beside(scorecard, EVIDENCE), Evidence, card)
    return Beside(data, evidence, NOT_HERE, options, asked=examples is True).permitted(card)


MOST_K = 8
SUCCESS = 1.0


def report_data(
    card: Scorecard,
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    published: Scorecard | str,
) -> ReportData:
    """Collect it from the session tables.

    Parameters
    ----------
    card
        Finished scorecard of these tables.
    human, simulators
        Session tables with keys.
    published
        Scorecard of the profile ``tau-usi`` over the same sessions, or why there is none.
    """
    people = scored_sessions(human.frame)
    own = {name: scored_sessions(table.frame) for name, table in simulators.items()}
    passes = {}
    for part in card.simulators:
        if part.name in own:
            threshold = part.reward_threshold or SUCCESS
            curve = pass_curve(people, own[part.name], threshold)
            if curve is not None:
                passes[part.name] = curve
    return ReportData(
        usi_version=card.usi_version,
        signature=card.signature,
        tasks_sha256=card.tasks_sha256,
        distributions=distributions(people, own, human.profile),
        passk=passes,
        published=published_index(published),
    )


def distributions(
    human: pl.DataFrame, simulators: Mapping[str, pl.DataFrame], profile: str
) -> dict[str, Distribution]:
    """Binned values of every feature by session."""
    chosen = get_feature_profile(profile)
    specs = [spec for spec in chosen.specs if not spec.harness]

    def values(frame: pl.DataFrame) -> pl.DataFrame:
        found = derive(frame, specs, without_denominator=chosen.without_denominator)
        return found.cast(pl.Float64).fill_null(float("nan"))

    people, own = values(human), {name: values(frame) for name, frame in simulators.items()}
    return {
        spec.name: distribution(
            spec,
            people[spec.name].to_numpy(),
            {name: frame[spec.name].to_numpy() for name, frame in own.items()},
        )
        for spec in specs
    }


def outcomes_of(frame: pl.DataFrame, label: str, threshold: float) -> Outcomes:
    """Graded sessions by task."""
    graded = frame.filter(pl.col("task").is_not_null() & pl.col("reward").is_not_null())
    trials: dict[str, list[Trial]] = {}
    for task, reward in graded.select("task", "reward").sort("task", "reward").iter_rows():
        trials.setdefault(task, []).append(Trial(int(reward >= threshold)))
    return Outcomes(label, trials, {}, threshold)


def pass_curve(human: pl.DataFrame, simulated: pl.DataFrame, threshold: float) -> PassCurve | None:
    """pass^k with people and with the simulator; ``None`` where no task has two trials."""
    sides = [outcomes_of(f, name, threshold) for f, name in ((human, "h"), (simulated, "s"))]
    fewest = [min((len(t) for t in side.trials.values()), default=0) for side in sides]
    if max(fewest) < 2:
        return None
    ks = tuple(range(1, min(max(fewest), MOST_K) + 1))
    found = []
    for side in sides:
        values = pass_k(side, ks).values if side.trials else {}
        found.append(tuple(_point(values.get(k)) for k in ks))
    return PassCurve(ks=ks, human=found[0], simulator=found[1])


def _point(value: Estimate | None) -> Point | None:
    if value is None or value.value is None:
        return None
    return Point(tidy(value.value), maybe(value.low), maybe(value.high), value.n)


def published_index(card: Scorecard | str) -> PublishedIndex:
    """The published index of the same sessions, with its spread over batches as bounds."""
    if isinstance(card, str):
        return PublishedIndex(reason=card)
    terms = card.simulators[0].index.terms if card.simulators else 0

    def point(value: float | None) -> Point | None:
        return None if value is None or not np.isfinite(value) else Point(tidy(value))

    own = {part.name: point(part.index.value) for part in card.simulators}
    return PublishedIndex(
        signature=card.signature,
        label=f"USI({terms})",
        human=point(card.human.index.value),
        simulators={name: value for name, value in own.items() if value is not None},
    )
