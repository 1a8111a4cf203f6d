"""From a log to the rows of its session table, one a case, in memory that does not grow with it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import polars as pl

from usi.errors import NotScorable, UsageError
from usi.features.spec import CORE_COUNTS, IDENTITY_SCHEMA
from usi.features.table import SessionTable, table_schema
from usi.features.trace import COLUMNS, PROFILE
from usi.features.trace_count import LogShape, count_cases
from usi.features.trace_notes import Oddities, without_duplicates
from usi.features.trace_options import ClassMap, TraceOptions, classes_of, options_of
from usi.features.trace_outcome import outcome_columns
from usi.load.logs import CaseStore, EventStream, LogConfig, LogNotes, open_log
from usi.load.logs.digest import LogDigest
from usi.load.logs.events import Paths
from usi.records import SIDES, Side

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
        From `usi.load.logs.load_config`.
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
    stream = log if isinstance(log, EventStream) else open_log(log, config.layout, name=name)
    store = CaseStore(stream, check=None if classes is None else classes.check)
    return LogRun(store, classes, options or options_of(config), side, config.tag, watch, digest)


def extract_log_table(
    log: Paths | EventStream,
    config: LogConfig,
    *,
    side: Side,
    name: str | None = None,
    options: TraceOptions | None = None,
    without_classes: bool = False,
) -> tuple[SessionTable, LogNotes]:
    """Compute the session table of a log whose cases fit into memory; parameters as `run_log`."""
    run = run_log(
        log, config, side=side, name=name, options=options, without_classes=without_classes
    )
    frame = pl.concat(list(run.blocks()))
    table = SessionTable(frame, PROFILE.name, PROFILE.lexicon, run.notes.synthetic, run.settings)
    return table, run.notes
