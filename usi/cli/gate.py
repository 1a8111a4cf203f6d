"""`usi gate`: PASS, FAIL or INCONCLUSIVE on a scorecard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.options import ExitZero, Force, Outputs, Print, Printed, Quiet

_REGRESSION = "Regression"


def command(
    scorecard: Annotated[
        str,
        typer.Argument(
            metavar="SCORECARD",
            help="From usi score -o card.json; - reads stdin.",
            show_default=False,
        ),
    ],
    criteria: Annotated[
        str | None,
        typer.Option(
            "--criteria",
            metavar="gate.toml",
            help="Criteria file; default: the table gate of usi.toml.",
            show_default=False,
        ),
    ] = None,
    tier: Annotated[
        str | None,
        typer.Option("--tier", metavar="A|B|C", help="A tier as shipped.", show_default=False),
    ] = None,
    simulator: Annotated[
        str | None,
        typer.Option("--simulator", metavar="NAME", help="Decide on this one.", show_default=False),
    ] = None,
    family_size: Annotated[
        int | None,
        typer.Option(
            "--family-size",
            min=1,
            metavar="M",
            show_default=False,
            help="M candidates are tried and any that passes is accepted: bounds at 5 %/M.",
        ),
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="DATE", help="Day that max_age_days counts to.", show_default=False
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="OLD.json",
            help="Scorecard of the version accepted last.",
            rich_help_panel=_REGRESSION,
            show_default=False,
        ),
    ] = None,
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor",
            metavar="FIRST.json",
            help="Scorecard of the version accepted first.",
            rich_help_panel=_REGRESSION,
            show_default=False,
        ),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            "--margin", help="Largest drop of USI-R allowed.", rich_help_panel=_REGRESSION
        ),
    ] = 5.0,
    component_margin: Annotated[
        float,
        typer.Option(
            "--component-margin", help="The same for a component.", rich_help_panel=_REGRESSION
        ),
    ] = 10.0,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
    quiet: Quiet = False,
    exit_zero: ExitZero = False,
) -> None:
    """Block or admit a simulator by its bounds.

    Exit codes: 0 PASS, 1 FAIL, 3 INCONCLUSIVE (not enough evidence; the verdict says what would
    settle it), 2 bad input or usage.

    Example: usi gate card.json --tier B -o verdict.json -o verdict.junit.xml -o verdict.md
    """
    from usi.cli.verdicts import deliver, gate_file

    verdict = gate_file(
        scorecard,
        criteria=criteria,
        tier=tier,
        simulator=simulator,
        family_size=family_size,
        as_of=as_of,
        baseline=baseline,
        anchor=anchor,
        margins=(margin, component_margin),
        outputs=output or (),
        force=force,
    )
    deliver(verdict, outputs=output or (), show=show, force=force, quiet=quiet, exit_zero=exit_zero)
