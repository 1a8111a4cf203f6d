"""``usi demo``: the whole road on a population whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.console import note, out, working
from usi.cli.options import Force, Quiet


def command(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            show_default=False,
            help="Folder of the report (default: reports/demo).",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", show_default=False, help="Another draw (default: 7)."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Build a synthetic population, score its simulators, write a report.

    Needs no network, no model and no data. Everything in it is SYNTHETIC: made by a seeded
    generator whose true rates are known; nothing in it is about people or any model.

    \b
    Examples:
      usi demo
      usi demo -o elsewhere --seed 11
    """  # fmt: skip
    import tempfile

    from usi.cli.options import pick
    from usi.cli.scoring import Request, scored, write
    from usi.cli.settings import find_workspace
    from usi.phantom import build_phantom
    from usi.report import view

    workspace = find_workspace()
    own = workspace.settings.demo
    place = folder or workspace.root / (own.output or "reports/demo")
    outputs = tuple(place / f"scorecard.{form}" for form in ("json", "md", "html"))
    chosen = pick(seed, own.seed, 7) or 0
    with tempfile.TemporaryDirectory(prefix="usi-demo-") as made:
        with working("drawing a synthetic population ...", quiet=quiet):
            phantom = build_phantom(made, seed=chosen)
        request = Request(
            simulators=tuple(map(str, phantom.simulators.values())),
            human=str(phantom.human),
            profile="tau-usi",
            surveys=str(phantom.surveys),
            difficulty="frozen",
            run_ids="auto",
            outputs=outputs,
            force=force,
        )
        done = scored(request, quiet=quiet)
        written = write(done, request)
    for path in written:
        note(f"written: {path}", quiet=quiet)
    out(f"SYNTHETIC demo report: {outputs[-1]}\n")
    out("".join(f"  {line}\n" for line in view.headline(done.card)))
