"""Gate: criteria, the decision and its verdict; regression, ranks, comparison, planning."""

from __future__ import annotations

from usi.decisions.criteria import Criteria, load_criteria, read_criteria, resolve, tier
from usi.decisions.decide import gate_scorecard
from usi.decisions.verdict import Check, Need, SimulatorVerdict, Verdict

__all__ = [
    "Check",
    "Criteria",
    "Need",
    "SimulatorVerdict",
    "Verdict",
    "gate_scorecard",
    "load_criteria",
    "read_criteria",
    "resolve",
    "tier",
]
