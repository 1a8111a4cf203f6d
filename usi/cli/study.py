"""`usi study`: a site on which people play the user; its corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from usi.cli.flags import flags, only
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.options import (
    Delivery,
    LinkOptions,
    StudyExcludeOptions,
    StudyExportOptions,
    StudyForgetOptions,
    StudyNewOptions,
    StudyServeOptions,
)

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


@app.command(name="new")
@guarded
@flags
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="To make.")],
    own: StudyNewOptions,
    delivery: Annotated[Delivery, only("quiet")],
) -> None:
    """Write study.toml and a consent text to fill in.

    Example: usi study new desk --domain service_desk --agent agents/desk.toml --people 3
    """
    from usi.cli.console import note
    from usi.study.new import new_study, next_steps
    from usi.study.settings import read_study

    for path in new_study(
        folder,
        domain=own.domain,
        agent=own.agent,
        people=own.people,
        each=own.tasks_per_person,
        subset=own.subset,
    ):
        note(f"written: {path}", quiet=delivery.quiet)
    read_study(folder)
    note(f"Next: {next_steps(folder, own.agent)}", quiet=delivery.quiet)


@app.command(name="serve")
@guarded
@flags
def serve(
    folder: Folder,
    own: StudyServeOptions,
) -> None:
    """Serve the site until it is ended; a study goes on where it was.

    Example: usi study serve desk --port 8000 --root-path /study --trusted-proxy 127.0.0.1
    """
    from usi.cli.console import note
    from usi.study.server import serve_study

    serve_study(folder, own, note)


@app.command(name="links")
@guarded
@flags
def links(
    folder: Folder,
    own: LinkOptions,
) -> None:
    """Print signed links, one for each person.

    Example: usi study links desk --number 30 > links.txt
    """
    from usi.cli.console import out
    from usi.study.database import study_name
    from usi.study.links import SECRET, Signer, from_environment
    from usi.study.study import opened_study

    secret = from_environment(SECRET)
    with opened_study(folder, served=False) as running:
        signer = Signer(secret, study_name(running.database))
        address = running.place.study.url or "http://127.0.0.1:8000"
        for link in signer.invitations(address, first=own.first, number=own.number):
            out(f"{link}\n")


@app.command(name="status")
@guarded
@flags
def status(
    folder: Folder,
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Say how a study stands: cells, people, cost; also while it is served.

    Example: usi study status desk
    """
    from usi.cli.console import out, printed
    from usi.study.status import status_of
    from usi.study.study import opened_study

    with opened_study(folder) as running:
        found = status_of(running.database.read(), running)
    kind = printed(delivery.print)
    if kind == "json":
        out(json.dumps(found.to_dict(), indent=2) + "\n")
    elif kind == "table":
        out("\n".join(found.lines()) + "\n")


@app.command(name="exclude")
@guarded
@flags
def exclude_talk(
    folder: Folder,
    talk: Annotated[int, typer.Argument(metavar="TALK", help="Number of the talk.")],
    own: StudyExcludeOptions,
) -> None:
    """Leave a talk out of the corpus, with the reason; its place is free again.

    Example: usi study exclude desk 17 --reason "copied the instruction"
    """
    from usi.errors import UsageError
    from usi.study.status import exclude
    from usi.study.study import opened_study

    if not own.reason.strip():
        raise UsageError("--reason: say why; it goes into the export")
    with opened_study(folder) as running:
        if not running.database.write(lambda db: exclude(db, running, talk, own.reason)):
            raise UsageError(f"there is no talk {talk}; usi study export lists them")


@app.command(name="export")
@guarded
@flags
def export(
    folder: Folder,
    own: StudyExportOptions,
    delivery: Annotated[Delivery, only("force", "quiet")],
) -> None:
    """Write the talks as a human corpus: manifest, datasheet, quality, what was left out and why.

    Example: usi study export desk -o human_corpus/desk
    """
    from usi.cli.console import note, working
    from usi.study.export import export_corpus
    from usi.study.study import opened_study

    quiet = delivery.quiet
    with opened_study(folder) as running, working("writing the corpus ...", quiet=quiet):
        done = export_corpus(running, own.output, redacted=own.redact, force=delivery.force)
    note(f"{done.folder}: {done.sessions} sessions, {done.left_out} left out", quiet=quiet)
    for warning in done.warnings:
        note(f"  {warning}", quiet=quiet)
    note(f"Next: fill in {done.folder}/DATASHEET.md", quiet=quiet)


@app.command(name="forget")
@guarded
@flags
def forget(
    folder: Folder,
    own: StudyForgetOptions,
) -> None:
    """Delete data of people for good; an exported corpus is a file of its own.

    Example: usi study forget desk --identities --yes
    """
    from usi.cli.console import confirm_deletion, note
    from usi.errors import UsageError
    from usi.study.retention import forget_data
    from usi.study.study import opened_study

    if not (own.participant or own.identities or own.dropouts or own.everything):
        raise UsageError("say what: --participant CODE, --identities, --dropouts or --everything")
    confirm_deletion(yes=own.yes)
    with opened_study(folder) as running:
        done = forget_data(
            running,
            participants=own.participant,
            identities=own.identities,
            dropouts=own.dropouts,
            everything=own.everything,
        )
    note(str(done))
