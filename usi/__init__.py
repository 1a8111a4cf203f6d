"""usi: does a simulated user behave like the people it stands for?

The interface in Python has one function for each verb of the command line::

    sessions = usi.load("results.json")
    table = usi.features("results.json", side="simulated", profile="tau-usi")
    card = usi.score(["results.json"], human="people.json")
    verdict = usi.gate(card, "B")
    changes = usi.compare("old.json", card)
    ranking = usi.rank(["reports"])
    plan = usi.plan("B", tasks=165, runs=3)

They stand in `usi.api` and are imported when they are first used, so that ``import usi`` stays
light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from usi._version import __version__

if TYPE_CHECKING:
    from usi.api import (
        ComparedCards,
        GateVerdict,
        RankedCards,
        ScoredCard,
        StudyPlan,
        compare,
        features,
        gate,
        load,
        plan,
        rank,
        score,
    )
    from usi.errors import UsiError
    from usi.estimate import Estimate
    from usi.extraction.table import SessionTable
    from usi.pipeline import Loaded
    from usi.records import Session, Turn
    from usi.scoring.scorecard import Scorecard

_WHERE = {
    **dict.fromkeys(
        (
            "ComparedCards",
            "GateVerdict",
            "RankedCards",
            "ScoredCard",
            "StudyPlan",
            "compare",
            "features",
            "gate",
            "load",
            "plan",
            "rank",
            "score",
        ),
        "usi.api",
    ),
    "Estimate": "usi.estimate",
    "Loaded": "usi.pipeline",
    "Scorecard": "usi.scoring.scorecard",
    "Session": "usi.records",
    "SessionTable": "usi.extraction.table",
    "Turn": "usi.records",
    "UsiError": "usi.errors",
}

__all__ = [
    "ComparedCards",
    "Estimate",
    "GateVerdict",
    "Loaded",
    "RankedCards",
    "Scorecard",
    "ScoredCard",
    "Session",
    "SessionTable",
    "StudyPlan",
    "Turn",
    "UsiError",
    "__version__",
    "compare",
    "features",
    "gate",
    "load",
    "plan",
    "rank",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        found = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'usi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
