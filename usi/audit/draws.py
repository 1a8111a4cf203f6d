"""Drawing studies from a corpus of people: tasks, a reference side, and other people.

A task of a study ("pseudo-task") is made of sessions of one task of the corpus that no other task
of the study has: some for the batches of the reference, others for the simulator's runs. So the
simulator's side of a study holds real people, whom a gate ought to pass, in the same places where
attacks put something else.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from usi.audit.material import Material, Slot, placed, positions
from usi.errors import NotScorable, UsageError
from usi.records import Session

Split = Literal["participant", "session"]
MIN_TASKS = 30
"""Tasks of a study below which the gate decides nothing."""


@dataclass(frozen=True)
class Design:
    """Size of a study.

    Attributes
    ----------
    tasks, batches, runs
        Tasks; sessions of people and of the simulator on each of them.
    """

    tasks: int
    batches: int
    runs: int

    @property
    def name(self) -> str:
        """Such as ``165x3x3``."""
        return f"{self.tasks}x{self.batches}x{self.runs}"

    @classmethod
    def parse(cls, text: str) -> Design:
        """Read ``165x3x3``.

        Raises
        ------
        UsageError
            Where it is anything else.
        """
        parts = text.lower().split("x")
        if len(parts) != 3 or not all(part.isdecimal() and int(part) > 0 for part in parts):
            raise UsageError(f"a design is TASKSxBATCHESxRUNS, such as 165x3x3, not {text!r}")
        return cls(*map(int, parts))


@dataclass(frozen=True)
class People:
    """The usable sessions of a corpus.

    Attributes
    ----------
    sessions
        Sessions with at least one utterance, in the order of the corpus.
    tasks
        Task of each, shape (sessions,).
    left_out
        Reason -> number of sessions that can't be used.
    """

    sessions: tuple[Session, ...]
    tasks: tuple[str, ...]
    left_out: Mapping[str, int]

    @property
    def participants(self) -> int:
        """Number of different participants; 0 where none is known."""
        return len({s.participant for s in self.sessions if s.participant})

    @property
    def outcomes(self) -> bool:
        """Whether any session tells how it ended."""
        return any(session.outcome.reward is not None for session in self.sessions)

    def can_split(self, split: Split) -> bool:
        """Whether the sessions say enough for that way of dividing them."""
        return split == "session" or all(session.participant for session in self.sessions)


def people_of(sessions: Sequence[Session], tasks: Sequence[str | None]) -> People:
    """Keep the sessions that can stand in a study, and count the others by reason.

    Parameters
    ----------
    sessions
        As read from the corpus.
    tasks
        Task of each, as the session table has it; ``None`` where there is none.
    """
    left: Counter[str] = Counter()
    kept, names = [], []
    for session, task in zip(sessions, tasks, strict=True):
        if session.status != "ok":
            left[session.status] += 1
        elif task is None:
            left["no task"] += 1
        elif not positions(session):
            left["no utterance of the user"] += 1
        else:
            kept.append(session)
            names.append(task)
    return People(tuple(kept), tuple(names), dict(left))


def _half(people: People, rng: random.Random) -> frozenset[str]:
    """Participants of one half of the sessions, or nearly: whole persons at random."""
    counts = Counter(session.participant or "" for session in people.sessions)
    names = sorted(counts)
    rng.shuffle(names)
    chosen, sizes = set(), [0, 0]
    for name in names:
        half = int(sizes[1] < sizes[0])
        sizes[half] += counts[name]
        if half == 0:
            chosen.add(name)
    return frozenset(chosen)


def units(
    people: People,
    batches: int,
    runs: int,
    rng: random.Random,
    reference: frozenset[str] | None = None,
) -> list[tuple[str, list[int], list[int]]]:
    """All tasks that can be made: (corpus task, sessions of the reference, other sessions).

    With `reference` the first are sessions of these participants, the others of everybody else.
    """
    by_task: dict[str, tuple[list[int], list[int]]] = {}
    for i, task in enumerate(people.tasks):
        own = by_task.setdefault(task, ([], []))
        other = reference is not None and people.sessions[i].participant not in reference
        own[int(other)].append(i)
    found = []
    for task, halves in sorted(by_task.items()):
        for half in halves:
            rng.shuffle(half)
        first, second = halves
        if reference is not None:
            count = min(len(first) // batches, len(second) // runs)
        else:
            count = len(first) // (batches + runs)
            second = first[count * batches :]
        found += [
            (
                task,
                first[k * batches : (k + 1) * batches],
                second[k * runs : (k + 1) * runs],
            )
            for k in range(count)
        ]
    return found


def largest(people: People, *, tasks: int = 165) -> Design:
    """The design that a corpus allows: three batches and runs where there are sessions enough.

    Raises
    ------
    NotScorable
        Where no design of `MIN_TASKS` tasks can be made.
    """
    best: Design | None = None
    for batches, runs in ((3, 3), (2, 2), (2, 1), (1, 1)):
        count = len(units(people, batches, runs, random.Random(0)))
        if count >= min(tasks, 50):
            return Design(min(tasks, count), batches, runs)
        if count >= MIN_TASKS and (best is None or count > best.tasks):
            best = Design(count, batches, runs)
    if best is None:
        raise NotScorable(
            f"a gauntlet needs at least {MIN_TASKS} tasks with two sessions of people each; this "
            f"corpus has {len(people.sessions)} usable sessions on {len(set(people.tasks))} tasks "
            "(--group domain takes the sessions of a domain for talks about the same task)"
        )
    return best


def draw(
    people: People,
    design: Design,
    *,
    seed: int,
    split: Split = "session",
    reference: frozenset[str] | None = None,
    models: Sequence[Session] = (),
) -> Material:
    """One study: the same seed gives the same people in the same places.

    Parameters
    ----------
    people, design, seed
        Where from, how large, and which draw.
    split
        ``"session"``: the two sides have different sessions; ``"participant"``: different people.
    reference
        Participants whose sessions alone are the reference, in place of half of them.
    models
        Sessions of model users, for attacks that need some.

    Raises
    ------
    NotScorable
        Where the corpus is too small for the design.
    """
    rng = random.Random(f"{seed}-{design.name}-{split}")
    if reference is None and split == "participant":
        reference = _half(people, rng)
    found = units(people, design.batches, design.runs, rng, reference)
    if len(found) < design.tasks:
        raise NotScorable(
            f"the corpus has sessions for {len(found)} tasks of {design.batches} batches and "
            f"{design.runs} runs, not for {design.tasks}"
        )
    chosen = rng.sample(found, design.tasks)
    mine, others, slots, group = [], [], [], {}
    for number, (task, first, second) in enumerate(chosen):
        name = f"t{number:03d}"
        group[name] = task
        for replicate, at in enumerate(first, 1):
            mine.append(placed(people.sessions[at], Slot(name, replicate), human=True))
        for replicate, at in enumerate(second, 1):
            slots.append(Slot(name, replicate))
            others.append(people.sessions[at])
    return Material(tuple(mine), tuple(others), tuple(slots), group, tuple(models))
