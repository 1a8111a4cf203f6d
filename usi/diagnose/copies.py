"""Copies: sessions whose wording stands in a session of people, or in another of the simulator's.

A simulator that replays recorded people has people's means, spread and style, and stands for
nobody. What people share among themselves by chance is taken off.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from usi.extraction.content import PAIR
from usi.scoring.robust.wording import Wording

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SHARED_WORDS = 0.8
"""A session copies another where turns with this share of its words stand in it word for word."""
FEWEST_WORDS = 8
"""Shorter sessions agree by chance."""
FEWEST_IN_TURN = 4
"""Other sessions are looked for by the longest turn, of at least so many different words."""
ALLOWED = 0.01
"""Copies beyond the people's own rate that are let pass."""
Z = 2.3263478740408408
"""One-sided 1 % quantile of the normal distribution: an alarm is no matter of chance."""
_MOST_TRIED = 8


@dataclass(frozen=True)
class Copies:
    """Copies of one kind.

    Attributes
    ----------
    share, people
        Share of the simulator's sessions that are copies; of people's, by the same rule among
        themselves, scaled to as many sessions to agree with by chance.
    low
        Lower bound of the difference.
    sessions
        Sessions of the simulator that were looked at.
    found
        Index of each copy and of the session it copies.
    """

    share: float
    people: float
    low: float
    sessions: int
    found: tuple[tuple[int, int], ...]

    @property
    def alarm(self) -> bool:
        """Whether there are surely more copies than people and `ALLOWED` account for."""
        return self.low > ALLOWED


@dataclass(frozen=True)
class TurnKeys:
    """Turns of each session as keys that depend on their words in any order.

    Attributes
    ----------
    keys
        For each session, key of a turn -> its number of different words.
    longest
        For each session, key of its longest turn; ``None`` for a session that is too short.
    unit
        Task of each session.
    """

    keys: list[dict[int, int]]
    longest: list[int | None]
    unit: Index

    @classmethod
    def of(cls, side: Wording) -> TurnKeys:
        """Keys of the sessions of a side."""
        keys, words = _turn_keys(side)
        by_session: list[dict[int, int]] = [{} for _ in range(side.sessions)]
        longest: list[int | None] = [None] * side.sessions
        best = np.zeros(side.sessions, dtype=np.int64)
        total = np.bincount(side.session, weights=words, minlength=side.sessions)
        for session, key, n in zip(
            side.session.tolist(), keys.tolist(), words.tolist(), strict=True
        ):
            if n:
                by_session[session][key] = n
                if n > best[session] and n >= FEWEST_IN_TURN and total[session] >= FEWEST_WORDS:
                    best[session], longest[session] = n, key
        return cls(by_session, longest, side.unit)

    def index(self) -> dict[int, list[int]]:
        """Sessions by the keys of their turns."""
        found: dict[int, list[int]] = defaultdict(list)
        for session, own in enumerate(self.keys):
            for key, words in own.items():
                if words >= FEWEST_IN_TURN:
                    found[key].append(session)
        return found


def _turn_keys(side: Wording) -> tuple[NDArray[np.uint64], Index]:
    """A key and the number of different words of every turn."""
    numbers, sizes = side.said.numbers, side.said.sizes
    owner = np.repeat(np.arange(len(sizes)), sizes)
    with np.errstate(over="ignore"):
        mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(31)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        keys = np.zeros(len(sizes), dtype=np.uint64)
        np.add.at(keys, owner, mixed)
    words = np.bincount(owner[numbers < PAIR], minlength=len(sizes))
    return keys, words.astype(np.int64)


def _shared(mine: dict[int, int], other: dict[int, int]) -> float:
    total = sum(mine.values())
    return sum(n for key, n in mine.items() if key in other) / total if total else 0.0


def find_copies(
    side: TurnKeys, others: TurnKeys, *, same: bool, tasks: Literal["any", "other", "same"]
) -> list[tuple[int, int]]:
    """Sessions of `side` that copy one of `others`, with the session they copy.

    Parameters
    ----------
    same
        Whether `others` is `side` itself (a session is no copy of itself).
    tasks
        Which sessions are looked at: of any task, of another task, or of the same one.
    """
    index = others.index()
    found = []
    for session, key in enumerate(side.longest):
        if key is None:
            continue
        tried = 0
        for other in index.get(key, ()):
            if same and other == session:
                continue
            alike = side.unit[session] == others.unit[other]
            if tasks != "any" and alike != (tasks == "same"):
                continue
            if _shared(side.keys[session], others.keys[other]) >= SHARED_WORDS:
                found.append((session, other))
                break
            tried += 1
            if tried == _MOST_TRIED:
                break
    return found


def _compared(
    simulator: TurnKeys,
    found: Sequence[tuple[int, int]],
    people: TurnKeys,
    own: Sequence[tuple[int, int]],
    scale: float,
) -> Copies:
    n, m = len(simulator.keys), len(people.keys)
    share, rate = len(found) / n, scale * len(own) / m
    variance = _variance(simulator.unit, found, n) + scale**2 * _variance(people.unit, own, m)
    # One more copy on each side than was seen, so that no variance is 0 by luck.
    variance = max(variance, (1 / n) ** 2 + (1 / m) ** 2)
    return Copies(share, rate, share - rate - Z * float(np.sqrt(variance)), n, tuple(found))


def _variance(unit: Index, found: Sequence[tuple[int, int]], n: int) -> float:
    """Variance of the share of copies with sessions of a task drawn together."""
    hits = Counter(int(unit[session]) for session, _ in found)
    sizes = Counter(unit.tolist())
    share = len(found) / n
    return float(sum((hits.get(u, 0) - share * k) ** 2 for u, k in sizes.items())) / n**2


def copies_of_people(human: Wording, simulator: Wording) -> Copies:
    """Sessions of the simulator that copy a session of people, against people among themselves."""
    people, own = TurnKeys.of(human), TurnKeys.of(simulator)
    found = find_copies(own, people, same=False, tasks="any")
    chance = find_copies(people, people, same=True, tasks="any")
    return _compared(own, found, people, chance, 1.0)


def self_copies(human: Wording, simulator: Wording) -> Copies:
    """Sessions of the simulator that copy another of its own of another task.

    The people's rate is scaled by the number of sessions where the simulator has more.
    """
    people, own = TurnKeys.of(human), TurnKeys.of(simulator)
    found = find_copies(own, own, same=True, tasks="other")
    chance = find_copies(people, people, same=True, tasks="other")
    return _compared(own, found, people, chance, max(1.0, len(own.keys) / len(people.keys)))


def run_copies(human: Wording, simulator: Wording) -> Copies:
    """Sessions that repeat another of the same task: runs, or batches, that are copies.

    Such sessions add no data, and bounds that count them are too narrow. `people` is the share of
    people's sessions that repeat one of another batch.
    """
    people, own = TurnKeys.of(human), TurnKeys.of(simulator)
    found = find_copies(own, own, same=True, tasks="same")
    repeated = find_copies(people, people, same=True, tasks="same")
    return _compared(own, found, people, repeated, 1.0)
