"""`usi correct`: agent success as people would have seen it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from usi.cli import success
from usi.cli.options import (
    Domain,
    Files,
    Flip,
    Force,
    Format,
    Map,
    Name,
    Outputs,
    Print,
    Printed,
    UserRole,
    UserSpeaker,
)


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
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    flip: Flip = False,
    map_: Map = None,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Correct an agent's simulated success by the tasks that people did, too.

    H_h + lambda (S_all - S_h): unbiased whatever the simulator's bias. lambda says how much the
    simulator helped (0 = nothing); the standard deviation of people alone stands beside it.

    Example: usi correct runs.json --human people.jsonl
    """
    from usi.cli.options import load_options, people_with_sessions
    from usi.decisions.correct import corrected_success
    from usi.decisions.outcomes import read_outcomes
    from usi.report.success import corrected_grids

    reading: dict[str, Any] = {
        "user_role": user_role,
        "user_speaker": user_speaker,
        "flip": flip,
        "map_": map_,
    }
    options = load_options(format_=format, domain=domain, name=name, **reading)
    reference = people_with_sessions(human)
    simulator = read_outcomes(files, options=options, threshold=success_at)
    people = read_outcomes(
        reference.paths,
        options=reference.load_options(load_options(domain=domain, **reading)),
        part=reference.part,
        side="human",
        threshold=success_at,
    )
    found = corrected_success(simulator, people, replicates=replicates, seed=seed)
    success.deliver(found, corrected_grids(found), outputs=output, show=show, force=force)
