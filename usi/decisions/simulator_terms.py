"""A scorecard together with the per-task sums beside it, as signed terms with replicates.

Two scorecards over the same people and tasks get the same bootstrap draws, so their differences
are paired: what they have in common cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from usi.decisions.sums_check import FromSums, Mismatch, contradictions
from usi.errors import InputError, UsageError, unknown_name
from usi.extraction.spec import DIMENSIONS
from usi.provenance.record import sha256_bytes, sha256_file
from usi.provenance.signature import differences
from usi.reading import reading
from usi.reasons import FEATURES_RARE
from usi.scoring.scorecard import Scorecard, SimulatorCard

if TYPE_CHECKING:
    import polars as pl

    from usi.extraction.spec import FeatureSpec
    from usi.scoring.robust.scorable import Selection
    from usi.scoring.robust.sums import SideSums
    from usi.scoring.robust.terms import Contrast, Terms

REPLICATES, SEED = 2000, 7


@dataclass(frozen=True)
class SimulatorTerms:
    """What the paired verbs need of one simulator of one scorecard.

    Attributes
    ----------
    path, card, simulator
        Where it was read, the scorecard, and the simulator in it.
    units
        Tasks (or clusters) that the numbers rest on, sorted.
    people
        Hash of the human sums: equal where the same human sessions count.
    terms
        Component -> signed terms with replicates.
    people_rows, run_rows
        Rows of the sums of both sides.
    """

    path: str
    card: Scorecard
    simulator: SimulatorCard
    units: tuple[str, ...]
    people: str
    terms: dict[str, Terms]
    people_rows: pl.DataFrame
    run_rows: pl.DataFrame

    @property
    def signature(self) -> str:
        """Signature of this simulator's numbers."""
        return self.simulator.signature or self.card.signature


def sidecar_path(scorecard: str | Path) -> Path:
    """Where the per-task sums stand: ``card.json`` -> ``card.tasks.parquet``."""
    path = Path(scorecard)
    return path.with_name(f"{path.stem}.tasks.parquet")


def read_sidecar(scorecard: str | Path, card: Scorecard) -> pl.DataFrame:
    """Read the per-task sums of a scorecard.

    Raises
    ------
    InputError
        Where they are absent, unreadable, or not those of this scorecard.
    """
    import polars as pl

    path = sidecar_path(scorecard)
    if not path.is_file():
        raise InputError(
            f"the per-task sums {path.name} are not beside the scorecard; usi score -o "
            f"{Path(scorecard).name} writes them there: keep the two files together",
            file=str(scorecard),
        )
    if card.tasks_sha256 is not None and sha256_file(path) != card.tasks_sha256:
        raise Mismatch(f"these are not the per-task sums of {scorecard}", file=str(path))
    with reading(str(path)):
        table = pl.read_parquet(path)
    if not {"simulator", "side"} <= set(table.columns):
        raise InputError("these are no per-task sums of usi", file=str(path))
    named = {part.name for part in card.simulators}
    odd = sorted(set(table["simulator"].drop_nulls()) ^ named)
    if odd and card.profile.startswith("robust"):
        raise Mismatch(
            f"the per-task sums and the scorecard do not hold the same simulators: "
            f"{', '.join(map(repr, odd))} is in one of the two only",
            file=str(path),
        )
    return table


def pick_simulator(card: Scorecard, name: str | None, file: str) -> SimulatorCard:
    """The simulator of that name, or the only one.

    Raises
    ------
    UsageError
        Where the name is unknown, or needed since there are several.
    """
    names = [part.name for part in card.simulators]
    if name is None:
        if len(names) != 1:
            raise UsageError(
                f"{file} holds {len(names)} simulators ({', '.join(names)}): say which, "
                "--simulator NAME"
            )
        return card.simulators[0]
    if name not in names:
        raise unknown_name(f"simulator of {file}", name, names)
    return card.simulators[names.index(name)]


def load_terms(
    scorecard: str | Path, simulator: str | None = None, *, card: Scorecard | None = None
) -> SimulatorTerms:
    """Read a scorecard and its per-task sums, and rebuild the terms of one simulator.

    Raises
    ------
    InputError, UsageError
        See `read_sidecar`, `pick_simulator`; also where sums and scorecard disagree.
    """
    card = Scorecard.read(scorecard) if card is None else card
    chosen = pick_simulator(card, simulator, str(scorecard))
    return terms_of(card, chosen, read_sidecar(scorecard, card), path=str(scorecard))


def terms_of(
    card: Scorecard, simulator: SimulatorCard, table: pl.DataFrame, *, path: str
) -> SimulatorTerms:
    """Rebuild terms from the table of per-task sums; they must give the scorecard's values."""
    import polars as pl

    from usi.scoring.robust.scorable import STYLE, Selection
    from usi.scoring.robust.terms import feature_terms

    own = table.filter(pl.col("simulator") == simulator.name)
    people, runs = (own.filter(pl.col("side") == side) for side in ("human", "simulated"))
    if not people.height or not runs.height:
        raise Mismatch(
            f"the per-task sums hold nothing of {simulator.name}", file=str(sidecar_path(path))
        )
    sides = _sides(card, simulator, people, runs)
    data = sides.compared(REPLICATES, SEED)
    terms = sides.terms(data)
    draws = _draws(card)
    if draws not in (None, (REPLICATES, SEED)):
        as_scored = sides.compared(*draws)
        printed = sides.terms(as_scored)
    else:
        as_scored, printed = data, terms
    written = tuple(name for name, part in simulator.style.items() if part.score.ok)
    style = (
        feature_terms(as_scored, sides.specs, {STYLE: Selection(written, 0, None)})
        if written
        else {}
    )
    odd = list(
        contradictions(
            simulator,
            FromSums(as_scored, printed, style.get(STYLE), sides.human, sides.simulated),
            same_draws=draws is not None,
        )
    )
    if odd:
        raise Mismatch(
            f"{simulator.name}: {'; '.join(odd[:3])}: sums and scorecard do not belong together; "
            "score again",
            file=str(sidecar_path(path)),
        )
    return SimulatorTerms(
        path=path,
        card=card,
        simulator=simulator,
        units=sides.simulated.units,
        people=_digest(sides.human),
        terms=_assessed(simulator, terms),
        people_rows=people,
        run_rows=runs,
    )


def terms_of_rows(
    card: Scorecard, simulator: SimulatorCard, people: pl.DataFrame, runs: pl.DataFrame
) -> dict[str, Terms]:
    """Terms out of some of the rows of the sums: of fewer runs, or fewer tasks.

    Parameters
    ----------
    card, simulator
        Where the rows are from; it says which features are scored.
    people, runs
        Rows of both sides. Clusters are numbered anew, so that those without rows are not drawn.
    """
    import polars as pl

    kept = sorted(set(people["cluster"]) | set(runs["cluster"]))
    number = pl.col("cluster").replace_strict(kept, list(range(len(kept))), return_dtype=pl.Int64)
    sides = _sides(card, simulator, people.with_columns(number), runs.with_columns(number))
    return _assessed(simulator, sides.terms(sides.compared(REPLICATES, SEED)))


@dataclass(frozen=True)
class _Sides:
    """Both sides of one comparison out of their rows, and what is scored."""

    simulator: SimulatorCard
    human: SideSums
    simulated: SideSums
    paired: bool
    specs: tuple[FeatureSpec, ...]

    def compared(self, replicates: int, seed: int) -> Contrast:
        """Means of both sides with replicates."""
        from usi.scoring.robust.terms import contrast

        on_simulator = not self.paired or bool((self.simulated.bin >= 0).any())
        return contrast(
            self.simulated,
            self.human,
            paired=self.paired,
            on_simulator=on_simulator,
            replicates=replicates,
            seed=seed,
        )

    def terms(self, data: Contrast) -> dict[str, Terms]:
        """Terms of every component."""
        from usi.scoring.robust.terms import all_terms

        return all_terms(data, self.specs, _selections(self.simulator))


def _sides(
    card: Scorecard, simulator: SimulatorCard, people: pl.DataFrame, runs: pl.DataFrame
) -> _Sides:
    from usi.scoring.robust.scorable import POOL, with_pool_specs
    from usi.scoring.robust.sums import from_frame

    paired = simulator.design != "unpaired"
    bins = _bins(people if people["bin_index"].max() is not None else runs)
    units_h, units_s = (sorted(set(side["unit"])) for side in (people, runs))
    if paired:
        units_h = units_s = sorted(set(units_h) | set(units_s))
    human = from_frame(people, units=units_h, bins=bins)
    pools = [POOL + d for d in DIMENSIONS if POOL + d in human.features]  # and not their cells
    specs = with_pool_specs(card.profile.partition("@")[0], pools)
    simulated = from_frame(runs, units=units_s, bins=bins)
    return _Sides(simulator, human, simulated, paired, specs)


def _assessed(simulator: SimulatorCard, terms: dict[str, Terms]) -> dict[str, Terms]:
    """Terms of the components that the scorecard gives a score."""
    return {
        name: own
        for name, own in terms.items()
        if name in simulator.components and simulator.components[name].ok
    }


def _bins(frame: pl.DataFrame) -> tuple[str, ...]:
    pairs = {
        (int(k), str(name))
        for k, name in frame.select("bin_index", "bin").unique().iter_rows()
        if k is not None and k >= 0
    }
    return tuple(name for _, name in sorted(pairs))


def _selections(simulator: SimulatorCard) -> dict[str, Selection]:
    """Features that enter each dimension, as the scorecard says."""
    from usi.scoring.robust.scorable import POOL, Selection

    result = {}
    for dimension in DIMENSIONS:
        own = {k: f for k, f in simulator.features.items() if f.dimension == dimension}
        scored = tuple(name for name, part in own.items() if part.scored and part.score.ok)
        pools = {name: 2 for name in scored if name.startswith(POOL)}  # two marks at least
        reason = None if scored else FEATURES_RARE()
        result[dimension] = Selection(scored, 0, reason, pools)
    return result


def _digest(side: SideSums) -> str:
    arrays = [np.round(a, 9).tobytes() for a in (side.sums, side.counts, side.success)]
    return sha256_bytes(b"|".join([repr(side.units).encode(), *arrays]))


def _people_on(found: SimulatorTerms, units: list[str]) -> str:
    """Hash of the human sums on some of the tasks."""
    import polars as pl

    rows = found.people_rows.filter(pl.col("unit").is_in(units))
    order = rows.drop("simulator", "cluster", "bin", "bin_index").sort("unit", "split")
    numbers = order.select(pl.selectors.numeric()).to_numpy().astype(np.float64)
    names = repr(order.select("unit", "split").rows())
    return sha256_bytes(names.encode() + b"|" + np.round(numbers, 9).tobytes())


def _draws(card: Scorecard) -> tuple[int, int] | None:
    """Replicates and seed that a scorecard was made with, where it says so."""
    try:
        return int(card.settings["replicates"]), int(card.settings["seed"])
    except (KeyError, ValueError):
        return None


def require_comparable(a: SimulatorTerms, b: SimulatorTerms, *, runs: bool) -> list[str]:
    """Refuse two scorecards whose numbers can't be compared; return what still differs.

    Parameters
    ----------
    runs
        Whether the same tasks and numbers of runs are asked for, too; else what differs there is
        made equal by `usi.decisions.common_runs`, where both sides did the same tasks.

    Raises
    ------
    UsageError
        Other people, another definition, other tasks or runs: what differs, and the way out.
    """
    # Survey and two-sample test are no part of the terms, and another version of usi is told,
    # not refused.
    paired = a.simulator.design == b.simulator.design == "paired"
    tasks_may_differ = paired and not runs
    made_equal = () if runs else ("runs", "tasks", "subset") if paired else ("runs",)
    ignored = ("v", "survey", "c2st", "sim", *made_equal)
    odd = differences(a.signature, b.signature)
    serious = differences(a.signature, b.signature, ignore=ignored)
    if a.simulator.design != b.simulator.design:
        serious.append(f"design: {a.simulator.design} against {b.simulator.design}")
    if tasks_may_differ and a.units != b.units:
        common = sorted(set(a.units) & set(b.units))
        if _people_on(a, common) != _people_on(b, common):
            serious.append("people: other human sessions")
    elif a.units != b.units:
        serious.append(f"tasks: {len(set(a.units) ^ set(b.units))} are on one side only")
    elif a.people != b.people:
        serious.append("people: other human sessions")
    agents = [found.simulator.identity.get("agent") for found in (a, b)]
    if all(agents) and agents[0] != agents[1]:
        serious.append(f"agent: {agents[0]} against {agents[1]}")
    if runs and a.simulator.n.runs != b.simulator.n.runs:
        serious.append(f"runs: {a.simulator.n.runs} against {b.simulator.n.runs}")
    if serious:
        raise UsageError(
            f"{a.path} and {b.path} can't be compared ("
            + "; ".join(dict.fromkeys(serious))
            + "): score both against the same people and tasks, with the same settings"
            + (" and number of runs" if runs else "")
        )
    return odd
