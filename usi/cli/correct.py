"""`usi correct`: agent success as people would have seen it."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli import success
from usi.cli.options import Domain, Files, Force, Format, Name, Outputs, Print, Printed


def command(
    files: Files,
    human: Annotated[
        str,
        typer.Option("--human", metavar="CORPUS", help="Sessions of people with the same agent."),
    ],
    success_at: success.Threshold = 1.0,
    replicates: success.Replicates = 2000,
    seed: success.Seed = 7,
    domain: Domain = None,
    name: Name = None,
    format: Format = None,  # noqa: A002  (the option's name is the interface)
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Correct an agent's simulated success by the tasks that people did, too.

    H_h + lambda (S_all - S_h): unbiased whatever the simulator's bias. lambda says how much the
    simulator helped (0 = nothing); the standard deviation of people alone stands beside it.

    Example: usi correct runs.json --human people.jsonl
    """
    from usi.corpus.resolve import resolve
    from usi.gate.correct import corrected_success
    from usi.gate.outcomes import read_outcomes
    from usi.load import LoadOptions
    from usi.report.success import corrected_grids

    options = LoadOptions(format=format, domain=domain, name=name)
    simulator = read_outcomes(files, options=options, threshold=success_at)
    people = read_outcomes(
        resolve(human).paths,
        options=LoadOptions(domain=domain),
        side="human",
        threshold=success_at,
    )
    found = corrected_success(simulator, people, replicates=replicates, seed=seed)
    success.deliver(found, corrected_grids(found), outputs=output, show=show, force=force)
