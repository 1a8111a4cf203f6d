"""What a synthetic population is: rates with task and person effects, lengths, outcome, survey.

A `PhantomSpec` is a value: frozen, hashable, read from TOML. Its means are the *population*
means (the expectation of the session share over tasks and persons), so a spec says its own
truth; `usi.phantom.population` finds the intercepts that give them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from usi.errors import UsageError, unknown_name

KIND_NAMES = ("short", "ack", "stock")
"""What kind of turn it is: short (at most 3 words), ack (a kind of short turn), stock sentence."""
MARK_NAMES = (
    "politeness",
    "uncertainty",
    "lack",
    "certainty",
    "pushback",
    "clarify",
    "info",
    "emotion",
    "accusation",
    "pivot",
    "role",
    "dash",
    "identifier",
    "several",
    "comma",
)
"""What a long turn may hold besides filler words; each has its own fragment."""
RATE_NAMES = (*KIND_NAMES, *MARK_NAMES, "casual", "repeat", "success")
"""Everything that has a rate, in the order in which random numbers are drawn."""


@dataclass(frozen=True)
class Rate:
    """A rate with its spread.

    Attributes
    ----------
    mean
        Population mean in [0, 1]: share of user turns (session mean); share of sessions for
        ``repeat`` and ``success``.
    task, person
        Standard deviation of the task and the person effect, in logits.
    loading
        Correlation in [-1, 1] of the person effect with the one factor that all share.
    """

    mean: float
    task: float = 0.0
    person: float = 0.0
    loading: float = 0.0

    def __post_init__(self) -> None:
        if not (0 <= self.mean < 1 and self.task >= 0 and self.person >= 0):
            raise UsageError(f"a rate needs 0 <= mean < 1 and spreads >= 0, not {self}")
        if not -1 <= self.loading <= 1:
            raise UsageError(f"a loading lies in [-1, 1], not {self.loading}")


@dataclass(frozen=True)
class Lengths:
    """A log-normal size, rounded at random to a neighbouring whole number, plus a minimum.

    Attributes
    ----------
    mean
        Mean above the minimum (before the maximum cuts it).
    task, person, noise
        Standard deviations on the log scale: between tasks, persons, and single draws.
    loading
        Correlation of the person effect with the shared factor (0 for turns).
    minimum, maximum
        Bounds of the result.
    """

    mean: float
    minimum: int
    maximum: int
    task: float = 0.0
    person: float = 0.0
    noise: float = 0.0
    loading: float = 0.0

    @property
    def sd(self) -> float:
        """Total standard deviation on the log scale."""
        return math.sqrt(self.task**2 + self.person**2 + self.noise**2)

    @property
    def log_mean(self) -> float:
        """Mean of the log, so that the mean is `mean`."""
        return math.log(self.mean) - self.sd**2 / 2


@dataclass(frozen=True)
class SurveySpec:
    """How people (or a simulator as judge) rate a session.

    A rater's latent value is ``quality + rater + lenience + noise``; an item's thresholds cut it
    so that the humans of the same spec give the shares of `usi.phantom.survey`.

    Attributes
    ----------
    outcome
        How much a success adds to the quality of a session.
    quality, rater, noise
        Standard deviations: of quality, of a rater's lenience, of single answers.
    lenience
        Shift of every answer (a simulator that is pleased by everything).
    """

    outcome: float = 1.2
    quality: float = 0.6
    rater: float = 0.4
    noise: float = 0.7
    lenience: float = 0.0


@dataclass(frozen=True)
class SenseSpec:
    """What the words of a population have to do with its tasks and with its agent.

    None of it touches a count: it chooses among wordings of equal effect.

    Attributes
    ----------
    topic
        Chance that a long filler word comes from the vocabulary of the session's task.
    answers
        Chance that a reply is of the kind that the message before it asks for (yes or no, a
        number, a name, a refusal); else the two are independent.
    off_topic
        Chance that a session uses the vocabulary of another task.
    replayed
        How many sessions there are, said again in place of all others; 0: none is replayed.
        Outcomes stay those of the sessions that they replace.
    """

    topic: float = 0.4
    answers: float = 0.8
    off_topic: float = 0.0
    replayed: int = 0

    def __post_init__(self) -> None:
        shares = (self.topic, self.answers, self.off_topic)
        if not all(0 <= share <= 1 for share in shares) or self.replayed < 0:
            raise UsageError(f"sense needs shares in [0, 1] and replayed >= 0, not {self}")


@dataclass(frozen=True)
class PhantomSpec:
    """A synthetic population of users.

    Attributes
    ----------
    name
        Name of the preset or of the variant.
    rates
        ``(name, Rate)`` for every name of `RATE_NAMES`, in that order.
    turns
        User turns a session; independent of all rates.
    words
        Filler words of a long turn (marks come on top); minimum 4, so a long turn is never short.
    opening
        Factor on the filler words of the first turn.
    short_words
        Shares of one, two and three words among short turns that are no acks.
    long_words
        Chance that a filler word is a plain word of six or more letters.
    request_share
        Share of information questions that are requests (``can you check it?``).
    difficulty
        Weight of the logit of the task's difficulty in the logit of success.
    batch
        Standard deviation in logits between human batches (or runs), 0 by default.
    collapsed
        Every session near the mean: sizes and flags are spread evenly, not drawn.
    survey
        See `SurveySpec`.
    sense
        See `SenseSpec`.
    """

    name: str
    rates: tuple[tuple[str, Rate], ...]
    turns: Lengths
    words: Lengths
    opening: float = 1.5
    short_words: tuple[float, float, float] = (0.4, 0.3, 0.3)
    long_words: float = 0.18
    request_share: float = 0.3
    difficulty: float = 1.0
    batch: float = 0.0
    collapsed: bool = False
    survey: SurveySpec = field(default_factory=SurveySpec)
    sense: SenseSpec = field(default_factory=SenseSpec)

    def __post_init__(self) -> None:
        if tuple(name for name, _ in self.rates) != RATE_NAMES:
            raise UsageError(f"a phantom needs the rates {', '.join(RATE_NAMES)}, in this order")
        if self.words.minimum < 4 or self.turns.minimum < 1 or self.turns.maximum > 40:
            raise UsageError("a phantom needs words.minimum >= 4 and 1 to 40 turns")
        if self.turns.loading:
            raise UsageError("turns are independent of the shared factor: turns.loading must be 0")

    def rate(self, name: str) -> Rate:
        """The rate of that name."""
        for known, rate in self.rates:
            if known == name:
                return rate
        raise unknown_name("rate", name, RATE_NAMES)

    def with_rates(self, **changes: float | Rate) -> PhantomSpec:
        """The same population with other means (a number) or whole rates.

        >>> from usi.phantom import load_spec
        >>> load_spec("human").with_rates(politeness=0.5).rate("politeness").mean
        0.5
        """
        for name in changes:
            self.rate(name)
        rates = tuple((name, _changed(rate, changes.get(name))) for name, rate in self.rates)
        return replace(self, rates=rates)


def _changed(rate: Rate, change: float | Rate | None) -> Rate:
    if change is None:
        return rate
    return change if isinstance(change, Rate) else replace(rate, mean=float(change))
