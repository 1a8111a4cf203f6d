"""`usi compare`: what changed between two scorecards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.flags import flags, without
from usi.options import CompareOptions, Delivery


@flags
def command(
    a: Annotated[str, typer.Argument(metavar="A.json", help="Scorecard.", show_default=False)],
    b: Annotated[
        str, typer.Argument(metavar="B.json", help="Scorecard to compare with.", show_default=False)
    ],
    own: CompareOptions,
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Compare two simulators against the same people: better, worse, or noise.

    A and B may be the same file (with --simulator and --other). -o takes .html, .md and .json.

    \b
    Examples:
      usi compare old.json new.json
      usi compare old.json new.json -o compare.html
    """  # fmt: skip
    from usi.cli.deliver import deliver
    from usi.decisions.tables import compare_files
    from usi.report.comparison_tables import comparison_tables

    found = compare_files(
        a,
        b,
        simulator_a=own.simulator,
        simulator_b=own.other or own.simulator,
        trust_edited=own.trust_edited,
    )

    def page() -> str:
        from usi.report.comparison_page import render

        return render(found)

    deliver(
        found,
        comparison_tables(found),
        delivery=delivery,
        page=page,
        inputs=[Path(a), Path(b)],
    )
