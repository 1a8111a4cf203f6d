"""Parts of a scorecard that logs have differently: index, satisfaction, warnings, the real row.

The real log against itself: by random halves, and by what one wants to generalise over.

Random halves are optimistic: they share weeks, teams and sites. A site against the other sites,
or a month against the other months, is what another real desk would score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed
from usi.logs.case_mix import Mix
from usi.logs.clusters import clusters_worth
from usi.logs.features import TITLES
from usi.logs.inputs import TIER_LIMIT
from usi.logs.outcome import CSAT, label_counts, label_variation
from usi.logs.periods import halves_in_time
from usi.options import RobustOptions
from usi.reasons import (
    CASE_MIX,
    CASE_MIX_COVERED,
    CASE_MIX_UNKNOWN,
    CASE_NOT_ENDED,
    DIFFICULTY_ELSEWHERE,
    FEW_CLUSTERS_WORTH,
    FEW_COMPONENTS,
    FEW_RATED,
    FEW_SIMULATED_CASES,
    NO_OUTCOME,
    NO_RATED_OUTCOME,
    NOTHING_TO_COMPARE,
    OTHER_COMPONENTS,
    OUTCOME_RULE,
    REAL_AGAINST_REAL,
    REAL_FEW_ENDS,
    REAL_FEW_FEATURES,
    REAL_NO_SATISFACTION,
    SCOPE,
    SCRIPT,
    TASK_MIX,
    UNPAIRED_LOG,
    Reason,
)
from usi.scoring.parts import Diagnosis
from usi.scoring.robust.bounds import Score, lower_upper, maybe, mean_score, score_terms, tidy
from usi.scoring.robust.floors import FLOOR_REPLICATES
from usi.scoring.robust.reference import Reference
from usi.scoring.robust.study import Study, study
from usi.scoring.robust.subgroups import part_of
from usi.scoring.robust.terms import PARTS, ROOT, Terms, distance
from usi.scoring.robust.thresholds import MIN_CLUSTERS, MIN_SIMULATOR_SESSIONS
from usi.scoring.scorecard import (
    COMPONENTS,
    Component,
    HumanCard,
    Index,
    LeftOut,
    SimulatorCard,
)

HALVES = "random halves"
PERIODS = "period"
"""The earlier half of the cases against the later one, and the other way round."""
UNITS = ("month", "site", "team")
DRAWS = 5
MOST_VALUES = 8
"""Values of a unit that are compared with the rest, the largest."""
LARGE_SHARE = 0.02
"""Share of the cases that a value needs."""


@dataclass(frozen=True)
class RealAgainstReal:
    """Scores of the real log against itself.

    Attributes
    ----------
    parts
        Kind of split -> component -> scores, one a split.
    """

    parts: Mapping[str, Mapping[str, tuple[float, ...]]]

    def estimate(self, kind: str, component: str) -> Estimate | None:
        """Mean over splits, lowest and highest as bounds."""
        values = self.parts.get(kind, {}).get(component)
        if not values:
            return None
        return Estimate(
            value=tidy(float(np.mean(values))),
            low=tidy(min(values)),
            high=tidy(max(values)),
            n=len(values),
        )

    def told(self, titles: Mapping[str, str]) -> list[Reason]:
        """One reason a kind of split."""
        found = []
        for kind, own in self.parts.items():
            shown = []
            for name, values in own.items():
                mean = f"{titles.get(name, name)} {np.mean(values):.1f}"
                shown.append(mean + (f" ({min(values):.1f} to {max(values):.1f})"))
            count = max((len(values) for values in own.values()), default=0)
            how = f"{count} draws" if kind == HALVES else f"{count} values, each against the rest"
            if kind == PERIODS:
                how = "the earlier half against the later"
            if shown:
                found.append(REAL_AGAINST_REAL(kind=kind, how=how, scores=", ".join(shown)))
        return found


def real_against_real(ref: Reference, own: RobustOptions) -> RealAgainstReal:
    """Compare the real log with itself in every way that it allows."""
    quick = replace(own, replicates=FLOOR_REPLICATES, by=())
    n = ref.frame.height
    masks: dict[str, list[NDArray[np.bool_]]] = {HALVES: []}
    if n >= 2 * MIN_SIMULATOR_SESSIONS:
        for draw in range(DRAWS):
            order = np.random.default_rng([own.seed, 0x4A1F, draw]).permutation(n)
            mask = np.zeros(n, dtype=bool)
            mask[order[: n // 2]] = True
            masks[HALVES].append(mask)
    for unit in dict.fromkeys((*UNITS, own.cluster)):
        if unit not in ref.frame.columns or unit in ("week", "task", "session_id"):
            continue
        column = ref.frame[unit].cast(pl.String)
        masks[unit] = [(column == v).fill_null(False).to_numpy() for v in _large(column)]
    if n >= 2 * MIN_SIMULATOR_SESSIONS:
        masks[PERIODS] = [halves_in_time(ref.frame), ~halves_in_time(ref.frame)]
    parts = {kind: _scores(ref, quick, splits) for kind, splits in masks.items()}
    return RealAgainstReal({kind: found for kind, found in parts.items() if found})


def _large(column: pl.Series) -> list[str]:
    counts = column.drop_nulls().value_counts().rows()
    least = max(MIN_SIMULATOR_SESSIONS, LARGE_SHARE * len(column))
    large = sorted(
        ((n, v) for v, n in counts if n >= least and len(column) - n >= least),
        key=lambda pair: (-pair[0], pair[1]),
    )
    chosen = [value for _, value in large[:MOST_VALUES]]
    return chosen if len(chosen) > 1 else []


def _scores(
    ref: Reference, own: RobustOptions, masks: list[NDArray[np.bool_]]
) -> dict[str, tuple[float, ...]]:
    found: dict[str, list[float]] = {}
    for mask in masks:
        try:
            result = study(part_of(ref, ~mask), ref.frame.filter(pl.Series(mask)), own)
        except NotScorable:
            continue
        for name, score in result.scores.items():
            found.setdefault(name, []).append(score.raw)
    return {name: tuple(values) for name, values in found.items()}


INDEX = "USI-log"
NAMES = {**TITLES, "outcome": "outcome", "survey": "satisfaction"}
MIN_TERMS = 2
"""Components that an index needs."""


@dataclass(frozen=True)
class Compared:
    """One simulated log against the real one.

    Attributes
    ----------
    result, plain
        With the simulator's cases weighted to the people's mix, and as they are.
    mix
        How they were weighted.
    rule
        Rule of the outcome (`usi.logs.outcome`).
    satisfaction
        Why satisfaction is not assessed; ``None`` where it is.
    """

    result: Study
    plain: Study
    mix: Mix
    rule: str
    satisfaction: Reason | None


def survey_score(result: Study) -> tuple[Score, float] | None:
    """Satisfaction: 100 (1 - W1 / range), and its ceiling; ``None`` without one."""
    spec = next((s for s in result.reference.specs if s.name == CSAT), None)
    far = distance(result.data, spec, most=np.inf) if spec else None
    if spec is None or spec.span is None or far is None:
        return None
    column = [s.name for s in result.reference.specs].index(CSAT)
    sd = float(np.nanstd(result.reference.values[:, column]))
    scale = sd / (spec.span[1] - spec.span[0])
    terms = Terms(
        component="survey",
        names=(CSAT,),
        weight=np.ones(1),
        point=np.array([far.point * scale]),
        noise=np.array([far.noise * scale]),
        shrunk=np.array([far.shrunk * scale]),
        folded=far.folded[:, None] * scale,
        held=far.held[:, None] * scale,
        slope=-100.0 * far.slope * scale,
        gaps=(far.gaps * scale,),
        moved=(far.moved * scale,),
    )
    at = result.data.cells[CSAT]
    n_s, n_h = result.data.clusters
    noise = float(result.data.human_se[at].sum()) * scale * np.sqrt(1 + n_h / max(1, n_s))
    ceiling = 100.0 * max(0.0, 1 - ROOT * float(noise))
    return score_terms(terms, result.rule), ceiling


def scores_of(result: Study) -> dict[str, Score]:
    """Every component that could be assessed, satisfaction among them."""
    found = dict(result.scores)
    extra = survey_score(result)
    if extra is not None:
        found["survey"] = extra[0]
    return {name: found[name] for name in (*PARTS, "survey") if name in found}


def _component(score: Score, result: Study, n: int, ceiling: float | None) -> dict[str, object]:
    bounds = lower_upper(score, result.rule)
    return {
        "value": tidy(score.raw),
        "low": maybe(bounds[0]) if bounds else None,
        "high": maybe(bounds[1]) if bounds else None,
        "n": n,
        "corrected": maybe(score.corrected),
        "se": maybe(score.se),
        "maxbias": maybe(score.maxbias),
        "df": result.rule.df,
        "ceiling_at_n": maybe(ceiling),
    }


def index_of(compared: Compared) -> Index:
    """USI-log: mean of the components that are assessed; how many is part of its name."""
    result = compared.result
    n = int(result.simulator.sessions.sum())
    scores = scores_of(result)
    names = tuple(scores)
    reason: Reason | None = None
    if n < MIN_SIMULATOR_SESSIONS:
        reason = FEW_SIMULATED_CASES(have=n, least=MIN_SIMULATOR_SESSIONS)
    elif len(names) < MIN_TERMS:
        reason = FEW_COMPONENTS(have=len(names), all=len(COMPONENTS))
    if reason:
        return Index(value=None, status="not_assessed", reason=reason, name=INDEX, terms=0,
                     terms_possible=len(COMPONENTS), n=n)  # fmt: skip
    tops = dict(result.ceiling)
    extra = survey_score(result)
    if extra is not None:
        tops["survey"] = extra[1]
    ceiling = float(np.mean([tops[m] for m in names])) if tops.keys() >= set(names) else None
    return Index(
        **_component(mean_score(scores, names, result.rule), result, n, ceiling),
        name=INDEX,
        terms=len(names),
        terms_possible=len(COMPONENTS),
        detail=_plain_index(compared, names, n),
    )


def _plain_index(compared: Compared, names: tuple[str, ...], n: int) -> dict[str, Estimate]:
    if not compared.mix.columns:
        return {}
    plain = scores_of(compared.plain)
    if not plain.keys() >= set(names):
        return {"not_standardised": not_assessed(OTHER_COMPONENTS, n=n)}
    score = mean_score(plain, names, compared.plain.rule)
    bounds = lower_upper(score, compared.plain.rule)
    low, high = bounds or (None, None)
    return {
        "not_standardised": Estimate(value=tidy(score.raw), low=maybe(low), high=maybe(high), n=n)
    }


def components_of(
    card: SimulatorCard, compared: Compared, real: RealAgainstReal
) -> dict[str, Component]:
    """Components with satisfaction, the value without standardisation, and the real log's own."""
    result = compared.result
    n = int(result.simulator.sessions.sum())
    plain = scores_of(compared.plain)
    parts = dict(card.components)
    extra = survey_score(result)
    if extra is None:
        why = compared.satisfaction or FEW_RATED()
        parts["survey"] = Component(value=None, status="not_assessed", reason=why)
    else:
        parts["survey"] = Component(**_component(extra[0], result, n, extra[1]))
    for name, part in parts.items():
        detail = {
            k: v for k, v in part.detail.items() if k not in ("label_total_variation",
                                                              "correct_refusal_gap")
        }  # fmt: skip
        if compared.mix.columns and name in plain:
            detail["not_standardised"] = Estimate(value=tidy(plain[name].raw), n=n)
        for kind in real.parts:
            own = real.estimate(kind, name)
            if own is not None:
                detail[f"real against real by {kind}"] = own
        if name == "outcome":
            detail["ends_total_variation"] = label_variation(
                result.reference.frame, result.frame
            )  # fmt: skip
        parts[name] = part.model_copy(update={"detail": detail, "decides_fail": True})
    return parts


def warnings_of(card: SimulatorCard, compared: Compared) -> tuple[Reason, ...]:
    """What a reader must know of this comparison."""
    of_tasks = (TASK_MIX, SCRIPT, DIFFICULTY_ELSEWHERE, NO_OUTCOME)
    found = [warning for warning in card.warnings if not warning.is_a(*of_tasks)]
    found.append(SCOPE())
    mix = compared.mix
    if mix.columns:
        plain = scores_of(compared.plain)
        shown = ", ".join(
            f"{NAMES[name]} {score.raw:.1f} (without {plain[name].raw:.1f})"
            if name in plain
            else f"{NAMES[name]} {score.raw:.1f}"
            for name, score in scores_of(compared.result).items()
        )
        found.append(
            CASE_MIX(
                columns=" and ".join(mix.columns),
                scores=shown,
                effective=tidy(mix.effective),
                cases=len(mix.weight),
            )
        )
        if mix.covered < 0.95:
            found.append(CASE_MIX_COVERED(share=tidy(1 - mix.covered)))
    else:
        found.append(CASE_MIX_UNKNOWN())
    if compared.rule != "flags":
        found.append(OUTCOME_RULE())
    return tuple(found)


def log_card(
    card: SimulatorCard,
    compared: Compared,
    real: RealAgainstReal,
    signature: str,
    diagnosis: Diagnosis,
    cluster: str,
) -> SimulatorCard:
    """A simulator's card of the profile `robust`, as one of logs."""
    frame = compared.result.frame
    events = int(frame["events"].sum())
    sizes = card.n.model_copy(
        update={
            "tasks": frame.height,
            "turns": events,
            "runs": None,
            "batches": None,
            "clusters_worth": clusters_worth(frame, cluster),
        }
    )
    worth = min(clusters_worth(side, cluster) for side in (frame, compared.result.reference.frame))
    open_ = card.inconclusive
    if not open_ and worth < MIN_CLUSTERS:
        count = min(compared.result.data.clusters)
        open_ = (FEW_CLUSTERS_WORTH(clusters=count, unit=cluster, worth=worth, least=MIN_CLUSTERS),)
    counts = np.isfinite(compared.result.values).sum(axis=0)
    features = {
        spec.name: _counted(card.features[spec.name], int(counts[k]))
        for k, spec in enumerate(compared.result.reference.specs)
    }
    ends = {
        "human": label_counts(compared.result.reference.frame),
        "simulator": label_counts(frame),
    }
    return card.model_copy(
        update={
            "n": sizes,
            "inconclusive": open_,
            "components": components_of(card, compared, real),
            "index": index_of(compared),
            "features": features,
            "warnings": (*warnings_of(card, compared), *diagnosis.warnings),
            **diagnosis.card_fields(),
            "signature": signature,
            "design_reason": UNPAIRED_LOG(),
            "coverage": None,
            "tier_limit": TIER_LIMIT,
            "outcome_labels": ends if any(ends.values()) else {},
            "floors": {},
            "left_out": renamed(card.left_out),
            "perceived": None,
            "versus_humans": None,
            "survey_kappa": None,
            "human_kappa": None,
            "survey_bias": None,
            "survey_answered": None,
        }
    )


def _counted(feature: object, n: int) -> object:
    """A feature whose number of cases is counted, not weighted."""
    from usi.scoring.scorecard import FeatureScore

    if not isinstance(feature, FeatureScore) or feature.simulator.value is None:
        return feature
    return feature.model_copy(update={"simulator": feature.simulator.model_copy(update={"n": n})})


def renamed(parts: tuple[LeftOut, ...]) -> tuple[LeftOut, ...]:
    """What was left out, in words of cases."""
    return tuple(
        part.model_copy(update={"reason": CASE_NOT_ENDED()})
        if part.reason.is_a(NO_RATED_OUTCOME)
        else part
        for part in parts
    )


_NOT_HALVED = {"outcome": REAL_FEW_ENDS, "survey": REAL_NO_SATISFACTION}


def real_card(
    card: HumanCard, real: RealAgainstReal, events: int, clusters: int, worth: int
) -> HumanCard:
    """The real log's row: random halves of it, with its other splits beside."""
    parts: dict[str, Component] = {}
    for name in COMPONENTS:
        own = real.estimate(HALVES, name)
        detail = {k: e for k in real.parts if (e := real.estimate(k, name)) is not None}
        if own is None:
            reason = _NOT_HALVED.get(name, REAL_FEW_FEATURES)()
            parts[name] = Component(value=None, status="not_assessed", reason=reason, detail=detail)
        else:
            parts[name] = Component(value=own.value, detail=detail)
    known = [part.value for part in parts.values() if part.value is not None]
    index = Index(value=None, status="not_assessed", reason=NOTHING_TO_COMPARE(), name=INDEX,
                  terms=0, terms_possible=len(COMPONENTS))  # fmt: skip
    if len(known) >= MIN_TERMS:
        index = Index(value=tidy(float(np.mean(known))), name=INDEX, terms=len(known),
                      terms_possible=len(COMPONENTS))  # fmt: skip
    sizes = card.n.model_copy(
        update={"turns": events, "batches": None, "clusters": clusters, "clusters_worth": worth}
    )
    return card.model_copy(
        update={
            "name": "Real log (random halves)",
            "components": parts,
            "index": index,
            "n": sizes,
            "left_out": renamed(card.left_out),
            "warnings": (*card.warnings, *real.told(NAMES)),
        }
    )
