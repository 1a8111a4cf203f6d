"""`usi blind`: can practitioners tell a simulator from people?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.flags import flags, only, without
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.options import (
    BlindForgetOptions,
    BlindJoinOptions,
    BlindNewOptions,
    BlindServeOptions,
    Delivery,
    LinkOptions,
)

_HELP = """Ask practitioners, blind, whether they can tell sessions of a simulator from people's.

Raters read sessions of both in random order, matched by task, and say person or program, how sure
they are, how realistic it is, and which message gave it away. The result can join a scorecard, its
report and the gate (criteria key max_blind_auc). The site needs pip install 'usi[study]' and two
environment variables: USI_STUDY_SECRET signs links, USI_STUDY_OWNER is the password of the page
/owner.

\b
Examples:
  usi blind new check --human human_corpus/desk runs/mine.jsonl runs/other.jsonl --tasks 30
  usi blind serve check
  usi blind links check --number 12
  usi blind export check -o blind.json -o blind.md
  usi blind join card.json blind.json -o card.json
  usi blind forget check --identities --yes
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
    from usi.cli.console import note
    from usi.study.server import serve_blind

    serve_blind(folder, own, note)


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
    from usi.cli.console import out
    from usi.study.blind.raters import opened_blind
    from usi.study.database import study_name
    from usi.study.links import SECRET, Signer, from_environment

    secret = from_environment(SECRET)
    with opened_blind(folder) as blind:
        signer = Signer(secret, study_name(blind.database))
        address = blind.place.study.url or "http://127.0.0.1:8001"
        for link in signer.invitations(address, first=own.first, number=own.number):
            out(f"{link}\n")


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
    from usi.cli.console import note, out
    from usi.report import files
    from usi.report.card_text import practitioners
    from usi.study.blind.raters import opened_blind
    from usi.study.blind.text import markdown_of, result_of

    forms = files.claim(delivery.output, known=(".json", ".md"), force=delivery.force)
    with opened_blind(folder) as blind:
        card = result_of(blind)
    made = {".json": card.to_json(), ".md": markdown_of(card)}
    files.write_all({path: files.text(made[form]) for path, form in forms.items()})
    for path in forms:
        note(f"written: {path}", quiet=delivery.quiet)
    note(practitioners(card.auc), quiet=delivery.quiet)
    if not forms:
        out(made[".json"])


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
    from usi.cli.console import note
    from usi.report import files
    from usi.scoring.scorecard import Scorecard
    from usi.study.blind.join import joined
    from usi.study.blind.results import BlindCard

    files.claim([own.output], known=(".json",), force=delivery.force or own.output == card)
    read = Scorecard.read(card, trust_edited=own.trust_edited)
    whole, names = joined(read, BlindCard.read(result))
    files.write_all({own.output: files.text(whole.to_json())})
    note(f"{own.output}: blind check of {', '.join(names)}", quiet=delivery.quiet)


@app.command(name="forget")
@guarded
@flags
def forget(
    folder: Folder,
    own: BlindForgetOptions,
) -> None:
    """Delete answers of raters for good; sessions and exported results are files of their own.

    Example: usi blind forget check --identities --yes
    """
    from usi.cli.console import confirm_deletion, note
    from usi.errors import UsageError
    from usi.study.blind.raters import opened_blind
    from usi.study.blind.retention import forget_ratings

    if not (own.rater or own.identities or own.everything):
        raise UsageError("say what: --rater CODE, --identities or --everything")
    confirm_deletion(yes=own.yes)
    with opened_blind(folder) as blind:
        done = forget_ratings(
            blind,
            raters=own.rater,
            identities=own.identities,
            everything=own.everything,
        )
    note(f"deleted: {done.raters} raters' answers, {done.identities} identities")
