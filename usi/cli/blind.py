"""`usi blind`: can practitioners tell a simulator from people?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.flags import flags, only, without
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.options import BlindJoinOptions, BlindNewOptions, BlindServeOptions, Delivery, LinkOptions

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
@flags
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="To make.")],
    simulators: Annotated[
        list[str], typer.Argument(metavar="SIMULATOR...", help="Transcripts of simulators.")
    ],
    own: BlindNewOptions,
    delivery: Annotated[Delivery, only("quiet")],
) -> None:
    """Choose sessions, matched by task, and write blind.toml and a consent text to fill in.

    Example: usi blind new check --human human_corpus/desk runs/mine.jsonl --tasks 30
    """
    from usi.cli.console import note
    from usi.study.blind.new import new_blind

    items = new_blind(
        folder,
        human=own.human,
        simulators=simulators,
        tasks=own.tasks,
        each=own.sessions_per_rater,
        seed=own.seed,
    )
    people = sum(item.side == "person" for item in items)
    note(
        f"{folder}: {people} sessions of people, {len(items) - people} of simulators, "
        f"{len({item.task for item in items})} tasks",
        quiet=delivery.quiet,
    )
    note(f"Next: fill in {folder}/consent.md; usi blind serve {folder}", quiet=delivery.quiet)


@app.command(name="serve")
@guarded
@flags
def serve(
    folder: Folder,
    own: BlindServeOptions,
) -> None:
    """Serve the site until it is ended.

    Example: usi blind serve check --port 8001
    """
    from usi.cli import blinding

    blinding.serve_blind(
        folder,
        host=own.host,
        port=own.port,
        root_path=own.root_path,
        trusted_proxy=own.trusted_proxy,
        trial=own.trial,
    )


@app.command(name="links")
@guarded
@flags
def links(
    folder: Folder,
    own: LinkOptions,
) -> None:
    """Print signed links, one for each rater.

    Example: usi blind links check --number 12
    """
    from usi.cli import blinding

    blinding.print_links(folder, number=own.number, first=own.first)


@app.command(name="export")
@guarded
@flags
def export(
    folder: Folder,
    delivery: Annotated[Delivery, without("print", "exit_zero")],
) -> None:
    """Say what raters could tell: AUC with bounds, agreement, by simulator and experience.

    Example: usi blind export check -o blind.json
    """
    from usi.cli import blinding

    blinding.export_blind(folder, list(delivery.output), force=delivery.force, quiet=delivery.quiet)


@app.command(name="join")
@guarded
@flags
def join(
    card: Annotated[Path, typer.Argument(metavar="CARD", help="Scorecard (.json of usi score).")],
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Of usi blind export.")],
    own: BlindJoinOptions,
    delivery: Annotated[Delivery, only("force", "quiet")],
) -> None:
    """Add the result of a blind check to a scorecard, for its report and the gate.

    Example: usi blind join card.json blind.json -o card.json
    """
    from usi.cli import blinding

    blinding.join(card, result, own.output, force=delivery.force, quiet=delivery.quiet)
