"""``usi submit``: score, gate and record a candidate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.options import Force, Print, Printed, Quiet


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A recorded candidate: simulators/NAME.toml.")
    ],
    human: Annotated[
        str | None,
        typer.Option(
            "--human",
            metavar="CORPUS",
            help="The reference; NAME@held-out may be read here.",
            show_default=False,
        ),
    ] = None,
    gate: Annotated[str, typer.Option("--gate", metavar="A|B|C|gate.toml", help="Criteria.")] = "B",
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="Day of the record; expiry counts to it.",
            show_default=False,
        ),
    ] = None,
    reports: Annotated[
        Path, typer.Option("--reports", metavar="DIR", help="Where the record is written.")
    ] = Path("reports"),
    force: Force = False,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
) -> None:
    """Check a recorded candidate, score and gate it, and write its admission record.

    Its identity, licence and runs must be there. reports/ gets NAME.json (the scorecard),
    NAME.verdict.json and NAME.admission.json, which names all hashes. Exit codes as usi gate.

    \b
    Example:
      usi submit mine --human support@held-out --gate B --as-of 2026-06-30
    """  # fmt: skip
    from usi.cli.submitting import submitted

    submitted(
        name, human=human, gate=gate, as_of=as_of, reports=reports, force=force, show=print_,
        quiet=quiet,
    )  # fmt: skip
