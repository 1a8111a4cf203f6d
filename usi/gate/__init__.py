"""Gate: criteria, the decision and its verdict; regression, ranks, comparison, planning."""

from __future__ import annotations

from usi.gate.criteria import Criteria, tier
from usi.gate.criteria_file import load_criteria, read_criteria, resolve
from usi.gate.gate import gate_scorecard
from usi.gate.verdict import Check, Need, SimulatorVerdict, Verdict

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
