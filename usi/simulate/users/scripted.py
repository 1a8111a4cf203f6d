"""Users by rule: what they say follows from the task, a few traits and a seed; no model.

What a scripted user makes of the agent's message: a few occasions, told apart by rule.

What a scripted user thinks afterwards, by rule: the answers of the published survey.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib import resources
from typing import Any, Literal

from usi.errors import UsageError, unknown_name
from usi.simulate.calls import Calls
from usi.simulate.protocol import Message, Task
from usi.simulate.questions import Instrument, checked
from usi.simulate.user import STOP

Occasion = Literal["dissuaded", "asked", "confirm", "more", "refused", "question", "told"]

_DISSUADE = re.compile(r"\bleave (?:it|this|that)\b|\bdo without\b", re.I)
_CONFIRM = re.compile(
    r"\b(?:confirm|shall i|should i|may i|go ahead|proceed|\(yes/no\)"
    r"|is (?:that|this) (?:right|correct|ok|okay))\b",
    re.I,
)
_MORE = re.compile(r"\b(?:anything|something) else\b|\bis that all\b", re.I)
_REFUSE = re.compile(
    r"\b(?:can ?not|can.?t|unable|not (?:able|allowed|permitted|possible|eligible)|must not|"
    r"against (?:the |our )?(?:policy|rules))\b",
    re.I,
)
_ASKING = re.compile(r"\?|\b(?:please|need|provide|tell me|give me|what|which|could you)\b", re.I)


def asked_facts(text: str, facts: Mapping[str, str]) -> list[str]:
    """Names of the facts that a message asks for, in the order of the task.

    >>> asked_facts("What is your employee number?", {"employee number": "E1", "site": "Bern"})
    ['employee number']
    """
    if not _ASKING.search(text):
        return []
    return [
        label
        for label in facts
        if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text, re.IGNORECASE)
    ]


def occasion(text: str, facts: Mapping[str, str]) -> Occasion:
    """What the agent's message is to the user."""
    if _DISSUADE.search(text) and "?" in text:
        return "dissuaded"
    confirm = _CONFIRM.search(text) is not None
    if asked_facts(text, facts) and not (confirm and "shall i" in text.lower()):
        return "asked"
    if confirm:
        return "confirm"
    if _REFUSE.search(text):
        return "refused"
    if _MORE.search(text):
        return "more"
    return "question" if "?" in text else "told"


def opinion(
    history: Sequence[Message], *, polite: float = 0.0, left: bool = False
) -> Mapping[str, str]:
    """Answers to the eight published questions from what was said.

    Parameters
    ----------
    history
        Agent's and user's messages.
    polite
        A polite user rates one step higher.
    left
        The user gave up.
    """
    heard = [m["content"] for m in history if m["role"] == "assistant"]
    kinds = [occasion(text, {}) for text in heard[1:]]
    refused, questions = "refused" in kinds, sum("?" in text for text in heard[1:])
    kind = 1 if polite > 0.5 else 0
    if left:
        success = "No - Task failed"
    elif refused:
        success = "No - Due to a policy issue, which the agent clearly explained"
    else:
        success = "Fully - Exceeded expectations" if kind else "Yes - Task completed"
    pick = min(3, max(0, 3 - questions // 2 + kind))
    smooth = ("Not smooth", "OK", "Smooth", "Excellent")
    quick = (
        "Very inefficient - Too many steps", "Somewhat inefficient", "About right",
        "Very efficient",
    )  # fmt: skip
    overall = max(0, min(4, (0 if left else 2 if refused else 3) + kind))
    scores = ("1 (Very poor)", "2 (Poor)", "3 (Acceptable)", "4 (Good)", "5 (Excellent)")
    again = ("Absolutely no", "No", "Maybe", "Yes", "Absolutely yes")
    return {
        "task_success": success,
        "efficiency": quick[0 if left else pick],
        "question_amount_preference": "Too many" if questions > 4 or left else "About right",
        "answer_effort_time": ("High", "Medium", "Low")[min(2, max(0, 2 - questions // 3))],
        "human_like": "Partially" if kind else "No",
        "interaction_flow": smooth[0 if left else pick],
        "overall_score": scores[overall],
        "reuse": again[overall],
    }


LONGEST_PATIENCE, SHORTEST_PATIENCE = 16, 3


@dataclass(frozen=True)
class Traits:
    """How a scripted user is, each from 0 (not at all) to 1.

    Attributes
    ----------
    terse, polite
        Share of replies in few words; with courtesies.
    front_loading
        Chance to say everything in the first message.
    impatient
        Complains, and leaves after fewer turns.
    forgetful
        Chance not to recall a datum at the first asking.
    confused
        Chance of asking back or of mixing two data up.
    over_compliant
        Chance to agree to whatever the agent suggests, against the instruction too.
    lacking_knowledge
        Chance to ask what a term means before answering.
    """

    terse: float = 0.2
    polite: float = 0.3
    front_loading: float = 0.2
    impatient: float = 0.0
    forgetful: float = 0.05
    confused: float = 0.0
    over_compliant: float = 0.0
    lacking_knowledge: float = 0.0

    def __post_init__(self) -> None:
        for trait in fields(self):
            value = getattr(self, trait.name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise UsageError(
                    f"trait {trait.name}: give a number from 0 to 1, not {value!r:.40}"
                )


PRESETS: Mapping[str, Traits] = {
    "plain": Traits(),
    "terse": Traits(terse=0.95, polite=0.02),
    "polite": Traits(terse=0.0, polite=0.95),
    "front-loading": Traits(front_loading=1.0, terse=0.0),
    "impatient": Traits(impatient=0.9, polite=0.05, terse=0.5),
    "forgetful": Traits(forgetful=0.8),
    "confused": Traits(confused=0.5, forgetful=0.2),
    "over-compliant": Traits(over_compliant=1.0, polite=0.8, terse=0.0),
    "lacking-knowledge": Traits(lacking_knowledge=0.7, confused=0.15),
}
VARIED = "varied"
"""A population: every user draws traits of its own."""


def trait_of(name: str) -> str:
    """Field of a trait's name, which may have hyphens.

    Raises
    ------
    UsageError
        For an unknown one, with near matches.
    """
    field_name = name.replace("-", "_")
    known = [f.name for f in fields(Traits)]
    if field_name not in known:
        raise unknown_name("trait", name, known)
    return field_name


def preset(name: str) -> Traits:
    """Traits by name of a preset."""
    if name not in PRESETS:
        raise unknown_name("scripted user", name, [*PRESETS, VARIED])
    return PRESETS[name]


@cache
def _phrases() -> dict[str, dict[str, list[str]]]:
    text = resources.files("usi.simulate.users").joinpath("phrases.toml").read_text("utf-8")
    data = tomllib.loads(text)
    return {name: table for name, table in data.items() if isinstance(table, dict)}


def draw_traits(rng: random.Random) -> Traits:
    """A person of the varied population: most traits low, some high."""
    names = [f.name for f in fields(Traits)]
    return Traits(**{name: round(rng.betavariate(0.7, 1.8), 3) for name in names})


@dataclass(frozen=True)
class ScriptedUsers:
    """A candidate made of scripted users.

    Attributes
    ----------
    traits
        Of every user; ``None`` draws them for each user (`VARIED`).
    seed
        Of the candidate, beside that of the run.
    """

    traits: Traits | None = field(default_factory=Traits)
    seed: int = 0
    synthetic: bool = True

    @property
    def identity(self) -> Mapping[str, Any]:
        """Traits and seed."""
        traits = VARIED if self.traits is None else asdict(self.traits)
        return {"kind": "scripted", "traits": traits, "seed": self.seed}

    def new(self, task: Task, seed: int, runtime: Calls) -> ScriptedUser:
        """A user; the same task and seed give the same user."""
        rng = random.Random(f"{self.seed}|{task.id}|{seed}")
        return ScriptedUser(task, draw_traits(rng) if self.traits is None else self.traits, rng)


@dataclass
class ScriptedUser:
    """One user in one episode."""

    task: Task
    traits: Traits
    rng: random.Random
    said: int = 0
    turns: int = 0
    annoyed: int = 0
    pushed: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    left: bool = False
    told_all: bool = False

    def __post_init__(self) -> None:
        span = (LONGEST_PATIENCE - SHORTEST_PATIENCE) * (1 - self.traits.impatient)
        self.patience = SHORTEST_PATIENCE + round(span + self.rng.uniform(0, 2))

    def reply(self, history: Sequence[Message]) -> Message:
        """The next message, by what the agent said last."""
        heard = next((m["content"] for m in reversed(history) if m["role"] == "assistant"), "")
        return {"role": "user", "content": self.answer(heard)}

    def survey(
        self, history: Sequence[Message], instrument: Instrument
    ) -> Mapping[str, str | None]:
        """Answers by rule from what the user saw."""
        return checked(instrument, opinion(history, polite=self.traits.polite, left=self.left))

    def answer(self, heard: str) -> str:
        """What the user says to a message of the agent."""
        self.turns += 1
        if self.turns == 1:
            return self._opening()
        if self.turns > self.patience:
            self.left = True
            return f"{self._say('leave', 'extra')} {STOP}"
        match occasion(heard, self.task.facts):
            case "dissuaded":
                text = self._dissuaded()
            case "asked":
                text = self._facts(heard)
            case "confirm":
                text = self._confirm()
            case "refused":
                text = self._refused()
            case "more":
                text = self._more()
            case "question":
                text = self._maybe_confused() or self._say("unknown")
            case _:
                text = self._more()
        return self._coloured(text)

    def _say(self, what: str, table: str | None = None, **data: str) -> str:
        terse = table is None and self.rng.random() < self.traits.terse
        text = self.rng.choice(_phrases()[table or ("terse" if terse else "plain")][what])
        for name, value in data.items():
            text = text.replace("{" + name + "}", value)
        return text

    @property
    def requests(self) -> tuple[str, ...]:
        """What the user wants, one sentence each."""
        return self.task.requests or (self.task.instruction,)

    def _opening(self) -> str:
        if self.rng.random() < self.traits.front_loading:
            self.said = len(self.requests)
            facts = [f"My {label} is {value}." for label, value in self.task.facts.items()]
            return " ".join([*self.requests, *facts])
        self.said = 1
        text = self._say("open", request=self.requests[0])
        return f"{text} {self._say('please', 'extra')}" if self._polite() else text

    def _polite(self) -> bool:
        return self.rng.random() < self.traits.polite

    def _obeys(self) -> bool:
        return self.rng.random() < self.traits.over_compliant

    def _maybe_confused(self) -> str | None:
        if self.rng.random() < self.traits.confused:
            return self._say("confused", "extra")
        return None

    def _dissuaded(self) -> str:
        if self._obeys():
            return self._say("obey", "extra")
        return self._say("again", request=self.requests[min(self.said, len(self.requests)) - 1])

    def _facts(self, heard: str) -> str:
        wanted = asked_facts(heard, self.task.facts)
        parts = []
        for label in wanted:
            times = self.asked[label] = self.asked.get(label, 0) + 1
            if times == 1 and self.rng.random() < self.traits.lacking_knowledge:
                return self._say("what", "extra", label=label)
            if times == 1 and self.rng.random() < self.traits.forgetful:
                parts.append(self._say("forgot", "extra", label=label))
                continue
            value = self.task.facts[label]
            if times == 1 and self.rng.random() < self.traits.confused:
                value = self.rng.choice(list(self.task.facts.values()))
            parts.append(self._say("fact", label=label, value=value))
        return " ".join(parts)

    def _confirm(self) -> str:
        if self._obeys():
            return self._say("obey", "extra")
        return self._maybe_confused() or self._say("yes")

    def _refused(self) -> str:
        if not self._obeys() and self.pushed == 0 and self.rng.random() < 0.6:
            self.pushed += 1
            return self._say("refused")
        if self.said < len(self.requests):
            return self._more()
        return f"{self._say('accept')} {STOP}"

    def _more(self) -> str:
        if self.said < len(self.requests):
            self.said += 1
            return self._say("next", request=self.requests[self.said - 1])
        if not self.told_all:
            self.told_all = True
            return self._say("no_more")
        return ""

    def _coloured(self, text: str) -> str:
        """Courtesy, hurry, and how the talk ends."""
        if not text:
            return self._closing()
        if self.turns > 2 and self.rng.random() < 0.6 * self.traits.impatient:
            self.annoyed += 1
            text = f"{text} {self._say('hurry', 'extra')}"
        elif STOP not in text and self.rng.random() < 0.5 * self.traits.polite:
            text = f"{text} {self._say('thanks', 'extra')}"
        return text

    def _closing(self) -> str:
        text = self._say("thanks", "extra") if self._polite() else self._say("close")
        return f"{text} {STOP}".strip()


def with_traits(base: Traits, changes: Mapping[str, float]) -> Traits:
    """Traits with some of them changed, by name."""
    return replace(base, **{trait_of(name): value for name, value in changes.items()})
