"""Synthetic populations with known rates and known defects; never called human.

They test the instrument as a phantom tests a scanner: the demo, the laws, the validation study
and the benchmarks rest on them. A population is a `PhantomSpec`; `draw` gives
`DrawnSessions` (what each turn holds); `count_frame` turns them into a session table at once,
`realise` into sessions with texts whose extraction gives exactly the same counts.
"""

from usi.phantom.blend import blend, collapse, make_independent
from usi.phantom.build import PhantomFiles, build_phantom
from usi.phantom.counts import count_frame, phantom_table
from usi.phantom.crossed import draw_crossed, true_pass_k
from usi.phantom.drawn_sessions import DrawnSessions, draw, draw_sessions
from usi.phantom.reading import load_spec, preset_names
from usi.phantom.realise import realise
from usi.phantom.simulators import DEMO_SIMULATORS, at_strength, get_simulator, simulator_names
from usi.phantom.spec import Lengths, PhantomSpec, Rate, SurveySpec
from usi.phantom.stream import stream_counts, stream_plans, stream_sessions
from usi.phantom.tasks import TaskSet, default_tasks, sample_tasks
from usi.phantom.true_scores import TrueScores, true_outcome, true_scores
from usi.phantom.truth import true_rates

__all__ = [
    "DEMO_SIMULATORS",
    "DrawnSessions",
    "Lengths",
    "PhantomFiles",
    "PhantomSpec",
    "Rate",
    "SurveySpec",
    "TaskSet",
    "TrueScores",
    "at_strength",
    "blend",
    "build_phantom",
    "collapse",
    "count_frame",
    "default_tasks",
    "draw",
    "draw_crossed",
    "draw_sessions",
    "get_simulator",
    "load_spec",
    "make_independent",
    "phantom_table",
    "preset_names",
    "realise",
    "sample_tasks",
    "simulator_names",
    "stream_counts",
    "stream_plans",
    "stream_sessions",
    "true_outcome",
    "true_pass_k",
    "true_rates",
    "true_scores",
]
