"""What means can't see of a simulator: two-sample tests, tracking, copies, spread, gaming.

Nothing here changes a component. The gate reads the two-sample test, task and content tracking,
turn adjacency, copies and the signs of gaming as further keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from usi.diagnose.copies import Copies, copies_of_people, run_copies, self_copies
from usi.diagnose.distances import (
    SPREAD_BAND,
    correlation_difference,
    feature_distances,
    spread_index,
)
from usi.diagnose.gaming import RateCounts, detect, suspected
from usi.diagnose.sample import Sample
from usi.diagnose.session_tracking import INPUTS, People, track_sessions, unit_labels
from usi.diagnose.telltales import telltales
from usi.diagnose.two_sample import Classifier, Mode, two_sample_test
from usi.estimate import Estimate
from usi.extraction.content import SAID, Names
from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import DIMENSIONS, FeatureSpec
from usi.extraction.table import derive
from usi.reasons import (
    AUC_BELOW_CHANCE,
    COLLAPSED,
    GAMING_SUSPECTED,
    SPREAD,
    Reason,
)
from usi.scoring.columns import CONTENT
from usi.scoring.parts import Diagnosis, Studies
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.profile import RobustStudies
from usi.scoring.robust.reference import scorable_rows
from usi.scoring.robust.wording import Wording
from usi.scoring.scorecard import CopyShare, Telltale, TwoSample

GAMING_RATES: dict[str, tuple[tuple[str, ...], str | None, str | None]] = {
    "politeness": (("politeness",), "helped_politeness", "helped_turns"),
    "frustration": (("frustration",), "failed_frustration", "failed_turns"),
}
"""Rate -> columns of its hits, of its hits in its context, of turns in that context: courtesy
after the agent helped, frustration (feeling, blame or pushback) after the agent failed."""

CLASSIFIERS: tuple[Classifier, ...] = ("logistic", "trees")

COPIED_BELOW = 0.40
"""AUC below which the sides come in pairs: a sign of copies."""

SEEN_ABOVE = 0.7
"""AUC above which a classifier tells the sides apart beyond doubt."""


def scored_sessions(frame: pl.DataFrame) -> pl.DataFrame:
    """Sessions that the score counts, in an order that does not depend on that of the file."""
    return scorable_rows(frame)


def _compared(
    design: str, human: pl.DataFrame, simulated: pl.DataFrame, column: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Sessions of tasks (or groups) on both sides, where the design is paired."""
    label = pl.col(column).cast(pl.String)
    labels = [set(f.select(label)[column].drop_nulls()) for f in (human, simulated)]
    both = pl.Series(sorted(labels[0] & labels[1]), dtype=pl.String)
    if design == "unpaired" or not len(both):
        return human, simulated
    own = label.is_in(both.implode())
    return human.filter(own), simulated.filter(own)


def _clusters(frame: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.str_]]:
    return frame.select(pl.coalesce("task", "session_id")).to_series().to_numpy().astype(np.str_)


def sample_of(frame: pl.DataFrame, specs: tuple[FeatureSpec, ...]) -> Sample:
    """The feature matrix of a session table; undefined values are NaN."""
    values = derive(frame, specs, without_denominator=None)
    keys = frame.select(
        pl.concat_str(
            pl.col("run").fill_null(""),
            pl.col("batch").cast(pl.String).fill_null(""),
            pl.col("session_id"),
            separator="|",
        )
    ).to_series()
    if keys.n_unique() < len(keys):
        # Two sessions may share run, batch and id (a corpus without ids); their content breaks
        # the tie, so that the order of the file still decides nothing.
        content = values.select(
            pl.concat_str(pl.all().cast(pl.String).fill_null("-"), separator="|")
        )
        keys = keys + "|" + content.to_series()
        if CONTENT in frame.columns:
            keys = keys + "|" + frame[CONTENT].fill_null("")
    return Sample(
        values.cast(pl.Float64).fill_null(float("nan")).to_numpy(),
        _clusters(frame),
        keys.to_numpy().astype(np.str_),
        tuple(spec.name for spec in specs),
    )


def compared_specs(profile: str, design: str | None) -> tuple[FeatureSpec, ...]:
    """Features that a classifier may look at: those in the index, without what follows the task
    where the tasks differ."""
    return tuple(
        spec
        for spec in get_feature_profile(profile).specs
        if spec.scored
        and not spec.harness
        and spec.dimension in DIMENSIONS
        and (design != "unpaired" or spec.scope == "any")
    )


def tested_specs(profile: str, design: str | None) -> tuple[FeatureSpec, ...]:
    """Features of the two-sample test: those of `compared_specs`, and style."""
    style = [
        s for s in get_feature_profile(profile).specs if s.dimension == "style" and not s.harness
    ]
    return (*compared_specs(profile, design), *style)


def _column(frame: pl.DataFrame, names: tuple[str, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
    total = frame.select(pl.sum_horizontal(names)).to_series()
    return total.fill_null(0).cast(pl.Float64).to_numpy()


def rate_counts(frame: pl.DataFrame, rate: str) -> RateCounts | None:
    """Counts of one of `GAMING_RATES`; ``None`` where the table has no such column."""
    hits, context_hits, context_turns = GAMING_RATES[rate]
    if not set(hits) <= set(frame.columns):
        return None
    context = [name for name in (context_hits, context_turns) if name and name in frame.columns]
    inside = [_column(frame, (name,)) for name in context] if len(context) == 2 else [None, None]
    return RateCounts(
        _column(frame, hits), _column(frame, ("user_turns",)), _clusters(frame), *inside
    )


def _gaming(human: pl.DataFrame, simulated: pl.DataFrame, seed: int) -> tuple[dict[str, Any], bool]:
    found: dict[str, Any] = {}
    suspicious = False
    for rate in GAMING_RATES:
        people, candidate = rate_counts(human, rate), rate_counts(simulated, rate)
        if people is None or candidate is None:
            continue
        signs = detect(people, candidate, seed=seed)
        suspicious = suspicious or suspected(signs)
        found |= {f"{rate}: {name.replace('_', ' ')}": value for name, value in signs.items()}
    return found, suspicious


def is_collapsed(spread: Estimate, tests: tuple[TwoSample, ...]) -> bool:
    """Whether a simulator stands for one average person: little spread, and boosted trees see it.

    Spread index below 0.7 and a lower bound of the trees' AUC above 0.7 (both judgements). Its
    means, and so its Dice scores, may agree perfectly.
    """
    seen = any(
        test.classifier == "trees" and test.auc.low is not None and test.auc.low > SEEN_ABOVE
        for test in tests
    )
    return seen and spread.value is not None and spread.value < SPREAD_BAND[0]


def _warnings(
    spread: Estimate, tests: tuple[TwoSample, ...], *, collapsed: bool, gaming: bool
) -> tuple[Reason, ...]:
    found = []
    known = [test.auc.value for test in tests if test.auc.value is not None]
    if known and min(known) < COPIED_BELOW:
        found.append(AUC_BELOW_CHANCE(auc=min(known)))
    if collapsed:
        found.append(COLLAPSED(spread=spread.value))
    elif spread.value is not None and not (SPREAD_BAND[0] <= spread.value <= SPREAD_BAND[1]):
        found.append(SPREAD(spread=spread.value, least=SPREAD_BAND[0], most=SPREAD_BAND[1]))
    if gaming:
        found.append(GAMING_SUSPECTED())
    return tuple(found)


@dataclass
class Learned:
    """What is learned on people, once for every set of tasks that simulators have in common."""

    kept: dict[tuple[bool, str, tuple[str, ...]], People] = field(default_factory=dict)

    def of(
        self, frame: pl.DataFrame, specs: tuple[FeatureSpec, ...], column: str, paired: bool
    ) -> People:
        """The models of these sessions of people."""
        key = (paired, column, tuple(sorted(set(unit_labels(frame, column)))))
        if key not in self.kept:
            self.kept[key] = People.of(frame, specs, column=column, paired=paired)
        return self.kept[key]


def diagnose(
    human: pl.DataFrame,
    simulated: pl.DataFrame,
    *,
    profile: str,
    design: str,
    mode: Mode | Literal["off"] = "fast",
    seed: int = 7,
    column: str = "task",
    vocabulary: Names | None = None,
    learned: Learned | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Look at one simulator beyond its means; components and index do not depend on it.

    Parameters
    ----------
    human, simulated
        Sessions that were scored (`scored_sessions`).
    profile
        Feature set of both tables.
    design
        ``"paired"`` or ``"unpaired"``.
    mode
        ``"fast"``: p-values from a closed form; ``"full"``: 200 permutations of each classifier
        (a minute each); ``"off"``: no classifier.
    seed
        Of every draw.
    column
        What a paired design pairs on.
    vocabulary
        Words behind the hashed words of both sides; no tell-tale words without.
    learned
        Keeps what is learned on people from one simulator to the next.
    progress
        Called with (done, total) permutations of each full test.
    """
    human, simulated = _compared(design, human, simulated, column)
    specs = tuple(spec for spec in get_feature_profile(profile).specs if not spec.harness)
    every = [sample_of(frame, specs) for frame in (human, simulated)]
    distances = {
        name: feature_distances(every[0].values[:, at], every[1].values[:, at])
        for at, name in enumerate(every[0].names)
    }
    compared = compared_specs(profile, design)
    names = tuple(spec.name for spec in compared)
    people, candidate = (part.columns(names) for part in every)
    tested = tuple(spec.name for spec in tested_specs(profile, design))
    sides = [part.columns(tested) for part in every]
    wording: dict[str, Any] = {}
    if SAID in human.columns:
        paired = design == "paired"
        models = (learned or Learned()).of(human, specs, column, paired)
        found = track_sessions(models, simulated, specs, column=column, paired=paired, seed=seed)
        sides = [
            part.beside(own, INPUTS)
            for part, own in zip(sides, (found.people, found.simulator), strict=True)
        ]
        wording = {
            "task_tracking": found.task,
            "content_tracking": found.content,
            "turn_adjacency": found.adjacency,
            **_words(models.words, found.words, vocabulary or Names()),
        }
    tests = (
        ()
        if mode == "off"
        else tuple(
            two_sample_test(*sides, classifier=kind, mode=mode, seed=seed, progress=progress)
            for kind in CLASSIFIERS
        )
    )
    spread = spread_index({name: distances[name] for name in names})
    gaming, suspicious = _gaming(human, simulated, seed)
    # Other people on other tasks fall out of the band, too: no suspicion there.
    suspected_here = suspicious and design != "unpaired"
    collapsed = is_collapsed(spread, tests)
    return Diagnosis(
        two_sample=tests,
        **wording,
        spread_index=spread,
        correlation_difference=correlation_difference(people, candidate),
        gaming=gaming,
        gaming_suspected=suspected_here,
        collapsed=collapsed,
        distances={name: own.as_dict() for name, own in distances.items()},
        warnings=_warnings(spread, tests, collapsed=collapsed, gaming=suspected_here),
    )


def _words(human: Wording | None, simulated: Wording | None, names: Names) -> dict[str, Any]:
    """Copies and tell-tale words, where both sides have kept their words."""
    if human is None or simulated is None:
        return {}
    said, unsaid = telltales(human, simulated, names)
    return {
        "copies": _share(copies_of_people(human, simulated)),
        "self_copies": _share(self_copies(human, simulated)),
        "run_copies": _share(run_copies(human, simulated)),
        "telltales": tuple(Telltale(**asdict(term)) for term in said),
        "unsaid": tuple(Telltale(**asdict(term)) for term in unsaid),
    }


def _share(found: Copies) -> CopyShare:
    return CopyShare(
        share=tidy(found.share),
        people=tidy(found.people),
        low=tidy(found.low),
        copies=len(found.found),
        sessions=found.sessions,
        alarm=found.alarm,
    )


def diagnose_studies(
    studies: Studies, *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Diagnosis]:
    """Diagnosis of every simulator of the profile ``robust``, by label.

    Other profiles, and references that are aggregates, have no sessions to look at.
    """
    if not isinstance(studies, RobustStudies) or studies.reference.aggregated:
        return {}
    learned = Learned()
    return {
        label: diagnose(
            studies.reference.frame,
            result.frame,
            profile=studies.human.profile,
            design="paired" if result.design.paired else "unpaired",
            mode=studies.options.c2st,
            seed=studies.options.seed,
            column=result.design.unit if result.design.paired else "task",
            vocabulary=Names.joined([studies.human.names, studies.names[label]]),
            learned=learned,
            progress=progress,
        )
        for label, result in studies.results.items()
    }
