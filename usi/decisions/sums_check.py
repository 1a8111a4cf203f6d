"""Whether a simulator's card says what the per-task sums beside it give.

From the sums follow, exactly: how many tasks, sessions, runs and batches there are, the value of
every component, of the index, of the success gap and of the style score, and the hits of the
tripwires; and how narrow the bounds may be at most. Participants do not stand in the sums and can
only widen bounds, so an error or a bias that is larger than the sums give is no mismatch. What
the sums do not hold (tracking, two-sample tests, copies, the survey) is held by the digest alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from usi.errors import InputError
from usi.estimate import Estimate
from usi.scoring.robust.bounds import Interval, folded_spread, interval_rule, spread
from usi.scoring.robust.sums import SideSums
from usi.scoring.robust.terms import PARTS, Contrast, Terms
from usi.scoring.robust.thresholds import Z
from usi.scoring.scorecard import Component, SimulatorCard

TOLERANCE = 1e-6


class Mismatch(InputError):
    """Two files of one decision that contradict each other."""


@dataclass(frozen=True)
class FromSums:
    """What the sums of one simulator give.

    Attributes
    ----------
    data, terms
        Both sides, and the terms of every component that can be assessed, with replicates of the
        draws that the card was made with.
    style
        Terms of the style features that the card scores, where it scores any.
    human, simulator
        The sums.
    """

    data: Contrast
    terms: Mapping[str, Terms]
    style: Terms | None
    human: SideSums
    simulator: SideSums


def contradictions(card: SimulatorCard, given: FromSums, *, same_draws: bool) -> Iterator[str]:
    """What the card says otherwise than its sums, each in a few words.

    Parameters
    ----------
    same_draws
        Whether the replicates are those of the card; errors and bounds are compared only then.
    """
    yield from _sizes(card, given)
    rule = interval_rule(given.data.clusters, paired=given.data.paired)
    for name, part in card.components.items():
        if name not in PARTS or part.value is None:
            continue
        own = given.terms.get(name)
        if own is None:
            yield f"the sums give no {name}, the scorecard says {part.value:.4f}"
            continue
        error = folded_spread(own.replicated(), own.held_scores())
        yield from _score(name, part, own.raw, error, own.maxbias, rule, same_draws)
    yield from _index(card, given, rule, same_draws=same_draws)
    yield from _gap(card.success_gap, given.terms.get("outcome"), rule, same_draws=same_draws)
    written = card.style_score
    if written is not None and written.value is not None:
        own = given.style
        if own is None:
            yield f"the sums give no style score, the scorecard says {written.value:.4f}"
        else:
            error = folded_spread(own.replicated(), own.held_scores())
            yield from _score("style", written, own.raw, error, own.maxbias, rule, same_draws)
    yield from _tripwires(card, given.simulator)


def _sizes(card: SimulatorCard, given: FromSums) -> Iterator[str]:
    counted: dict[str, int] = {
        "tasks": len(given.simulator.units),
        "sessions": int(given.simulator.sessions.sum()),
        "runs": len(given.simulator.splits),
        "batches": len(given.human.splits),
        "clusters": min(given.data.clusters),
    }
    for name, number in counted.items():
        said = getattr(card.n, name)
        if said is not None and said != number:
            yield f"the sums hold {number} {name}, the scorecard says {said}"


def _score(
    name: str,
    part: Component,
    raw: float,
    error: float,
    maxbias: float,
    rule: Interval,
    same_draws: bool,
) -> Iterator[str]:
    """Value, error, largest bias and bounds of one score."""
    value = part.value
    if value is None:
        return
    if abs(value - raw) > TOLERANCE:
        yield f"the sums give {name} {raw:.4f}, the scorecard says {value:.4f}"
        return
    if part.se is None or part.maxbias is None:
        yield f"the scorecard gives {name} no standard error"
        return
    if same_draws and part.se < error * rule.inflate - TOLERANCE:
        yield f"the sums give {name} a standard error of {error:.4f}, the scorecard {part.se:.4f}"
    if part.maxbias < maxbias - TOLERANCE:
        yield f"the sums give {name} a bias of {maxbias:.4f} at most, the scorecard less"
    if rule.df is not None and (part.df is None or part.df > rule.df):
        yield f"the sums give {name} {rule.df:g} degrees of freedom, the scorecard more"
    reach = _quantile(part.df) * part.se
    low, high = max(0.0, value - reach), min(100.0, value + part.maxbias + reach)
    for word, said, is_so in (("lower", part.low, low), ("upper", part.high, high)):
        if said is None or abs(said - is_so) > TOLERANCE:
            told = "none" if said is None else f"{said:.4f}"
            yield f"the {word} bound of {name} is {is_so:.4f}, the scorecard says {told}"


def _quantile(df: float | None) -> float:
    if df is None:
        return Z
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.95))


def _index(
    card: SimulatorCard, given: FromSums, rule: Interval, *, same_draws: bool
) -> Iterator[str]:
    if card.index.value is None:
        return
    lacking = [name for name in PARTS if name not in given.terms]
    if lacking:
        yield f"the sums give no {', '.join(lacking)}, and the scorecard gives an index"
        return
    own = [given.terms[name] for name in PARTS]
    draws = np.mean([terms.replicated() for terms in own], axis=0)
    raw = float(np.mean([terms.raw for terms in own]))
    maxbias = float(np.mean([terms.maxbias for terms in own]))
    yield from _score("the index", card.index, raw, spread(draws), maxbias, rule, same_draws)


def _gap(
    gap: Estimate | None, outcome: Terms | None, rule: Interval, *, same_draws: bool
) -> Iterator[str]:
    """The signed success gap: its value, and bounds that are no narrower than the sums allow."""
    if gap is None or gap.value is None:
        return
    if outcome is None:
        yield f"the sums give no success gap, the scorecard says {gap.value:.4f}"
        return
    is_so = float(outcome.point.sum())
    if abs(gap.value - is_so) > TOLERANCE:
        yield f"the sums give a success gap of {is_so:.4f}, the scorecard says {gap.value:.4f}"
        return
    if outcome.signed is None or not same_draws:
        return
    if gap.low is None or gap.high is None:
        yield "the scorecard gives the success gap no bounds"
        return
    draws = np.nansum(outcome.signed, axis=1)
    reach = rule.quantile * rule.inflate * spread(draws)
    low, high = np.quantile(draws, [0.05, 0.95]) if rule.signed_percentile else (math.inf, 0.0)
    as_drawn = gap.low <= low + TOLERANCE and gap.high >= high - TOLERANCE
    as_error = gap.low <= is_so - reach + TOLERANCE and gap.high >= is_so + reach - TOLERANCE
    if not (as_drawn or as_error):
        yield (
            f"the sums give the success gap bounds of {is_so - reach:.4f} to {is_so + reach:.4f}, "
            f"the scorecard says {gap.low:.4f} to {gap.high:.4f}"
        )


def _tripwires(card: SimulatorCard, simulator: SideSums) -> Iterator[str]:
    place = {name: k for k, name in enumerate(simulator.features)}
    for wire in card.tripwires:
        column = place.get(wire.feature)
        if column is None:
            continue
        hits = int(simulator.hits[:, column].sum())
        if hits != wire.simulator_hits:
            yield (
                f"the sums hold {hits} sessions with {wire.feature}, the scorecard says "
                f"{wire.simulator_hits}"
            )
