"""What raters could tell: AUC with bounds over raters and sessions, agreement, marked turns.

A rating is one of six ordered answers, from "a person, very sure" (1) to "a program, very sure"
(6). The AUC of a rater is the share of pairs (a session of a simulator, a session of people) in
which the simulator's has the higher answer, ties counting half (Hanley and McNeil 1982); raters are
pooled by pairs within a rater, since scales differ between raters:

    AUC = sum over r, i, j of ([a_ri > a_rj] + [a_ri = a_rj] / 2) / number of (r, i, j)

0.5: raters can't tell; 1: they always can; below 0.5: they take people for programs. Bounds are
the 5th and 95th percentile of a bootstrap that draws raters, sessions of people and sessions of
simulators, each with replacement (the pigeonhole bootstrap, Owen 2007, which is conservative).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from usi._version import __version__
from usi.errors import InputError
from usi.estimate import Estimate, not_assessed, unscorable
from usi.reading import held_to, read_json
from usi.reasons import BLIND_FEW, BLIND_NO_PAIR, BLIND_NO_RATINGS, BLIND_ONE_SIDE, BLIND_SAME
from usi.scoring.robust.agreement import krippendorff_alpha
from usi.study.blind.items import Item

Array = npt.NDArray[np.float64]
REPLICATES = 2000
LEAST_RATERS, LEAST_SESSIONS = 3, 5
"""With fewer raters, or sessions a side, there are no bounds that mean anything."""
MOST_MARKED = 20
SHARE = "share"


@dataclass(frozen=True)
class Rating:
    """An answer of a rater about a session."""

    rater: str
    item: str
    verdict: str
    sure: int
    realism: int
    turn: int | None = None
    experience: str = ""

    @property
    def answer(self) -> int:
        """1 (a person, very sure) to 6 (a program, very sure)."""
        return 3 + self.sure if self.verdict == "program" else 4 - self.sure


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BlindSimulator(_Part):
    """What raters said about one simulator.

    Attributes
    ----------
    auc
        Against the sessions of people.
    called_program
        Share of its ratings that say program.
    realism
        Mean of its ratings, 1 to 5.
    """

    name: str
    auc: Estimate
    called_program: Estimate
    realism: Estimate


class BlindGroup(_Part):
    """The AUC of raters with the same experience."""

    experience: str
    raters: int
    auc: Estimate


class MarkedTurn(_Part):
    """A turn that gave a session away, with how many raters marked it of those who read it."""

    session: str
    simulator: str
    turn: int
    text: str
    marks: int
    ratings: int


class LeftOut(_Part):
    """A rater whose ratings do not count, with the owner's reason and how many these are."""

    rater: str
    reason: str
    ratings: int


class BlindCard(_Part):
    """The result of a blind check; it joins a scorecard by the names of simulators.

    Attributes
    ----------
    auc
        Of all simulators together.
    agreement
        Krippendorff's alpha of the verdicts (nominal), at most 1; 0 is chance.
    people_called_program, people_realism
        What raters said about people.
    incomplete
        Ratings that raters were given and did not give.
    """

    kind: str = "blind"
    schema_version: int = 1
    title: str
    synthetic: bool
    raters: int
    sessions: int
    ratings: int
    incomplete: int
    auc: Estimate
    agreement: Estimate
    people_called_program: Estimate
    people_realism: Estimate
    simulators: tuple[BlindSimulator, ...]
    experience: tuple[BlindGroup, ...]
    marked: tuple[MarkedTurn, ...]
    left_out: tuple[LeftOut, ...] = ()
    signature: str

    def to_json(self) -> str:
        """JSON text with a final newline."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def read(cls, path: Path) -> BlindCard:
        """Read what ``usi blind export`` wrote.

        Raises
        ------
        InputError
            For anything else.
        """
        data = read_json(path)
        if not isinstance(data, dict) or "raters" not in data:
            raise InputError("is not a result of usi blind export", file=str(path))
        return held_to(cls, data, str(path), strict=True)


def results_of(
    items: Sequence[Item],
    ratings: Sequence[Rating],
    *,
    title: str,
    seed: int,
    incomplete: int = 0,
    synthetic: bool = False,
    left_out: Sequence[LeftOut] = (),
    replicates: int = REPLICATES,
) -> BlindCard:
    """Everything that is said about a blind check.

    Parameters
    ----------
    items
        All sessions of the check.
    ratings
        Complete ones.
    seed
        Of the bootstrap.
    incomplete
        Ratings that were not given.
    synthetic
        Whether the raters were scripts; items say themselves whether the people were.
    left_out
        Raters whose ratings are not among these.
    """
    by_id = {item.id: item for item in items}
    labels = sorted({item.simulator for item in items if item.side == "program"})
    draws = _Draws(ratings, by_id, seed=seed, replicates=replicates)
    people = [r for r in ratings if by_id[r.item].side == "person"]
    simulators = []
    for label in labels:
        own = [r for r in ratings if by_id[r.item].simulator == label]
        simulators.append(
            BlindSimulator(
                name=label,
                auc=draws.auc(people + own),
                called_program=draws.mean(own, [float(r.verdict == "program") for r in own]),
                realism=draws.mean(own, [float(r.realism) for r in own], unit="points of 5"),
            )
        )
    groups: defaultdict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        groups[rating.experience].append(rating)
    raters = {r.rater for r in ratings}
    return BlindCard(
        title=title,
        synthetic=synthetic or any(item.synthetic and item.side == "person" for item in items),
        raters=len(raters),
        sessions=len({r.item for r in ratings}),
        ratings=len(ratings),
        incomplete=incomplete,
        auc=draws.auc(ratings),
        agreement=agreement_of(ratings),
        people_called_program=draws.mean(people, [float(r.verdict == "program") for r in people]),
        people_realism=draws.mean(people, [float(r.realism) for r in people], unit="points of 5"),
        simulators=tuple(simulators),
        experience=tuple(
            BlindGroup(experience=name, raters=len({r.rater for r in own}), auc=draws.auc(own))
            for name, own in sorted(groups.items())
        ),
        marked=marked_turns(ratings, by_id),
        left_out=tuple(left_out),
        signature=(
            f"blind@1|raters:{len(raters)}|sessions:{len({r.item for r in ratings})}"
            f"|ratings:{len(ratings)}|boot:{replicates}|seed:{seed}|v:{__version__}"
        ),
    )


class _Draws:
    """Bootstrap weights of raters and sessions, the same for every number of a card."""

    def __init__(
        self,
        ratings: Sequence[Rating],
        by_id: Mapping[str, Item],
        *,
        seed: int,
        replicates: int,
    ) -> None:
        self.by_id = by_id
        rng = np.random.default_rng(seed)
        self.raters = {name: k for k, name in enumerate(sorted({r.rater for r in ratings}))}
        self.items = {name: k for k, name in enumerate(sorted({r.item for r in ratings}))}
        self.rater_weights = _counts(rng, len(self.raters), replicates)
        # Sessions are drawn within their simulator, so that each keeps its number.
        self.item_weights = np.zeros((replicates, len(self.items)))
        sides: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for name, k in self.items.items():
            sides[by_id[name].side, by_id[name].simulator].append(k)
        for side in sorted(sides):
            places = sides[side]
            self.item_weights[:, places] = _counts(rng, len(places), replicates)

    def auc(self, ratings: Sequence[Rating]) -> Estimate:
        """AUC of some ratings, with bounds."""
        sides: dict[str, dict[str, list[Rating]]] = {"person": {}, "program": {}}
        for rating in ratings:
            side = sides[self.by_id[rating.item].side]
            side.setdefault(rating.rater, []).append(rating)
        rows = [
            (
                self.raters[rater],
                self.items[i.item],
                self.items[j.item],
                0.5 + 0.5 * np.sign(i.answer - j.answer),
            )
            for rater, programs in sides["program"].items()
            for i in programs
            for j in sides["person"].get(rater, ())
        ]
        if not rows:
            return not_assessed(BLIND_ONE_SIDE, unit=SHARE)
        rater, program, person, higher = (np.array(column) for column in zip(*rows, strict=True))
        weight = (
            self.rater_weights[:, rater]
            * self.item_weights[:, program]
            * self.item_weights[:, person]
        )
        return self._estimate(
            float(higher.mean()), weight @ higher, weight.sum(axis=1), ratings, both=True
        )

    def mean(
        self, ratings: Sequence[Rating], values: Sequence[float], *, unit: str = SHARE
    ) -> Estimate:
        """Mean of values of ratings, with bounds."""
        if not ratings:
            return not_assessed(BLIND_NO_RATINGS, unit=unit)
        found = np.array(values)
        weight = (
            self.rater_weights[:, [self.raters[r.rater] for r in ratings]]
            * self.item_weights[:, [self.items[r.item] for r in ratings]]
        )
        return self._estimate(
            float(found.mean()), weight @ found, weight.sum(axis=1), ratings, unit=unit
        )

    def _estimate(
        self,
        value: float,
        sums: Array,
        weights: Array,
        ratings: Sequence[Rating],
        *,
        both: bool = False,
        unit: str = SHARE,
    ) -> Estimate:
        raters = len({r.rater for r in ratings})
        sides = Counter(self.by_id[name].side for name in {r.item for r in ratings})
        least = min(sides[side] for side in (("person", "program") if both else sides))
        if raters < LEAST_RATERS or least < LEAST_SESSIONS:
            return unscorable(
                BLIND_FEW, unit=unit, n=len(ratings), raters=raters, sessions=least,
                least_raters=LEAST_RATERS, least_sessions=LEAST_SESSIONS,
            )  # fmt: skip
        drawn = weights > 0
        low, high = np.percentile(sums[drawn] / weights[drawn], [5, 95])
        return Estimate(
            value=round(value, 6),
            low=round(min(value, float(low)), 6),
            high=round(max(value, float(high)), 6),
            n=len(ratings),
            unit=unit,
        )


def _counts(rng: np.random.Generator, size: int, replicates: int) -> Array:
    """How often each of `size` things is drawn, in each replicate."""
    if not size:
        return np.zeros((replicates, 0))
    return rng.multinomial(size, np.full(size, 1 / size), size=replicates).astype(np.float64)


def agreement_of(ratings: Sequence[Rating]) -> Estimate:
    """Krippendorff's alpha of the verdicts, nominal."""
    units: defaultdict[str, list[int]] = defaultdict(list)
    for rating in ratings:
        units[rating.item].append(int(rating.verdict == "program"))
    pairable = [unit for unit in units.values() if len(unit) > 1]
    if not pairable:
        return not_assessed(BLIND_NO_PAIR, unit="alpha")
    value = krippendorff_alpha(pairable, 2, metric="nominal")
    if not np.isfinite(value):
        return unscorable(BLIND_SAME, unit="alpha", n=len(pairable))
    return Estimate(value=round(float(value), 6), n=len(pairable), unit="alpha")


def marked_turns(ratings: Sequence[Rating], by_id: Mapping[str, Item]) -> tuple[MarkedTurn, ...]:
    """Turns of simulators that most raters marked, those marked most first."""
    marks = Counter((r.item, r.turn) for r in ratings if r.turn is not None)
    read = Counter(r.item for r in ratings)
    found = []
    for (name, turn), n in sorted(marks.items(), key=lambda p: (-p[1], p[0][0], p[0][1] or 0)):
        item = by_id[name]
        if item.side == "program" and turn is not None and 0 <= turn < len(item.messages):
            found.append(
                MarkedTurn(
                    session=item.session, simulator=item.simulator, turn=turn,
                    text=item.messages[turn][1][:400], marks=n, ratings=read[name],
                )
            )  # fmt: skip
    return tuple(found[:MOST_MARKED])
