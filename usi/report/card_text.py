"""What every form of a scorecard says, in which order and in which words.

The terminal table, the Markdown file and the page take their rows and sentences from here, so they
can't differ. Lines on bounds, floors and further checks are of profiles with bounds; a card without
bounds (profile `tau-usi`) has none of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from usi.decisions.decide import batches_against
from usi.estimate import Estimate, with_bounds
from usi.extraction.spec import DIMENSIONS
from usi.report.names import name_of
from usi.report.tables import NOTHING, Cell, Column, Entry, Table, estimated
from usi.scoring.episodes import Episodes
from usi.scoring.profiles import wording_of
from usi.scoring.robust.floors import OTHER_DOMAIN
from usi.scoring.scorecard import (
    COMPONENTS,
    Component,
    HumanCard,
    Index,
    Scorecard,
    SideCard,
    SimulatorCard,
)

TERMS = 5
"""Tell-tale words of each kind in the terminal."""


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


def diagnostics(card: Scorecard) -> list[str]:
    """Design, success gap, second keys and subgroups of every simulator."""
    return [f"{side.name}: {line}" for side in card.simulators for line in _lines(side)]


def _placed(name: str, part: Component) -> str:
    text = f"{name} {number(part)}"
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
    """Mean of the four dimensions, with the same mean of the anchors."""
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
        f"{name_of(name)} {value.value:.1f}"
        + (f" ({value.n} pairs)" if name == OTHER_DOMAIN else "")
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
        yield batches_against(context).text
    yield from _outcomes(side)
    yield from _survey(side)
    for wire in side.tripwires:
        if wire.alarm:
            yield (
                f"TRIPWIRE {name_of(wire.feature)}: in {wire.simulator_hits} of "
                f"{wire.simulator_sessions} sessions, people in {wire.human_hits} of "
                f"{wire.human_sessions}"
            )
    yield from _told_apart(side)
    if side.blind is not None:
        yield f"{practitioners(side.blind.auc)} ({side.blind.raters} raters)"
    yield from _episodes(side.episodes)
    for part in side.subgroups:
        value = part.index
        score = f"not assessed: {value.reason}" if value.value is None else number(value)
        yield f"{part.by} = {part.value}: index {score} ({part.tasks} tasks)"


def _gap(gap: Estimate | None) -> str | None:
    if gap is None or gap.value is None:
        return None
    if gap.low is not None and gap.low > 0:
        words = "easy mode: it succeeds more often than the reference"
    elif gap.high is not None and gap.high < 0:
        words = "hard mode: it succeeds less often than the reference"
    else:
        words = "no clear difference from the reference"
    return f"success gap {_points_of(gap)} percentage points ({words})"


def _outcomes(side: SimulatorCard) -> Iterator[str]:
    """Correct refusals, which success alone leaves out, and reward against what people saw."""
    outcome = side.components.get("outcome")
    gap = outcome.detail.get("correct_refusal_gap") if outcome else None
    if gap is not None and gap.value is not None:
        yield f"correct refusals {_points_of(gap)} percentage points against the reference"
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
    text = f"survey ({side.survey_design}): kappa {number(kappa, 2)}"
    if people is not None and people.value is not None:
        text += f", between people {number(people, 2)}"
    bias, answered = side.survey_bias, side.survey_answered
    if bias is not None and bias.value is not None:
        text += f", signed bias {bias.value:+.2f}"
    if answered is not None and answered.value is not None:
        text += f", {answered.value:.0%} answered"
    yield text


def _told_apart(side: SimulatorCard) -> Iterator[str]:
    tests = [
        f"{name_of(test.classifier)} {number(test.auc, 2)}"
        if test.auc.value is not None
        else f"{name_of(test.classifier)} not assessed ({test.auc.reason})"
        for test in side.two_sample
    ]
    if tests:
        yield (
            f"a classifier tells it from the reference with AUC {', '.join(tests)} "
            "(0.5: can't, 1: always)"
        )
    yield from _tracking(side)
    yield from _words(side)
    spread = side.spread_index
    if spread is not None and spread.value is not None:
        yield f"sessions spread {spread.value:.2f} times as much as those of the reference"


def _tracking(side: SimulatorCard) -> Iterator[str]:
    """Task tracking, content tracking and turn adjacency in a line."""
    found = [
        f"{name} {number(value, 2)}"
        if value.value is not None
        else f"{name} not assessed ({value.reason})"
        for name, value in (
            (name_of("task_tracking"), side.task_tracking),
            (name_of("content_tracking"), side.content_tracking),
            (name_of("turn_adjacency"), side.turn_adjacency),
        )
        if value is not None
    ]
    if found:
        yield f"{', '.join(found)} (1: like people, 0: unrelated)"


def _words(side: SimulatorCard) -> Iterator[str]:
    """Copies, and the words that tell the sides apart."""
    for share, what in (
        (side.copies, "copies of people's sessions"),
        (side.self_copies, "copies of its own sessions of other tasks"),
        (side.run_copies, "copies of its own sessions of the same task"),
    ):
        if share is not None and share.alarm:
            yield f"{share.copies} of {share.sessions} sessions are {what}"
    for terms, what in (
        (side.telltales, "it says more often than people"),
        (side.unsaid, "it says less often than people"),
    ):
        if terms:
            shown = ", ".join(
                f'"{term.text}" ({term.simulator_sessions} against {term.human_sessions} sessions)'
                for term in terms[:TERMS]
            )
            yield f"{what}: {shown}"


def practitioners(auc: Estimate) -> str:
    """What the AUC of a blind check says, in a sentence with its bounds."""
    if auc.value is None or auc.low is None or auc.high is None:
        return f"blind check not assessed: {auc.reason}"
    bounds = f"AUC {number(auc, 2)}"
    if auc.low > 0.5:
        return f"practitioners could tell: {bounds}"
    if auc.high < 0.5:
        return f"practitioners took people for programs: {bounds}"
    return f"practitioners could not tell: {bounds}"


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


def _points_of(gap: Estimate) -> str:
    """A difference of shares in percentage points."""
    value, low, high = (None if v is None else 100 * v for v in (gap.value, gap.low, gap.high))
    return NOTHING if value is None else with_bounds(value, low, high, 0, signed=True)


def component_title(card: Scorecard, name: str) -> str:
    """Name of a component as the profile of the card calls it."""
    return wording_of(card.profile).title(name)


def yardstick(card: Scorecard) -> str:
    """What the simulators of a card are compared with: people, a real log, or simulator output."""
    wording = wording_of(card.profile)
    return wording.yardstick if card.human.is_human else wording.no_people


def sides(card: Scorecard) -> list[SideCard]:
    """Human reference first, then simulators by falling index; ties and the unscored by name."""

    def rank(side: SideCard) -> tuple[float, str]:
        value = side.index.value
        return (math.inf if value is None else -value, side.name)

    return [card.human, *sorted(card.simulators, key=rank)]


def index_label(index: Index) -> str:
    """Name of an index with its number of terms, which belongs to it: ``USI(5)``, ``USI(6)``.

    Of a log, where a component may not be measurable, ``USI-log (4 of 6)``.
    """
    if index.name == "USI-log" and index.terms:
        return f"{index.name} ({index.terms} of {index.terms_possible})"
    return f"{index.name}({index.terms})" if index.terms else index.name


def number(value: Estimate, digits: int = 1) -> str:
    """Value with its spread or bounds: ``71.2 ± 1.3``, ``71.2 [68.0, 74.1]``, or ``-``."""
    return estimated(value, str(digits))


def scores_table(card: Scorecard, *, apart: bool = False) -> Table:
    """Every side with its scores and counts, in the order of `sides`.

    Parameters
    ----------
    card
        The scorecard.
    apart
        Whether the number of terms stands in a column of its own and not with the index, since
        five and six terms never share a column unmarked.
    """
    shown = sides(card)
    ceilings = any(side.index.ceiling_at_n is not None for side in shown)
    columns = [
        Column("index", "1"),
        *([Column("terms", "1")] if apart else []),
        *([Column("ceiling", "1")] if ceilings else []),
        *(Column(component_title(card, name), "1") for name in COMPONENTS),
        *(Column(name, "i") for name in ("tasks", "sessions", "runs")),
    ]
    rows: list[tuple[Entry, ...]] = []
    for side in shown:
        label = index_label(side.index) if side.index.ok else ""
        people = isinstance(side, HumanCard)
        passes = side.n.batches if people else side.n.runs
        rows.append(
            (
                side.name,
                Cell(side.index, after="" if apart else label),
                *([label or None] if apart else []),
                *([side.index.ceiling_at_n] if ceilings else []),
                *(side.components.get(name) for name in COMPONENTS),
                side.n.tasks,
                side.n.sessions,
                _plural(passes, "batch", "batches") if people else _plural(passes, "run", "runs"),
            )
        )
    return Table(
        f"{'SYNTHETIC DATA · ' if card.synthetic else ''}profile {card.profile}",
        ("name", *columns),
        tuple(rows),
        strong=(0,) if card.human.is_human else (),
    )


def missing(card: Scorecard) -> list[str]:
    """Why cells are empty: one line a reason, with the components and sides that it empties."""
    found: dict[tuple[str, str], list[str]] = {}
    for side in sides(card):
        reasons: dict[str, list[str]] = {}
        parts = {name: side.components[name] for name in COMPONENTS if name in side.components}
        for name, part in (*parts.items(), ("index", side.index)):
            if part.reason:
                why = f"{part.status.replace('_', ' ')}: {part.reason}"
                reasons.setdefault(why, []).append(name)
        for why, names in reasons.items():
            found.setdefault((", ".join(names), why), []).append(side.name)
    return [f"{what} {why} ({', '.join(names)})" for (what, why), names in found.items()]


def left_out(card: Scorecard) -> list[str]:
    """What was not scored or was repaired, with counts."""
    return [
        f"{side.name}: {item.count:,} x {item.reason}"
        for side in sides(card)
        for item in side.left_out
    ]


def warnings(card: Scorecard) -> list[str]:
    """Warnings about the whole card, then those about a side."""
    lines = [warning.text for warning in card.warnings]
    for side in sides(card):
        lines += [f"{side.name}: {warning.text}" for warning in side.warnings]
    return list(dict.fromkeys(lines))


def sections(card: Scorecard) -> list[tuple[str, list[str]]]:
    """Everything below the table of scores, with its titles; empty sections are left out."""
    found = [
        ("Between floor and ceiling", between(card)),
        ("Diagnostics", diagnostics(card)),
        ("Missing values", missing(card)),
        ("Left out or repaired", left_out(card)),
        ("Warnings", warnings(card)),
    ]
    return [(title, lines) for title, lines in found if lines]


def headline(card: Scorecard) -> list[str]:
    """What the card says, in at most three sentences."""
    scored = [side for side in sides(card)[1:] if side.index.value is not None]
    lines = []
    human = card.human.index
    reference = "people" if card.human.is_human else "runs of the reference"
    if card.synthetic:
        reference = f"synthetic {reference}"
    ceilings = [s.index.ceiling_at_n for s in scored if s.index.ceiling_at_n is not None]
    if ceilings:
        low, high = (f"{end(ceilings):.1f}" for end in (min, max))
        among = "" if human.value is None else f"; {reference}, one batch against another: "
        among += "" if human.value is None else f"{human.value:.1f}"
        lines.append(
            f"Ceiling: with so many data a perfect simulator would score about "
            f"{low if low == high else f'{low} to {high}'} of 100{among}."
        )
    elif human.value is not None:
        lines.append(
            f"Ceiling: {reference} score {human.value:.1f} of 100 against each other "
            f"({index_label(human)})."
        )
    else:
        lines.append(f"Ceiling: not known ({human.reason}).")
    if scored:
        lines.append(order(card))
        worst = scored[-1]
        parts = [
            (part.value, name) for name, part in worst.components.items() if part.value is not None
        ]
        if parts:
            value, name = min(parts)
            lines.append(
                f"Least like {reference}: {worst.name}, most of all in {name} ({value:.1f})."
            )
    else:
        lines.append("No simulator could be scored.")
    return lines


def order(card: Scorecard) -> str:
    """The simulators that have an index, by falling value, in one sentence."""
    scored = [side for side in sides(card)[1:] if side.index.value is not None]
    names = " > ".join(f"{side.name} {side.index.value:.1f}" for side in scored)
    labels = sorted({index_label(side.index) for side in scored})
    return f"Order by {' and '.join(labels)}: {names}."


def facts(card: Scorecard) -> list[tuple[str, str]]:
    """What the numbers rest on: profile, difficulty, settings, signature."""
    pairs: list[tuple[str, str]] = [
        ("profile", card.profile),
        ("difficulty", card.difficulty),
        *sorted(card.settings.items()),
        ("signature", card.signature),
        ("usi", card.usi_version),
    ]
    return list(dict.fromkeys(pairs))


def reading(cards: Sequence[SideCard]) -> list[str]:
    """How to read the table: what ± is, which marks stand for what."""
    labels = sorted({index_label(side.index) for side in cards if side.index.value is not None})
    lines = ["All values are points from 0 to 100; 100 is like the reference."]
    if any(
        part.sd is not None for side in cards for part in (side.index, *side.components.values())
    ):
        lines.append(
            "± is the population standard deviation over the batches of the reference, "
            "not a standard error."
        )
    if any(side.index.low is not None for side in cards):
        lines.append("[low, high] are the bounds that a gate decides by.")
    if any(side.index.ceiling_at_n is not None for side in cards):
        lines.append("ceiling: what a perfect simulator would score with so many data.")
    if len(labels) > 1:
        lines.append(
            f"{' and '.join(labels)} are means of different components: "
            "do not compare a value of one with a value of the other."
        )
    return lines


def _plural(count: int | None, one: str, many: str) -> str | None:
    return None if count is None else f"{count} {one if count == 1 else many}"
