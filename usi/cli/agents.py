"""`usi agents`: does the simulator change which agent wins?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from usi.cli.deliver import deliver
from usi.cli.flags import flags, without
from usi.errors import UsageError
from usi.options import AgentsOptions, BootstrapOptions, Delivery, LoadOptions


@flags
def command(
    own: AgentsOptions,
    bootstrap: BootstrapOptions,
    reading: Annotated[LoadOptions, without("name", "max_record")],
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Rank three or more agents under people and under the simulator, on the same tasks.

    Prints success by agent, the signed gap with bounds, Kendall tau-b, and for each pair the
    chance that tasks drawn anew order the two differently. The reference may be another
    simulator in place of people.

    Example: usi agents --human a=ha.json --human b=hb.json --human c=hc.json
    --sim a=sa.json --sim b=sb.json --sim c=sc.json
    """
    from usi.decisions.agents import rank_agents
    from usi.decisions.outcomes import Outcomes, read_outcomes
    from usi.report.success import agents_tables

    def side(values: Sequence[str], option: str) -> dict[str, Outcomes]:
        return {
            agent: read_outcomes(paths, options=reading, threshold=bootstrap.success_at)
            for agent, paths in named(values, option).items()
        }

    found = rank_agents(
        side(own.human, "--human"),
        side(own.sim, "--sim"),
        replicates=bootstrap.replicates,
        seed=bootstrap.seed,
    )
    deliver(found, agents_tables(found), delivery=delivery)


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
