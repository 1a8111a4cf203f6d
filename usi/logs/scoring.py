"""Session tables of cases -> scorecard with USI-log and its bounds.

Read this first, then `inputs.py` (files -> tables), `case_mix.py` (standardisation) and `card.py`
(the parts of the scorecard, and the real log against itself).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from usi._version import __version__
from usi.errors import NotScorable, UsageError
from usi.extraction.profile import get_feature_profile
from usi.extraction.table import SessionTable
from usi.logs.card import (
    INDEX,
    Compared,
    RealAgainstReal,
    index_of,
    log_card,
    real_against_real,
    real_card,
    scores_of,
)
from usi.logs.case_mix import BIN_COLUMNS, WEIGHT, common_columns, key, standardised
from usi.logs.clusters import chosen_cluster, clusters_worth
from usi.logs.inputs import SCOPE
from usi.logs.outcome import ruled, satisfaction, with_levels
from usi.logs.window import window_warnings
from usi.options import RobustOptions, ScoreOptions
from usi.provenance.record import sha256_bytes
from usi.provenance.signature import build, parse
from usi.reasons import (
    SAME_CASES,
    SURVEY_ELSEWHERE,
    Reason,
)
from usi.scoring.context import ScoreContext, Surveys
from usi.scoring.parts import NO_DIAGNOSIS, Diagnosis
from usi.scoring.refused import refused_part, require_one, told_refused
from usi.scoring.robust.human_card import human_card
from usi.scoring.robust.left_out import outcome_counts, session_reasons
from usi.scoring.robust.reference import Reference, chosen, reference
from usi.scoring.robust.simulator_card import Anchors, simulator_card
from usi.scoring.robust.study import study
from usi.scoring.robust.sums import to_frame
from usi.scoring.robust.survey import SurveySide
from usi.scoring.scorecard import Scorecard, SimulatorCard

NAME = "log"


def log_options(
    options: ScoreOptions, frames: Iterable[pl.DataFrame]
) -> tuple[ScoreOptions, Reason | None]:
    """Choices of the comparison: unpaired, clusters as `usi.logs.clusters` finds unless named.

    Parameters
    ----------
    options
        As given; the cluster ``"task"`` means that none was named.
    frames
        Session tables of all sides.

    Returns
    -------
    options, reason
        And what to say of the cluster, where it is not the week.

    Raises
    ------
    UsageError
        For choices that logs do not have: runs, pairs.
    """
    if options.design == "paired" or options.group is not None:
        raise UsageError("logs hold different cases: there is no paired design of them")
    if options.human_runs or options.sim_runs:
        raise UsageError("logs have no runs; --human-where and --sim-where choose cases")
    cluster, why = options.cluster, None
    if cluster == "task":
        cluster, why = chosen_cluster(list(frames))
    return replace(options, design="unpaired", cluster=cluster), why


def _checked(table: SessionTable) -> SessionTable:
    if table.profile.partition("@")[0] != NAME:
        raise UsageError(
            f"a session table of the profile {table.profile!r} can't be scored with {NAME!r}: "
            "a log is never compared with conversations"
        )
    return table


def _cases(table: SessionTable, own: RobustOptions, *, human: bool) -> SessionTable:
    """Chosen cases, each a unit of its own."""
    frame = chosen(_checked(table).frame, own, human=human)
    frame = frame.with_columns(pl.col("session_id").alias("task"))
    return replace(table, frame=with_levels(frame))


def compare(human: SessionTable, simulator: SessionTable, options: ScoreOptions) -> Compared:
    """Score one simulated log against the real one, weighted to its mix and as it is."""
    names = common_columns(human.frame, simulator.frame, BIN_COLUMNS)
    sides = [
        replace(t, frame=t.frame.with_columns(key(names).alias("bin"))) for t in (human, simulator)
    ]
    by = ruled(*sides)
    people, model = by.human.frame, by.simulator.frame
    mix = standardised(people, model, wanted=options.standardise)
    model = model.with_columns(pl.Series(WEIGHT, mix.weight))
    ref, why = _reference(people, model)
    plan = replace(options, strata=options.strata or "bin")
    plain = study(ref, model, plan)
    result = study(ref, model, plan, weight=WEIGHT) if mix.columns else plain
    return Compared(result, plain, mix, by.rule, why)


def _reference(people: pl.DataFrame, model: pl.DataFrame) -> tuple[Reference, Reason | None]:
    specs = get_feature_profile(NAME).specs
    rated = satisfaction(people, model)
    if isinstance(rated, Reason):
        return reference(people, specs, by_means=True), rated
    return reference(people, (*specs, rated), by_means=True), None


@dataclass(frozen=True, kw_only=True)
class LogStudies:
    """Every simulated log compared with the real one; sums and card are made from it.

    Attributes
    ----------
    human, people
        The real log, and its chosen cases.
    cases, compared
        Label -> chosen cases of the simulated log, and its comparison; labels are sorted.
    options
        All choices, as `log_options` gives them.
    refused
        Label -> why a simulated log could not be scored.
    cluster_note
        What to say of the cluster, where it was chosen and is not the week.
    """

    human: SessionTable
    people: SessionTable
    cases: Mapping[str, SessionTable]
    compared: Mapping[str, Compared]
    options: ScoreOptions
    refused: Mapping[str, Reason] = field(default_factory=dict)
    cluster_note: Reason | None = None

    def sums(self) -> pl.DataFrame:
        """Sums by cluster of every comparison; no text of a case but the cluster's name."""
        parts = []
        for label, compared in self.compared.items():
            parts.append(to_frame(compared.result.human, name="human", simulator=label))
            parts.append(to_frame(compared.result.simulator, name="simulated", simulator=label))
        return pl.concat(parts, how="diagonal_relaxed")

    def card(
        self, context: ScoreContext, diagnoses: Mapping[str, Diagnosis] | None = None
    ) -> Scorecard:
        """The scorecard: simulators by falling USI-log, those without one last, ties by name."""
        people, options = self.people, self.options
        specs = get_feature_profile(NAME).specs
        bins = key(common_columns(people.frame, people.frame, BIN_COLUMNS)).alias("bin")
        framed = replace(people, frame=people.frame.with_columns(bins))
        ref = reference(ruled(framed, framed).human.frame, specs, by_means=True)
        real = real_against_real(ref, replace(options, strata=options.strata or "bin"))
        cards = [
            _card(
                label,
                self.cases[label],
                compared,
                real,
                self.human,
                options,
                context,
                (diagnoses or {}).get(label, NO_DIAGNOSIS),
            )
            for label, compared in self.compared.items()
        ]
        cards.sort(key=lambda c: (-(c.index.value if c.index.value is not None else -1.0), c.name))
        first = next(iter(self.compared.values())).result
        dropped = session_reasons(people.frame, first.design) + outcome_counts(
            first.success, human=True
        )
        row = human_card(ref, context, None, Counter(dropped))
        frames = {label: cases.frame for label, cases in self.cases.items()}
        warnings = (
            *context.warnings,
            *told_refused(self.refused),
            *((self.cluster_note,) if self.cluster_note else ()),
            *_shared(people.frame, frames),
            *window_warnings(people.frame, frames),
        )
        return Scorecard(
            usi_version=__version__,
            profile=get_feature_profile(NAME).tag,
            signature=_common(cards),
            synthetic=context.synthetic,
            difficulty="+".join(sorted({c.difficulty or "none" for c in cards})),
            settings=_settings(options, self.human),
            human=real_card(
                row,
                real,
                int(people.frame["events"].sum()),
                len(first.human.units),
                clusters_worth(people.frame, options.cluster),
            ),
            simulators=tuple(cards),
            refused=refused_part(self.refused),
            inputs=context.inputs,
            warnings=warnings,
            tasks_sha256=context.tasks_sha256,
        )


def study_tables(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> LogStudies:
    """Compare every simulated log with the real one; parameters as for every profile.

    Raises
    ------
    NotScorable
        Where a side has no case.
    UsageError
        For a table of another profile, no simulator, or options that logs do not have.
    """
    if not simulators:
        raise UsageError("there is no simulator to score")
    options, why = log_options(options, [human.frame, *(t.frame for t in simulators.values())])
    people = _cases(human, options, human=True)
    cases: dict[str, SessionTable] = {}
    compared: dict[str, Compared] = {}
    refused: dict[str, Reason] = {}
    for label, table in sorted(simulators.items()):
        cases[label] = _cases(table, options, human=False)
        try:
            compared[label] = compare(people, cases[label], options)
        except NotScorable as error:
            refused[label] = error.reason
            del cases[label]
    require_one(compared, refused)
    return LogStudies(
        human=human,
        people=people,
        cases=cases,
        compared=compared,
        options=options,
        refused=refused,
        cluster_note=why,
    )


def _shared(human: pl.DataFrame, simulators: Mapping[str, pl.DataFrame]) -> list[Reason]:
    """Which simulated logs hold many case ids of the real one."""
    ours = set(human["session_id"])
    found = []
    for label, frame in simulators.items():
        both = len(ours & set(frame["session_id"]))
        if 2 * both > frame.height:
            found.append(SAME_CASES(simulator=label, both=both, cases=frame.height))
    return found


def _card(
    label: str,
    cases: SessionTable,
    compared: Compared,
    real: RealAgainstReal,
    human: SessionTable,
    options: ScoreOptions,
    context: ScoreContext,
    diagnosis: Diagnosis,
) -> SimulatorCard:
    signature = _signature(compared, human, options, context)
    plain = simulator_card(
        label,
        compared.result,
        cases.frame,
        survey=SurveySide(compared.satisfaction or SURVEY_ELSEWHERE()),
        anchors=Anchors({}, {}),
        options=replace(options, strata=options.strata or "bin"),
        pool=None,
        context=context,
        signature=signature,
        diagnosis=Diagnosis(distances=diagnosis.distances),
    )
    return log_card(plain, compared, real, signature, diagnosis, options.cluster)


def _signature(
    compared: Compared,
    human: SessionTable,
    options: ScoreOptions,
    context: ScoreContext,
) -> str:
    result = compared.result
    names = sorted(name for part in result.selections.values() for name in part.scored)
    parts = list(scores_of(result)) if index_of(compared).ok else []
    chosen_cases = [*(f"h{c}" for c in options.human_where), *(f"s{c}" for c in options.sim_where)]
    mix = "+".join(compared.mix.columns) or "none"
    fields = {
        "profile": get_feature_profile(NAME).tag,
        "corpus": f"{context.corpus_name}@{context.corpus_digest[:4] or 'none'}",
        "design": "unpaired",
        "cluster": options.cluster,
        "terms": len(parts) or None,
        "components": "+".join(parts) or None,
        "sessions": result.frame.height,
        "subset": ",".join(chosen_cases) or None,
        "features": f"{len(names)}@{sha256_bytes(','.join(names).encode())[:4]}",
        "bins": result.bins.source.replace(":", "@") if "outcome" in result.terms else "none",
        "boot": f"{options.replicates}-{options.cluster}",
        "c2st": None if options.c2st == "off" else options.c2st,
        "seed": options.seed,
        "logs": f"{human.settings}|mix:{mix}|sla:{compared.rule}".strip("|"),
        "v": __version__,
    }
    return str(build(INDEX, fields))


def _common(cards: list[SimulatorCard]) -> str:
    each = [parse(card.signature).fields for card in cards]
    names = dict.fromkeys(name for fields in each for name in fields)
    return str(build(INDEX, {n: " / ".join(sorted({f[n] for f in each if n in f})) for n in names}))


def _settings(options: ScoreOptions, human: SessionTable) -> dict[str, str]:
    return {
        "scope": SCOPE,
        "design": "unpaired",
        "cluster": options.cluster,
        "standardise": "yes" if options.standardise else "no",
        "replicates": str(options.replicates),
        "c2st": options.c2st,
        "seed": str(options.seed),
        "human_source": "human",
        "log": human.settings,
    }
