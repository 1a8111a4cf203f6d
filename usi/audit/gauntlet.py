"""Running the gauntlet: every attack and real people through the score and the gate.

One draw takes a study from the corpus (`usi.audit.draws`), makes each simulator of it
(`usi.audit.attacks`), scores it and asks the gate at tiers A, B and C. Many draws give the share
that each tier admits: the power of the gate on this very corpus.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from usi.audit.attacks import ATTACKS, Attack, CannotMake
from usi.audit.draws import Design, People, draw
from usi.audit.material import Material, placed
from usi.decisions import Criteria, gate_scorecard, tier
from usi.errors import NotScorable, UsiError, unknown_name
from usi.extraction.table import SessionTable
from usi.loading.notes import LoadNotes
from usi.options import ScoreOptions, TwoSampleMode
from usi.pipeline import Loaded, features, score_with_tables
from usi.records import Session
from usi.scoring.robust.reference import scorable_rows
from usi.scoring.scorecard import Scorecard

TIERS = ("A", "B", "C")
PEOPLE = "people"
"""Name of the row of held-out people."""
OTHER_PEOPLE = "other-people"
"""The same with participants who are not in the reference."""
OTHER_HALF = "other half"
"""Name of the row of real cases, where the corpus is an event log."""
REFUSED = "REFUSED"
"""In place of a verdict: there was no score, for a reason that the row gives."""


@dataclass(frozen=True)
class Trial:
    """One simulator in one draw.

    Attributes
    ----------
    draw
        Seed of the draw.
    design
        Such as ``165x3x3``.
    name
        Name of the attack, or `PEOPLE` or `OTHER_PEOPLE`.
    verdicts
        Tier -> ``PASS``, ``FAIL``, ``INCONCLUSIVE`` or `REFUSED`.
    against
        Tier -> id and state (``fail`` or ``inconclusive``) of every check that did not pass.
    numbers
        Value, low and high of the index, the components and every check with a value.
    reason
        Why it was refused; empty otherwise.
    """

    draw: int
    design: str
    name: str
    verdicts: dict[str, str]
    against: dict[str, tuple[tuple[str, str], ...]]
    numbers: dict[str, tuple[float | None, float | None, float | None]]
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return asdict(self)


def chosen_attacks(names: Iterable[str] = (), *, models: bool = False) -> tuple[Attack, ...]:
    """The attacks of these names, or all that can be made.

    Parameters
    ----------
    names
        Names of attacks; none: all.
    models
        Whether there are transcripts of model users.

    Raises
    ------
    UsageError
        For a name that is no attack, with near matches.
    """
    known = {attack.name: attack for attack in ATTACKS}
    for name in names:
        if name not in known:
            raise unknown_name("attack", name, list(known))
    wanted = [known[name] for name in names] or ATTACKS
    return tuple(attack for attack in wanted if models or not attack.needs_models)


def table_of(sessions: Sequence[Session], *, human: bool, name: str) -> SessionTable:
    """Session table of one side of a study."""
    return features(
        Loaded(tuple(sessions), name, LoadNotes()),
        side="human" if human else "simulated",
        profile="robust",
    )


def simulator_sessions(
    material: Material, sessions: Sequence[Session], name: str
) -> tuple[Session, ...]:
    """The sessions of an attack in the places of the simulator."""
    return tuple(
        placed(session, slot, human=False, simulator=name)
        for session, slot in zip(sessions, material.slots, strict=True)
    )


def criteria_of(letter: str, *, outcomes: bool) -> Criteria:
    """The tier; without outcomes only what it asks of behaviour (no index, no success gap)."""
    asked = tier(letter)
    if outcomes:
        return asked
    minimum = asked.minimum.model_copy(update={"index": None, "outcome": None})
    components = tuple(name for name in asked.require.components if name != "outcome")
    return asked.model_copy(
        update={
            "minimum": minimum,
            "max_success_gap": None,
            "require": asked.require.model_copy(update={"components": components}),
        }
    )


@dataclass(frozen=True)
class Asked:
    """What is asked of every simulator of a draw.

    Attributes
    ----------
    seed, design
        Of the draw.
    replicates
        Bootstrap replicates of a score.
    outcomes
        Whether the corpus tells how sessions ended.
    c2st
        Mode of the two-sample test.
    """

    seed: int
    design: Design
    replicates: int
    outcomes: bool
    c2st: TwoSampleMode = "fast"


def trials_of(
    reference: SessionTable, simulators: Mapping[str, Sequence[Session]], asked: Asked
) -> list[Trial]:
    """Score and gate the simulators of one draw, in their order.

    They are scored together, so that what is learned on people is learned once; one that can't be
    scored is refused, and the others stand.
    """
    tables = {
        name: table_of(sessions, human=False, name=name) for name, sessions in simulators.items()
    }
    criteria = {letter: criteria_of(letter, outcomes=asked.outcomes) for letter in TIERS}
    silent = [name for name, table in tables.items() if not scorable_rows(table.frame).height]
    cards = _cards(reference, {n: t for n, t in tables.items() if n not in silent}, asked)
    for name in silent:
        cards |= _cards(reference, {name: tables[name]}, asked)
    return [_trial(name, cards[name], criteria, asked) for name in simulators]


def _cards(
    reference: SessionTable, tables: Mapping[str, SessionTable], asked: Asked
) -> dict[str, Scorecard | str]:
    """The scorecard that holds each simulator, or why it was refused."""
    if not tables:
        return {}
    options = ScoreOptions(difficulty="none", replicates=asked.replicates, c2st=asked.c2st)
    try:
        card = score_with_tables(tables, reference, profile="robust", options=options).card
    except UsiError as error:
        if len(tables) == 1:
            return dict.fromkeys(tables, str(error))
        # One of them can't be scored: each by itself says which.
        return {
            name: own
            for label, table in tables.items()
            for name, own in _cards(reference, {label: table}, asked).items()
        }
    return dict.fromkeys(tables, card)


def _trial(
    name: str, card: Scorecard | str, criteria: Mapping[str, Criteria], asked: Asked
) -> Trial:
    """Verdicts of one simulator of a card, and the numbers behind them."""
    design = asked.design.name
    if isinstance(card, str):
        return Trial(asked.seed, design, name, dict.fromkeys(TIERS, REFUSED), {}, {}, card)
    verdicts: dict[str, str] = {}
    against: dict[str, tuple[tuple[str, str], ...]] = {}
    numbers: dict[str, tuple[float | None, float | None, float | None]] = {}
    one = next(side for side in card.simulators if side.name == name)
    for part, found in {"index": one.index, **one.components}.items():
        numbers[part] = (found.value, found.low, found.high)
    for letter, own in criteria.items():
        decided = gate_scorecard(card, own, simulator=name)
        verdicts[letter] = decided.verdict
        checks = decided.simulators[0].checks
        against[letter] = tuple(
            (check.id, check.state) for check in checks if check.state in ("fail", "inconclusive")
        )
        for check in checks:
            if check.value is not None:
                numbers.setdefault(check.id, (check.value, check.low, check.high))
    return Trial(asked.seed, design, name, verdicts, against, numbers)


def one_draw(
    people: People,
    design: Design,
    attacks: Sequence[Attack],
    *,
    seed: int,
    models: Sequence[Session] = (),
    replicates: int = 1000,
) -> list[Trial]:
    """Held-out people and every attack of one draw."""
    material = draw(people, design, seed=seed, models=models)
    reference = table_of(material.people, human=True, name="people")
    asked = Asked(seed, design, replicates, people.outcomes)
    made = {PEOPLE: simulator_sessions(material, material.held_out, PEOPLE)}
    unmade: dict[str, Trial] = {}
    for attack in attacks:
        rng = random.Random(f"{seed}-{attack.name}")
        try:
            sessions = attack.make(material, rng)
        except CannotMake as error:
            nothing = dict.fromkeys(TIERS, "")
            unmade[attack.name] = Trial(seed, design.name, attack.name, nothing, {}, {}, str(error))
            continue
        made[attack.name] = simulator_sessions(material, sessions, attack.name)
    found = {trial.name: trial for trial in trials_of(reference, made, asked)} | unmade
    return [
        found[PEOPLE],
        *_other_people(people, asked),
        *(found[attack.name] for attack in attacks),
    ]


def held_out_people(people: People, asked: Asked) -> list[Trial]:
    """Held-out people of one draw alone."""
    material = draw(people, asked.design, seed=asked.seed)
    reference = table_of(material.people, human=True, name=PEOPLE)
    made = simulator_sessions(material, material.held_out, PEOPLE)
    return trials_of(reference, {PEOPLE: made}, asked)


def _other_people(people: People, asked: Asked) -> list[Trial]:
    """People of the other half of the participants, where participants are known."""
    if not people.can_split("participant"):
        return []
    try:
        material = draw(people, asked.design, seed=asked.seed, split="participant")
    except NotScorable:
        return []  # the halves have too few tasks in common for this design
    reference = table_of(material.people, human=True, name="people")
    own = simulator_sessions(material, material.held_out, OTHER_PEOPLE)
    return trials_of(reference, {OTHER_PEOPLE: own}, asked)


@dataclass(frozen=True)
class Stopped:
    """How many draws a check stopped a simulator in: it failed, or was inconclusive."""

    check: str
    state: str
    draws: int


@dataclass(frozen=True)
class Admission:
    """How often the gate admitted one simulator.

    Attributes
    ----------
    name, about
        The attack.
    draws
        Draws in which it could be made.
    verdicts
        Tier -> verdict -> number of draws.
    against
        Tier -> checks that stopped it, the most frequent first.
    numbers
        Part -> mean value over the draws that have one.
    reason
        Why it could not be made, or was refused.
    """

    name: str
    about: str
    draws: int
    verdicts: dict[str, dict[str, int]]
    against: dict[str, list[Stopped]]
    numbers: dict[str, float]
    reason: str = ""

    @property
    def attack(self) -> bool:
        """Whether it is an attack, and not people."""
        return self.name not in (PEOPLE, OTHER_PEOPLE, OTHER_HALF)

    def admitted(self, letter: str) -> int:
        """Draws that passed the tier."""
        return self.verdicts[letter].get("PASS", 0)


_ABOUT = {
    PEOPLE: "other sessions of real people",
    OTHER_PEOPLE: "real people who are not in the reference",
} | {attack.name: attack.about for attack in ATTACKS}


def admissions(trials: Sequence[Trial]) -> list[Admission]:
    """One row a simulator over all draws, in the order of the trials."""
    rows: dict[str, list[Trial]] = {}
    for trial in trials:
        rows.setdefault(trial.name, []).append(trial)
    return [_admission(name, own) for name, own in rows.items()]


def _admission(name: str, trials: Sequence[Trial]) -> Admission:
    made = [trial for trial in trials if any(trial.verdicts.values())]
    values: dict[str, list[float]] = {}
    for trial in made:
        for part, (value, _, _) in trial.numbers.items():
            if value is not None:
                values.setdefault(part, []).append(value)
    return Admission(
        name=name,
        about=_ABOUT.get(name, ""),
        draws=len(made),
        verdicts={
            letter: dict(Counter(trial.verdicts[letter] for trial in made)) for letter in TIERS
        },
        against={
            letter: [
                Stopped(name, state, draws)
                for (name, state), draws in Counter(
                    check for trial in made for check in trial.against.get(letter, ())
                ).most_common()
            ]
            for letter in TIERS
        },
        numbers={part: sum(own) / len(own) for part, own in values.items()},
        reason=next((trial.reason for trial in trials if trial.reason), ""),
    )
