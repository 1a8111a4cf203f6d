"""What stands beside a score of the profile `robust`: bounds, anchors, second keys, in words.

Every line is about one simulator and begins with its name. A card without bounds (profile
`tau-usi`) has none of these lines.
"""

from __future__ import annotations

from collections.abc import Iterator

from usi.estimate import Estimate
from usi.features.spec import DIMENSIONS
from usi.score.episodes import Episodes
from usi.score.scorecard import COMPONENTS, Component, Scorecard, SimulatorCard

ANCHORS = {
    "constant_user": "a user who always says the same",
    "echo_of_the_agent": "a user who echoes the agent",
    "people_of_another_domain": "people of another domain",
}


def between(card: Scorecard) -> list[str]:
    """Every component between its floor and its ceiling, with bounds and the corrected value."""
    lines = []
    for side in card.simulators:
        for name in (*COMPONENTS, "index"):
            part = side.index if name == "index" else side.components.get(name)
            if part is not None and part.value is not None and part.low is not None:
                lines.append(f"{side.name}: {_placed(name, part)}")
        mean = _behaviour(side)
        if mean:
            lines.append(f"{side.name}: {mean}")
    return lines


def beside(card: Scorecard) -> list[str]:
    """Design, success gap, second keys and subgroups of every simulator."""
    return [f"{side.name}: {line}" for side in card.simulators for line in _lines(side)]


def _placed(name: str, part: Component) -> str:
    text = f"{name} {part.value:.1f} [{part.low:.1f}, {part.high or 0:.1f}]"
    for word, value in (
        ("ceiling", part.ceiling_at_n),
        ("floor", part.floor),
        ("corrected for noise", part.corrected),
    ):
        if value is not None:
            text += f", {word} {value:.1f}"
    if part.batch_range is not None:
        low, high = part.batch_range
        text += f", with one batch left out {low:.1f} to {high:.1f}"
    if not part.decides_fail:
        text += " (follows the task script: decides no FAIL here)"
    return text


def _behaviour(side: SimulatorCard) -> str | None:
    """Mean of the four dimensions beside the same mean of the anchors."""
    if not side.floors:
        return None
    parts = [side.components.get(name) for name in DIMENSIONS]
    values = [part.value for part in parts if part is not None and part.value is not None]
    if len(values) < len(DIMENSIONS):
        return None
    text = f"mean of the four dimensions {sum(values) / len(values):.1f}"
    tops = [part.ceiling_at_n for part in parts if part is not None]
    known = [top for top in tops if top is not None]
    found = [f"a perfect simulator {sum(known) / len(known):.1f}"] if len(known) == 4 else []
    found += [
        f"{ANCHORS.get(name, name)} {value.value:.1f}"
        for name, value in side.floors.items()
        if value.value is not None
    ]
    return f"{text}; {', '.join(found)}" if found else text


def _lines(side: SimulatorCard) -> Iterator[str]:
    if side.design_reason:
        yield f"design {side.design_reason}"
    gap = _gap(side.success_gap)
    if gap:
        yield gap
    context = side.versus_humans
    if context is not None and context.value is not None:
        yield (
            f"people among themselves score {context.value:+.1f}{_bounds(context, 1)} points above "
            "it, one run against one batch (context only: the distance shrinks with fewer data)"
        )
    yield from _outcomes(side)
    yield from _survey(side)
    for wire in side.tripwires:
        if wire.alarm:
            yield (
                f"TRIPWIRE {wire.feature}: in {wire.simulator_hits} of {wire.simulator_sessions} "
                f"sessions, people in {wire.human_hits} of {wire.human_sessions}"
            )
    yield from _told_apart(side)
    yield from _episodes(side.episodes)
    for part in side.subgroups:
        value = part.index
        score = (
            f"not assessed: {value.reason}"
            if value.value is None
            else f"{value.value:.1f}{_bounds(value, 1)}"
        )
        yield f"{part.by} = {part.value}: index {score} ({part.tasks} tasks)"


def _gap(gap: Estimate | None) -> str | None:
    if gap is None or gap.value is None:
        return None
    bounds = ""
    if gap.low is not None and gap.high is not None:
        bounds = f" [{100 * gap.low:+.0f}, {100 * gap.high:+.0f}]"
    if gap.low is not None and gap.low > 0:
        words = "easy mode: it succeeds more often than the reference"
    elif gap.high is not None and gap.high < 0:
        words = "hard mode: it succeeds less often than the reference"
    else:
        words = "no clear difference from the reference"
    return f"success gap {100 * gap.value:+.0f}{bounds} percentage points ({words})"


def _outcomes(side: SimulatorCard) -> Iterator[str]:
    """Correct refusals, which success alone leaves out, and reward against what people saw."""
    outcome = side.components.get("outcome")
    gap = outcome.detail.get("correct_refusal_gap") if outcome else None
    if gap is not None and gap.value is not None:
        points = f"{100 * gap.value:+.0f}"
        if gap.low is not None and gap.high is not None:
            points += f" [{100 * gap.low:+.0f}, {100 * gap.high:+.0f}]"
        yield f"correct refusals {points} percentage points against the reference"
    seen = side.perceived
    if seen is not None:
        yield (
            f"reward against success as people saw it: both {seen.both}, reward alone "
            f"{seen.reward_only}, people alone {seen.perceived_only}, neither {seen.neither}"
        )


def _survey(side: SimulatorCard) -> Iterator[str]:
    kappa, people = side.survey_kappa, side.human_kappa
    if kappa is None or kappa.value is None:
        return
    text = f"survey ({side.survey_design}): kappa {kappa.value:.2f}{_bounds(kappa, 2)}"
    if people is not None and people.value is not None:
        text += f", people among themselves {people.value:.2f}{_bounds(people, 2)}"
    bias, answered = side.survey_bias, side.survey_answered
    if bias is not None and bias.value is not None:
        text += f", signed bias {bias.value:+.2f}"
    if answered is not None and answered.value is not None:
        text += f", {answered.value:.0%} answered"
    yield text


def _told_apart(side: SimulatorCard) -> Iterator[str]:
    tests = [
        f"{test.classifier} {test.auc.value:.2f}{_bounds(test.auc, 2)}"
        if test.auc.value is not None
        else f"{test.classifier} not assessed ({test.auc.reason})"
        for test in side.two_sample
    ]
    if tests:
        yield (
            f"a classifier tells it from the reference with AUC {', '.join(tests)} "
            "(0.5: can't, 1: always)"
        )
    spread = side.spread_index
    if spread is not None and spread.value is not None:
        yield f"sessions spread {spread.value:.2f} times as much as those of the reference"


def _episodes(found: Episodes | None) -> Iterator[str]:
    """Rules broken on the way, findings and cost, as the runs recorded them."""
    if found is None:
        return
    if found.checked:
        rules = ", ".join(f"{b.rule} {b.sessions} ({b.rewarded})" for b in found.broken)
        yield (
            f"rules broken on the way in {found.checked:,} checked sessions (of these with "
            f"reward 1): {rules or 'none'}"
        )
    for value, words in ((found.hidden, "broke a rule"), (found.unconfirmed, "skipped a yes")):
        if value.value is not None and value.value > 0:
            yield f"reward 1 hides that {value.value:.1%} of {value.n:,} sessions {words}"
    if found.failed:
        kinds = ", ".join(f"{f.kind} {f.sessions}" for f in found.findings)
        yield f"why {found.failed:,} sessions failed (some in several ways): {kinds}"
    if found.cost_usd:
        yield f"cost ${found.cost_usd:.4f}, ${found.cost_usd / found.priced:.5f} a session"


def _bounds(value: Estimate, digits: int) -> str:
    if value.low is None or value.high is None:
        return ""
    return f" [{value.low:.{digits}f}, {value.high:.{digits}f}]"
