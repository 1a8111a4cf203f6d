"""``usi logs``: operational logs (tickets, traces) in place of conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from usi.cli.console import note, out, printed, working
from usi.cli.flags import flags, without
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.options import (
    Delivery,
    LogFileOptions,
    LogsFeaturesOptions,
    LogsJointOptions,
    LogsSuggestOptions,
)

if TYPE_CHECKING:
    from usi.logs import LogConfig, LogNotes
    from usi.logs.extract import LogRun

BAD_INPUT = 2
_HELP = """Read operational logs: draft a configuration, validate, features by case, joint report.

A log is CSV, Parquet, XES or OCEL 2.0; its configuration (TOML, or a preset: servicenow, jira,
zendesk, github-issues, uci-incident, bpic2013) says which column is what and which activity is
work, queue, wait_user, wait_other, resolved, closed or cancelled.

\b
Examples:
  usi logs suggest tickets.csv -o tickets.toml
  usi logs validate tickets.csv --config tickets.toml
  usi logs features tickets.csv --config tickets.toml --side human -o people.sessions.parquet
  usi logs joint chat.json log.json -o joint.md

usi score SIMULATED --human TICKETS --preset NAME scores a simulated log against a real one."""

Logs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...", show_default=False,
        help="Files of one log, folders or archives; - reads stdin.",
    ),
]  # fmt: skip

app = typer.Typer(
    name="logs",
    help=reflow(_HELP),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


@flags
def suggest(
    files: Logs,
    own: LogsSuggestOptions,
    delivery: Annotated[Delivery, without("print", "exit_zero")],
) -> None:
    """Write a first draft of a log's configuration, for a person to correct.

    Columns are found by their names, the order of dates and marks of missing values by the cells,
    the class of every activity by its words. Without -o the draft goes to stdout.

    Example: usi logs suggest tickets.csv -o tickets.toml
    """
    from usi.cli.inputs import sources
    from usi.logs.suggest import suggest as draft_of
    from usi.report import files as report_files

    forms = report_files.claim(
        delivery.output, known=(".toml",), force=delivery.force, inputs=sources(files)
    )
    with working("reading ...", quiet=delivery.quiet):
        draft = draft_of(
            list(files),
            object_type=own.object_type,
            columns={"case_id": own.case, "activity": own.activity, "timestamp": own.time},
        )
    report_files.write_all({path: report_files.raw(draft.text.encode()) for path in forms})
    if not forms:
        out(draft.text)
    for text in draft.unsure:
        note(f"to decide: {text}", quiet=delivery.quiet)
    for path in forms:
        note(f"written: {path}", quiet=delivery.quiet)


@flags
def validate(
    files: Logs,
    own: LogFileOptions,
    delivery: Annotated[Delivery, without("output", "force")],
) -> None:
    """Say what a log holds and what is odd or wrong in it; score nothing.

    Counts ties in time, events out of order, repeated events, cases that are open at the end,
    blanks and constant columns. Bad rows are named with file, row and column; exit code 2 then.

    Example: usi logs validate tickets.csv --config tickets.toml
    """
    from usi.errors import UsiError

    problem: UsiError | None = None
    found: LogNotes | None = None
    try:
        with working("reading ...", quiet=delivery.quiet):
            run = _run(files, own, "human", None)
            for _ in run.blocks():
                pass
        found = run.notes
    except UsiError as error:
        problem = error
    if printed(delivery.print) == "json":
        data: dict[str, Any] = {"ok": problem is None}
        data |= {"problems": str(problem).splitlines()} if found is None else found.to_dict()
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif found is not None and printed(delivery.print) == "table":
        out(_text(found))
    if problem is not None:
        note(f"usi: error: {problem}")
        if not delivery.exit_zero:
            raise SystemExit(BAD_INPUT)


@flags
def features(
    files: Logs,
    own: LogsFeaturesOptions,
    delivery: Annotated[Delivery, without("print", "exit_zero")],
) -> None:
    """Compute the features of a log, one row a case, in memory that does not grow with it.

    -o takes .parquet, .csv, .jsonl (feature values), and .sessions.parquet for the session table
    with its counts; without -o, JSON Lines go to stdout. Undefined values are null.

    Example: usi logs features tickets.csv -c servicenow --side human -o people.sessions.parquet
    """  # fmt: skip
    import tempfile

    from usi.cli.inputs import sources
    from usi.extraction.table import VALUE_SUFFIXES, read_blocks, write_stream, write_values
    from usi.report import files as report_files

    table = ".sessions.parquet"
    forms = report_files.claim(
        delivery.output, known=(*VALUE_SUFFIXES, table), force=delivery.force, inputs=sources(files)
    )
    whose = own.side
    with (
        tempfile.TemporaryDirectory(prefix="usi-log-") as folder,
        working("reading ...", quiet=delivery.quiet),
    ):
        run = _run(files, own, whose, own.name, horizon=own.horizon)
        kept = Path(folder, "cases.sessions.parquet")
        rows = write_stream(
            run.blocks(), kept, profile="log", synthetic=run.notes.synthetic, settings=run.settings
        )
        writers: dict[Path, report_files.Writer] = {}
        for path, form in forms.items():
            writers[path] = _copy(kept) if form == table else _values(kept, write_values)
        report_files.write_all(writers)
        if not forms:
            from usi.extraction.profile import get_feature_profile
            from usi.extraction.table import values_of

            for block in read_blocks(kept):
                out(values_of(block, get_feature_profile("log")).write_ndjson())
    note(f"{rows:,} cases of {run.notes.events:,} events, {run.settings}", quiet=delivery.quiet)
    for path in forms:
        note(f"written: {path}", quiet=delivery.quiet)


@flags
def joint(
    chat: Annotated[
        Path, typer.Argument(metavar="CHAT.json", help="Scorecard of the conversations.")
    ],
    log: Annotated[Path, typer.Argument(metavar="LOG.json", help="Scorecard of the log.")],
    own: LogsJointOptions,
    delivery: Annotated[Delivery, without("print", "exit_zero")],
) -> None:
    """Put a simulator's scorecards of conversations and of its log side by side.

    Beside each card its session table is read: score with -o CARD.json -o CARD.sessions.parquet.
    Features of both are correlated case by case. -o takes .md and .json; without it the Markdown
    goes to stdout.

    Example: usi logs joint chat.json log.json --case task_id -o joint.md
    """
    from usi.decisions.simulator_terms import pick_simulator
    from usi.errors import UsageError
    from usi.logs.joint import joint as joined
    from usi.report import files as report_files
    from usi.report.joint import to_json, to_markdown
    from usi.scoring.profiles import profile_called
    from usi.scoring.scorecard import Scorecard

    forms = report_files.claim(
        delivery.output, known=(".md", ".json"), force=delivery.force, inputs=[chat, log]
    )
    cards = [Scorecard.read(path, trust_edited=own.trust_edited) for path in (chat, log)]
    for path, card, is_log in zip((chat, log), cards, (False, True), strict=True):
        of = profile_called(card.profile)
        if (of is not None and of.subject == "logs") is not is_log:
            kind = "a log" if is_log else "conversations"
            raise UsageError(f"{path} is no scorecard of {kind} (profile {card.profile})")
    one = pick_simulator(cards[0], own.simulator, str(chat))
    same = one.name if any(p.name == one.name for p in cards[1].simulators) else None
    other = pick_simulator(cards[1], own.log_simulator or same, str(log))
    found = joined(_own_rows(chat, one.name), _own_rows(log, other.name), case=own.case)
    both = (cards[0], cards[1])
    made = {".md": to_markdown, ".json": to_json}
    report_files.write_all(
        {
            path: report_files.text(made[form](*both, one, other, found))
            for path, form in forms.items()
        }
    )
    if not forms:
        out(to_markdown(*both, one, other, found))
    for path in forms:
        note(f"written: {path}", quiet=delivery.quiet)


def _own_rows(card: Path, simulator: str) -> Any:
    """The simulator's rows of the session table beside a scorecard."""
    from dataclasses import replace

    import polars as pl

    from usi.errors import InputError
    from usi.extraction.table import SessionTable

    path = card.with_name(f"{card.stem}.sessions.parquet")
    if not path.is_file():
        raise InputError(
            f"the session table {path.name} is not beside the scorecard: score again with "
            f"-o {path.name}",
            file=str(card),
        )
    table = SessionTable.read(path)
    own = (pl.col("side") == "simulated") & (pl.col("simulator") == simulator)
    return replace(table, frame=table.frame.filter(own))


def _copy(kept: Path) -> Any:
    import shutil

    return lambda path: shutil.copyfile(kept, path)


def _values(kept: Path, write: Any) -> Any:
    return lambda path: write(kept, path)


def _run(
    files: list[str], own: LogFileOptions, side: Any, name: str | None, **changes: Any
) -> LogRun:
    from usi.logs.extract import run_log
    from usi.logs.feature_options import options_of

    chosen = _config(own)
    given = {key: value for key, value in changes.items() if value is not None}
    return run_log(
        list(files),
        chosen,
        side=side,
        name=name,
        options=options_of(chosen, **given),
        without_classes=own.no_classes,
    )


def _config(own: LogFileOptions) -> LogConfig:
    from usi.errors import UsageError
    from usi.logs import LogConfig, LogFormat, load_config, preset_names
    from usi.logs.config import with_columns

    if own.config is None and not own.no_classes:
        raise UsageError(
            f"--config is missing: a preset ({', '.join(preset_names())}) or a file; "
            "usi logs suggest FILES -o my.toml writes a draft of one. --no-classes goes on without"
        )
    none = LogConfig("none", "1", LogFormat())
    chosen = none if own.config is None else load_config(own.config)
    return with_columns(
        chosen, case=own.case, activity=own.activity, time=own.time, timezone=own.timezone
    )


def _text(notes: LogNotes) -> str:
    files = ", ".join(f"{file.name} ({file.layout})" for file in notes.files)
    ends = notes.open_cases
    open_cases = "not known without classes" if ends is None else f"{ends:,} cases at the log's end"
    lines = [
        files,
        f"  events        {notes.events:,} in {notes.cases:,} cases",
        f"  from, to      {notes.first} to {notes.last}",
        f"  ties          {notes.ties:,} events with the time of the one before (file order kept)",
        f"  out of order  {notes.out_of_order:,} events (sorted by time)",
        f"  repeated      {notes.duplicates:,} events equal to another in every column",
        f"  open          {open_cases}",
        f"  constant      {', '.join(notes.constant) or 'none'}",
        f"  blank         {_counts(notes.missing) or 'none'}",
        f"  activities    {_counts(notes.activities)}",
    ]
    if notes.transitions:
        lines.append(
            f"  lifecycle     {_counts(notes.transitions)}; {notes.other_moments:,} rows are other "
            "moments of an event, which counts once"
        )
    if notes.clock_gaps or notes.clock_repeats:
        lines.append(
            f"  summer time   {notes.clock_gaps:,} times that did not exist, "
            f"{notes.clock_repeats:,} that existed twice"
        )
    if notes.flattened_drops or notes.flattened_duplicates:
        lines.append(
            f"  flattened     {notes.flattened_duplicates:,} events repeated, "
            f"{notes.flattened_drops:,} dropped"
        )
    return "\n".join([*lines, *(f"  note          {text}" for text in notes.remarks)]) + "\n"


def _counts(counts: Any) -> str:
    from usi.report.text import printable

    shown = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    text = ", ".join(f"{name} {count:,}" for name, count in shown[:20])
    return printable(text + (f" and {len(shown) - 20} more" if len(shown) > 20 else ""))


for _function in (suggest, validate, features, joint):
    app.command(name=_function.__name__, help=reflow(_function.__doc__))(guarded(_function))
