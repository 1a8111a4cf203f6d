"""Is a new version as near to people as the accepted one, up to a margin?

The difference of two scores can't hold a 5 % level near the ceiling: a drop that is spread over
the features hardly moves the score. So the versions are compared with each other: the score can't
drop by more than their distance

    D = 100 Σ c_j |d_j|,   S = 100 Σ c_j s_j,   s = 100 sqrt(Σ c_j² s_j²),

where d_j is the difference (new - old) of a signed term, s_j its task-bootstrap standard error and
c_j its weight. With a true distance m the expectation of D is at least S h(m/S), by convexity, and
its standard deviation about s sqrt(v(m/S)):

    h(x) = sqrt(2/π) exp(-x²/2) + x (1 - 2 Φ(-x)),   v(x) = 1 + x² - h(x)²

(mean and variance of |x + Z|, Z standard normal).

The regression gate over scorecards: a new version against the accepted one and the first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Literal

import numpy as np

from usi.decisions.bounds import ALPHA, quantile
from usi.decisions.checks import parse_date
from usi.decisions.criteria import Criteria, Regression
from usi.decisions.expiry import scored_on
from usi.decisions.simulator_terms import SimulatorTerms, load_terms, require_comparable
from usi.decisions.verdict import Check, State
from usi.errors import InputError, UsageError
from usi.provenance.record import sha256_file
from usi.reasons import (
    CARD_EDITED,
    NO_ANCHOR,
    SMALLEST_MARGIN,
    VERSION_AGE_UNKNOWN,
    VERSION_BETTER,
    VERSION_DIFFERS,
    VERSION_MARGINS,
    VERSION_OPEN,
    VERSION_REGRESSED,
    VERSION_SAME,
    VERSION_SCORED,
    VERSION_SCORED_BEFORE,
    VERSION_UNCHANGED,
    Code,
    Reason,
)
from usi.scoring.robust.bounds import tidy
from usi.scoring.robust.terms import Terms
from usi.scoring.scorecard import Scorecard

SMALLEST = 1.45
"""Smallest margin that a design can certify, as a multiple of S."""
STRICT = 1.96
INDEX_MARGIN = 5.0
COMPONENT_MARGIN = 10.0
_PHI = NormalDist().cdf

ChangeState = Literal["unchanged", "better", "regressed", "inconclusive"]


def mean_abs(x: float) -> float:
    """E|x + Z| for a standard normal Z.

    >>> round(mean_abs(0.0), 6), round(mean_abs(10.0), 6)
    (0.797885, 10.0)
    """
    return math.sqrt(2 / math.pi) * math.exp(-x * x / 2) + x * (1 - 2 * _PHI(-x))


def var_abs(x: float) -> float:
    """Variance of |x + Z| for a standard normal Z; from 1 - 2/π at 0 up to 1."""
    return max(0.0, 1 + x * x - mean_abs(x) ** 2)


@dataclass(frozen=True)
class Change:
    """From the old version to the new one, in one component or the index; all in points.

    Attributes
    ----------
    name
        ``"index"`` or a component.
    difference, se
        Score of the new version minus that of the old, and its bootstrap standard error.
    maxbias_old
        Largest downward bias of the old version's score.
    distance, noise, spread
        D, S and s of the module.
    """

    name: str
    difference: float
    se: float
    maxbias_old: float
    distance: float
    noise: float
    spread: float

    @property
    def smallest_margin(self) -> float:
        """Smallest margin that this design can certify (1.45 S)."""
        return SMALLEST * self.noise

    def critical_distance(self, margin: float) -> float:
        """Largest D that still certifies `margin`: S h(m/S) - 1.96 s sqrt(v(m/S))."""
        if self.noise <= 0:
            return margin
        x = margin / self.noise
        return self.noise * mean_abs(x) - STRICT * self.spread * math.sqrt(var_abs(x))

    def state(self, margin: float) -> ChangeState:
        """What is certain about this change at a margin."""
        if self.distance <= self.critical_distance(margin):
            return "unchanged"
        if self.difference - self.maxbias_old - STRICT * self.se >= -margin:
            return "better"
        if self.difference + quantile(ALPHA) * self.se < -margin:
            return "regressed"
        return "inconclusive"


def changes(old: Mapping[str, Terms], new: Mapping[str, Terms]) -> dict[str, Change]:
    """Change of every component and of their mean (``"index"``).

    Parameters
    ----------
    old, new
        Terms of the same components over the same tasks, with replicates of the same draws.

    Raises
    ------
    UsageError
        Where a component or one of its terms is not on both sides.
    """
    if old.keys() != new.keys():
        odd = ", ".join(sorted(old.keys() ^ new.keys()))
        raise UsageError(f"only one of the two scorecards assesses: {odd}")
    if not old:
        raise UsageError("the scorecards assess no component, so there is nothing to compare")
    result = {}
    for name in old:
        if old[name].names != new[name].names:
            odd = ", ".join(sorted(set(old[name].names) ^ set(new[name].names)))
            raise UsageError(f"{name}: only one of the two scorecards scores {odd}")
        result[name] = _change(name, {name: old[name]}, {name: new[name]})
    result = {"index": _change("index", old, new), **result}
    return result


def _change(name: str, old: Mapping[str, Terms], new: Mapping[str, Terms]) -> Change:
    distances, errors, weights = [], [], []
    for part, before in old.items():
        after = new[part]
        if before.moved is None or after.moved is None:
            raise UsageError("the terms have no replicates; score with bounds")
        own = zip(before.gaps, after.gaps, before.moved, after.moved, strict=True)
        moved = [_further(*parts) for parts in own]
        distances.append(np.abs([distance for distance, _ in moved]))
        errors.append(_spread(np.stack([draws for _, draws in moved], axis=1)))
        weights.append(before.weight / len(old))
    d, s, c = (np.concatenate(parts) for parts in (distances, errors, weights))
    draws = np.mean([new[k].replicated() - old[k].replicated() for k in old], axis=0)
    return Change(
        name=name,
        difference=float(np.mean([new[k].raw - old[k].raw for k in old])),
        se=float(_spread(draws[:, None])[0]),
        maxbias_old=float(np.mean([old[k].maxbias for k in old])),
        distance=100 * float(c @ d),
        noise=100 * float(c @ s),
        spread=100 * float(np.sqrt(c**2 @ s**2)),
    )


def _further(
    before: np.ndarray, after: np.ndarray, draws: np.ndarray, new_draws: np.ndarray
) -> tuple[float, np.ndarray]:
    """How much further from people one term lies in the new version, at most; and in replicates.

    With s_k the signs of the new version's gaps the term grew by
    Σ |new_k| - Σ |old_k| <= Σ s_k (new_k - old_k).
    """
    sign = np.where(after < 0, -1.0, 1.0)
    return float((after - before) @ sign), (new_draws - draws) @ sign


def _spread(replicates: np.ndarray) -> np.ndarray:
    """Standard deviation of each column over the replicates that have a value."""
    known = ~np.isnan(replicates)
    if (known.sum(axis=0) < 2).any():
        raise UsageError("a term has no value in nearly all replicates: too few sessions show it")
    return np.asarray(np.nanstd(replicates, axis=0, ddof=1))


def margins_for(
    names: Mapping[str, Change], index: float = INDEX_MARGIN, component: float = COMPONENT_MARGIN
) -> dict[str, float]:
    """Margin of every part; refuse those that the design can't certify.

    Raises
    ------
    UsageError
        Where a margin is below 1.45 S, with the smallest one that would do.
    """
    margins = {name: index if name == "index" else component for name in names}
    too_small = [
        f"{name}: {margins[name]:g} asked, {change.smallest_margin:.1f} is the smallest"
        for name, change in names.items()
        if margins[name] < change.smallest_margin
    ]
    if too_small:
        raise UsageError(
            "this design can't certify margins that small ("
            + "; ".join(too_small)
            + "): run the tasks more often (the noise falls as 1/sqrt(tasks x runs)), "
            "or allow more (--margin, --component-margin)"
        )
    return margins


_STANDS: dict[ChangeState, tuple[State, Code]] = {
    "unchanged": ("pass", VERSION_UNCHANGED),
    "better": ("pass", VERSION_BETTER),
    "regressed": ("fail", VERSION_REGRESSED),
    "inconclusive": ("inconclusive", VERSION_OPEN),
}
"""Which way a change decides, and what is said of it."""


def _same(found: Mapping[str, Change]) -> bool:
    """Whether two versions are the same sessions: no term differs, in no replicate."""
    return all(change.noise == 0 and change.distance == 0 for change in found.values())


def smallest_margins(new: SimulatorTerms, old: SimulatorTerms, word: str) -> Reason:
    """The smallest margins that this design can certify against the version that `word` names."""
    found = changes(old.terms, new.terms)
    if _same(found):
        return VERSION_SAME(word=word)
    parts = [
        f"{'USI-R' if name == 'index' else name} {change.smallest_margin:.1f}"
        for name, change in found.items()
    ]
    return VERSION_MARGINS(word=word, margins=", ".join(parts))


def regression_checks(
    new: SimulatorTerms,
    old: SimulatorTerms,
    *,
    word: str = "baseline",
    index_margin: float = INDEX_MARGIN,
    component_margin: float = COMPONENT_MARGIN,
) -> list[Check]:
    """One check for the index and each component; one that is open for the very same sessions.

    Parameters
    ----------
    new, old
        Versions to compare: same people, tasks, number of runs and settings.
    word
        ``"baseline"`` or ``"anchor"``; stands in the ids.
    index_margin, component_margin
        Largest drop allowed, in points.

    Raises
    ------
    UsageError
        Where the two can't be compared, or a margin can't be certified by this design.
    """
    if new.simulator.design == "unpaired":
        raise UsageError("the regression gate needs a paired design: the same tasks on all sides")
    require_comparable(old, new, runs=True)
    found = changes(old.terms, new.terms)
    if _same(found):
        return [
            Check(
                id=f"{word}.identical",
                rule=f"other sessions than those of the {word}",
                state="inconclusive",
                found=VERSION_SAME(word=word),
                overrides=True,
            )
        ]
    margins = margins_for(found, index_margin, component_margin)
    return [_check(name, found[name], margins[name], word) for name in found]


def _check(name: str, change: Change, margin: float, word: str) -> Check:
    state, code = _STANDS[change.state(margin)]
    title = "USI-R" if name == "index" else name
    found = code(
        title=title,
        word=word,
        difference=tidy(change.difference),
        se=tidy(change.se),
        distance=tidy(change.distance),
        critical=tidy(change.critical_distance(margin)),
        margin=margin,
    )
    return Check(
        id=f"{word}.{name}",
        rule=f"{title} no more than {margin:g} below the {word}",
        state=state,
        found=found,
        notes=(SMALLEST_MARGIN(margin=tidy(change.smallest_margin)),),
        value=tidy(change.difference),
        threshold=-margin,
    )


def named_versions(
    criteria: Criteria,
    *,
    folder: Path,
    baseline: str | Path | None = None,
    anchor: str | Path | None = None,
    margin: float | None = None,
    component_margin: float | None = None,
) -> tuple[Criteria, dict[str, Path]]:
    """Criteria with everything that the regression gate rests on, and the files that it reads.

    Parameters
    ----------
    criteria
        Resolved criteria.
    folder
        Where paths of the criteria start.
    baseline, anchor, margin, component_margin
        What is said beside the criteria, and goes before them.

    Returns
    -------
    criteria
        With file names and hashes, which are part of the fingerprint.
    dict
        ``"baseline"`` and ``"anchor"`` to their files, where they are named.

    Raises
    ------
    InputError
        Where a file is not there, or is another one than the criteria say by its hash.
    """
    own = criteria.regression
    change: dict[str, str | float] = {}
    if margin is not None:
        change["margin"] = margin
    if component_margin is not None:
        change["component_margin"] = component_margin
    files: dict[str, Path] = {}
    for word, given in (("baseline", baseline), ("anchor", anchor)):
        said = getattr(own, word)
        if given is None and said is None:
            continue
        path = Path(given) if given is not None else folder / said
        digest, wanted = sha256_file(path), getattr(own, f"{word}_sha256")
        if wanted not in (None, digest):
            raise InputError(
                f"this is not the {word} that the criteria name: its SHA-256 is {digest}",
                file=str(path),
                field=f"regression.{word}_sha256",
            )
        files[word] = path
        change |= {word: path.name, f"{word}_sha256": digest}
    if not change:
        return criteria, files
    return criteria.model_copy(update={"regression": own.model_copy(update=change)}), files


def version_checks(
    scorecard: str | Path,
    card: Scorecard,
    simulator: str | None,
    files: Mapping[str, Path],
    regression: Regression,
    *,
    as_of: str | None = None,
    trust_edited: bool = False,
) -> tuple[list[Check], list[Reason]]:
    """Checks against baseline and anchor, and notes on the age of both.

    Parameters
    ----------
    scorecard, card, simulator
        The new version.
    files, regression
        From `named_versions`.
    as_of
        Day that the age of a version counts to.
    trust_edited
        Take scorecards that were changed after scoring.
    """
    checks: list[Check] = []
    notes: list[Reason] = []
    new = load_terms(scorecard, simulator, card=card)
    for word, path in files.items():
        old_card = Scorecard.read(path, trust_edited=trust_edited)
        names = [part.name for part in old_card.simulators]
        same = new.simulator.name if new.simulator.name in names else None
        old = load_terms(path, same, card=old_card)
        checks += regression_checks(
            new,
            old,
            word=word,
            index_margin=regression.margin,
            component_margin=regression.component_margin,
        )
        notes += [
            VERSION_DIFFERS(word=word, difference=line)
            for line in require_comparable(old, new, runs=True)
        ]
        notes += [_age(word, path, as_of), smallest_margins(new, old, word)]
        notes += [why for why in old_card.warnings if why.is_a(CARD_EDITED)]
    if files and "anchor" not in files:
        notes.append(NO_ANCHOR())
    return checks, notes


def _age(word: str, path: str | Path, as_of: str | None) -> Reason:
    day = scored_on(path)
    if day is None:
        return VERSION_AGE_UNKNOWN(word=word, file=Path(path).name)
    if as_of is None:
        return VERSION_SCORED(word=word, day=day)
    days = (parse_date(as_of, "--as-of") - parse_date(day, "scoring date")).days
    return VERSION_SCORED_BEFORE(word=word, day=day, days=days, as_of=as_of)
