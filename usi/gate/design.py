"""Checks of the evidence itself: enough clusters, coverage, what the design can reach, its age."""

from __future__ import annotations

from datetime import date

from usi.errors import UsageError
from usi.gate.bounds import EPS
from usi.gate.criteria import Criteria
from usi.gate.verdict import Check
from usi.score.scorecard import Scorecard, SimulatorCard

MIN_CLUSTERS_UNPAIRED = 30
MIN_COVERAGE = 0.95


def is_unpaired(simulator: SimulatorCard) -> bool:
    """Whether the two sides did different tasks."""
    return simulator.design == "unpaired"


def clusters(card: Scorecard, simulator: SimulatorCard) -> int:
    """Clusters of the smaller side: tasks where paired, the resampled unit where unpaired."""
    if not is_unpaired(simulator):
        return min(simulator.n.tasks, card.human.n.tasks)
    sides = [
        side.n.tasks if side.n.clusters is None else side.n.clusters
        for side in (simulator, card.human)
    ]
    return min(sides)


def check_design(card: Scorecard, simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Enough tasks or clusters, coverage, and the tier that the design can reach."""
    checks = []
    n = clusters(card, simulator)
    unit = "clusters on the smaller side" if is_unpaired(simulator) else "tasks"
    least = criteria.min_tasks or 0
    if is_unpaired(simulator):
        least = max(least, MIN_CLUSTERS_UNPAIRED)
    if least:
        checks.append(
            Check(
                id="min_tasks",
                rule=f"at least {least} {unit}",
                state="pass" if n >= least else "inconclusive",
                message=f"{n} {unit}" + ("" if n >= least else f", {least} are asked"),
                value=float(n),
                threshold=float(least),
                overrides=True,
            )
        )
    logs = simulator.index.name == "USI-log"  # unpaired by nature
    limit = "C" if is_unpaired(simulator) and not logs else simulator.tier_limit
    if limit is not None and criteria.tier is not None and criteria.tier < limit:
        design = "log-only" if logs else simulator.design or "this"
        checks.append(
            Check(
                id="design",
                rule=f"a design that can reach tier {criteria.tier}",
                state="inconclusive",
                message=f"{design} design: tier {limit} at most, {criteria.tier} was asked",
            )
        )
    checks += [
        Check(
            id=f"evidence.{number}",
            rule="evidence that a verdict can rest on",
            state="inconclusive",
            message=reason,
            overrides=True,
        )
        for number, reason in enumerate(simulator.inconclusive, start=1)
    ]
    coverage = simulator.coverage
    if not is_unpaired(simulator) and coverage is not None and coverage.value is not None:
        enough = coverage.value >= MIN_COVERAGE - EPS
        if not enough:
            checks.append(
                Check(
                    id="coverage",
                    rule=f"at least {MIN_COVERAGE:.0%} of the tasks on both sides",
                    state="inconclusive",
                    message=f"{coverage.value:.1%} of the tasks occur on both sides",
                    value=coverage.value,
                    threshold=MIN_COVERAGE,
                    overrides=True,
                )
            )
    return checks


def parse_date(text: str, option: str) -> date:
    """Read ``YYYY-MM-DD``.

    Raises
    ------
    UsageError
        Where it is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is no date; write it as 2026-01-31") from None


def check_age(criteria: Criteria, *, as_of: str | None, scored_on: str | None) -> list[Check]:
    """Age of the scorecard on the day `as_of`; no clock is asked."""
    limit = criteria.max_age_days
    if limit is None:
        return []
    if as_of is None:
        raise UsageError(
            f"the criteria set max_age_days = {limit}: say which day counts, --as-of YYYY-MM-DD "
            "(usi asks no clock, so that the same inputs give the same verdict)"
        )
    today = parse_date(as_of, "--as-of")
    rule = f"scored at most {limit} days before {today}"
    if scored_on is None:
        text = "no run record beside the scorecard says when it was scored"
        return [
            Check(id="max_age_days", rule=rule, state="inconclusive", message=text, overrides=True)
        ]
    age = (today - parse_date(scored_on[:10], "scoring date")).days
    if age < 0:
        raise UsageError(f"--as-of {today} lies before the day of scoring ({scored_on[:10]})")
    return [
        Check(
            id="max_age_days",
            rule=rule,
            state="pass" if age <= limit else "inconclusive",
            message=f"scored {age} days before {today}" + ("" if age <= limit else ": expired"),
            value=float(age),
            threshold=float(limit),
            overrides=True,
        )
    ]
