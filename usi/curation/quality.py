"""``usi corpus quality``: can one trust these people, and is there enough of them?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl

from usi.corpora.quality import SessionQuality, look, plain
from usi.corpora.resolve import Corpus
from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed
from usi.extraction.profile import get_feature_profile
from usi.options import ScoreOptions
from usi.reasons import NO_SHARED_BATCHES, Reason
from usi.scoring.people import PROFILE, counts_of, read_people_of, sessions_of
from usi.scoring.robust.batches import icc1
from usi.scoring.robust.floors import FLOOR_REPLICATES
from usi.scoring.robust.instrument import tau_survey
from usi.scoring.robust.reference import reference
from usi.scoring.robust.scorable import scored_values
from usi.scoring.robust.study import study
from usi.scoring.robust.thresholds import MIN_CLUSTERS, MIN_SIMULATOR_SESSIONS


@dataclass(frozen=True)
class Quality:
    """What is said about a corpus.

    Attributes
    ----------
    name
        Of the corpus.
    counts
        As in the manifest.
    sessions
        Trouble with single sessions.
    agreement
        Component -> score of one half of the batches against the other: people against people.
    icc
        Feature -> how much of it belongs to the task.
    scorable, unscorable
        Features that can be scored with these people, and the others with the reason.
    ceiling
        Component -> expected score of a perfect simulator with one run over all tasks.
    warnings
        What a reader should mend or know.
    """

    name: str
    counts: Mapping[str, int]
    sessions: SessionQuality
    agreement: Mapping[str, Estimate]
    icc: Mapping[str, Estimate]
    scorable: tuple[str, ...]
    unscorable: Mapping[str, Reason]
    ceiling: Mapping[str, float]
    warnings: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "counts": dict(self.counts),
            "sessions": asdict(self.sessions),
            "agreement": {k: v.model_dump(mode="json") for k, v in self.agreement.items()},
            "icc": {k: v.model_dump(mode="json") for k, v in self.icc.items()},
            "scorable": list(self.scorable),
            "unscorable": {k: asdict(v) for k, v in self.unscorable.items()},
            "ceiling_of_a_perfect_simulator": dict(self.ceiling),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        """JSON text with a final newline."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"


def quality(given: Corpus) -> Quality:
    """Judge a corpus; nothing of its held-out part is looked at.

    Raises
    ------
    NotScorable
        Where no session counts.
    """
    side = read_people_of(given)
    table = side.tables[""]
    ref = reference(table.frame, get_feature_profile(PROFILE).specs)
    specs = ref.specs
    inside = set(table.frame["session_id"].to_list())
    trouble = look(
        (s for s in sessions_of(given) if s.session_id in inside), levels=survey_levels()
    )
    values = scored_values(ref.values, specs)
    icc = {
        spec.name: _icc(ref.frame, values[:, k])
        for k, spec in enumerate(specs)
        if spec.scored and ref.verdicts[spec.name].reason is None
    }
    agreement, ceiling = _halves(ref.frame)
    counts = counts_of(table).model_dump()
    scorable = tuple(s.name for s in specs if s.scored and ref.verdicts[s.name].reason is None)
    unscorable = {s.name: v for s in specs if s.scored and (v := ref.verdicts[s.name].reason)}
    return Quality(
        name=given.name,
        counts=counts,
        sessions=trouble,
        agreement=agreement,
        icc=icc,
        scorable=scorable,
        unscorable=unscorable,
        ceiling=ceiling,
        warnings=tuple(_warnings(counts, trouble, unscorable)),
    )


def survey_levels() -> dict[str, dict[str, float]]:
    """Item -> answer -> position from 0 to 1, of the published instrument."""
    return {
        item.name: {plain(text): k / max(1, item.size - 1) for text, k in item.levels.items()}
        for item in tau_survey()
    }


def _icc(frame: pl.DataFrame, values: np.ndarray) -> Estimate:
    sums = (
        pl.DataFrame({"task": frame["task"], "x": values})
        .filter(pl.col("task").is_not_null() & pl.col("x").is_not_nan())
        .group_by("task")
        .agg(s=pl.col("x").sum(), q=(pl.col("x") ** 2).sum(), n=pl.len().cast(pl.Float64))
        .sort("task")
    )
    return icc1(*(sums[c].to_numpy() for c in ("s", "q", "n")))


def _halves(frame: pl.DataFrame) -> tuple[dict[str, Estimate], dict[str, float]]:
    """One half of the batches as the simulator of the other, and the ceiling at that size."""
    from usi.options import RobustOptions
    from usi.scoring.robust.profile import pool_of

    batches = sorted(set(frame["batch"].drop_nulls().to_list()))
    if len(batches) < 2:
        return {"behaviour": not_assessed(NO_SHARED_BATCHES)}, {}
    first = batches[: len(batches) // 2]
    own = RobustOptions(replicates=FLOOR_REPLICATES * 5, tasks="common")
    left = frame.filter(pl.col("batch").is_in(first))
    right = frame.filter(~pl.col("batch").is_in(first))
    try:
        ref = reference(right, get_feature_profile(PROFILE).specs)
        runs = left.with_columns(run=pl.col("batch").cast(pl.String))
        result = study(ref, runs, own, pool=pool_of(ScoreOptions().difficulty))
    except NotScorable as error:
        return {"behaviour": not_assessed(error.reason)}, {}
    found = {
        name: Estimate(value=round(score.raw, 6), n=len(result.human.units))
        for name, score in result.scores.items()
    }
    found |= {name: not_assessed(reason) for name, reason in result.reasons.items()}
    return found, {name: round(value, 6) for name, value in result.ceiling.items()}


def _warnings(
    counts: Mapping[str, int], trouble: SessionQuality, unscorable: Mapping[str, Reason]
) -> list[str]:
    n = max(1, trouble.sessions)
    found = []

    def say(count: int, text: str) -> None:
        if count:
            found.append(f"{count:,} of {trouble.sessions:,} sessions ({count / n:.1%}) {text}")

    say(len(trouble.duplicates), "repeat an earlier session word for word: remove them")
    say(
        len(trouble.copied_openings),
        "open with the words that the instructions suggest: opening_words, info_frontload and "
        "what rests on first turns are not theirs",
    )
    say(len(trouble.shared_openings), "open word for word like another person")
    say(len(trouble.empty), "have no turn of a user")
    say(len(trouble.one_turn), "have a single turn of the user")
    if trouble.straight_lines:
        share = len(trouble.straight_lines) / max(1, trouble.surveys)
        found.append(
            f"{len(trouble.straight_lines):,} of {trouble.surveys:,} surveys ({share:.1%}) are "
            "straight lines: the same position in every item"
        )
    if counts["tasks"] < MIN_CLUSTERS:
        found.append(f"{counts['tasks']} tasks: under {MIN_CLUSTERS} every verdict is INCONCLUSIVE")
    if counts["ok"] < MIN_SIMULATOR_SESSIONS:
        found.append(f"{counts['ok']} conversations are few: {MIN_SIMULATOR_SESSIONS} are a start")
    if counts["batches"] < 2:
        found.append("one batch: people can't be compared with people, so no ceiling is measured")
    if unscorable:
        found.append(f"{len(unscorable)} features can't be scored: {', '.join(unscorable)}")
    return found
