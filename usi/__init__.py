"""usi: does a simulated user behave like the people it stands for?

The road is ``files -> load -> records -> features -> session table -> score -> scorecard ->
gate -> verdict``; `usi.pipeline` walks it. The three verbs of the Python interface are also
the names of their rooms, so the rooms are callable::

    sessions = usi.load("results.json")
    table = usi.features("results.json", side="simulated", profile="tau-usi")
    card = usi.score(["results.json"], human="people.json", profile="tau-usi")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from usi._version import __version__

_VERBS = ("load", "features", "score")
_LAZY = {
    "Estimate": "usi.estimate",
    "Session": "usi.records",
    "Turn": "usi.records",
    "UsiError": "usi.errors",
    "Scorecard": "usi.score.scorecard",
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


class _Verb(ModuleType):
    """A room that is also a verb: calling it runs the function of that name in the pipeline."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from usi import pipeline

        return getattr(pipeline, self.__name__.rpartition(".")[2])(*args, **kwargs)


class _Package(ModuleType):
    """The package object; gives rooms that are verbs their class when Python binds them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _VERBS and isinstance(value, ModuleType):
            value.__class__ = _Verb
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _VERBS:
            return importlib.import_module(f"usi.{name}")
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name]), name)
        raise AttributeError(f"module 'usi' has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
