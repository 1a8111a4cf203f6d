"""`usi correct`: agent success as people would have seen it."""

from __future__ import annotations

from typing import Annotated

from usi.cli.deliver import deliver
from usi.cli.flags import Files, flags, without
from usi.options import BootstrapOptions, CorrectOptions, Delivery, LoadOptions


@flags
def command(
    files: Files,
    own: CorrectOptions,
    bootstrap: BootstrapOptions,
    reading: Annotated[LoadOptions, without("max_record")],
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Correct an agent's simulated success by the tasks that people did, too.

    H_h + lambda (S_all - S_h) in each stratum of simulated success, whatever the simulator's bias:
    it holds where people's tasks are a random sample of all, or of each stratum. lambda says how
    much the simulator helped (0 = nothing); people's tasks that are no such sample are told.

    Example: usi correct runs.json --human people.jsonl
    """
    from usi.cli.agents import read_people
    from usi.decisions.correct import corrected_success
    from usi.decisions.outcomes import read_outcomes
    from usi.report.success import corrected_tables

    simulator = read_outcomes(files, options=reading, threshold=bootstrap.success_at)
    people = read_people([own.human], reading, bootstrap.success_at)
    found = corrected_success(
        simulator, people, replicates=bootstrap.replicates, seed=bootstrap.seed
    )
    deliver(found, corrected_tables(found), delivery=delivery)
