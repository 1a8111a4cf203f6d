"""Drawing sessions as plans: which turn holds what. Counts and texts both follow from a plan.

A plan is flat arrays over all turns of all sessions, so a study of 165 x 3 sessions takes a few
milliseconds and a stream of millions stays within one block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from usi.phantom.population import FloatArray, Population, resolve, sigmoid, success_offset
from usi.phantom.spec import MARK_NAMES, PhantomSpec
from usi.phantom.tasks import EFFECT_NAMES, TaskSet
from usi.phantom.wording import QUESTIONS, YES_OR_NO

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

LONG, SHORT, ACK, STOCK = 0, 1, 2, 3
MARK = {name: column for column, name in enumerate(MARK_NAMES)}
_EFFECT = {name: column for column, name in enumerate(EFFECT_NAMES)}
_SHIFT_STREAM, _SENSE, _REPLAY = 21, 22, 23


@dataclass(frozen=True)
class DrawnSessions:
    """Sessions, and what each of their user turns holds.

    Attributes
    ----------
    spec, tasks
        Where it was drawn from.
    task, replicate
        (sessions,) index into `tasks`; batch or run, counted from 1.
    turns, start
        (sessions,) number of user turns and offset of the first in the turn arrays.
    reward, quality, lenience
        (sessions,) outcome 0 or 1; latent quality and rater's lenience of the survey.
    repeat
        (sessions,) whether the first turn holds the loop of one syllable.
    session, position
        (turns,) index of the session; 0-based position in it.
    kind
        (turns,) LONG, SHORT, ACK or STOCK.
    filler, long_words
        (turns,) filler words of a long turn (words of a short one), and how many of them have
        six or more letters.
    marks
        (turns, marks) what a long turn holds, columns as `MARK_NAMES`, precedence applied.
    request, casual
        (turns,) whether the information question is a request; the typing style.
    wording
        (turns,) non-negative numbers that choose among equivalent wordings.
    topic
        (sessions,) index of the task whose vocabulary the session uses.
    topical
        (turns,) how many of the long words come from that vocabulary.
    asked, reply
        (turns,) kind of reply that the message before the turn asks for, and that the turn gives
        (`usi.phantom.wording.QUESTIONS`); a stock sentence answers nothing.
    """

    spec: PhantomSpec
    tasks: TaskSet
    task: IntArray
    replicate: IntArray
    turns: IntArray
    start: IntArray
    reward: IntArray
    quality: FloatArray
    lenience: FloatArray
    repeat: BoolArray
    session: IntArray
    position: IntArray
    kind: IntArray
    filler: IntArray
    long_words: IntArray
    marks: BoolArray
    request: BoolArray
    casual: BoolArray
    wording: IntArray
    topic: IntArray
    topical: IntArray
    asked: IntArray
    reply: IntArray

    def __len__(self) -> int:
        return len(self.task)


def draw(
    spec: PhantomSpec, tasks: TaskSet, *, replicates: int = 3, seed: int | tuple[int, ...] = 0
) -> DrawnSessions:
    """Every task `replicates` times, replicates (batches or runs) after each other.

    Parameters
    ----------
    spec
        The population.
    tasks
        Its tasks; give the same object to both sides of a paired design.
    replicates
        Human batches or simulator runs.
    seed
        Different seeds give independent sessions on the same tasks.

    Examples
    --------
    >>> from usi.phantom import default_tasks, load_spec
    >>> plan = draw(load_spec("human"), default_tasks(20), replicates=2, seed=1)
    >>> len(plan), int(plan.turns.min()) >= 1
    (40, True)
    """
    n = len(tasks)
    task = np.tile(np.arange(n, dtype=np.int64), replicates)
    replicate = np.repeat(np.arange(1, replicates + 1, dtype=np.int64), n)
    return draw_sessions(spec, tasks, task, replicate, seed=seed)


class _Drawer:
    """The random numbers of one plan, drawn in a fixed order."""

    def __init__(
        self,
        population: Population,
        tasks: TaskSet,
        task: IntArray,
        replicate: IntArray,
        rng: np.random.Generator,
        seed: tuple[int, ...],
    ) -> None:
        self.population, self.spec, self.rng = population, population.spec, rng
        self.effects = tasks.effects[task]
        self.replicate, self.seed = replicate, seed
        self.sessions = len(task)
        self.factor = rng.standard_normal(self.sessions)

    def effect(self, name: str, task: float, person: float, loading: float) -> FloatArray:
        total = np.zeros(self.sessions)
        if task:
            total += task * self.effects[:, _EFFECT[name]]
        if person:
            own = self.rng.standard_normal(self.sessions)
            total += person * (loading * self.factor + math.sqrt(1 - loading**2) * own)
        return total

    def rate(self, name: str, offset: FloatArray | None = None) -> FloatArray:
        """(sessions,) rate of every session."""
        rate, intercept = self.spec.rate(name), self.population.intercepts[name]
        if intercept == -math.inf:
            return np.zeros(self.sessions)
        logit = intercept + self.effect(name, rate.task, rate.person, rate.loading)
        if self.spec.batch:
            # One shift a replicate, the same in every block of a stream.
            column = _EFFECT[name]
            shifts = np.random.default_rng([*self.seed[:1], _SHIFT_STREAM, column])
            logit += (
                self.spec.batch
                * shifts.standard_normal(int(self.replicate.max()))[self.replicate - 1]
            )
        return sigmoid(logit if offset is None else logit + offset)

    def hits(self, p: FloatArray, session: IntArray, start: IntArray) -> BoolArray:
        """(turns,) events of chance p (turns,); spread evenly over a session when collapsed."""
        if not self.spec.collapsed:
            return np.asarray(self.rng.random(len(p)) < p)
        # Systematic sampling: chance p at every turn, count of a session within 1 of its mean.
        total = np.cumsum(p)
        before = total - p
        inside = before - before[start][session] + self.rng.random(self.sessions)[session]
        return np.asarray(np.floor(inside + p) > np.floor(inside))

    def noise(self, session: IntArray, turns: IntArray, position: IntArray) -> FloatArray:
        """(turns,) standard normal; evenly spread quantiles over a session when collapsed."""
        if not self.spec.collapsed:
            return self.rng.standard_normal(len(session))
        from scipy.special import ndtri

        order = np.lexsort((self.rng.random(len(session)), session))
        rank = np.empty(len(session), dtype=np.int64)
        rank[order] = position
        return np.asarray(ndtri((rank + self.rng.random(len(session))) / turns[session]))

    def whole(self, x: FloatArray, minimum: int, maximum: int) -> IntArray:
        """Round at random to a neighbour, so that the mean stays."""
        up = np.floor(np.minimum(x, maximum - minimum) + self.rng.random(len(x)))
        return np.asarray(np.minimum(minimum + up, maximum), dtype=np.int64)


def draw_sessions(
    spec: PhantomSpec,
    tasks: TaskSet,
    task: IntArray,
    replicate: IntArray,
    *,
    seed: int | tuple[int, ...] = 0,
) -> DrawnSessions:
    """Like `draw`, for given (task, replicate) pairs (replicate counted from 1)."""
    key = (seed,) if isinstance(seed, int) else tuple(seed)
    rng = np.random.default_rng(key)
    d = _Drawer(resolve(spec), tasks, task, replicate, rng, key)

    size = spec.turns
    log_turns = size.log_mean + d.effect("turns", size.task, size.person, 0.0)
    log_turns += size.noise * rng.standard_normal(d.sessions)
    turns = d.whole(np.exp(log_turns), size.minimum, size.maximum)
    start = np.cumsum(turns) - turns
    session = np.repeat(np.arange(d.sessions, dtype=np.int64), turns)
    position = np.arange(len(session), dtype=np.int64) - start[session]
    later = position > 0

    def events(name: str, allowed: BoolArray) -> BoolArray:
        return d.hits(np.where(allowed, d.rate(name)[session], 0.0), session, start)

    short = events("short", later)
    ack = events("ack", short)
    stock = events("stock", later & ~short)
    kind = np.zeros(len(session), dtype=np.int64)
    kind[short], kind[ack], kind[stock] = SHORT, ACK, STOCK
    long = kind == LONG

    marks = np.zeros((len(session), len(MARK_NAMES)), dtype=np.bool_)
    for name in MARK_NAMES:
        marks[:, MARK[name]] = events(name, long)
    marks[:, MARK["clarify"]] &= ~marks[:, MARK["pushback"]]
    marks[:, MARK["info"]] &= ~(marks[:, MARK["pushback"]] | marks[:, MARK["clarify"]])
    request = marks[:, MARK["info"]] & (rng.random(len(session)) < spec.request_share)
    casual = events("casual", ~stock) | stock
    repeat = rng.random(d.sessions) < d.rate("repeat")

    words = spec.words
    log_words = words.log_mean + d.effect("words", words.task, words.person, words.loading)
    x = np.exp(log_words[session] + words.noise * d.noise(session, turns, position))
    x = np.where(later, x, x * spec.opening)
    filler = d.whole(x, words.minimum, words.maximum)
    few = 1 + np.searchsorted(np.cumsum(spec.short_words)[:2], rng.random(len(session)), "right")
    filler = np.where(long, filler, np.where(ack, 1, few))
    long_words = rng.binomial(np.where(long, filler - 1, 0), spec.long_words)

    chance = d.rate("success", spec.difficulty * success_offset(tasks.difficulty)[task])
    reward = (rng.random(d.sessions) < chance).astype(np.int64)
    survey = spec.survey
    quality = survey.outcome * reward + survey.quality * rng.standard_normal(d.sessions)
    lenience = survey.lenience + survey.rater * rng.standard_normal(d.sessions)
    plan = DrawnSessions(
        spec=spec,
        tasks=tasks,
        task=task,
        replicate=replicate,
        turns=turns,
        start=start,
        reward=reward,
        quality=quality,
        lenience=lenience,
        repeat=repeat,
        session=session,
        position=position,
        kind=kind,
        filler=filler,
        long_words=long_words.astype(np.int64),
        marks=marks,
        request=request,
        casual=casual,
        wording=rng.integers(0, 2**31, size=len(session)),
        **_sense(spec, len(tasks), task, kind, long_words, np.random.default_rng([*key, _SENSE])),
    )
    if not spec.sense.replayed:
        return plan
    few = np.random.default_rng([*key, _REPLAY]).integers(
        0, min(spec.sense.replayed, d.sessions), size=d.sessions
    )
    return _said_again(plan, few)


def _sense(
    spec: PhantomSpec,
    tasks: int,
    task: IntArray,
    kind: IntArray,
    long_words: IntArray,
    rng: np.random.Generator,
) -> dict[str, IntArray]:
    """Topics and replies, from random numbers of their own."""
    turns = len(kind)
    other = (task + rng.integers(1, max(tasks, 2), size=len(task))) % tasks
    topic = np.where(rng.random(len(task)) < spec.sense.off_topic, other, task)
    reply = rng.integers(0, len(QUESTIONS), size=turns)
    reply = np.where(kind == ACK, YES_OR_NO, reply)
    free = rng.integers(0, len(QUESTIONS), size=turns)
    asked = np.where(rng.random(turns) < spec.sense.answers, reply, free)
    return {
        "topic": topic,
        "topical": rng.binomial(long_words, spec.sense.topic).astype(np.int64),
        "asked": np.where(kind == STOCK, free, asked),
        "reply": reply,
    }


def _said_again(plan: DrawnSessions, which: IntArray) -> DrawnSessions:
    """The plan with the turns of session `which[i]` in place of those of session i."""
    turns = plan.turns[which]
    start = np.cumsum(turns) - turns
    session = np.repeat(np.arange(len(which), dtype=np.int64), turns)
    source = np.arange(len(session), dtype=np.int64) + (plan.start[which] - start)[session]
    by_turn = {
        name: getattr(plan, name)[source]
        for name in (
            "position", "kind", "filler", "long_words", "marks", "request", "casual", "wording",
            "topical", "asked", "reply",
        )
    }  # fmt: skip
    return replace(
        plan,
        turns=turns,
        start=start,
        session=session,
        repeat=plan.repeat[which],
        topic=plan.topic[which],
        **by_turn,
    )
