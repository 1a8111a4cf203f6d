"""Populations between two others, and the two ways of losing what people have in common."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

from usi.errors import UsageError
from usi.phantom.spec import Lengths, PhantomSpec, Rate, SenseSpec, SurveySpec

_FLOOR = 1e-5


def _logit(p: float) -> float:
    q = min(max(p, _FLOOR), 1 - _FLOOR)
    return math.log(q / (1 - q))


def _line(a: float, b: float, t: float) -> float:
    return a + (b - a) * t


def _rate(a: Rate, b: Rate, t: float) -> Rate:
    mean = 1 / (1 + math.exp(-_line(_logit(a.mean), _logit(b.mean), t)))
    return Rate(
        mean=mean if a.mean != b.mean else a.mean,
        task=_line(a.task, b.task, t),
        person=_line(a.person, b.person, t),
        loading=_line(a.loading, b.loading, t),
    )


def _lengths(a: Lengths, b: Lengths, t: float) -> Lengths:
    values: dict[str, Any] = {
        item.name: _line(getattr(a, item.name), getattr(b, item.name), t) for item in fields(a)
    }
    values["mean"] = math.exp(_line(math.log(a.mean), math.log(b.mean), t))
    values["minimum"], values["maximum"] = round(values["minimum"]), round(values["maximum"])
    return Lengths(**values)


def blend(start: PhantomSpec, end: PhantomSpec, strength: float, name: str = "") -> PhantomSpec:
    """The population at `strength` in [0, 1] between two: rates on the logit scale.

    Parameters
    ----------
    start, end
        The populations at strength 0 and 1 (returned as they are there, but for the name).
    strength
        How far to go.
    name
        Name of the result; by default ``END-STRENGTH``.

    Raises
    ------
    UsageError
        Where the strength lies outside [0, 1].
    """
    if not 0 <= strength <= 1:
        raise UsageError(f"a strength lies in [0, 1], not {strength}")
    label = name or f"{end.name}-{strength:g}"
    if strength in (0, 1):
        return replace(start if strength == 0 else end, name=label)
    scalars = ("opening", "long_words", "request_share", "difficulty", "batch")
    survey = {
        item.name: _line(getattr(start.survey, item.name), getattr(end.survey, item.name), strength)
        for item in fields(SurveySpec)
    }
    sense = SenseSpec(
        topic=_line(start.sense.topic, end.sense.topic, strength),
        answers=_line(start.sense.answers, end.sense.answers, strength),
        off_topic=_line(start.sense.off_topic, end.sense.off_topic, strength),
        replayed=(end if strength > 0.5 else start).sense.replayed,
    )
    one, two, three = (
        _line(a, b, strength) for a, b in zip(start.short_words, end.short_words, strict=True)
    )
    return PhantomSpec(
        name=label,
        rates=tuple((key, _rate(a, end.rate(key), strength)) for key, a in start.rates),
        turns=_lengths(start.turns, end.turns, strength),
        words=_lengths(start.words, end.words, strength),
        short_words=(one, two, three),
        collapsed=end.collapsed and strength > 0.5,
        survey=SurveySpec(**survey),
        sense=sense,
        **{key: _line(getattr(start, key), getattr(end, key), strength) for key in scalars},
    )


def collapse(spec: PhantomSpec, name: str = "collapsed") -> PhantomSpec:
    """Every session near the mean: no task or person effects, the same population means."""
    return replace(
        spec,
        name=name,
        collapsed=True,
        rates=tuple((key, Rate(mean=rate.mean)) for key, rate in spec.rates),
        turns=replace(spec.turns, task=0.0, person=0.0, noise=0.0),
        words=replace(spec.words, task=0.0, person=0.0, loading=0.0),
    )


def make_independent(spec: PhantomSpec, name: str = "independent") -> PhantomSpec:
    """The same marginal distributions, features independent within a person."""
    return replace(
        spec,
        name=name,
        rates=tuple((key, replace(rate, loading=0.0)) for key, rate in spec.rates),
        words=replace(spec.words, loading=0.0),
    )
