"""`usi agents`: does the simulator change which agent wins?"""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli import success
from usi.cli.options import (
    Domain,
    Flip,
    Force,
    Format,
    Map,
    Outputs,
    Print,
    Printed,
    UserRole,
    UserSpeaker,
)


def command(
    human: Annotated[
        list[str],
        typer.Option("--human", metavar="AGENT=PATH", help="An agent's sessions with people."),
    ],
    simulated: Annotated[
        list[str],
        typer.Option("--sim", metavar="AGENT=PATH", help="Its sessions with the simulated user."),
    ],
    success_at: success.Threshold = 1.0,
    replicates: success.Replicates = 2000,
    seed: success.Seed = 7,
    domain: Domain = None,
    format: Format = None,  # noqa: A002  (the option's name is the interface)
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    flip: Flip = False,
    map_: Map = None,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Rank three or more agents under people and under the simulator, on the same tasks.

    Prints success by agent, the signed gap with bounds, Kendall tau-b, and for each pair the
    chance that tasks drawn anew order the two differently. The reference may be another
    simulator in place of people.

    Example: usi agents --human a=ha.json --human b=hb.json --human c=hc.json
    --sim a=sa.json --sim b=sb.json --sim c=sc.json
    """
    from usi.cli.options import load_options
    from usi.decisions.agents import rank_agents
    from usi.decisions.outcomes import Outcomes, read_outcomes
    from usi.report.success import agents_grids

    def side(values: list[str], option: str) -> dict[str, Outcomes]:
        options = load_options(
            format_=format,
            domain=domain,
            user_role=user_role,
            user_speaker=user_speaker,
            flip=flip,
            map_=map_,
        )
        return {
            agent: read_outcomes(paths, options=options, threshold=success_at)
            for agent, paths in success.named(values, option).items()
        }

    found = rank_agents(
        side(human, "--human"), side(simulated, "--sim"), replicates=replicates, seed=seed
    )
    success.deliver(found, agents_grids(found), outputs=output, show=show, force=force)
