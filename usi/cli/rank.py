"""`usi rank`: which simulators can be told apart."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli.options import Force, Outputs, Print, Printed


def command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR...", help="Folders of scorecards, or scorecards.", show_default=False
        ),
    ],
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha", min=0.001, max=0.5, help="Chance that some rank lies outside its interval."
        ),
    ] = 0.05,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Rank simulators with rank intervals and tie groups; people in the first row.

    Only numbers of the same people, tasks and settings stand in one table.

    Example: usi rank reports/
    """
    from usi.cli import success
    from usi.gate.table import rank_files
    from usi.report.compared import ranking_grids

    found = rank_files(paths, alpha=alpha)
    success.deliver(found, ranking_grids(found), outputs=output, show=show, force=force)
