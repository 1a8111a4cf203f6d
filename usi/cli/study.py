"""`usi study`: a site on which people play the user; its corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.guard import guarded
from usi.cli.options import Force, Printed, Quiet
from usi.cli.verbs import reflow

_HELP = """Collect talks of people with an agent on a site of your own, as a human corpus.

A study is a folder with study.toml. Its site needs pip install 'usi[study]' and two environment
variables: USI_STUDY_SECRET signs links, USI_STUDY_OWNER is the password of the page /owner.

\b
Examples:
  usi study new desk --domain service_desk --agent agents/desk.toml
  usi study serve desk
  usi study links desk --number 30
  usi study status desk
  usi study export desk -o human_corpus/desk
"""

app = typer.Typer(
    help=reflow(_HELP), no_args_is_help=True, add_completion=False, rich_markup_mode="rich"
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Holds study.toml.")]
Trial = Annotated[
    bool,
    typer.Option(
        "--trial", help="For testers and scripts: everything that comes of it is marked synthetic."
    ),
]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")]
RootPath = Annotated[
    str,
    typer.Option(
        "--root-path", metavar="PATH", help="Path under which a reverse proxy serves the site."
    ),
]
TrustedProxy = Annotated[
    str | None,
    typer.Option(
        "--trusted-proxy",
        metavar="ADDRESSES",
        help="Whose X-Forwarded-For is believed, with commas, such as 127.0.0.1.",
        show_default=False,
    ),
]


@app.command(name="new")
@guarded
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="To make.")],
    agent: Annotated[
        str, typer.Option("--agent", metavar="A", help="As of usi simulate; no oracle.")
    ],
    domain: Annotated[
        str, typer.Option("--domain", metavar="D", help="Name of a domain, or its folder.")
    ] = "service_desk",
    people: Annotated[
        int, typer.Option("--people", min=1, help="People on each task: batches of the corpus.")
    ] = 3,
    each: Annotated[int, typer.Option("--tasks-per-person", min=1, help="Of one person.")] = 4,
    subset: Annotated[
        int | None,
        typer.Option(
            "--subset", min=1, metavar="N", show_default=False,
            help="N tasks of the domain, in proportion to their difficulty.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write study.toml and a consent text to fill in.

    Example: usi study new desk --domain service_desk --agent agents/desk.toml --people 3
    """
    from usi.cli.console import note
    from usi.study.new import new_study
    from usi.study.settings import read_study

    for path in new_study(
        folder, domain=domain, agent=agent, people=people, each=each, subset=subset
    ):
        note(f"written: {path}", quiet=quiet)
    read_study(folder)
    note(f"Next: fill in {folder}/consent.md and {folder}/study.toml", quiet=quiet)


@app.command(name="serve")
@guarded
def serve(
    folder: Folder,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    root_path: RootPath = "",
    trusted_proxy: TrustedProxy = None,
    trial: Trial = False,
) -> None:
    """Serve the site until it is ended; a study goes on where it was.

    Example: usi study serve desk --port 8000 --root-path /study --trusted-proxy 127.0.0.1
    """
    from usi.cli import studying

    studying.serve_study(
        folder, host=host, port=port, root_path=root_path, trusted_proxy=trusted_proxy, trial=trial
    )


@app.command(name="links")
@guarded
def links(
    folder: Folder,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=100_000)] = 10,
    first: Annotated[
        int, typer.Option("--first", min=1, help="Number of the first; the same gives the same.")
    ] = 1,
) -> None:
    """Print signed links, one for each person.

    Example: usi study links desk --number 30 > links.txt
    """
    from usi.cli import studying

    studying.print_links(folder, number=number, first=first)


@app.command(name="status")
@guarded
def status(
    folder: Folder,
    show: Annotated[Printed, typer.Option("--print", help="auto: a table on a terminal.")] = (
        Printed.AUTO
    ),
) -> None:
    """Say how a study stands: cells, people, cost; also while it is served.

    Example: usi study status desk
    """
    from usi.cli import studying

    studying.print_status(folder, show=show)


@app.command(name="exclude")
@guarded
def exclude(
    folder: Folder,
    talk: Annotated[int, typer.Argument(metavar="TALK", help="Number of the talk.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Goes into the export.")],
) -> None:
    """Leave a talk out of the corpus, with the reason; its place is free again.

    Example: usi study exclude desk 17 --reason "copied the instruction"
    """
    from usi.cli import studying

    studying.exclude_talk(folder, talk, reason)


@app.command(name="export")
@guarded
def export(
    folder: Folder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the human corpus.")
    ],
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace what looks like personal data.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the talks as a human corpus: manifest, datasheet, quality, what was left out and why.

    Example: usi study export desk -o human_corpus/desk
    """
    from usi.cli import studying

    studying.export_study(folder, output, redacted=redact, force=force, quiet=quiet)


@app.command(name="forget")
@guarded
def forget(
    folder: Folder,
    participant: Annotated[
        list[str] | None,
        typer.Option(
            "--participant", metavar="CODE", show_default=False,
            help="Delete what this person said, as if they had withdrawn.",
        ),
    ] = None,
    identities: Annotated[
        bool,
        typer.Option("--identities", help="Delete what recruiting services told about people."),
    ] = False,
    dropouts: Annotated[
        bool, typer.Option("--dropouts", help="Delete talks that were left in the middle.")
    ] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="Delete all that people said and answered.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:  # fmt: skip
    """Delete data of people for good; an exported corpus is a file of its own.

    Example: usi study forget desk --identities --yes
    """
    from usi.cli import studying

    studying.forget(
        folder, participants=tuple(participant or ()), identities=identities, dropouts=dropouts,
        everything=everything, yes=yes,
    )  # fmt: skip
