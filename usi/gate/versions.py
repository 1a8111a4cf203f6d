"""The regression gate over scorecards: a new version against the accepted one and the first."""

from __future__ import annotations

from pathlib import Path

from usi.errors import UsageError
from usi.gate.age import scored_on
from usi.gate.design import parse_date
from usi.gate.evidence import Evidence, load_evidence, require_comparable
from usi.gate.regression import (
    COMPONENT_MARGIN,
    INDEX_MARGIN,
    Change,
    changes,
    margins_for,
)
from usi.gate.verdict import Check, State
from usi.score.robust.bounds import tidy
from usi.score.scorecard import Scorecard

_STATES: dict[str, State] = {
    "unchanged": "pass",
    "better": "pass",
    "regressed": "fail",
    "inconclusive": "inconclusive",
}


def smallest_margins(new: Evidence, old: Evidence) -> str:
    """Sentence with the smallest margins that this design can certify."""
    found = changes(old.terms, new.terms)
    if all(change.noise == 0 and change.distance == 0 for change in found.values()):
        return "the very same sessions as the new version: nothing was tested"
    parts = [
        f"{'USI-R' if name == 'index' else name} {change.smallest_margin:.1f}"
        for name, change in found.items()
    ]
    return f"smallest margins that this design can certify: {', '.join(parts)}"


def regression_checks(
    new: Evidence,
    old: Evidence,
    *,
    word: str = "baseline",
    index_margin: float = INDEX_MARGIN,
    component_margin: float = COMPONENT_MARGIN,
) -> list[Check]:
    """One check for the index and each component.

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
    margins = margins_for(found, index_margin, component_margin)
    return [_check(name, found[name], margins[name], word) for name in found]


def _check(name: str, change: Change, margin: float, word: str) -> Check:
    state = change.state(margin)
    title = "USI-R" if name == "index" else name
    words = {
        "unchanged": f"unchanged within {margin:g}",
        "better": f"at least as good, within {margin:g}",
        "regressed": f"REGRESSED by more than {margin:g}",
        "inconclusive": f"a drop of {margin:g} can't be ruled out",
    }[state]
    message = (
        f"{title} against the {word}: {change.difference:+.1f} (SE {change.se:.1f}), distance of "
        f"the versions {change.distance:.1f} (at most {change.critical_distance(margin):.1f} for "
        f"unchanged): {words}; smallest margin of this design {change.smallest_margin:.1f}"
    )
    return Check(
        id=f"{word}.{name}",
        rule=f"{title} no more than {margin:g} below the {word}",
        state=_STATES[state],
        message=message,
        value=tidy(change.difference),
        threshold=-margin,
    )


def version_checks(
    scorecard: str | Path,
    card: Scorecard,
    simulator: str | None,
    *,
    baseline: str | Path | None,
    anchor: str | Path | None,
    index_margin: float,
    component_margin: float,
    as_of: str | None = None,
) -> tuple[list[Check], list[str]]:
    """Checks against baseline and anchor, and notes on the age of both."""
    checks: list[Check] = []
    notes: list[str] = []
    new = load_evidence(scorecard, simulator, card=card)
    for word, path in (("baseline", baseline), ("anchor", anchor)):
        if path is None:
            continue
        old_card = Scorecard.read(path)
        names = [part.name for part in old_card.simulators]
        same = new.simulator.name if new.simulator.name in names else None
        old = load_evidence(path, same, card=old_card)
        checks += regression_checks(
            new, old, word=word, index_margin=index_margin, component_margin=component_margin
        )
        notes += [f"{word} differs: {line}" for line in require_comparable(old, new, runs=True)]
        notes += [_age(word, path, as_of), f"{word}: {smallest_margins(new, old)}"]
    if anchor is None:
        notes.append(
            "no anchor: small permitted losses add up over versions; keep the first accepted "
            "scorecard and give it as --anchor"
        )
    return checks, notes


def _age(word: str, path: str | Path, as_of: str | None) -> str:
    day = scored_on(path)
    if day is None:
        return f"age of the {word} unknown: no run record beside {Path(path).name}"
    if as_of is None:
        return f"the {word} was scored on {day}"
    days = (parse_date(as_of, "--as-of") - parse_date(day, "scoring date")).days
    return f"the {word} was scored on {day}, {days} days before {as_of}"
