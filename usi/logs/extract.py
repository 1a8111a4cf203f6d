"""From a log to the rows of its session table, one a case, in memory that does not grow with it.

Counting the features of logs: events of whole cases -> one row a case.

Every column is a function of the events of its case alone, so rows do not depend on how a log
was cut into frames. Columns that the log can't tell are null.

What is odd in whole cases: ties, events out of order, repeated events.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from usi.errors import NotScorable, UsageError
from usi.extraction.spec import CORE_COUNTS, IDENTITY_SCHEMA
from usi.extraction.table import MICROSECONDS_PER_HOUR, table_schema
from usi.logs import CaseStore, EventStream, LogConfig, open_log
from usi.logs.behaviour import (
    escalations,
    group_sequence,
    outcome_columns,
    requester_columns,
    with_requester,
)
from usi.logs.digest import LogDigest
from usi.logs.events import Paths
from usi.logs.feature_options import CLASSES, ClassMap, TraceOptions, classes_of, options_of
from usi.logs.features import COLUMNS, COUNT_COLUMNS, FLOAT_COLUMNS, PROFILE, TEXT_COLUMNS
from usi.logs.notes import LogNotes
from usi.logs.tables import FIELD, LogFormat, Rows
from usi.records import SIDES, Side

Array = NDArray[np.float64]
_CODE = {name: code for code, name in enumerate(CLASSES)}
_BREAK = " | "


@dataclass(frozen=True)
class LogShape:
    """What a log can tell, and how its cells read.

    Attributes
    ----------
    roles, fields
        Roles and tracked columns that have values.
    required, tracked
        Columns asked for; where one is not among `fields`, what needs it is undefined.
    zone
        Declared zone, or ``None``.
    rows
        See `usi.logs.LogFormat`.
    """

    roles: frozenset[str]
    fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    tracked: tuple[str, ...] = ()
    zone: str | None = None
    rows: Rows = "event"


def count_cases(
    events: pl.DataFrame, shape: LogShape, classes: ClassMap | None, options: TraceOptions
) -> pl.DataFrame:
    """Count every case.

    Parameters
    ----------
    events
        A frame of whole cases, as `usi.logs.CaseStore.frames` gives them.
    shape, classes, options
        What the log can tell, what an activity is, and the choices.

    Returns
    -------
    pl.DataFrame
        ``case``, ``case_id``, the columns of the profile, and of the outcome ``sla_met``,
        ``due_at``, ``resolved_at``, ``csat``; one row a case in the order of ``case``.
    """
    steps = _steps(events, shape, classes, options)
    plain = steps.group_by("case", maintain_order=True).agg(
        *_basic(shape),
        *_classed(shape, classes),
        *_fields(shape, options),
        *_opening(shape),
        *requester_columns(steps.columns),
    )
    parts = [plain, _moments(steps)]
    result = pl.concat(parts, how="horizontal")
    for extra in (
        *group_sequence(steps, shape.roles, options),
        *escalations(steps, shape.roles, options),
    ):
        result = result.join(extra, on="case", how="left", maintain_order="left")
    return _finished(result, shape)


def _steps(
    events: pl.DataFrame, shape: LogShape, classes: ClassMap | None, options: TraceOptions
) -> pl.DataFrame:
    """Events with what follows from their neighbours."""
    wall = pl.col("timestamp")
    local = wall.dt.convert_time_zone(shape.zone or "UTC").dt.replace_time_zone(None)
    frame = events.with_columns(
        (pl.col("case") == pl.col("case").shift(1)).fill_null(False).alias("same"),
        local.to_physical().alias("wall"),
        wall.to_physical().alias("tick"),
        pl.col("activity").cast(pl.Categorical).to_physical().alias("act"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("at"),
    )
    walls = frame["wall"].to_numpy()
    if options.clock == "business":
        frame = frame.with_columns(pl.Series("tick", options.calendar.worked(walls)))
    if shape.zone is not None:
        off = ~options.calendar.is_open(walls)
        frame = frame.with_columns(pl.Series("off", off))
    next_same = pl.col("same").shift(-1).fill_null(False)
    frame = frame.with_columns(
        pl.when(next_same).then(pl.col("tick").shift(-1) - pl.col("tick")).alias("step"),
        (pl.col("same") & (pl.col("act") == pl.col("act").shift(1))).alias("loop"),
        pl.struct("case", "act").is_first_distinct().alias("fresh"),
        pl.col("tick").first().over("case").alias("tick_first"),
        pl.col("tick").last().over("case").alias("tick_last"),
    )
    if "resource" in shape.roles:  # null where one of the two is not known
        who = pl.col("resource")
        frame = frame.with_columns(pl.when("same").then(who != who.shift(1)).alias("moved"))
    if classes is not None:
        names = [name for name, _ in classes.classes]
        codes = [_CODE[value] for _, value in classes.classes]
        frame = frame.with_columns(
            pl.col("activity").replace_strict(names, codes, return_dtype=pl.Int8).alias("class")
        )
        waits = pl.col("class") == _CODE["wait_user"]
        frame = frame.with_columns(
            waits.alias("waits"),
            (waits & ~(pl.col("same") & waits.shift(1).fill_null(False))).alias("trip"),
            pl.col("class").is_in([_CODE["resolved"], _CODE["closed"]]).alias("done"),
        )
    frame = with_requester(frame, shape.roles, options)
    if shape.rows == "event":
        carried = [FIELD + name for name in shape.fields]
        carried += [name for name in ("priority", "level") if name in frame.columns]
        frame = frame.with_columns(pl.col(carried).forward_fill().over("case"))
    tracked = [pl.col(FIELD + name) for name in shape.tracked if name in shape.fields]
    if tracked:
        changes = [
            (pl.col("same") & cell.ne_missing(cell.shift(1))).cast(pl.Int64) for cell in tracked
        ]
        frame = frame.with_columns(pl.sum_horizontal(changes).alias("changed"))
    return frame


def _basic(shape: LogShape) -> list[pl.Expr]:
    early = 4 * (pl.col("tick") - pl.col("tick_first")) <= pl.col("tick_last") - pl.col(
        "tick_first"
    )
    usable = (pl.len() >= 3) & (pl.col("tick_last").first() > pl.col("tick_first").first())
    known = [
        pl.col("case_id").first(),
        pl.len().cast(pl.Int64).alias("events"),
        (pl.len().cast(pl.Int64) - 1).alias("pairs"),
        pl.col("loop").sum().cast(pl.Int64).alias("self_loops"),
        (pl.len().cast(pl.Int64) - pl.col("fresh").sum()).alias("repeats"),
        (pl.col("step") == 0).sum().cast(pl.Int64).alias("zero_gaps"),
        (pl.col("step") > 0).sum().cast(pl.Int64).alias("gaps"),
        pl.when(usable).then(early.sum()).otherwise(0).cast(pl.Int64).alias("front_events"),
        pl.when(usable).then(pl.len()).otherwise(0).cast(pl.Int64).alias("front_of"),
        (pl.col("tick_last").first() - pl.col("tick_first").first()).alias("cycle_us"),
        pl.col("timestamp").first().to_physical().alias("start_us"),
        pl.col("timestamp").last().to_physical().alias("end_us"),
        pl.col("wall").first().alias("wall_first"),
    ]
    if shape.zone is not None:
        known.append(pl.col("off").sum().cast(pl.Int64).alias("off_hours"))
    if "resource" in shape.roles:
        known += [
            pl.col("moved").is_not_null().sum().cast(pl.Int64).alias("known_pairs"),
            pl.col("moved").sum().cast(pl.Int64).alias("handovers"),
        ]
    return known


def _classed(shape: LogShape, classes: ClassMap | None) -> list[pl.Expr]:
    """L3, reopenings, and how the case ended."""
    found: list[pl.Expr] = []
    if classes is not None:
        found.append(pl.col("class").last().alias("class_last"))
    if classes is not None and classes.has("wait_user"):
        waits, step = pl.col("waits"), pl.col("step").fill_null(0)
        spent = pl.when(waits).then(step).otherwise(0).sum()
        found += [
            waits.any().cast(pl.Int64).alias("waits_user"),
            waits.sum().cast(pl.Int64).alias("wait_user_events"),
            spent.alias("wait_user_us"),
            pl.when(waits.any()).then(spent).alias("wait_user_own_us"),
            pl.when(waits.any()).then((spent == 0).cast(pl.Int64)).alias("wait_user_zero"),
            pl.col("trip").sum().cast(pl.Int64).alias("wait_user_runs"),
        ]
    if classes is not None and classes.has("wait_other"):
        other = pl.col("class") == _CODE["wait_other"]
        found.append(other.any().cast(pl.Int64).alias("waits_other"))
    if classes is not None and classes.has("resolved", "closed"):
        done, at = pl.col("done"), pl.col("at")
        again = at.filter(~done).max() > at.filter(done).min()
        found += [
            again.fill_null(False).cast(pl.Int64).alias("reopened"),
            pl.col("timestamp").filter(done).last().alias("done_at"),
        ]
    elif "reopen_flag" in shape.roles:
        found.append(pl.col("reopen_flag").any().cast(pl.Int64).alias("reopened"))
    return found


def _fields(shape: LogShape, options: TraceOptions) -> list[pl.Expr]:
    """L2: what the ticket's fields held when."""
    have = set(shape.fields)
    found: list[pl.Expr] = []
    if shape.required and have >= set(shape.required):
        cells = [pl.col(FIELD + name) for name in shape.required]
        full = pl.all_horizontal([cell.is_not_null() for cell in cells])
        filled = pl.sum_horizontal([cell.is_not_null().cast(pl.Int64) for cell in cells])
        found += [
            filled.first().alias("required_filled"),
            pl.lit(len(cells), dtype=pl.Int64).first().alias("required_asked"),
            (~full.any()).cast(pl.Int64).alias("incomplete"),
            full.first().cast(pl.Int64).alias("full_at_once"),
            (pl.col("tick").filter(full).first() - pl.col("tick").first()).alias("full_info_us"),
        ]
    if shape.tracked and have >= set(shape.tracked):
        found.append(pl.col("changed").sum().alias("updates"))
    names = options.reclassified
    if names and have >= set(names):
        # Another value than the last known one; filling in a blank is no reclassification.
        moved = [
            (pl.col(FIELD + name).drop_nulls().n_unique() > 1).cast(pl.Boolean) for name in names
        ]
        found.append(pl.any_horizontal(moved).cast(pl.Int64).alias("reclassified"))
    return found


def _opening(shape: LogShape) -> list[pl.Expr]:
    """What the case was when it began, and what is known at its end."""
    first = {"priority", "impact", "category", "site", "requester"} & shape.roles
    last = {"sla_met", "due_at", "resolved_at", "csat"} & shape.roles
    found = [pl.col(name).drop_nulls().first() for name in sorted(first)]
    found += [pl.col(name).drop_nulls().last() for name in sorted(last)]
    if "group" in shape.roles:
        found.append(pl.col("group").drop_nulls().first().alias("team"))
    return found


def _moments(steps: pl.DataFrame) -> pl.DataFrame:
    """Sums of logarithms and burstiness, summed in the order of the events of a case alone."""
    starts = np.flatnonzero(~steps["same"].to_numpy())
    if not len(starts):
        return pl.DataFrame(schema=dict.fromkeys(FLOAT_COLUMNS, pl.Float64))
    step = steps["step"].fill_null(-1).to_numpy()
    there = step >= 0
    hours = np.where(there, step, 0) / MICROSECONDS_PER_HOUR
    logs = np.log(hours, out=np.zeros(len(hours)), where=hours > 0)
    n = np.add.reduceat(there.astype(np.int64), starts)
    many = np.maximum(n, 1)
    mean = np.add.reduceat(hours, starts) / many
    each = np.repeat(mean, np.diff(np.append(starts, len(step))))
    off = np.where(there, hours - each, 0.0)
    sd = np.sqrt(np.add.reduceat(off * off, starts) / many)
    total = sd + mean
    burst = np.divide(sd - mean, total, out=np.zeros(len(n)), where=total > 0)
    known = pl.Series((n >= 3) & (total > 0))
    frame = pl.DataFrame({"gap_log": np.add.reduceat(logs, starts), "burst": burst})
    return frame.with_columns(pl.when(known).then(pl.col("burst")).alias("burst"))


def _joined(*names: str) -> pl.Expr:
    known = pl.any_horizontal([pl.col(name).is_not_null() for name in names])
    return pl.when(known).then(
        pl.concat_str([pl.col(name).fill_null("?") for name in names], separator=_BREAK)
    )


def _finished(result: pl.DataFrame, shape: LogShape) -> pl.DataFrame:
    """Every column of the profile, null where the log can't tell."""
    kinds = {
        **dict.fromkeys(TEXT_COLUMNS, pl.String()),
        **dict.fromkeys(COUNT_COLUMNS, pl.Int64()),
        "class_last": pl.Int8(),
        "sla_met": pl.Boolean(),
        "due_at": pl.Datetime("us", "UTC"),
        "resolved_at": pl.Datetime("us", "UTC"),
        "done_at": pl.Datetime("us", "UTC"),
        "csat": pl.String(),
    }
    result = result.with_columns(
        pl.lit(None, dtype=kind).alias(name)
        for name, kind in kinds.items()
        if name not in result.columns
    )
    local = pl.col("wall_first").cast(pl.Datetime("us"))
    result = result.with_columns(
        local.dt.strftime("%Y-%m-%d").alias("day"),
        local.dt.strftime("%G-W%V").alias("week"),
        local.dt.strftime("%Y-%m").alias("month"),
        _joined("priority", "category").alias("stratum"),
        _joined("priority", "impact").alias("bin"),
        pl.col("class_last")
        .replace_strict(list(range(len(CLASSES))), list(CLASSES), return_dtype=pl.String)
        .alias("last_class"),
    )
    return result


_ORDER = ("row", "case")


def _twins(frame: pl.DataFrame) -> pl.Expr:
    names = [name for name in frame.columns if name not in _ORDER]
    return ~pl.struct(names).is_first_distinct()


def without_duplicates(frame: pl.DataFrame) -> pl.DataFrame:
    """Events without those that repeat one before them in every column."""
    return frame.filter(~_twins(frame))


@dataclass
class Oddities:
    """Adds the counts of a frame of whole cases to the notes."""

    notes: LogNotes

    def see(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Count; the frame goes on as it is."""
        same = pl.col("case") == pl.col("case").shift(1)
        tie = same & (pl.col("timestamp") == pl.col("timestamp").shift(1))
        late = same & (pl.col("row") < pl.col("row").shift(1))
        ties, moved = frame.select(tie.sum().alias("ties"), late.sum().alias("late")).row(0)
        self.notes.ties += int(ties)
        self.notes.out_of_order += int(moved)
        if ties:  # an event and its repetition have the same time
            near = frame.filter((tie | tie.shift(-1)).fill_null(False))
            self.notes.duplicates += int(near.select(_twins(near).sum()).item())
        return frame


COMPLETE = "complete"


def counted_transitions(layout: LogFormat, notes: LogNotes) -> tuple[str, ...] | None:
    """Transitions of the lifecycle (XES, IEEE 1849) that count as events; ``None``: every row.

    Those declared, else ``complete`` where the log has other transitions, too: start and complete
    are two ends of one event. Rows that name no transition count always.
    """
    if layout.lifecycle:
        return layout.lifecycle
    return (COMPLETE,) if {COMPLETE} < notes.transitions.keys() else None


BUCKET = 32_768
"""Cases of a block that is yielded."""


@dataclass
class LogRun:
    """A log on its way to a session table; iterate `blocks` once.

    Attributes
    ----------
    notes
        Complete when the blocks were read to their end.
    settings
        Signature fields of the choices, ``name:value`` joined by ``|``.
    label
        Name of the log.
    watch
        Sees every frame of whole cases as they are counted.
    digest
        Whether the files in `notes` get digests of their content.
    """

    store: CaseStore
    classes: ClassMap | None
    options: TraceOptions
    side: Side
    config: str
    watch: Callable[[pl.DataFrame], None] | None = None
    digest: bool = False
    notes: LogNotes = field(init=False)
    label: str = field(init=False)
    _content: LogDigest | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.notes, self.label = self.store.notes, self.store.label
        if self.digest:
            self._content = LogDigest(self.notes)

    @property
    def settings(self) -> str:
        """Signature fields of everything that the numbers rest on."""
        chosen = {"map": self.config, **self.options.signature()}
        return "|".join(f"{name}:{value}" for name, value in chosen.items())

    @property
    def shape(self) -> LogShape:
        """What the log can tell."""
        layout = self.store.layout
        return LogShape(
            roles=frozenset(self.store.roles),
            fields=self.store.fields,
            required=layout.required,
            tracked=layout.tracked,
            zone=layout.timezone,
            rows=layout.rows,
        )

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Rows of the session table, cases by first appearance in the log; closes the store."""
        with self.store:
            rows = (self._rows(frame) for frame in self.store.frames())
            ordered = _in_order(rows) if self.store.spilled else rows
            seq = 0
            for block in ordered:
                numbers = pl.int_range(seq, seq + block.height, dtype=pl.Int64).alias("seq")
                seq += block.height
                yield block.with_columns(numbers).select(list(table_schema(PROFILE)))
        if self._content is not None:
            self._content.finish()
        if seq == 0:
            raise NotScorable(
                "no case is left: every one began less than the horizon before the log's end; "
                "choose a shorter horizon"
            )

    def _rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        if self._content is not None:
            self._content.see(frame)
        frame = self._events_alone(frame)
        oddities = Oddities(self.notes)
        frame = oddities.see(frame)
        if self.options.duplicates == "drop":
            frame = without_duplicates(frame)
        frame = self._cut(frame)
        if self.watch is not None:
            self.watch(frame)
        cases = count_cases(frame, self.shape, self.classes, self.options)
        self.notes.cases += cases.height
        if self.classes is not None:
            ended = cases["last_class"].is_in(["resolved", "closed", "cancelled"])
            self.notes.open_cases = (self.notes.open_cases or 0) + int((~ended).sum())
        return identified(cases, side=self.side, label=self.label)

    def _events_alone(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Each event once: without the rows that are other moments of it (its start, ...)."""
        counted = counted_transitions(self.store.layout, self.notes)
        if counted is None or "lifecycle" not in frame.columns:
            return frame
        moment = pl.col("lifecycle").str.to_lowercase()
        kept = frame.filter(moment.is_null() | moment.is_in(list(counted)))
        self.notes.other_moments += frame.height - kept.height
        return kept

    def _cut(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Apply the horizon."""
        if self.options.horizon is None or self.notes.last is None:
            return frame
        limit = pl.duration(microseconds=round(self.options.horizon * 3.6e9))
        start = pl.col("timestamp").first().over("case")
        young = start + limit > pl.lit(self.notes.last)
        seen = frame.with_columns(
            young.alias("young"), (pl.col("timestamp") > start + limit).alias("late")
        )
        self.notes.too_young += seen.filter("young")["case"].n_unique()
        old = seen.filter(~pl.col("young"))
        kept = old.filter(~pl.col("late"))
        self.notes.cut_events += old.height - kept.height
        return kept.drop("young", "late")


def identified(cases: pl.DataFrame, *, side: Side, label: str) -> pl.DataFrame:
    """Put the identity columns of a session table before the counts of cases."""
    survey = pl.when(pl.col("csat").is_not_null()).then(pl.struct("csat").struct.json_encode())
    reward, outcome = outcome_columns()
    known = {
        "session_id": pl.col("case_id"),
        "side": pl.lit(side),
        "simulator": pl.lit("" if side == "human" else label),
        "domain": pl.lit("log"),
        "layout": pl.lit("log"),
        "participant": pl.col("requester"),
        "status": pl.lit("ok"),
        "keep": pl.lit(True),
        "keep_is_false": pl.lit(False),
        "reward": reward,
        "outcome_label": outcome,
        "termination": pl.col("last_class"),
        "survey": survey,
    }
    core = {"n_turns": pl.col("events")}
    columns = [
        known.get(name, pl.lit(None)).cast(kind).alias(name)
        for name, kind in IDENTITY_SCHEMA.items()
        if name != "seq"
    ]
    columns += [
        core.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in CORE_COUNTS.items()
    ]
    return cases.select(pl.col("case").alias("seq"), *columns, *COLUMNS)


def _in_order(rows: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Rows of a spilled log by rising ``seq``: spread over files by range, each sorted alone."""
    import pyarrow as pa

    with tempfile.TemporaryDirectory(prefix="usi-log-") as folder:
        writers: dict[int, pa.RecordBatchFileWriter] = {}
        for block in rows:
            keyed = block.with_columns((pl.col("seq") // (8 * BUCKET)).alias("bucket"))
            for (bucket,), part in keyed.partition_by(
                "bucket", as_dict=True, include_key=False
            ).items():
                table = part.to_arrow(compat_level=pl.CompatLevel.oldest())
                number = int(bucket)
                if number not in writers:
                    writers[number] = pa.ipc.new_stream(
                        str(Path(folder, f"{number:09d}")), table.schema
                    )
                writers[number].write_table(table)
        for writer in writers.values():
            writer.close()
        for number in sorted(writers):
            with pa.ipc.open_stream(str(Path(folder, f"{number:09d}"))) as reader:
                whole = cast(pl.DataFrame, pl.from_arrow(reader.read_all()))
            yield whole.sort("seq")


def run_log(
    log: Paths | EventStream,
    config: LogConfig,
    *,
    side: Side,
    name: str | None = None,
    options: TraceOptions | None = None,
    without_classes: bool = False,
    watch: Callable[[pl.DataFrame], None] | None = None,
    digest: bool = False,
) -> LogRun:
    """Read a log once and make ready to count its cases.

    Parameters
    ----------
    log
        Files of one log, or an opened stream.
    config
        From `usi.logs.load_config`.
    side
        ``"human"`` (the real log) or ``"simulated"``.
    name
        Label in place of the file's name.
    options
        Choices in place of those of the configuration.
    without_classes
        Go on without a class map: L3, reopenings and the outcome stay undefined.
    watch
        Called with every frame of whole, sorted cases (for distances of sequences).
    digest
        Digest the content of the files, whatever the order of their rows.

    Raises
    ------
    InputError
        For bad rows (all of them), or activities without a class (all of them, by name).
    UsageError
        For a configuration without a class map.
    """
    if side not in SIDES:
        raise UsageError(f"side is {side!r}; it must be one of {', '.join(SIDES)}")
    classes = None if without_classes else classes_of(config)
    if classes is None and not without_classes:
        raise UsageError(
            "the configuration has no [classes]: which activity is work, queue, wait_user, ...? "
            "usi logs suggest writes a draft; --no-classes goes on without L3, reopenings and "
            "outcome"
        )
    stream = (
        log if isinstance(log, EventStream) else open_log(log, config.layout_of(side), name=name)
    )
    store = CaseStore(stream, check=None if classes is None else classes.check)
    return LogRun(store, classes, options or options_of(config), side, config.tag, watch, digest)
