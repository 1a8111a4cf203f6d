"""Everything that the sections look at, in one value."""

from __future__ import annotations

from dataclasses import dataclass

from usi.decisions.verdict import SimulatorVerdict, Verdict
from usi.extraction.profile import get_feature_profile
from usi.extraction.spec import FeatureSpec
from usi.report.html.document import Docs
from usi.report.html.summary import Part, Summary
from usi.report.report_data import Beside
from usi.scoring.scorecard import Scorecard, SimulatorCard


@dataclass(frozen=True)
class Source:
    """The files behind a page."""

    card: Scorecard
    verdict: Verdict | None
    beside: Beside
    summary: Summary
    docs: Docs

    @property
    def specs(self) -> dict[str, FeatureSpec]:
        """Features of the profile by name; empty where this version does not know the profile."""
        from usi.errors import UsiError

        try:
            profile = get_feature_profile(self.card.profile.partition("@")[0])
        except UsiError:
            return {}
        return {spec.name: spec for spec in profile.specs}


@dataclass(frozen=True)
class One:
    """One simulator of a page.

    Attributes
    ----------
    order
        Its place on the page, from 0.
    c, s, v
        Pointers to its part of scorecard, summary and verdict (``v`` empty without one).
    """

    source: Source
    order: int
    part: Part
    card: SimulatorCard
    verdict: SimulatorVerdict | None
    c: str
    s: str
    v: str

    @property
    def id(self) -> str:
        """Anchor of its section."""
        return f"sim{self.order + 1}"


def every(source: Source) -> list[One]:
    """The simulators in the order of the page: best first."""
    judged = () if source.verdict is None else source.verdict.simulators
    verdicts = {verdict.name: verdict for verdict in judged}
    places = {verdict.name: place for place, verdict in enumerate(judged)}
    return [
        One(
            source=source,
            order=order,
            part=part,
            card=source.card.simulators[part.at],
            verdict=verdicts.get(part.name),
            c=f"c:/simulators/{part.at}",
            s=f"s:/simulators/{order}",
            v=f"v:/simulators/{places[part.name]}" if part.name in places else "",
        )
        for order, part in enumerate(source.summary.simulators)
    ]
