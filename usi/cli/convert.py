"""``usi convert``: transcripts of any format in another one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from usi.cli.console import note, working
from usi.cli.flags import Files, flags, only
from usi.options import ConvertOptions, Delivery, LoadOptions


@flags
def command(
    files: Files,
    own: ConvertOptions,
    reading: LoadOptions,
    delivery: Annotated[Delivery, only("force", "quiet")],
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

    from usi.cli.inputs import sources
    from usi.loading import open_sessions, write_sessions
    from usi.loading.notes import LoadNotes
    from usi.loading.write import target_of
    from usi.report import files as report_files

    table = own.output is not None and own.output.name.endswith((".csv", ".csv.gz"))
    target = target_of(own.to or ("csv" if table else "usi-jsonl"))
    if own.output is not None:
        report_files.claim(
            [own.output], known=target.suffixes, force=delivery.force, inputs=sources(files)
        )
    stream = open_sessions(files, options=reading)
    written = LoadNotes()

    def write(path: Path) -> None:
        nonlocal written
        written = write_sessions(stream, path, to=target.name)

    with working("reading ...", quiet=delivery.quiet):
        if own.output is None:
            written = write_sessions(stream, sys.stdout, to=target.name)
        else:
            report_files.write_all({own.output: write})
    sessions = sum(file.sessions for file in stream.notes.files)
    note(f"{sessions:,} sessions of {stream.notes.layout} as {target.name}", quiet=delivery.quiet)
    for when, notes in (("reading", stream.notes), ("writing", written)):
        for loss in notes.losses:
            note(f"{loss.kind} in {when}: {loss.count:,} x {loss.what}", quiet=delivery.quiet)
    for remark in stream.notes.remarks:
        note(remark, quiet=delivery.quiet)
