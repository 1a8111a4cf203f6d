"""Simulated logs that are known to be bad, made from the two halves of a real one.

An attack gets the events of the reference and of the other half, as frames of whole cases
(``case``, ``row``, ``case_id``, ``activity``, ``timestamp`` and whatever roles the log has), and
gives events again. Those made from the reference hold what it holds; the rest keep everything of
the other half but what their description names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

HOUR = 3_600_000_000
DAY = 24 * HOUR
Make = Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]


@dataclass(frozen=True)
class LogAttack:
    """One way of making a bad log.

    Attributes
    ----------
    name, about
        What it is called, and what it does, for readers.
    make
        Frame and generator -> frame.
    of_reference
        Whether it is made from the reference itself, not from the other half.
    needs
        Column that the log must have.
    """

    name: str
    about: str
    make: Make
    of_reference: bool = False
    needs: str = "activity"

    def applied(
        self, reference: pl.DataFrame, other: pl.DataFrame, seed: int
    ) -> pl.DataFrame | None:
        """Events of the attack with ids of its own; ``None`` where the log lacks what it needs.

        Parameters
        ----------
        reference, other
            Events of the two halves; ``class`` holds the class of an activity where known.
        seed
            The same seed gives the same events.
        """
        base = reference if self.of_reference else other
        if self.needs not in base.columns or base[self.needs].null_count() == base.height:
            return None
        made = self.make(base, np.random.default_rng([seed, 0xA77]))
        return renumbered(made) if made.height else None


def renumbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole cases in order, with new numbers and ids."""
    ordered = frame.sort("case", "timestamp", "row")
    numbers = ordered["case"].rank("dense").cast(pl.Int64) - 1
    return ordered.with_columns(
        numbers.alias("case"),
        ("S" + numbers.cast(pl.String)).alias("case_id"),
        pl.int_range(ordered.height, dtype=pl.Int64).alias("row"),
    )


def _gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Adds ``gap``: microseconds to the next event of the case, null for its last one."""
    tick = pl.col("timestamp").to_physical()
    return frame.with_columns((tick.shift(-1).over("case") - tick).alias("gap"))


def _with_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """Times from the start of each case and ``gap``."""
    start = pl.col("timestamp").first().over("case")
    passed = pl.col("gap").fill_null(0).cum_sum().shift(1, fill_value=0)
    before = passed.over("case")
    return frame.with_columns((start + pl.duration(microseconds=before)).alias("timestamp")).drop(
        "gap"
    )


def _gap_where(condition: pl.Expr, new: pl.Expr) -> Make:
    def make(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        changed = pl.when(condition).then(new).otherwise(pl.col("gap")).cast(pl.Int64)
        return _with_gaps(_gaps(frame).with_columns(changed.alias("gap")))

    return make


def _same(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    return frame


def _jittered(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    moves = random.integers(-5 * 60_000_000, 5 * 60_000_000, frame.height)
    moved = frame.with_columns(pl.Series("by", moves)).with_columns(
        (pl.col("timestamp") + pl.duration(microseconds=pl.col("by"))).alias("timestamp")
    )
    moved = moved.drop("by")
    return moved.with_columns(pl.col("timestamp").cum_max().over("case"))


def _scaled_copy(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    cases = frame["case"].unique().sort()
    factor = pl.DataFrame({"case": cases, "by": random.uniform(0.95, 1.05, len(cases))})
    with_gaps = _gaps(frame).join(factor, on="case", how="left", maintain_order="left")
    scaled = (pl.col("gap") * pl.col("by")).round().cast(pl.Int64)
    return _with_gaps(with_gaps.with_columns(scaled.alias("gap")).drop("by"))


def _replay(cases: int) -> Make:
    def make(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
        ids = frame["case"].unique().sort().to_numpy()
        kept = random.permutation(ids)[: min(cases, len(ids))]
        drawn = random.choice(kept, len(ids))
        return _drawn(frame, drawn)

    return make


def _drawn(frame: pl.DataFrame, drawn: np.ndarray) -> pl.DataFrame:
    """Cases by number, each as often as it was drawn."""
    wanted = pl.DataFrame({"from": drawn, "case": np.arange(len(drawn))})
    joined = wanted.join(frame.rename({"case": "from"}), on="from", how="left")
    return joined.select(frame.columns)


def _one_case(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    ids = frame["case"].unique().sort().to_numpy()
    sizes = frame.group_by("case").len().filter(pl.col("len").is_between(4, 12))
    model = int((sizes["case"].sort() if sizes.height else frame["case"])[0])
    drawn = np.where(random.random(len(ids)) < 0.15, model, ids)
    starts = frame.group_by("case").agg(pl.col("timestamp").min().alias("own")).sort("case")
    made = _drawn(frame, drawn)
    own = pl.DataFrame({"case": np.arange(len(ids)), "own": starts["own"]})
    moved = made.join(own, on="case", how="left", maintain_order="left")
    shift = pl.col("own") - pl.col("timestamp").min().over("case")
    return moved.with_columns(pl.col("timestamp") + shift).drop("own")


def _swapped(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Every case takes the gaps of another one with as many events."""
    sizes = frame.group_by("case").len().sort("case")
    cases, size = sizes["case"].to_numpy(), sizes["len"].to_numpy()
    donor = cases.copy()
    for length in np.unique(size):
        at = np.flatnonzero(size == length)
        donor[at] = cases[random.permutation(at)]
    place = pl.int_range(pl.len()).over("case").alias("place")
    own = _gaps(frame).with_columns(place)
    given = own.select(pl.col("case").alias("donor"), "place", pl.col("gap").alias("new"))
    pairs = pl.DataFrame({"case": cases, "donor": donor})
    joined = own.join(pairs, on="case", how="left").join(given, on=["donor", "place"], how="left")
    ordered = joined.sort("case", "place").with_columns(pl.col("new").alias("gap"))
    return _with_gaps(ordered.select(*frame.columns, "gap"))


def _gaps_permuted(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    own = _gaps(frame)
    gap = own["gap"].to_numpy().astype(float)
    at = np.flatnonzero(~np.isnan(gap))
    gap[at] = gap[random.permutation(at)]
    return _with_gaps(own.with_columns(pl.Series("gap", gap).fill_nan(None).cast(pl.Int64)))


def _shuffled(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """What happened in a case in another order, at the same times."""
    order = np.lexsort((random.random(frame.height), frame["case"].to_numpy()))
    times = frame.select("case", "row", "timestamp")
    rest = frame.drop("case", "row", "timestamp")[order]
    return pl.concat([times, rest], how="horizontal").select(frame.columns)


def _shuffled_events(names: tuple[str, ...]) -> Make:
    """The values of some columns, shuffled among all events."""

    def make(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
        known = [name for name in names if name in frame.columns]
        order = random.permutation(frame.height)
        return frame.with_columns(frame.select(known)[order])

    return make


def _eight_people(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    busiest = frame["resource"].drop_nulls().value_counts().sort("count", "resource")["resource"]
    eight = busiest.tail(8).to_numpy()
    who = pl.Series("resource", random.choice(eight, frame.height), dtype=pl.String)
    return frame.with_columns(who)


def _cycles(frame: pl.DataFrame) -> pl.DataFrame:
    span = pl.col("timestamp").max() - pl.col("timestamp").min()
    return frame.group_by("case").agg(span.alias("cycle"), pl.len().alias("events")).sort("case")


def _bad_left_out(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Half of the cases that missed their time, or else of the slower half, are gone."""
    if "sla_met" in frame.columns and frame["sla_met"].null_count() < frame.height:
        met = frame.group_by("case").agg(pl.col("sla_met").drop_nulls().last()).sort("case")
        bad = met.filter(~pl.col("sla_met"))["case"].to_numpy()
    else:
        cycles = _cycles(frame)
        slow = cycles["cycle"].median()
        bad = cycles.filter(pl.col("cycle") > slow)["case"].to_numpy()
    gone = random.permutation(bad)[: len(bad) // 2]
    return frame.filter(~pl.col("case").is_in(gone.tolist()))


def _slow_left_out(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    cycles = _cycles(frame)
    limit = cycles["cycle"].quantile(0.9)
    kept = cycles.filter(pl.col("cycle") <= limit)["case"].to_list()
    return frame.filter(pl.col("case").is_in(kept))


def _long_left_out(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    sizes = _cycles(frame)
    limit = sizes["events"].quantile(0.85)
    kept = sizes.filter(pl.col("events") <= limit)["case"].to_list()
    return frame.filter(pl.col("case").is_in(kept))


def _moved(hours: int) -> Make:
    def make(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        return frame.with_columns(pl.col("timestamp") + pl.duration(hours=hours))

    return make


def _any_hour(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Every case begins some hours later, up to a week."""
    cases = frame["case"].unique().sort()
    later = pl.Series(random.integers(0, 168 * HOUR, len(cases)))
    moves = pl.DataFrame({"case": cases, "later": later})
    joined = frame.join(moves, on="case", how="left", maintain_order="left")
    return joined.with_columns(
        pl.col("timestamp") + pl.duration(microseconds=pl.col("later"))
    ).drop("later")


def _arrivals_scaled(by: float) -> Make:
    def make(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        start = pl.col("timestamp").min().over("case").to_physical()
        # whole days, so that weekday and hour of the arrivals stay those of the log
        since = (start - start.min()) // DAY
        days = (since * by).floor().cast(pl.Int64) - since
        return frame.with_columns(pl.col("timestamp") + pl.duration(days=days))

    return make


def _tails(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    limit = _gaps(frame)["gap"].drop_nulls().quantile(0.95)
    return _gap_where(pl.col("gap") > limit, pl.col("gap") * 4)(frame, random)


def _waits_zero(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """Waits (or else the slowest activity) take no time."""
    if "class" in frame.columns:
        waits = pl.col("class").is_in(["wait_user", "wait_other"])
        if frame.select(waits.any()).item():
            return _gap_where(waits, pl.lit(0))(frame, random)
    totals = _gaps(frame).group_by("activity").agg(pl.col("gap").sum()).sort("gap", "activity")
    slowest = totals["activity"][-1]
    return _gap_where(pl.col("activity") == slowest, pl.lit(0))(frame, random)


def _medians(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    middle = pl.col("gap").median().over("activity").round().cast(pl.Int64)
    known = pl.when(pl.col("gap").is_not_null()).then(middle)
    return _with_gaps(_gaps(frame).with_columns(known.alias("gap")))


def _exponential(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    drawn = pl.Series(random.exponential(size=frame.height))
    gap = (pl.col("gap").mean().over("activity") * drawn).round().cast(pl.Int64)
    known = pl.when(pl.col("gap").is_not_null()).then(gap)
    return _with_gaps(_gaps(frame).with_columns(known.alias("gap")))


def _one_variant(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    """Every case follows the path of some case of the commonest length and path."""
    paths = frame.group_by("case", maintain_order=True).agg(pl.col("activity"))
    keyed = paths.with_columns(pl.col("activity").list.join("\x1f").alias("path"))
    counts = keyed.group_by("path").agg(pl.len(), pl.col("case")).sort("len", "path")
    pool = np.array(sorted(counts["case"][-1].to_list()))
    drawn = pool[np.arange(paths.height) % len(pool)]
    starts = frame.group_by("case").agg(pl.col("timestamp").min().alias("own")).sort("case")
    made = _drawn(frame, drawn)
    own = pl.DataFrame({"case": np.arange(paths.height), "own": starts["own"]})
    moved = made.join(own, on="case", how="left", maintain_order="left")
    shift = pl.col("own") - pl.col("timestamp").min().over("case")
    return moved.with_columns(pl.col("timestamp") + shift).drop("own")


def _no_repeats(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    return frame.filter(pl.struct("case", "activity").is_first_distinct())


def _first_half(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
    place = pl.int_range(pl.len()).over("case")
    return frame.filter(2 * place < pl.len().over("case") + 1)


def _markov(frame: pl.DataFrame, random: np.random.Generator) -> pl.DataFrame:
    """A first-order play-out: the next event follows some event of the same activity."""
    own = _gaps(frame)
    place = frame["case"].to_numpy()
    codes = frame["activity"].rank("dense").to_numpy()
    last = np.append(place[1:] != place[:-1], True)
    after = {code: np.flatnonzero(codes == code) for code in np.unique(codes)}
    firsts = np.flatnonzero(np.insert(place[1:] != place[:-1], 0, True))
    rows: list[int] = []
    cases: list[int] = []
    gaps: list[float] = []
    gap = own["gap"].fill_null(0).to_numpy()
    for number, begin in enumerate(firsts):
        at = int(begin)
        for _ in range(400):
            rows.append(at)
            cases.append(number)
            twin = int(random.choice(after[codes[at]]))
            gaps.append(float(gap[twin]))
            if last[twin]:
                break
            at = twin + 1
    starts = frame["timestamp"].to_numpy()[firsts][np.array(cases)]
    made = frame[rows].with_columns(
        pl.Series("case", cases, dtype=pl.Int64),
        pl.Series("row", np.arange(len(rows)), dtype=pl.Int64),
        pl.Series("timestamp", starts).cast(frame.schema["timestamp"]),
        pl.Series("gap", gaps).cast(pl.Int64),
    )
    return _with_gaps(made)


def _constant(name: str) -> Make:
    def make(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        return frame.with_columns(pl.col(name).drop_nulls().mode().sort().first().alias(name))

    return make


LOG_ATTACKS: tuple[LogAttack, ...] = (
    LogAttack("copy", "the reference itself under new ids", _same, of_reference=True),
    LogAttack("jittered copy", "the reference, each event up to 5 minutes off", _jittered, True),
    LogAttack("scaled copy", "the reference, each case up to 5 % slower or faster", _scaled_copy,
              True),
    LogAttack("replay 100", "100 cases of the reference again and again", _replay(100), True),
    LogAttack("replay 300", "300 cases of the reference again and again", _replay(300), True),
    LogAttack("times swapped", "each case has the gaps of another of as many events", _swapped),
    LogAttack("bad cases left out", "half of the cases that missed their time (or were slower than "
              "most) are gone", _bad_left_out),
    LogAttack("slow cases left out", "the slowest tenth of the cases is gone", _slow_left_out),
    LogAttack("long cases left out", "cases with the most events are gone", _long_left_out),
    LogAttack("waits of zero", "waiting takes no time", _waits_zero),
    LogAttack("clock moved 12 h", "every event 12 hours later", _moved(12)),
    LogAttack("clock moved 4 h", "every event 4 hours later", _moved(4)),
    LogAttack("starts at any hour", "each case begins up to a week later", _any_hour),
    LogAttack("tails stretched", "the slowest 5 % of gaps take four times as long", _tails),
    LogAttack("durations x 1.3", "every gap takes 1.3 times as long",
              _gap_where(pl.lit(True), (pl.col("gap") * 1.3).round())),
    LogAttack("arrivals squeezed", "all cases begin within a sixth of the time",
              _arrivals_scaled(1 / 6)),
    LogAttack("arrivals spread", "cases begin over four times the time", _arrivals_scaled(4)),
    LogAttack("eight people", "eight people do all the work, at random", _eight_people,
              needs="resource"),
    LogAttack("resources permuted", "who does what is shuffled among all events",
              _shuffled_events(("resource", "group")), needs="resource"),
    LogAttack("one team", "one group does everything", _constant("group"), needs="group"),
    LogAttack("one copied case", "15 % of the cases are one and the same", _one_case),
    LogAttack("events shuffled", "the events of a case in another order", _shuffled),
    LogAttack("gaps permuted", "gaps are shuffled among all events", _gaps_permuted),
    LogAttack("median gaps", "every activity takes its median time", _medians),
    LogAttack("exponential gaps", "gaps are exponential, with the mean of the activity",
              _exponential),
    LogAttack("one variant", "every case takes the commonest path", _one_variant),
    LogAttack("no repeats", "no activity occurs twice in a case", _no_repeats),
    LogAttack("cases cut", "cases end after half of their events", _first_half),
    LogAttack("Markov play-out", "the next event depends on the present activity alone", _markov),
)  # fmt: skip
