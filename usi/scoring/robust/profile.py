"""The profile `robust`: session tables -> scorecard with USI-R, bounds, and what limits them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from usi._version import __version__
from usi.errors import NotScorable, UsageError
from usi.estimate import Estimate, not_assessed
from usi.extraction.content import Names
from usi.extraction.language_packs import languages_in
from usi.extraction.profile import get_feature_profile
from usi.extraction.table import SessionTable
from usi.options import RobustOptions, ScoreOptions
from usi.provenance.record import sha256_bytes
from usi.provenance.signature import build, parse
from usi.reasons import (
    AGGREGATE,
    NO_AGENT_MESSAGES,
    REFERENCE_AGGREGATED,
    Reason,
)
from usi.scoring.context import ScoreContext, Surveys
from usi.scoring.parts import NO_DIAGNOSIS, NO_FACTS, Diagnosis
from usi.scoring.refused import refused_part, require_one, told_refused
from usi.scoring.robust.aggregated import AggregateTable, undiagnosed
from usi.scoring.robust.batches import Context, versus_humans
from usi.scoring.robust.difficulty import Pool
from usi.scoring.robust.floors import (
    CONSTANT,
    ECHO,
    FLOOR_REPLICATES,
    OTHER_DOMAIN,
    anchor,
    constant_frame,
    other_domain,
)
from usi.scoring.robust.human_card import human_card
from usi.scoring.robust.left_out import (
    language_counts,
    outcome_counts,
    repair_counts,
    session_reasons,
    silent_counts,
    stamp_counts,
)
from usi.scoring.robust.reference import Reference, chosen, reference
from usi.scoring.robust.simulator_card import Anchors, simulator_card
from usi.scoring.robust.study import Study, study
from usi.scoring.robust.sums import to_frame
from usi.scoring.robust.survey import SurveySide, survey_frame, survey_side
from usi.scoring.scorecard import Scorecard, SimulatorCard

NAME = "robust"
INDEX = "USI-R"


def pool_of(difficulty: str) -> Pool | None:
    """Difficulty pool by option: ``frozen``, a file, or ``none`` (no pool).

    Raises
    ------
    UsageError
        For ``self``: the outcomes being scored can't make their own bins.
    """
    from usi.scoring.published.calibration import frozen, read_difficulty

    if difficulty == "none":
        return None
    if difficulty == "self":
        raise UsageError(
            "--difficulty self bins on the outcomes that are being scored (regression to the "
            "mean); the profile robust takes frozen, none or a file of other simulators' outcomes"
        )
    found = frozen() if difficulty == "frozen" else read_difficulty(difficulty)
    return Pool(found.name, found.rates)


def _checked(table: SessionTable) -> pl.DataFrame:
    if table.profile.partition("@")[0] != NAME:
        raise UsageError(
            f"a session table of the profile {table.profile!r} can't be scored with {NAME!r}: "
            f"make it again with: usi features FILES --profile {NAME}"
        )
    return table.frame


def _people(
    human: pl.DataFrame, own: RobustOptions, frozen: Sequence[str] | None
) -> tuple[pl.DataFrame, Reference]:
    """Human sessions that are compared; the whole corpus decides which features are scored."""
    specs = get_feature_profile(NAME).specs
    people = chosen(human, own, human=True)
    if people.height == human.height:
        return people, reference(people, specs, frozen=frozen)
    return people, reference(people, specs, like=reference(human, specs, frozen=frozen))


@dataclass(frozen=True, kw_only=True)
class RobustStudies:
    """Every simulator compared with the people; what sums, diagnosis and card are made from.

    Attributes
    ----------
    human
        Session table of the people, for its lexicon and (an aggregate) what it left out.
    people
        Human sessions that were chosen, also those that do not count.
    reference
        The human side of all comparisons.
    frames, results
        Label -> chosen sessions of the simulator, and its study; labels are sorted.
    surveys
        Label -> which answers are compared.
    names
        Label -> words behind the simulator's hashed words.
    options, pool
        All choices, and the difficulty of tasks.
    refused
        Label -> why a simulator could not be scored.
    """

    human: SessionTable
    people: pl.DataFrame
    reference: Reference
    frames: Mapping[str, pl.DataFrame]
    results: Mapping[str, Study]
    surveys: Mapping[str, SurveySide]
    names: Mapping[str, Names]
    options: ScoreOptions
    pool: Pool | None
    refused: Mapping[str, Reason] = field(default_factory=dict)

    def sums(self) -> pl.DataFrame:
        """Per-task sums of every comparison: what compare, rank and the regression gate read.

        Returns
        -------
        pl.DataFrame
            Rows of `usi.scoring.robust.sums.to_frame` for both sides of every simulator, and rows
            of side ``survey`` with the joint answers. No text of a session stands in it.
        """
        parts: list[pl.DataFrame] = []
        for label, result in self.results.items():
            parts.append(to_frame(result.human, name="human", simulator=label))
            parts.append(to_frame(result.simulator, name="simulated", simulator=label))
            answers = survey_frame(self.surveys[label], result, label)
            if answers is not None:
                parts.append(answers)
        return pl.concat(parts, how="diagonal_relaxed")

    def card(
        self, context: ScoreContext, diagnoses: Mapping[str, Diagnosis] | None = None
    ) -> Scorecard:
        """The scorecard: simulators by falling USI-R, those without one last, ties by name."""
        ref, options = self.reference, self.options
        if ref.aggregated:
            diagnoses = dict.fromkeys(self.results, undiagnosed(ref.specs))
        anchors = _anchors(ref, options, context)
        cards = [
            self._simulator(label, anchors, context, (diagnoses or {}).get(label, NO_DIAGNOSIS))
            for label in self.results
        ]
        cards.sort(key=lambda c: (-(c.index.value if c.index.value is not None else -1.0), c.name))
        first = next(iter(self.results.values()))
        dropped = (
            session_reasons(self.people, replace(first.design, paired=False))
            + repair_counts(self.people)
            + stamp_counts(self.people)
            + silent_counts(self.people)
            + language_counts(self.people)
            + outcome_counts(first.success, human=True)
            + Counter(self.human.left_out if isinstance(self.human, AggregateTable) else {})
        )
        warnings = [
            *context.warnings,
            *told_refused(self.refused),
            *([REFERENCE_AGGREGATED()] if ref.aggregated else []),
        ]
        return Scorecard(
            usi_version=__version__,
            profile=get_feature_profile(NAME).tag,
            signature=_common_signature(cards),
            synthetic=context.synthetic,
            difficulty="+".join(sorted({c.difficulty or "none" for c in cards})),
            settings=_settings(options, context, aggregated=ref.aggregated),
            human=human_card(ref, context, _among(ref, options, self.pool), dropped),
            simulators=tuple(cards),
            refused=refused_part(self.refused),
            inputs=context.inputs,
            warnings=tuple(warnings),
            tasks_sha256=context.tasks_sha256,
        )

    def _simulator(
        self, label: str, anchors: Anchors, context: ScoreContext, diagnosis: Diagnosis
    ) -> SimulatorCard:
        result, survey = self.results[label], self.surveys[label]
        return simulator_card(
            label,
            result,
            self.frames[label],
            survey=survey,
            anchors=anchors,
            options=self.options,
            pool=self.pool,
            context=context,
            diagnosis=diagnosis,
            signature=_signature(
                result,
                survey.design if survey.pairs else None,
                self.human.lexicon,
                self.options,
                context,
                context.facts.get(label, NO_FACTS).mark,
            ),
        )


def study_tables(
    human: SessionTable,
    simulators: Mapping[str, SessionTable],
    *,
    surveys: Surveys | None,
    options: ScoreOptions,
) -> RobustStudies:
    """Compare every simulator with the reference; parameters as for every profile.

    Raises
    ------
    NotScorable
        Where no simulator can be scored: a side has no session that counts, or a paired design
        covers less than 95 % of the reference's tasks (the message names the ways out). One of
        several is refused alone.
    UsageError
        For a table of another profile, no simulator, or options that do not fit the data.
    """
    if not simulators:
        raise UsageError("there is no simulator to score")
    pool = None if options.strata else pool_of(options.difficulty)
    if isinstance(human, AggregateTable):
        people, ref = human.frame, human.people(options)
    else:
        people, ref = _people(_checked(human), options, human.scorable)
    frames: dict[str, pl.DataFrame] = {}
    results: dict[str, Study] = {}
    refused: dict[str, Reason] = {}
    for label, table in sorted(simulators.items()):
        frames[label] = chosen(_checked(table), options, human=False)
        try:
            results[label] = study(ref, frames[label], options, pool=pool)
        except NotScorable as error:
            refused[label] = error.reason
    require_one(results, refused)
    return RobustStudies(
        human=human,
        people=people,
        reference=ref,
        frames=frames,
        results=results,
        surveys={label: survey_side(r, label, surveys, options) for label, r in results.items()},
        names={label: table.names for label, table in simulators.items()},
        options=options,
        pool=pool,
        refused=refused,
    )


def _anchors(ref: Reference, own: RobustOptions, context: ScoreContext) -> Anchors:
    people = ref.frame.select("session_id", run=pl.col("batch").cast(pl.String))

    def studies() -> Iterator[tuple[str, Study | None]]:
        yield CONSTANT, anchor(ref, constant_frame(ref.frame, NAME), own)
        for name, table in context.anchors.items():
            same = table.frame.join(people, on=people.columns, how="semi", nulls_equal=True)
            yield name, anchor(ref, same, own)

    others: dict[str, Estimate] = {OTHER_DOMAIN: other_domain(ref, own)}
    if ECHO not in context.anchors:
        others[ECHO] = not_assessed(AGGREGATE if ref.aggregated else NO_AGENT_MESSAGES)
    found = Anchors.of(studies(), others)
    # The best of all floors is not known where one of them can't be made.
    return replace(found, scores={}) if ref.aggregated else found


def _among(ref: Reference, own: RobustOptions, pool: Pool | None) -> Context | None:
    """One human batch against another over all tasks, whatever simulators are scored."""
    if ref.aggregated:
        return None
    batches = pl.col("batch").cast(pl.String)
    people = replace(own, replicates=FLOOR_REPLICATES, design="auto", tasks="common")
    result = study(ref, ref.frame.with_columns(run=batches), people, pool=pool)
    return versus_humans(result, bounds=False) if result.design.paired else None


def _settings(options: ScoreOptions, context: ScoreContext, *, aggregated: bool) -> dict[str, str]:
    found = {
        "run_ids": options.run_ids,
        "human_source": context.source,
        "design": options.design,
        "tasks": options.tasks,
        "cluster": options.cluster,
        "replicates": str(options.replicates),
        "c2st": options.c2st,
        "seed": str(options.seed),
    }
    if context.surveys is not None:
        found["surveys"] = context.surveys
    if aggregated:
        found["reference"] = "aggregate"
    return found


def _signature(
    result: Study,
    survey: str | None,
    lexicon: str,
    options: ScoreOptions,
    context: ScoreContext,
    mark: str | None,
) -> str:
    source = result.bins.source if "outcome" in result.terms else "none"
    subset = [
        f"{side}{'+'.join(labels)}"
        for side, labels in (
            ("h", (*options.human_runs, *options.human_where)),
            ("s", (*options.sim_runs, *options.sim_where)),
        )
        if labels
    ]
    if options.tasks == "common" and result.design.human_only:
        subset.append("common")
    fields = {
        "profile": get_feature_profile(NAME).tag,
        "corpus": f"{context.corpus_name}@{context.corpus_digest[:4] or 'none'}",
        "source": context.source,
        "design": "paired" if result.design.paired else "unpaired",
        "cluster": f"{options.cluster}@{options.group}" if options.group else options.cluster,
        "batches": len(result.human.splits),
        "runs": len(result.simulator.splits),
        "tasks": len(result.simulator.units),
        "subset": ",".join(subset) or None,
        "ids": None if options.run_ids == "auto" else options.run_ids,
        "features": _scored_set(result),
        "lex": lexicon,
        "lang": _languages(result),
        "bins": source.removeprefix("pool:").replace(":", "@"),
        "reward": None if result.success.threshold is None else f"{result.success.threshold:g}",
        "survey": survey,
        "boot": f"{options.replicates}-{options.cluster}",
        "c2st": None if options.c2st == "off" else options.c2st,
        "seed": options.seed,
        "sim": mark,
        "v": __version__,
    }
    return str(build(INDEX, fields))


def _languages(result: Study) -> str | None:
    """Languages other than English on each side; ``None`` where there are none."""
    sides = (("h", result.reference.frame), ("s", result.frame))
    found = [f"{side}{'+'.join(own)}" for side, f in sides if (own := languages_in(f))]
    return ",".join(found) or None


def _scored_set(result: Study) -> str:
    """How many features are scored, and the first digits of the hash of their names."""
    names = sorted(name for own in result.selections.values() for name in own.scored)
    frozen = "+frozen" if result.reference.frozen else ""
    return f"{len(names)}@{sha256_bytes(','.join(names).encode())[:4]}{frozen}"


def _common_signature(cards: Sequence[SimulatorCard]) -> str:
    """One signature for the card: a field that differs between simulators lists its values."""
    each = [parse(card.signature).fields for card in cards]
    names = dict.fromkeys(name for fields in each for name in fields)
    return str(build(INDEX, {n: "+".join(sorted({f[n] for f in each if n in f})) for n in names}))
