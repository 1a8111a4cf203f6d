"""`usi passk`: unbiased pass^k, and how much of its fall is the user's noise."""

from __future__ import annotations

from typing import Annotated

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
from usi.errors import UsageError


def parse_ks(text: str) -> tuple[int, ...]:
    """Values of k of an option such as ``1,2,4``, in order."""
    try:
        ks = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        ks = ()
    if not ks or ks[0] < 1:
        raise UsageError(f"-k {text}: give whole numbers from 1, such as -k 1,2,4,8")
    return ks


def command(
    files: Files,
    k: Annotated[
        str, typer.Option("-k", metavar="K,K,...", help="Values of k, separated by commas.")
    ] = "1,2,4,8",
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
    """Estimate pass^k: the chance that k trials of a task all succeed.

    Unbiased, C(c, k) / C(n, k) a task, with bounds from a task bootstrap. Where a task has fewer
    than k graded trials the value is undefined; k is never shrunk. Sessions that record
    user_seed and agent_seed (usi JSONL metadata) in a full crossing give same-script and
    cross-script values, and the drop that goes with the user's seed.

    Example: usi passk results.json -k 1,2,4
    """
    ks = parse_ks(k)
    from usi.cli.options import load_options
    from usi.decisions.outcomes import read_outcomes
    from usi.decisions.passk import pass_k
    from usi.report.success import passk_grids

    options = load_options(
        format_=format,
        domain=domain,
        name=name,
        user_role=user_role,
        user_speaker=user_speaker,
        flip=flip,
        map_=map_,
    )
    outcomes = read_outcomes(files, options=options, threshold=success_at)
    found = pass_k(outcomes, ks, replicates=replicates, seed=seed)
    success.deliver(found, passk_grids(found), outputs=output, show=show, force=force)
