"""What would settle an open verdict: tasks, runs or batches, or why no amount of data would.

Scaling: the noise of a score (its standard error, and the bias that noise adds to an absolute
difference) falls as 1/sqrt(tasks); of the part that chance in sessions makes, as
1/batches + 1/runs. The best guess of the score without noise is `corrected`.

What would make a part assessable that a scorecard has no value for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from usi.decisions.bounds import ALPHA, Bounded, bounded, quantile
from usi.decisions.checks import C2ST_SESSIONS, clusters
from usi.decisions.criteria import GATED, Criteria
from usi.decisions.rules import is_unpaired, rules_of
from usi.decisions.verdict import Check, Need
from usi.estimate import Estimate
from usi.reasons import (
    FEW_FEATURES,
    FEW_FEATURES_UNPAIRED,
    NO_SUBGROUPS,
    PAIRED_ONLY,
    Kind,
    Reason,
    remedy,
)
from usi.scoring.scorecard import Component, Scorecard, SimulatorCard

MOST_NAMED = 4
"""Features that one line names."""


def assessable(
    check: Check, simulator: SimulatorCard, criteria: Criteria, unit: str
) -> Need | None:
    """What an open check without a value needs; ``None`` where the check has one.

    Parameters
    ----------
    check
        An open check.
    simulator, criteria
        What it was asked of, and by what.
    unit
        What is resampled, in words.
    """
    if check.value is not None:
        return None
    part, reason = check.id, check.reason
    if reason is None:
        return None
    kind, way = _way(part, reason, simulator, unit)
    if reason.is_a(NO_SUBGROUPS):
        return Need(part=part, kind=kind, text=f"{part}: {way}")
    text = f"{part} is not assessed: {way}{_or_drop(part, criteria)}"
    return Need(part=part, kind=kind, text=text)


def _way(part: str, reason: Reason, simulator: SimulatorCard, unit: str) -> tuple[Kind, str]:
    if reason.root.is_a(FEW_FEATURES, FEW_FEATURES_UNPAIRED):
        return _features(part, reason, simulator)
    return remedy(reason, resampled=unit) or ("data", f"{reason}; data that mend this")


def _features(part: str, reason: Reason, simulator: SimulatorCard) -> tuple[Kind, str]:
    """A dimension lacks features: which, and what each waits for."""
    name = part.rpartition(".")[2]
    lacking = {
        feature: score.score.reason
        for feature, score in simulator.features.items()
        if score.dimension == name and score.score.value is None and score.score.reason
    }
    if any(why.is_a(PAIRED_ONLY) for why in lacking.values()):
        return "data", f"{reason}; run the simulator on the tasks that the people did"
    if not lacking:
        return "data", f"{reason}; more human sessions that show the others"
    names = sorted(lacking)[:MOST_NAMED]
    shown = ", ".join(f"{feature} ({lacking[feature]})" for feature in names)
    more = "" if len(lacking) <= MOST_NAMED else f" and {len(lacking) - MOST_NAMED} more"
    return "data", f"{reason}; it lacks {shown}{more}"


def _or_drop(part: str, criteria: Criteria) -> str:
    """How to do without it: what is not required may be absent."""
    if part in criteria.require.components:
        return f"; or drop {part} from [require]"
    if part in GATED and dict(criteria.minimum.items()).get(part) is not None:
        return f"; or drop the minimum of {part}"
    return ""


POWER = 0.80
MOST = 100_000
"""More tasks, runs or batches than this are as good as never."""


@dataclass(frozen=True)
class Sizes:
    """Tasks (or clusters), human batches and simulator runs at hand."""

    tasks: int
    batches: int
    runs: int
    unit: str


def needs(
    card: Scorecard, simulator: SimulatorCard, criteria: Criteria, checks: Sequence[Check]
) -> tuple[Need, ...]:
    """What each open check needs, in the order of the checks.

    Returns
    -------
    tuple of Need
        Empty where nothing is open.
    """
    sizes = Sizes(
        tasks=max(1, clusters(card, simulator)),
        batches=max(1, card.human.n.batches or 1),
        runs=max(1, simulator.n.runs or 1),
        unit="clusters" if is_unpaired(simulator) else "tasks",
    )
    found: list[Need] = []
    open_ = [check for check in checks if check.state == "inconclusive"]
    absent = any(check.id in GATED and check.value is None for check in open_)
    for check in open_:
        if check.id == "index" and check.value is None and absent:
            continue  # it follows from its components, which say what they need
        found += _need(check, simulator, criteria, sizes)
    return tuple(found)


def _need(check: Check, simulator: SimulatorCard, criteria: Criteria, sizes: Sizes) -> list[Need]:
    part = _estimate(simulator, check.id)
    alpha = ALPHA / criteria.family_size
    if part is not None and check.threshold is not None and check.value is not None:
        bound = bounded(part)
        if bound is not None:
            return _score_need(check, part, bound, alpha, sizes)
    if check.id == "success_gap" and check.value is not None:
        return _gap_need(check, sizes)
    if check.id == "c2st":
        return [_c2st_need(check, simulator, sizes)]
    found = assessable(check, simulator, criteria, sizes.unit)
    return [found or _other_need(check, simulator, sizes)]


def _estimate(simulator: SimulatorCard, name: str) -> Estimate | None:
    if name == "index":
        return simulator.index
    if name in simulator.components:
        return simulator.components[name]
    for group in simulator.subgroups:
        prefix = f"subgroup.{group.by}.{group.value}."
        if name.startswith(prefix):
            key = name.removeprefix(prefix)
            return group.index if key == "index" else group.components.get(key)
    return None


def score_factor(bound: Bounded, truth: float, threshold: float, alpha: float) -> float | None:
    """How many times the data a lower bound needs to reach `threshold` with 80 % power.

    ``truth - bias/sqrt(f) - z_alpha SE/sqrt(f) >= threshold + z_beta SE/sqrt(f)``, solved for f.

    Returns
    -------
    float or None
        At least 1; ``None`` where the truth itself does not lie above the threshold.
    """
    if truth <= threshold:
        return None
    bias = max(0.0, truth - bound.value)
    z = quantile(alpha, bound.df) + quantile(1 - POWER)
    return max(1.0, ((bias + z * bound.se) / (truth - threshold)) ** 2)


def _score_need(
    check: Check, part: Estimate, bound: Bounded, alpha: float, sizes: Sizes
) -> list[Need]:
    threshold = check.threshold or 0.0
    corrected = part.corrected if isinstance(part, Component) else None
    truth = bound.value if corrected is None else max(corrected, bound.value)
    factor = score_factor(bound, truth, threshold, alpha)
    if factor is None:
        text = (
            f"{check.id}: if the true score is about {truth:.1f}, the best estimate without noise, "
            f"more data would not make this pass ({threshold:g} is asked): mend the simulator"
        )
        return [Need(part=check.id, kind="nothing", text=text)]
    return _amounts(check.id, factor, sizes, f"if the true score is about {truth:.1f}")


def _gap_need(check: Check, sizes: Sizes) -> list[Need]:
    value, low, high, limit = check.value, check.low, check.high, check.threshold
    if value is None or low is None or high is None or limit is None:
        return []
    if abs(value) >= limit:
        text = (
            f"success_gap: if the true gap is about {value:+.3f}, more data would not make this "
            f"pass (within {limit:g} is asked): mend the simulator"
        )
        return [Need(part=check.id, kind="nothing", text=text)]
    half = (high - low) / 2
    z = quantile(ALPHA)
    # A gap near 0 must stay within both limits: power 80 % takes z(10 %) on each side.
    factor = max(1.0, (half / z * (z + quantile((1 - POWER) / 2)) / (limit - abs(value))) ** 2)
    return _amounts(check.id, factor, sizes, f"if the true gap is about {value:+.3f}")


def _amounts(part: str, factor: float, sizes: Sizes, condition: str) -> list[Need]:
    """Ways to `factor` times the information: more tasks, or more runs, or more batches alone."""
    found = []
    tasks = math.ceil(sizes.tasks * factor)
    if tasks <= MOST:
        text = f"{part}: about {tasks} {sizes.unit} (now {sizes.tasks}) {condition}"
        found.append(Need(part=part, kind="tasks", amount=tasks, now=sizes.tasks, text=text))
    target = (1 / sizes.batches + 1 / sizes.runs) / factor
    for kind, now, other in (
        ("runs", sizes.runs, sizes.batches),
        ("batches", sizes.batches, sizes.runs),
    ):
        rest = target - 1 / other
        amount = math.ceil(1 / rest - 1e-9) if rest > 0 else MOST + 1
        if amount <= 50 * now:
            text = (
                f"{part}: or about {amount} {kind} on the same {sizes.unit} (now {now}) {condition}"
            )
            found.append(Need(part=part, kind=kind, amount=amount, now=now, text=text))
        elif kind == "runs":
            text = f"{part}: more runs alone can't settle it, the people's side is too small"
            found.append(Need(part=part, kind="nothing", text=text))
    return found


def _other_need(check: Check, simulator: SimulatorCard, sizes: Sizes) -> Need:
    part = check.id
    if part == "min_tasks" and check.threshold is not None:
        amount = int(check.threshold)
        text = f"{part}: {amount} {sizes.unit} (now {sizes.tasks})"
        return Need(part=part, kind="tasks", amount=amount, now=sizes.tasks, text=text)
    if part.startswith(("baseline.", "anchor.")):
        text = f"{part}: more runs of both versions on the same tasks, or a wider margin"
        return Need(part=part, kind="runs", now=sizes.runs, text=text)
    texts = {
        "max_age_days": "score again: the scorecard is too old, or its run record is absent",
        "design": rules_of(simulator).design_need,
        "coverage": "run the simulator on all tasks of the people",
        "left_out.simulator": "run the sessions that were left out again, or score runs that "
        "hold all sessions, with their outcomes",
        "left_out.people": "a reference whose sessions can be compared; or set max_left_out, which "
        "the verdict then names",
        "survey": "answers of the simulator to the people's survey (`survey` in its sessions, or "
        "--surveys DIR)",
        "gaming": "no amount of data: let a person read the sessions, or mend the simulator",
        "survey_answered": "survey answers for at least 90 % of the sessions",
        "survey_kappa": "more survey answers, and a second human rating of the same sessions "
        "where the humans' own agreement is not known",
        "survey_bias": "more survey answers",
        "corpus_expires": "score against a corpus that may still be used, or renew its terms",
        "allow_research_only": "score against a corpus that is free for this use, or set "
        "allow_research_only = true where the verdict is for research",
        "identity": "score the simulator again as it is now",
        "max_blind_auc": "more raters, about more sessions (usi blind)",
    }
    kinds = {"max_age_days": "rescore", "gaming": "nothing", "identity": "rescore"}
    text = texts.get(part, f"more {sizes.unit}, runs or batches; now: {check.message}")
    return Need(part=part, kind=kinds.get(part, "data"), text=f"{part}: {text}")


def _c2st_need(check: Check, simulator: SimulatorCard, sizes: Sizes) -> Need:
    trees = [t for t in simulator.two_sample if t.classifier == "trees"]
    if not trees:
        return Need(part="c2st", kind="rescore", text="c2st: score again without --c2st off")
    n = trees[0].sessions_per_side or 0
    if n < C2ST_SESSIONS:
        runs = math.ceil(C2ST_SESSIONS / sizes.tasks)
        text = (
            f"c2st: {C2ST_SESSIONS} sessions a side (now {n}), that is {runs} runs and {runs} "
            f"batches on {sizes.tasks} {sizes.unit}"
        )
        return Need(part="c2st", kind="runs", amount=runs, now=sizes.runs, text=text)
    text = (
        "c2st: the test has a fixed size, so more data do not narrow it; bring the features that "
        "give the simulator away nearer to people"
    )
    return Need(part="c2st", kind="nothing", text=text)
