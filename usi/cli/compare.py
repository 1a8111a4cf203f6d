"""`usi compare`: what changed between two scorecards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.options import Force, Outputs, Print, Printed


def command(
    a: Annotated[str, typer.Argument(metavar="A.json", help="Scorecard.", show_default=False)],
    b: Annotated[
        str, typer.Argument(metavar="B.json", help="Scorecard to compare with.", show_default=False)
    ],
    simulator: Annotated[
        str | None,
        typer.Option(
            "--simulator",
            metavar="NAME",
            help="Simulator of A, and of B where --other "
            "is not given; needed where a scorecard has several.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[
        str | None,
        typer.Option("--other", metavar="NAME", help="Simulator of B.", show_default=False),
    ] = None,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Compare two simulators against the same people: better, worse, or noise.

    A and B may be the same file (with --simulator and --other). -o takes .html, .md and .json.

    \b
    Examples:
      usi compare old.json new.json
      usi compare old.json new.json -o compare.html
    """  # fmt: skip
    from usi.cli import success
    from usi.decisions.tables import compare_files
    from usi.report.compared import comparison_grids

    found = compare_files(a, b, simulator_a=simulator, simulator_b=other or simulator)

    def page() -> str:
        from usi.report.comparison_page import render

        return render(found)

    success.deliver(
        found,
        comparison_grids(found),
        outputs=output,
        show=show,
        force=force,
        page=page,
        inputs=[Path(a), Path(b)],
    )
