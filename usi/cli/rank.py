"""`usi rank`: which simulators can be told apart."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli.flags import flags, without
from usi.options import Delivery, RankOptions


@flags
def command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR...", help="Folders of scorecards, or scorecards.", show_default=False
        ),
    ],
    own: RankOptions,
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Rank simulators with rank intervals and tie groups; people in the first row.

    Only numbers of the same people, tasks and settings stand in one table. Verdicts in the same
    folders become admission records. -o takes .html, .md and .json.

    \b
    Examples:
      usi rank reports/
      usi rank reports/ -o leaderboard.html -o leaderboard.md --as-of 2026-12-01
    """  # fmt: skip
    from usi.cli.deliver import deliver
    from usi.decisions.tables import find_scorecards, rank_files
    from usi.report.comparison_tables import ranking_tables

    def page() -> str:
        from usi.report.leaderboard import render

        return render(found)

    found = rank_files(paths, alpha=own.alpha, as_of=own.as_of, trust_edited=own.trust_edited)
    deliver(
        found,
        ranking_tables(found),
        delivery=delivery,
        page=page,
        inputs=find_scorecards(paths),
    )
