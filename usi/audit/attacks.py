"""Simulators that are known to be bad, made from real people without any model.

Each attack is a function of a `Material` and a random generator that gives one session a place.
They keep what a score of means looks at (the people's own turns, lengths or word lists) and break
one thing that a user must have: sense, the task, the answer to the agent, variety, or new words.
Outcomes stay those of the sessions that an attack is made from, so that behaviour alone decides.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from usi.audit.material import Material, positions, utterances, with_utterances
from usi.audit.words import listed_words
from usi.phantom.wording import EVERYDAY_WORDS
from usi.records import Session, Turn

Maker = Callable[[Material, random.Random], list[Session]]

_WORD = re.compile(r"[A-Za-z][A-Za-z']*")
_NEEDS_MODELS = "this attack needs transcripts of a model user: give them with --mix"
_FLAGS = (
    "politeness", "short", "dash", "ack", "role_confusion", "identifiers", "uncertainty",
    "lack_of_information", "certainty", "pushback", "clarify", "info", "request", "emotion",
    "accusation", "pivot", "casual", "several_sentences", "comma",
)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class CannotMake(Exception):
    """The corpus lacks what an attack is made from; the text says what."""


@dataclass(frozen=True)
class Attack:
    """A way to make a bad simulator.

    Attributes
    ----------
    name
        Short name, as tables show it.
    about
        What it does, in one line.
    make
        Sessions, one for every place of the material.
    harmful
        Whether a gate may not pass it at any tier; others may pass tier C.
    needs_models
        Whether it takes sessions of model users.
    """

    name: str
    about: str
    make: Maker
    harmful: bool = True
    needs_models: bool = False


# -- words without sense --------------------------------------------------------------------


def _shaped(word: str, like: str) -> str:
    """`word` with the capitals of `like`."""
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word.capitalize() if like[0].isupper() else word


def _replaced(text: str, choose: Callable[[], str]) -> str:
    """The text with every word outside the word lists replaced; digits and marks stay."""
    listed = listed_words()

    def one(found: re.Match[str]) -> str:
        word = found.group()
        return word if word.lower() in listed else _shaped(choose(), word)

    return _WORD.sub(one, text)


def nonsense(material: Material, rng: random.Random) -> list[Session]:
    """Random English words; those of the word lists stay, so that every turn keeps its flags."""
    return [
        with_utterances(session, [_replaced(t, lambda: rng.choice(EVERYDAY_WORDS)) for t in spoken])
        for session, spoken in zip(material.held_out, material.spoken, strict=True)
    ]


def own_words(material: Material, rng: random.Random) -> list[Session]:
    """As `nonsense`, with words drawn from what all the held-out people said."""
    words = [
        word.lower()
        for spoken in material.spoken
        for text in spoken
        for word in _WORD.findall(text)
        if word.lower() not in listed_words()
    ] or list(EVERYDAY_WORDS)
    return [
        with_utterances(session, [_replaced(t, lambda: rng.choice(words)) for t in spoken])
        for session, spoken in zip(material.held_out, material.spoken, strict=True)
    ]


def template(material: Material, rng: random.Random) -> list[Session]:
    """One form of words for everybody; two words of each real turn fill its gaps."""
    forms = (
        "Hello, I would like some help with {}.",
        "It is about {}, please.",
        "Yes, that would be {}.",
        "Thank you, {} is fine for me.",
    )
    made = []
    for session, spoken in zip(material.held_out, material.spoken, strict=True):
        texts = []
        for at, text in enumerate(spoken):
            words = sorted(_WORD.findall(text) or re.findall(r"\S+", text), key=len)[-2:]
            form = forms[0] if at == 0 else forms[1 + (at - 1) % 3]
            texts.append(form.format(" ".join(words)))
        made.append(with_utterances(session, texts))
    return made


# -- real sessions in the wrong place ---------------------------------------------------------


def wrong_task(material: Material, rng: random.Random) -> list[Session]:
    """Real sessions of another task."""
    order = list(range(len(material.slots)))
    rng.shuffle(order)
    left, chosen = order[:], []
    for group in material.groups:
        found = next((i for i in left if material.groups[i] != group), None)
        if found is None:
            # Only sessions of this task are left: one that has been used stands in twice.
            others = [i for i in order if material.groups[i] != group]
            if not others:
                raise CannotMake("sessions of another task need a corpus with two tasks or more")
            chosen.append(rng.choice(others))
            continue
        left.remove(found)
        chosen.append(found)
    return [material.held_out[i] for i in chosen]


def _replay(count: int) -> Maker:
    """A few real sessions in all places, equally often: those whose means are nearest to all."""

    def make(material: Material, rng: random.Random) -> list[Session]:
        few = _alike(material.held_out, min(count, len(material.held_out)), rng)
        order = [few[i % len(few)] for i in range(len(material.slots))]
        rng.shuffle(order)
        return [material.held_out[i] for i in order]

    return make


_SUBSETS, _SWAPS = 300, 300


def _alike(sessions: Sequence[Session], count: int, rng: random.Random) -> list[int]:
    """Indices of `count` sessions whose feature means are near to those of all.

    The best of some random subsets, bettered by exchanging single sessions; nearness is the mean
    relative gap of the features, which is what a score of means looks at.
    """
    import numpy as np

    from usi.extraction.extract import extract_table
    from usi.extraction.profile import get_feature_profile
    from usi.extraction.table import derive

    profile = get_feature_profile("robust")
    frame = extract_table(sessions, profile="robust", side="human").frame
    table = derive(frame, profile.specs, without_denominator=profile.without_denominator)
    values = table.fill_null(0).to_numpy().astype(float)
    values = values[:, values.mean(axis=0) > 0]
    target = values.mean(axis=0)

    def distance(means: np.ndarray) -> np.ndarray:
        return np.asarray((np.abs(means - target) / (means + target)).mean(axis=-1))

    draws = np.random.default_rng(rng.getrandbits(32))
    subsets = [draws.choice(len(values), size=count, replace=False) for _ in range(_SUBSETS)]
    chosen = min(subsets, key=lambda own: float(distance(values[own].mean(axis=0))))
    best = float(distance(values[chosen].mean(axis=0)))
    for _ in range(_SWAPS):
        trial = chosen.copy()
        trial[draws.integers(count)] = draws.integers(len(values))
        found = float(distance(values[trial].mean(axis=0)))
        if found < best and len(set(trial.tolist())) == count:
            chosen, best = trial, found
    return [int(i) for i in chosen]


def one_person(material: Material, rng: random.Random) -> list[Session]:
    """The sessions of one participant for everybody; of the same task where there are any."""
    counts = Counter(s.participant for s in material.held_out if s.participant)
    if not counts:
        raise CannotMake("one person for everybody needs participants in the corpus")
    who = max(sorted(counts), key=lambda name: counts[name])
    own = [i for i, s in enumerate(material.held_out) if s.participant == who]
    made = []
    for group in material.groups:
        same = [i for i in own if material.groups[i] == group]
        made.append(material.held_out[rng.choice(same or own)])
    return made


# -- real turns that answer nothing -----------------------------------------------------------


def shuffled(material: Material, rng: random.Random) -> list[Session]:
    """The turns of each session in another order."""
    made = []
    for session, spoken in zip(material.held_out, material.spoken, strict=True):
        texts = spoken[:]
        rng.shuffle(texts)
        made.append(with_utterances(session, texts))
    return made


def sentences(material: Material, rng: random.Random) -> list[Session]:
    """The sentences of each session dealt out again: as many to a turn, in another order."""
    made = []
    for session, spoken in zip(material.held_out, material.spoken, strict=True):
        parts = [_SENTENCE.split(text) for text in spoken]
        pool = [sentence for own in parts for sentence in own]
        rng.shuffle(pool)
        deal = iter(pool)
        made.append(with_utterances(session, [" ".join(next(deal) for _ in own) for own in parts]))
    return made


def other_session(material: Material, rng: random.Random) -> list[Session]:
    """What another person said on the same task, to this session's agent."""
    made = []
    for at, session in enumerate(material.held_out):
        other = material.other_place(at, rng, same_group=True)
        made.append(with_utterances(session, material.spoken[other]))
    return made


def _bag(within_group: bool) -> Maker:
    def make(material: Material, rng: random.Random) -> list[Session]:
        bags: dict[tuple[str, int], list[str]] = {}
        for group, spoken in zip(material.groups, material.spoken, strict=True):
            for at, text in enumerate(spoken):
                key = (group if within_group else "", _place(at, len(spoken)))
                bags.setdefault(key, []).append(text)
        made = []
        rows = zip(material.held_out, material.groups, material.spoken, strict=True)
        for session, group, spoken in rows:
            name = group if within_group else ""
            texts = [rng.choice(bags[name, _place(at, len(spoken))]) for at in range(len(spoken))]
            made.append(with_utterances(session, texts))
        return made

    return make


def _place(at: int, turns: int) -> int:
    """0 for the opening, 1 for the last of several turns, 2 and more for tenths in between."""
    if at == 0:
        return 0
    return 1 if at == turns - 1 else 2 + 10 * at // turns


def echoed(material: Material, rng: random.Random) -> list[Session]:
    """Every message of the agent said back; the opening is the person's own."""
    made = []
    for session, spoken in zip(material.held_out, material.spoken, strict=True):
        texts, heard, said = [], "", iter(spoken)
        places = set(positions(session))
        for i, turn in enumerate(session.turns):
            if i in places:
                own = next(said)
                texts.append(heard or own)
            elif turn.role == "assistant" and isinstance(turn.content, str) and turn.content:
                heard = turn.content
        made.append(with_utterances(session, texts))
    return made


def one_word(material: Material, rng: random.Random) -> list[Session]:
    """One word a turn."""
    return [
        with_utterances(session, [rng.choice(("yes", "no", "ok", "sure")) for _ in spoken])
        for session, spoken in zip(material.held_out, material.spoken, strict=True)
    ]


def silent(material: Material, rng: random.Random) -> list[Session]:
    """A user who says nothing: the messages are there and empty."""
    made = []
    for session in material.held_out:
        turns = list(session.turns)
        for place in positions(session):
            turns[place] = msgspec.structs.replace(turns[place], content="")
        made.append(msgspec.structs.replace(session, turns=tuple(turns)))
    return made


# -- the people themselves ------------------------------------------------------------------


def _by_slot(material: Material) -> dict[str, list[Session]]:
    found: dict[str, list[Session]] = {}
    for session in material.people:
        found.setdefault(session.task_id or "", []).append(session)
    return found


def self_copy(material: Material, rng: random.Random) -> list[Session]:
    """The reference itself, word for word."""
    people = _by_slot(material)
    return [
        own[(slot.replicate - 1) % len(own)]
        for slot in material.slots
        for own in (people[slot.task],)
    ]


def self_copy_permuted(material: Material, rng: random.Random) -> list[Session]:
    """The reference itself, its tasks changed round."""
    tasks = sorted({slot.task for slot in material.slots})
    shifted = dict(zip(tasks, [*tasks[1:], tasks[0]], strict=True))
    people = _by_slot(material)
    return [
        own[(slot.replicate - 1) % len(own)]
        for slot in material.slots
        for own in (people[shifted[slot.task]],)
    ]


# -- mixtures -------------------------------------------------------------------------------


def _models_at(material: Material, places: Sequence[int], rng: random.Random) -> dict[int, Session]:
    """A model user's session for each of these places: of the same task where there are any.

    None is used twice before all have been used. Outcomes are those of the people whose places
    they take.
    """
    if not material.models:
        raise CannotMake(_NEEDS_MODELS)
    by_task: dict[str, list[Session]] = {}
    for session in material.models:
        by_task.setdefault(session.task_id or "", []).append(session)
    known = by_task.keys() & set(material.groups)
    pools = {name: by_task[name] if name in known else [*material.models] for name in (*known, "")}
    for pool in pools.values():
        rng.shuffle(pool)
    used: Counter[str] = Counter()
    made = {}
    for place in places:
        own = material.groups[place]
        name = own if own in known else ""
        taken = pools[name][used[name] % len(pools[name])]
        used[name] += 1
        person = material.held_out[place]
        made[place] = msgspec.structs.replace(taken, outcome=person.outcome, status=person.status)
    return made


def model_sessions(material: Material, rng: random.Random) -> list[Session]:
    """Sessions of model users in all places."""
    made = _models_at(material, range(len(material.slots)), rng)
    return [made[place] for place in range(len(material.slots))]


def _mixture(share: float) -> Maker:
    def make(material: Material, rng: random.Random) -> list[Session]:
        count = round(share * len(material.slots))
        bad = _models_at(material, rng.sample(range(len(material.slots)), count), rng)
        return [bad.get(at, session) for at, session in enumerate(material.held_out)]

    return make


def matched_turns(material: Material, rng: random.Random) -> list[Session]:
    """Turns of model users, each as near as can be to the real turn in flags, then in length."""
    if not material.models:
        raise CannotMake(_NEEDS_MODELS)
    heard = tuple(text for session in material.models for text in utterances(session))
    pool: dict[frozenset[str], list[tuple[int, str]]] = {}
    for text, flags in zip(heard, flags_of(heard), strict=True):
        pool.setdefault(flags, []).append((len(text.split()), text))
    wanted = iter(flags_of(tuple(text for spoken in material.spoken for text in spoken)))
    made = []
    for session, spoken in zip(material.held_out, material.spoken, strict=True):
        texts = []
        for text in spoken:
            flags, size = next(wanted), len(text.split())
            options = pool[min(pool, key=lambda own: (len(own ^ flags), sorted(own)))]
            few = rng.sample(options, min(40, len(options)))
            texts.append(min(few, key=lambda entry: abs(entry[0] - size))[1])
        made.append(with_utterances(session, texts))
    return made


@lru_cache(maxsize=4)
def flags_of(texts: tuple[str, ...]) -> list[frozenset[str]]:
    """Which word lists and marks of style each turn shows."""
    from usi.extraction.extract import extract_table

    lone = [Session(session_id=str(i), turns=(Turn("user", t),)) for i, t in enumerate(texts)]
    table = extract_table(lone, profile="robust", side="human", language="en").frame
    columns = {name: table[name].fill_null(0).to_numpy() > 0 for name in _FLAGS}
    return [
        frozenset(name for name, shown in columns.items() if shown[row])
        for row in range(len(texts))
    ]


def hidden_errors(material: Material, rng: random.Random) -> list[Session]:
    """Two in five sessions are bad, and half of these are marked as infrastructure errors."""
    chosen = rng.sample(range(len(material.slots)), round(0.4 * len(material.slots)))
    if material.models:
        bad = _models_at(material, chosen, rng)
    else:
        bad = dict(enumerate(nonsense(material, rng)))
    made = list(material.held_out)
    for number, at in enumerate(chosen):
        made[at] = bad[at]
        if number % 2 == 0:
            made[at] = msgspec.structs.replace(
                bad[at], status="infrastructure_error", status_reason="provider error"
            )
    return made


MIX_SHARES = (0.05, 0.10, 0.20, 0.30, 0.50)


def _mixtures() -> list[Attack]:
    made = []
    for share in MIX_SHARES:
        percent = round(100 * share)
        made.append(
            Attack(
                f"mix-{percent}",
                f"people, {percent} % of the sessions those of a model user",
                _mixture(share),
                harmful=share >= 0.5,
                needs_models=True,
            )
        )
    return made


ATTACKS: tuple[Attack, ...] = (
    Attack("nonsense", "random words; those of the word lists stay", nonsense),
    Attack("own-words", "the people's words by lot; those of the word lists stay", own_words),
    Attack("template", "one form of words, gaps filled from real turns", template),
    Attack("wrong-task", "real sessions of another task", wrong_task),
    Attack("replay-30", "30 real sessions with the means of all, replayed", _replay(30)),
    Attack("replay-10", "10 real sessions with the means of all, replayed", _replay(10)),
    Attack("replay-200", "200 real sessions with the means of all, replayed", _replay(200)),
    Attack("one-person", "one real person for everybody", one_person),
    Attack("shuffled", "turns of each session in another order", shuffled),
    Attack("sentences", "sentences of each session in another order", sentences),
    Attack("other-session", "another person's answers on the same task", other_session),
    Attack("bag", "turns by lot from all people, by position", _bag(False)),
    Attack("task-bag", "turns by lot from people on the same task, by position", _bag(True)),
    Attack("echo", "says the agent's messages back", echoed),
    Attack("one-word", "one word a turn", one_word),
    Attack("silent", "empty messages", silent),
    Attack("self-copy", "the reference itself", self_copy),
    Attack("self-copy-permuted", "the reference itself, tasks changed round", self_copy_permuted),
    Attack("hidden-errors", "40 % bad sessions, half of them hidden as errors", hidden_errors),
    Attack("model", "the model user itself", model_sessions, harmful=False, needs_models=True),
    Attack("matched", "model turns with the flags of real turns", matched_turns, needs_models=True),
    *_mixtures(),
)
"""The gauntlet, in the order in which tables show it."""
