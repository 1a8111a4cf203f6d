"""``usi convert``: transcripts of any format as usi JSONL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.console import note, working
from usi.cli.options import Domain, Files, Force, Format, MaxRecord, Name, Quiet


def command(
    files: Files,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.jsonl",
            help="Where; stdout without it.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    domain: Domain = None,
    name: Name = None,
    format_: Format = None,
    max_record: MaxRecord = None,
) -> None:
    """Rewrite transcripts as usi JSONL, the general form.

    Content is kept as it was found. What the loader sets aside (tool results, for instance) is
    counted on stderr. With one bad row nothing is written.

    \b
    Example:
      usi convert airline_gpt-4o.json --domain airline -o airline_gpt-4o.jsonl
    """  # fmt: skip
    import sys

    from usi.cli.reading import load_options, sources
    from usi.load import open_sessions, write_usi_jsonl
    from usi.report import files as report_files

    options = load_options(format_=format_, domain=domain, name=name, max_record=max_record)
    if output is not None:
        report_files.claim(
            [output], known=(".jsonl", ".jsonl.gz"), force=force, inputs=sources(files)
        )
    stream = open_sessions(files, options=options)

    def write(path: Path) -> None:
        write_usi_jsonl(stream, path)

    with working("reading ...", quiet=quiet):
        if output is None:
            write_usi_jsonl(stream, sys.stdout)
        else:
            report_files.write_all({output: write})
    sessions = sum(file.sessions for file in stream.notes.files)
    note(f"{sessions:,} sessions of {stream.notes.layout}", quiet=quiet)
    for reason, count in sorted(stream.notes.left_out.items()):
        note(f"left out: {count:,} x {reason}", quiet=quiet)
    for remark in stream.notes.remarks:
        note(remark, quiet=quiet)
