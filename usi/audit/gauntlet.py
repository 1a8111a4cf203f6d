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
from usi.audit.draws import Design, People, Split, draw
from usi.audit.material import Material, placed
from usi.decisions import Criteria, gate_scorecard, tier
from usi.errors import NotScorable, UsiError, unknown_name
from usi.extraction.table import SessionTable
from usi.loading.notes import LoadNotes
from usi.options import ScoreOptions, TwoSampleMode
from usi.pipeline import Loaded, features, score_with_tables
from usi.records import Session

TIERS = ("A", "B", "C")
PEOPLE = "people"
"""Name of the row of held-out people."""
OTHER_PEOPLE = "other-people"
"""The same with participants who are not in the reference."""
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


def one_trial(
    reference: SessionTable,
    sessions: Sequence[Session],
    *,
    name: str,
    seed: int,
    design: Design,
    replicates: int,
    outcomes: bool,
    c2st: TwoSampleMode = "fast",
) -> Trial:
    """Score and gate one simulator of one draw."""
    try:
        table = table_of(sessions, human=False, name=name)
        card = score_with_tables(
            {name: table},
            reference,
            profile="robust",
            options=ScoreOptions(difficulty="none", replicates=replicates, c2st=c2st),
        ).card
    except UsiError as error:
        refused = dict.fromkeys(TIERS, REFUSED)
        return Trial(seed, design.name, name, refused, {}, {}, str(error))
    verdicts: dict[str, str] = {}
    against: dict[str, tuple[tuple[str, str], ...]] = {}
    numbers: dict[str, tuple[float | None, float | None, float | None]] = {}
    one = card.simulators[0]
    for part, found in {"index": one.index, **one.components}.items():
        numbers[part] = (found.value, found.low, found.high)
    for letter in TIERS:
        decided = gate_scorecard(card, criteria_of(letter, outcomes=outcomes), simulator=name)
        verdicts[letter] = decided.verdict
        checks = decided.simulators[0].checks
        against[letter] = tuple(
            (check.id, check.state) for check in checks if check.state in ("fail", "inconclusive")
        )
        for check in checks:
            if check.value is not None:
                numbers.setdefault(check.id, (check.value, check.low, check.high))
    return Trial(seed, design.name, name, verdicts, against, numbers)


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
    options: dict[str, Any] = {
        "seed": seed, "design": design, "replicates": replicates, "outcomes": people.outcomes,
    }  # fmt: skip
    own = simulator_sessions(material, material.held_out, PEOPLE)
    trials = [one_trial(reference, own, name=PEOPLE, **options)]
    trials += _other_people(people, design, options)
    for attack in attacks:
        rng = random.Random(f"{seed}-{attack.name}")
        try:
            made = simulator_sessions(material, attack.make(material, rng), attack.name)
        except CannotMake as error:
            refused = dict.fromkeys(TIERS, "")
            trials.append(Trial(seed, design.name, attack.name, refused, {}, {}, str(error)))
            continue
        trials.append(one_trial(reference, made, name=attack.name, **options))
    return trials


def _other_people(people: People, design: Design, options: Mapping[str, Any]) -> list[Trial]:
    """People of the other half of the participants, where participants are known."""
    if not people.can_split("participant"):
        return []
    try:
        split: Split = "participant"
        material = draw(people, design, seed=options["seed"], split=split)
    except NotScorable:
        return []  # the halves have too few tasks in common for this design
    reference = table_of(material.people, human=True, name="people")
    own = simulator_sessions(material, material.held_out, OTHER_PEOPLE)
    return [one_trial(reference, own, name=OTHER_PEOPLE, **options)]


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
        return self.name not in (PEOPLE, OTHER_PEOPLE)

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
