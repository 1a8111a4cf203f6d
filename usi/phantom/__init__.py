"""Synthetic populations with known rates and known defects; never called human.

They test the instrument as a phantom tests a scanner: the demo, the laws, the validation study
and the benchmarks rest on them. A population is a `PhantomSpec`; `draw` gives
`DrawnSessions` (what each turn holds), and `realise` makes sessions with texts of them. What their
counts and scores truly are stands with the validation study, in ``benchmarks/phantom_truth/``.
"""

from usi.phantom.blend import blend, collapse, make_independent
from usi.phantom.build import PhantomFiles, build_phantom
from usi.phantom.drawn_sessions import DrawnSessions, draw, draw_sessions
from usi.phantom.reading import load_spec, preset_names
from usi.phantom.realise import realise
from usi.phantom.simulators import DEMO_SIMULATORS, at_strength, get_simulator, simulator_names
from usi.phantom.spec import Lengths, PhantomSpec, Rate, SurveySpec
from usi.phantom.tasks import TaskSet, default_tasks

__all__ = [
    "DEMO_SIMULATORS",
    "DrawnSessions",
    "Lengths",
    "PhantomFiles",
    "PhantomSpec",
    "Rate",
    "SurveySpec",
    "TaskSet",
    "at_strength",
    "blend",
    "build_phantom",
    "collapse",
    "default_tasks",
    "draw",
    "draw_sessions",
    "get_simulator",
    "load_spec",
    "make_independent",
    "preset_names",
    "realise",
    "simulator_names",
]
