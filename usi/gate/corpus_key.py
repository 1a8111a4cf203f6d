"""Keys on the evidence's own terms: expiry of the people, research-only people, identity."""

from __future__ import annotations

from collections.abc import Mapping

from usi.gate.criteria import Criteria
from usi.gate.design import parse_date
from usi.gate.verdict import Check
from usi.score.scorecard import Scorecard


def check_corpus(card: Scorecard, criteria: Criteria, *, as_of: str | None) -> list[Check]:
    """Whether the people may decide: not expired on the day, and of a use that is allowed.

    Without a day expiry is not asked: no clock is.
    """
    checks = []
    human = card.human
    if human.expires is not None and as_of is not None:
        gone = parse_date(as_of, "--as-of") >= parse_date(human.expires, "expiry of the corpus")
        checks.append(
            Check(
                id="corpus_expires",
                rule=f"a corpus that has not expired on {as_of}",
                state="inconclusive" if gone else "pass",
                message=f"the corpus expires on {human.expires}" + (": expired" if gone else ""),
                overrides=True,
            )
        )
    if not criteria.allow_research_only:
        refused = human.research_only
        checks.append(
            Check(
                id="allow_research_only",
                rule="no corpus that is for research alone",
                state="inconclusive" if refused else "pass",
                message="the corpus is for research alone"
                + (f" ({human.licence})" if human.licence else "")
                + ": these criteria refuse it"
                if refused
                else "the corpus is not for research alone",
                overrides=True,
            )
        )
    return checks


def check_identity(changed: Mapping[str, str]) -> list[Check]:
    """Scorecards of simulators that are others now than when they were scored."""
    return [
        Check(
            id="identity",
            rule="a simulator that is the one that was scored",
            state="inconclusive",
            message=f"{name} has changed since it was scored ({keys}): the scorecard has expired",
            overrides=True,
        )
        for name, keys in sorted(changed.items())
    ]
