"""``usi convert``: transcripts of any format in another one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.console import note, working
from usi.cli.options import (
    Domain,
    Files,
    Flip,
    Force,
    Format,
    Map,
    MaxRecord,
    Name,
    Quiet,
    UserRole,
    UserSpeaker,
)


def command(
    files: Files,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where; stdout without it.", show_default=False
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            show_default=False,
            help="usi-jsonl (default), openai-chat, sharegpt or csv; by the suffix where it tells.",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    domain: Domain = None,
    name: Name = None,
    format_: Format = None,
    max_record: MaxRecord = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    flip: Flip = False,
    map_: Map = None,
) -> None:
    """Rewrite transcripts as usi JSONL, the general form, or in another format.

    Content is kept as it was found. What loading sets aside, guesses or merges, and what the
    target can't carry, is counted on stderr. With one bad row nothing is written.

    \b
    Examples:
      usi convert airline_gpt-4o.json --domain airline -o airline_gpt-4o.jsonl
      usi convert chats.csv --map session=id,role=who,text=said -o people.jsonl
      usi convert people.jsonl --to openai-chat -o chat.jsonl
    """  # fmt: skip
    import sys

    from usi.cli.options import load_options, sources
    from usi.loading import open_sessions, write_sessions
    from usi.loading.notes import LoadNotes
    from usi.loading.write import target_of
    from usi.report import files as report_files

    options = load_options(
        format_=format_,
        domain=domain,
        name=name,
        max_record=max_record,
        user_role=user_role,
        user_speaker=user_speaker,
        flip=flip,
        map_=map_,
    )
    if to is None:
        table = output is not None and output.name.endswith((".csv", ".csv.gz"))
        to = "csv" if table else "usi-jsonl"
    target = target_of(to)
    if output is not None:
        report_files.claim([output], known=target.suffixes, force=force, inputs=sources(files))
    stream = open_sessions(files, options=options)
    written = LoadNotes()

    def write(path: Path) -> None:
        nonlocal written
        written = write_sessions(stream, path, to=target.name)

    with working("reading ...", quiet=quiet):
        if output is None:
            written = write_sessions(stream, sys.stdout, to=target.name)
        else:
            report_files.write_all({output: write})
    sessions = sum(file.sessions for file in stream.notes.files)
    note(f"{sessions:,} sessions of {stream.notes.layout} as {target.name}", quiet=quiet)
    for when, notes in (("reading", stream.notes), ("writing", written)):
        for loss in notes.losses:
            note(f"{loss.kind} in {when}: {loss.count:,} x {loss.what}", quiet=quiet)
    for remark in stream.notes.remarks:
        note(remark, quiet=quiet)
