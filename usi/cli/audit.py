"""`usi audit`: what the gate admits on a corpus of people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.options import Force, Format, Outputs, Print, Printed, Quiet

if TYPE_CHECKING:
    from usi.records import Session


def command(
    corpus: Annotated[str, typer.Argument(help="Corpus: a name, folder or file.")],
    tier: Annotated[str, typer.Option("--tier", metavar="A|B|C", help="Tier asked about.")] = "B",
    draws: Annotated[int, typer.Option("--draws", min=1, help="Studies drawn.")] = 5,
    design: Annotated[
        str | None,
        typer.Option(
            "--design",
            metavar="TASKSxBATCHESxRUNS",
            help="Size of a study; default: the largest, 165x3x3 at most.",
            show_default=False,
        ),
    ] = None,
    group: Annotated[
        str,
        typer.Option(
            "--group",
            metavar="task|domain",
            help="Whose sessions count as talks about the same task.",
        ),
    ] = "task",
    mix: Annotated[
        list[Path] | None,
        typer.Option(
            "--mix",
            metavar="FILE",
            help="Transcripts of a model user, for mixtures; may be repeated.",
            show_default=False,
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(
            "--attack", metavar="NAME", help="Only this attack; repeatable.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the first draw.")] = 1,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="FILE",
            help="Keep finished draws in FILE; take from it those that are there.",
            show_default=False,
        ),
    ] = None,
    format: Format = None,  # noqa: A002  (the option's name is the interface)
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Try the gate on known-bad simulators made from a corpus's own people.

    Draws studies from the corpus, puts other sessions of its people and a series of attacks in
    the simulator's place (nonsense, the wrong task, replays, shuffled turns, copies, ...), scores
    and gates each, and says which a tier admits, how often real people pass, and the least size
    of a study at which they do. Some minutes a draw at 165x3x3.

    \b
    Examples:
      usi audit star --tier B -o audit.html
      usi audit people.jsonl --mix runs/gpt.jsonl --draws 20 --resume audit.jsonl
    """  # fmt: skip
    from usi.audit.audit import read_corpus, run_audit
    from usi.audit.draws import Design
    from usi.audit.page import render
    from usi.audit.tables import audit_grids
    from usi.cli import success
    from usi.cli.console import working
    from usi.cli.options import load_options, people_with_sessions, sources
    from usi.report import files

    files.claim(output or [], known=(*success.FORMS, ".html"), force=force)
    reference = people_with_sessions(corpus)
    with working("reading the corpus ...", quiet=quiet) as told:
        found = run_audit(
            read_corpus(reference, load_options(format_=format), group=group),
            corpus=reference.name,
            tier=tier.upper(),
            design=None if design is None else Design.parse(design),
            draws=draws,
            seed=seed,
            attacks=attack or (),
            models=_models(mix or []),
            kept=resume,
            told=told,
            synthetic=reference.synthetic,
        )
    inputs = sources([*map(str, reference.paths), *map(str, mix or [])])
    success.deliver(
        found,
        audit_grids(found),
        outputs=output,
        show=show,
        force=force,
        page=lambda: render(found),
        inputs=inputs,
    )


def _models(paths: list[Path]) -> tuple[Session, ...]:
    """Sessions of the model users, those with an utterance alone."""
    from usi.audit.material import positions
    from usi.errors import InputError
    from usi.pipeline import load

    if not paths:
        return ()
    sessions = tuple(s for s in load(paths).sessions if s.status == "ok" and positions(s))
    if not sessions:
        raise InputError("--mix: no session in these files has an utterance of the user")
    return sessions
