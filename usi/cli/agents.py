"""`usi agents`: does the simulator change which agent wins?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from usi.cli.deliver import deliver
from usi.cli.flags import flags, without
from usi.errors import UsageError
from usi.options import AgentsOptions, BootstrapOptions, Delivery, LoadOptions

if TYPE_CHECKING:
    from usi.decisions.outcomes import Outcomes


@flags
def command(
    own: AgentsOptions,
    bootstrap: BootstrapOptions,
    reading: Annotated[LoadOptions, without("name", "max_record")],
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Rank three or more agents under people and under the simulator, on the same tasks.

    Prints success by agent, the signed gap with bounds, Kendall tau-b, the winner and the best
    k, and each pair, beside what a perfect simulator would show with as many data. People are
    files or corpora by name, as for usi correct.

    Example: usi agents --human a=ha.json --human b=hb.json --human c=hc.json
    --sim a=sa.json --sim b=sb.json --sim c=sc.json
    """
    from usi.decisions.agents import rank_agents
    from usi.decisions.outcomes import read_outcomes
    from usi.report.success import agents_tables

    simulated = {
        agent: read_outcomes(paths, options=reading, threshold=bootstrap.success_at)
        for agent, paths in named(own.sim, "--sim").items()
    }
    people = {
        agent: read_people(paths, reading, bootstrap.success_at)
        for agent, paths in named(own.human, "--human").items()
    }
    found = rank_agents(people, simulated, replicates=bootstrap.replicates, seed=bootstrap.seed)
    deliver(found, agents_tables(found), delivery=delivery)


def read_people(paths: Sequence[str], reading: LoadOptions, threshold: float) -> Outcomes:
    """Outcomes of people: of one corpus by its name or path, or of several files together.

    Raises
    ------
    UsageError
        Where one of several is a corpus with a manifest: each has its own way of reading.
    """
    from usi.cli.inputs import people_with_sessions
    from usi.decisions.outcomes import read_outcomes

    found = [people_with_sessions(path) for path in paths]
    if len(found) > 1 and any(corpus.manifest for corpus in found):
        raise UsageError(
            f"{' and '.join(paths)}: give the people of an agent as one corpus, or as files"
        )
    return read_outcomes(
        [path for corpus in found for path in corpus.paths],
        options=found[0].load_options(replace(reading, format=None, name=None)),
        part=found[0].part,
        side="human",
        threshold=threshold,
    )


def named(values: Sequence[str], option: str) -> dict[str, list[str]]:
    """``NAME=PATH`` options by name; a name may be given several times.

    >>> named(["a=x.json", "a=y.json"], "--human")
    {'a': ['x.json', 'y.json']}
    """
    found: dict[str, list[str]] = {}
    for value in values:
        name, sign, path = value.partition("=")
        if not sign or not name or not path:
            raise UsageError(f"{option} {value}: write NAME=PATH, such as {option} gpt-4o=run.json")
        found.setdefault(name, []).append(path)
    return found
