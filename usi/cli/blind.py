"""`usi blind`: can practitioners tell a simulator from people?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.guard import guarded
from usi.cli.options import Force, Quiet
from usi.cli.study import Host, Port, RootPath, TrustedProxy
from usi.cli.verbs import reflow

_HELP = """Ask practitioners, blind, whether they can tell sessions of a simulator from people's.

Raters read sessions of both in random order, matched by task, and say person or program, how sure
they are, how realistic it is, and which message gave it away. The result can join a scorecard, its
report and the gate (criteria key max_blind_auc). The site needs pip install 'usi[study]' and the
environment variable USI_STUDY_SECRET.

\b
Examples:
  usi blind new check --human human_corpus/desk runs/mine.jsonl runs/other.jsonl --tasks 30
  usi blind serve check
  usi blind links check --number 12
  usi blind export check -o blind.json -o blind.md
  usi blind join card.json blind.json -o card.json
"""

app = typer.Typer(
    help=reflow(_HELP), no_args_is_help=True, add_completion=False, rich_markup_mode="rich"
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Holds blind.toml.")]


@app.command(name="new")
@guarded
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="To make.")],
    simulators: Annotated[
        list[str], typer.Argument(metavar="SIMULATOR...", help="Transcripts of simulators.")
    ],
    human: Annotated[
        str, typer.Option("--human", metavar="H", help="A corpus, or transcripts of people.")
    ],
    tasks: Annotated[int, typer.Option("--tasks", min=1, help="Tasks of the check.")] = 30,
    each: Annotated[int, typer.Option("--sessions-per-rater", min=2, help="Half of people.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the choice.")] = 7,
    quiet: Quiet = False,
) -> None:
    """Choose sessions, matched by task, and write blind.toml and a consent text to fill in.

    Example: usi blind new check --human human_corpus/desk runs/mine.jsonl --tasks 30
    """
    from usi.cli.console import note
    from usi.study.blind.new import new_blind

    items = new_blind(folder, human=human, simulators=simulators, tasks=tasks, each=each, seed=seed)
    people = sum(item.side == "person" for item in items)
    note(
        f"{folder}: {people} sessions of people, {len(items) - people} of simulators, "
        f"{len({item.task for item in items})} tasks",
        quiet=quiet,
    )
    note(f"Next: fill in {folder}/consent.md; usi blind serve {folder}", quiet=quiet)


@app.command(name="serve")
@guarded
def serve(
    folder: Folder,
    host: Host = "127.0.0.1",
    port: Port = 8001,
    root_path: RootPath = "",
    trusted_proxy: TrustedProxy = None,
    trial: Annotated[
        bool, typer.Option("--trial", help="For testers and scripts; the result is synthetic.")
    ] = False,
) -> None:
    """Serve the site until it is ended.

    Example: usi blind serve check --port 8001
    """
    from usi.cli import blinding

    blinding.serve_blind(
        folder, host=host, port=port, root_path=root_path, trusted_proxy=trusted_proxy, trial=trial
    )


@app.command(name="links")
@guarded
def links(
    folder: Folder,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=100_000)] = 10,
    first: Annotated[int, typer.Option("--first", min=1, help="Number of the first.")] = 1,
) -> None:
    """Print signed links, one for each rater.

    Example: usi blind links check --number 12
    """
    from usi.cli import blinding

    blinding.print_links(folder, number=number, first=first)


@app.command(name="export")
@guarded
def export(
    folder: Folder,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write FILE (.json, .md).", show_default=False
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Say what raters could tell: AUC with bounds, agreement, by simulator and experience.

    Example: usi blind export check -o blind.json
    """
    from usi.cli import blinding

    blinding.export_blind(folder, output or [], force=force, quiet=quiet)


@app.command(name="join")
@guarded
def join(
    card: Annotated[Path, typer.Argument(metavar="CARD", help="Scorecard (.json of usi score).")],
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Of usi blind export.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The scorecard with it.")
    ],
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Add the result of a blind check to a scorecard, for its report and the gate.

    Example: usi blind join card.json blind.json -o card.json
    """
    from usi.cli import blinding

    blinding.join(card, result, output, force=force, quiet=quiet)
