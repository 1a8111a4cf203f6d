"""usi: does a simulated user behave like the people it stands for?

The interface in Python has one function for each verb of the command line::

    sessions = usi.load("results.json")
    table = usi.features("results.json", side="simulated", profile="tau-usi")
    card = usi.score(["results.json"], human="people.json", profile="tau-usi")

They stand in `usi.pipeline` and are imported when they are first used, so that ``import usi``
stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from usi._version import __version__

if TYPE_CHECKING:
    from usi.errors import UsiError
    from usi.estimate import Estimate
    from usi.pipeline import features, load, score
    from usi.records import Session, Turn
    from usi.scoring.scorecard import Scorecard

_WHERE = {
    "load": "usi.pipeline",
    "features": "usi.pipeline",
    "score": "usi.pipeline",
    "Estimate": "usi.estimate",
    "Session": "usi.records",
    "Turn": "usi.records",
    "UsiError": "usi.errors",
    "Scorecard": "usi.scoring.scorecard",
}

__all__ = [
    "Estimate",
    "Scorecard",
    "Session",
    "Turn",
    "UsiError",
    "__version__",
    "features",
    "load",
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
