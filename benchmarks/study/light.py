"""A scorecard with all that the gate decides on, and nothing else.

`usi.scoring.robust.profile.score_tables` also finds floors, leave-one-batch-out ranges and people
against people, which take most of its time and touch no verdict. A test holds the verdicts of the
two roads to each other.
"""

from __future__ import annotations

from usi._version import __version__
from usi.decisions import gate_scorecard, tier
from usi.decisions.criteria import Tracking
from usi.estimate import Estimate, not_assessed
from usi.extraction.profile import get_feature_profile
from usi.reasons import COVERAGE_UNPAIRED, NOT_ASSESSED, SURVEY_ABSENT
from usi.scoring.robust.card_parts import Extras, components, index_of, outcome_numbers
from usi.scoring.robust.simulator_card import few_clusters, wires_of
from usi.scoring.robust.study import Study
from usi.scoring.robust.thresholds import MIN_CLUSTERS
from usi.scoring.scorecard import Component, HumanCard, Index, Scorecard, SimulatorCard, Sizes

_NONE = Component(value=None, status="not_assessed", reason=SURVEY_ABSENT())
CRITERIA = tuple(
    tier(name).model_copy(update={"c2st_max": 1.0, "style_min": None, "tracking": Tracking()})
    for name in "ABC"
)
"""The tiers without the keys that need texts: a study of plans has counts alone."""


def light_card(name: str, result: Study) -> Scorecard:
    """The scorecard of one simulator."""
    extras = Extras({}, {})
    design = result.design
    few = min(result.data.clusters) < MIN_CLUSTERS
    coverage = not_assessed(COVERAGE_UNPAIRED, unit="share")
    if design.coverage is not None:
        coverage = Estimate(value=design.coverage, unit="share")
    card = SimulatorCard(
        name=name,
        n=Sizes(
            tasks=len(result.simulator.units),
            sessions=int(result.simulator.sessions.sum()),
            runs=len(result.simulator.splits),
            clusters=min(result.data.clusters),
        ),
        components={**components(result, extras), "survey": _NONE},
        index=index_of(result, extras),
        features={},
        design="paired" if design.paired else "unpaired",
        coverage=coverage,
        success_gap=outcome_numbers(result).gap,
        tripwires=wires_of(result),
        tier_limit=None if design.paired else "C",
        inconclusive=(few_clusters(result),) if few else (),
    )
    none = Index(value=None, status="not_assessed", reason=NOT_ASSESSED())
    human = HumanCard(
        name="people",
        n=Sizes(
            tasks=len(result.human.units),
            sessions=int(result.human.sessions.sum()),
            batches=len(result.human.splits),
            clusters=min(result.data.clusters),
        ),
        components={},
        index=none,
        features={},
        synthetic=True,
    )
    return Scorecard(
        usi_version=__version__,
        profile=get_feature_profile("robust").tag,
        signature="USI-R|study",
        synthetic=True,
        difficulty=result.bins.source,
        human=human,
        simulators=(card,),
    )


def verdicts(card: Scorecard) -> tuple[str, str, str]:
    """Verdicts of the card's simulator at tiers A, B and C."""
    a, b, c = (gate_scorecard(card, criteria).verdict for criteria in CRITERIA)
    return a, b, c
