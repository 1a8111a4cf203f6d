"""The key ``max_user_errors``: how often the simulated user did what its harness calls an error."""

from __future__ import annotations

from usi.gate.bounds import EPS
from usi.gate.criteria import Criteria
from usi.gate.verdict import Check
from usi.score.scorecard import SimulatorCard


def check_user_errors(simulator: SimulatorCard, criteria: Criteria) -> list[Check]:
    """Share of the reviewed sessions with an error against the limit.

    The share is a count of these very sessions, not an estimate: it has no bounds, and the check
    passes or fails.
    """
    limit = criteria.max_user_errors
    if limit is None:
        return []
    rule = f"user errors in at most {limit:.0%} of the reviewed sessions"
    share = simulator.user_error_share
    if share is None or share.value is None:
        reason = share.reason if share is not None else None
        text = f"user errors not assessed: {reason or 'the transcripts hold no review of the user'}"
        return [
            Check(
                id="max_user_errors",
                rule=rule,
                state="inconclusive",
                message=text,
                threshold=limit,
            )
        ]
    within = share.value <= limit + EPS
    worst = sorted(simulator.user_errors.items(), key=lambda item: (-item[1], item[0]))[:3]
    named = ", ".join(f"{tag} {count}" for tag, count in worst)
    return [
        Check(
            id="max_user_errors",
            rule=rule,
            state="pass" if within else "fail",
            message=f"user errors in {share.value:.1%} of {share.n} reviewed sessions"
            + ("" if within else f", {limit:.0%} are allowed")
            + (f" ({named})" if named else ""),
            value=share.value,
            threshold=limit,
        )
    ]
