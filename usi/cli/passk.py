"""`usi passk`: unbiased pass^k, and how much of its fall is the user's noise."""

from __future__ import annotations

from typing import Annotated

from usi.cli.deliver import deliver
from usi.cli.flags import Files, flags, without
from usi.errors import UsageError
from usi.options import BootstrapOptions, Delivery, LoadOptions, PasskOptions
from usi.reading import whole_number


def parse_ks(text: str) -> tuple[int, ...]:
    """Values of k of an option such as ``1,2,4``, in order."""
    found = {whole_number(part) for part in text.split(",")}
    ks = tuple(sorted(k for k in found if k is not None))
    if None in found or ks[0] < 1:
        raise UsageError(f"-k {text}: give whole numbers from 1, such as -k 1,2,4,8")
    return ks


@flags
def command(
    files: Files,
    own: PasskOptions,
    bootstrap: BootstrapOptions,
    reading: Annotated[LoadOptions, without("max_record")],
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Estimate pass^k: the chance that k trials of a task all succeed.

    Unbiased, C(c, k) / C(n, k) a task, with bounds from a task bootstrap. Where a task has fewer
    than k graded trials the value is undefined; k is never shrunk. Sessions that record
    user_seed and agent_seed (usi JSONL metadata) in a full crossing give same-script and
    cross-script values, and the drop that goes with the user's seed.

    Example: usi passk results.json -k 1,2,4
    """
    ks = parse_ks(own.k)
    from usi.decisions.outcomes import read_outcomes
    from usi.decisions.passk import pass_k
    from usi.report.success import passk_tables

    outcomes = read_outcomes(files, options=reading, threshold=bootstrap.success_at)
    found = pass_k(outcomes, ks, replicates=bootstrap.replicates, seed=bootstrap.seed)
    deliver(found, passk_tables(found), delivery=delivery)
