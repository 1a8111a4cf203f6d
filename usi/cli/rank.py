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
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="DATE", help="Day that expiry counts to.", show_default=False
        ),
    ] = None,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Rank simulators with rank intervals and tie groups; people in the first row.

    Only numbers of the same people, tasks and settings stand in one table. Verdicts in the same
    folders become admission records. -o takes .html, .md and .json.

    \b
    Examples:
      usi rank reports/
      usi rank reports/ -o leaderboard.html -o leaderboard.md --as-of 2026-12-01
    """  # fmt: skip
    from usi.cli import success
    from usi.decisions.tables import find_scorecards, rank_files
    from usi.report.compared import ranking_grids

    def page() -> str:
        from usi.report.leaderboard import render

        return render(found)

    found = rank_files(paths, alpha=alpha, as_of=as_of)
    success.deliver(
        found,
        ranking_grids(found),
        outputs=output,
        show=show,
        force=force,
        page=page,
        inputs=find_scorecards(paths),
    )
