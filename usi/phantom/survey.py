"""Survey answers of the phantom: eight ordinal items cut from one latent value of a session.

The latent value of an answer is ``quality + lenience + noise``. The thresholds of an item are
set once, on the shipped human population, so that people give the shares below; a lenient rater
then moves up every scale. Shares are our own, of the shape that people's answers have.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from usi.phantom.drawn_sessions import DrawnSessions, IntArray
from usi.phantom.population import FloatArray
from usi.phantom.reading import load_spec
from usi.phantom.spec import SurveySpec
from usi.records import SurveyAnswer

SHARES: dict[str, tuple[float, ...]] = {
    "task_success": (0.14, 0.10, 0.18, 0.42, 0.16),
    "efficiency": (0.10, 0.20, 0.38, 0.32),
    "question_amount_preference": (0.22, 0.68, 0.10),
    "answer_effort_time": (0.15, 0.35, 0.50),
    "human_like": (0.25, 0.45, 0.30),
    "interaction_flow": (0.12, 0.28, 0.40, 0.20),
    "overall_score": (0.10, 0.14, 0.22, 0.32, 0.22),
    "reuse": (0.08, 0.12, 0.25, 0.38, 0.17),
}
"""Item -> shares of its options in the order of the instrument, worst first."""


@cache
def _options(item: str) -> tuple[str, ...]:
    """Option texts of an item in the order of the instrument."""
    from usi.scoring.published.survey import instrument

    for known in instrument():
        if known.name == item:
            return tuple(known.ordinals)
    raise KeyError(item)


@cache
def thresholds(item: str) -> tuple[float, ...]:
    """Cuts on the latent scale, from the mixture of two normals that human raters follow."""
    from scipy.special import ndtr

    spec = load_spec("human")
    survey, success = spec.survey, spec.rate("success").mean
    sd = math.sqrt(survey.quality**2 + survey.rater**2 + survey.noise**2)
    grid = np.linspace(-6.0, 8.0, 14001)
    below = (1 - success) * ndtr(grid / sd) + success * ndtr((grid - survey.outcome) / sd)
    return tuple(float(np.interp(c, below, grid)) for c in np.cumsum(SHARES[item])[:-1])


def answers(
    quality: FloatArray, lenience: FloatArray, survey: SurveySpec, *, seed: tuple[int, ...]
) -> dict[str, IntArray]:
    """Item -> (sessions,) 0-based option of every session."""
    rng = np.random.default_rng(seed)
    found: dict[str, IntArray] = {}
    for item in SHARES:
        latent = quality + lenience + survey.noise * rng.standard_normal(len(quality))
        found[item] = np.searchsorted(thresholds(item), latent).astype(np.int64)
    return found


def own_surveys(plan: DrawnSessions, *, seed: int) -> list[tuple[SurveyAnswer, ...]]:
    """What the users of a plan answer about their own sessions, one tuple a session."""
    return _as_records(answers(plan.quality, plan.lenience, plan.spec.survey, seed=(seed, 31)))


def judge_surveys(
    plan: DrawnSessions, judge: SurveySpec, *, seed: int
) -> list[tuple[SurveyAnswer, ...]]:
    """What another rater (a person or a simulator) answers about the same sessions.

    Parameters
    ----------
    plan
        The sessions that are judged; their quality is what both raters see.
    judge
        Lenience, rater and noise of the judge.
    seed
        Of the judge.
    """
    rng = np.random.default_rng((seed, 32))
    lenience = judge.lenience + judge.rater * rng.standard_normal(len(plan))
    return _as_records(answers(plan.quality, lenience, judge, seed=(seed, 33)))


def _as_records(chosen: dict[str, IntArray]) -> list[tuple[SurveyAnswer, ...]]:
    columns = [
        [SurveyAnswer(item, _options(item)[option]) for option in options.tolist()]
        for item, options in chosen.items()
    ]
    return list(zip(*columns, strict=True))
