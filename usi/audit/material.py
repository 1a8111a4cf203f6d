"""Real sessions as material: what the people said, and sessions with other words in them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from usi.extraction.robust.cleaning import clean_turn
from usi.records import MISSING, Session

DOMAIN = "audit"
"""Domain of every session of a study: two sides of one task have to agree in it."""


def utterances(session: Session) -> list[str]:
    """What the user said, turn by turn; stop marks, actions and harness text are not among it."""
    return [session.turns[i].content for i in positions(session)]


def positions(session: Session) -> list[int]:
    """Indices of the messages that hold an utterance of the user, as plain text."""
    return [
        i
        for i, turn in enumerate(session.turns)
        if turn.role == "user" and isinstance(turn.content, str) and clean_turn(turn).text
    ]


def with_utterances(session: Session, texts: Sequence[str]) -> Session:
    """The session with other words of the user: the i-th text in place of the i-th utterance.

    The agent's messages, times and the outcome stay. With fewer texts than utterances the
    conversation ends where the texts end (its last messages are cut); surplus texts are not used.
    """
    places = positions(session)
    turns = list(session.turns)
    for place, text in zip(places, texts, strict=False):
        turns[place] = msgspec.structs.replace(turns[place], content=text)
    if len(texts) < len(places):
        turns = turns[: places[len(texts)]]
    return msgspec.structs.replace(session, turns=tuple(turns))


@dataclass(frozen=True)
class Slot:
    """A place of a study that needs a session: a task, and the number of the batch or run."""

    task: str
    replicate: int


def placed(session: Session, slot: Slot, *, human: bool, simulator: str = "") -> Session:
    """The session as if it had been recorded for that place of the study.

    Surveys, agents and the marks of the original file are taken off on both sides: a gauntlet is
    about how users behave. A simulator has no participant.
    """
    mark = "h" if human else "s"
    return msgspec.structs.replace(
        session,
        session_id=f"{mark}:{slot.task}:{slot.replicate}",
        simulator="" if human else simulator,
        domain=DOMAIN,
        task_id=slot.task,
        trial=None if human else str(slot.replicate),
        batch=slot.replicate if human else None,
        layout="usi-jsonl",
        keep=MISSING,
        survey=None,
        participant=session.participant if human else None,
        agent=None,
        error_tags=None,
    )


@dataclass(frozen=True)
class Material:
    """One draw of a study from a corpus of people.

    Attributes
    ----------
    people
        The reference side, in its places.
    held_out
        Other sessions of people, one for every place of the simulator's side: what a perfect
        simulator would give, and what the attacks are made from.
    slots
        The simulator's places, in the order of `held_out`.
    group
        Task of the study -> task of the corpus that its sessions were drawn from.
    models
        Sessions of model users, where given: for mixtures and matched turns.
    """

    people: tuple[Session, ...]
    held_out: tuple[Session, ...]
    slots: tuple[Slot, ...]
    group: Mapping[str, str]
    models: tuple[Session, ...] = ()

    @cached_property
    def spoken(self) -> list[list[str]]:
        """Utterances of every held-out session."""
        return [utterances(session) for session in self.held_out]

    @cached_property
    def groups(self) -> list[str]:
        """Task of the corpus of every place."""
        return [self.group[slot.task] for slot in self.slots]

    def other_place(self, at: int, rng: random.Random, *, same_group: bool) -> int:
        """A random other place whose corpus task is the same, or is another; itself if none."""
        own = self.groups[at]
        found = [i for i, name in enumerate(self.groups) if i != at and (name == own) is same_group]
        return rng.choice(found) if found else at
