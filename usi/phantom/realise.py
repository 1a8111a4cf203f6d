"""Plan -> sessions with texts: every fragment of a turn comes from `usi.phantom.wording`.

A long turn reads ``[politeness] first [several .] [uncertainty] [certainty] [emotion] fillers
[comma ,] [lack] [role] [accusation] [pivot] last [identifier] [question]``: a filler word
always stands between fragments that would otherwise run together into another phrase. The last
filler word is the reply to the message before; the first long ones are words of the task.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from usi.phantom.drawn_sessions import ACK, MARK, STOCK, DrawnSessions
from usi.phantom.spec import MARK_NAMES
from usi.phantom.wording import (
    ACKS,
    AGENT_MESSAGES,
    AGENT_NAME,
    FIRST_WORDS,
    FRAGMENTS,
    LONG_WORDS,
    LOOP,
    QUESTIONS,
    REPLIES,
    REPLY_WORDS,
    SHORT_WORDS,
    TASK_WORDS,
    TOPIC_WORDS,
)
from usi.phantom.wording import STOCK as STOCK_TEXT
from usi.records import Outcome, Session, Side, Turn

_POOL = 4096
_TOPIC_POOL = 256
_LONGEST = 160
_MID = ("uncertainty", "certainty", "emotion")
_TAIL = ("lack", "role", "accusation", "pivot")
_HUMAN_STOP = "/stop"
_SIMULATOR_STOP = "###STOP###"


@cache
def _words(kind: str) -> list[str]:
    """A long list of filler words in a fixed random order; turns take slices of it."""
    return _in_random_order(SHORT_WORDS if kind == "short" else LONG_WORDS, kind, _POOL)


@cache
def _topic(task: str) -> list[str]:
    """The same of the words that a task is about, chosen by its name."""
    words = random.Random(f"phantom-task-{task}").sample(TOPIC_WORDS, TASK_WORDS)
    return _in_random_order(words, task, _TOPIC_POOL)


def _in_random_order(vocabulary: Sequence[str], seed: str, pool: int) -> list[str]:
    rng = random.Random(f"phantom-{seed}")
    words: list[str] = []
    while len(words) < pool + _LONGEST:
        word = rng.choice(vocabulary)
        if not words or word != words[-1]:
            words.append(word)
    return words


@cache
def _agent() -> tuple[tuple[Turn, ...], ...]:
    """For every kind of reply the messages that ask for it."""
    return tuple(
        tuple(
            Turn(role="assistant", content=f"{AGENT_NAME} {text} {question}")
            for text in AGENT_MESSAGES
            for question in questions
        )
        for questions in QUESTIONS
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


class _Writer:
    """Turn texts from planned turns."""

    def __init__(self) -> None:
        self.short, self.long = _words("short"), _words("long")
        self.fragments = {name: fragment.wordings for name, fragment in FRAGMENTS.items()}

    def long_turn(
        self,
        marks: frozenset[str],
        filler: int,
        long_words: int,
        position: int,
        wording: int,
        *,
        request: bool,
        casual: bool,
        loop: bool,
        topic: list[str],
        topical: int,
        reply: int,
    ) -> str:
        """One long turn; see the module."""
        pick = self.fragments
        # The session's turns start at different first words: position counts through the list.
        first = FIRST_WORDS[position % len(FIRST_WORDS)]
        if "dash" in marks:
            first += "—"
        short_words = filler - 1 - long_words
        at = wording % _POOL
        begin = wording % _TOPIC_POOL
        fill = topic[begin : begin + topical] + self.long[at : at + long_words - topical]
        fill += self.short[at : at + short_words]
        options = REPLY_WORDS[reply][0 if short_words else 1]
        fill.pop()
        last = options[wording % len(options)]
        parts = [pick["politeness"][wording & 1], first] if "politeness" in marks else [first]
        if marks:
            self._fill_marked(parts, marks, fill, wording, casual=casual)
        else:
            parts += fill
        if loop:
            parts.append(LOOP)
        parts.append(last)
        if "identifier" in marks:
            parts.append(f"W{wording % 10**7:07d}")
        end = "" if casual else "."
        if "pushback" in marks:
            parts.append(pick["pushback"][0])
        elif "clarify" in marks:
            parts.append(pick["clarify"][wording & 1])
        elif "info" in marks:
            parts.append(pick["request" if request else "info"][wording & 1])
            end = ""
        text = " ".join(parts) + end
        return text if casual else _capital(text)

    def _fill_marked(
        self,
        parts: list[str],
        marks: frozenset[str],
        fill: list[str],
        wording: int,
        *,
        casual: bool,
    ) -> None:
        """Append the fillers with the fragments that stand among them."""
        for name in _MID:
            if name in marks:
                options = self.fragments[name]
                parts.append(options[wording % len(options)])
        if "several" in marks:
            # A sentence ends before the fillers, the next begins with one of them.
            parts[-1] += "."
            fill[0] = fill[0] if casual else _capital(fill[0])
        if "comma" in marks:
            fill[1 if len(fill) > 2 else 0] += ","
        parts += fill
        for name in _TAIL:
            if name in marks:
                options = self.fragments[name]
                parts.append(options[wording % len(options)])


@cache
def _mark_sets(code: int) -> frozenset[str]:
    return frozenset(name for name, bit in MARK.items() if code >> bit & 1)


def realise(
    plan: DrawnSessions, *, side: Side, simulator: str = "", batches: bool = True
) -> Iterator[Session]:
    """The sessions of a plan, in its order, lazily.

    Parameters
    ----------
    plan
        From `usi.phantom.drawn_sessions.draw`.
    side
        ``"human"``: ids ``task``, ``task_ann2``, ... and batches; ``"simulated"``: ids
        ``task_1``, ... and trials.
    simulator
        Label of the simulator; empty for people.
    batches
        Whether the human replicates are marked as batches.

    Yields
    ------
    Session
        With ``meta == {"synthetic": True, "language": "en"}``: words drawn by lot would keep the
        detection of languages busy for nothing.
    """
    write = _Writer().long_turn
    agents = _agent()
    human = side == "human"
    stop = Turn(role="user", content=_HUMAN_STOP if human else _SIMULATOR_STOP)
    bits = plan.marks @ [1 << i for i in range(len(MARK_NAMES))]
    rows = zip(
        plan.kind.tolist(),
        bits.tolist(),
        plan.filler.tolist(),
        plan.long_words.tolist(),
        plan.request.tolist(),
        plan.casual.tolist(),
        plan.wording.tolist(),
        plan.topical.tolist(),
        plan.asked.tolist(),
        plan.reply.tolist(),
        strict=True,
    )
    sessions = zip(
        plan.task.tolist(),
        plan.topic.tolist(),
        plan.replicate.tolist(),
        plan.turns.tolist(),
        plan.repeat.tolist(),
        plan.reward.tolist(),
        strict=True,
    )
    names, domains = plan.tasks.names, plan.tasks.domains
    for row, (task, topic, replicate, turns, repeat, reward) in enumerate(sessions, 1):
        messages: list[Turn] = []
        vocabulary = _topic(names[topic])
        for position in range(turns):
            (kind, code, filler, long_words, request, casual, wording,
             topical, asked, reply) = next(rows)  # fmt: skip
            options = agents[asked]
            messages.append(options[wording % len(options)])
            if kind == STOCK:
                text = STOCK_TEXT
            elif kind:
                texts = ACKS if kind == ACK else REPLIES[reply][filler - 1]
                text = texts[wording % len(texts)]
                if not casual:
                    text = _capital(text) + "."
            else:
                text = write(
                    _mark_sets(code),
                    filler,
                    long_words,
                    position,
                    wording,
                    request=request,
                    casual=casual,
                    loop=repeat and position == 0,
                    topic=vocabulary,
                    topical=topical,
                    reply=reply,
                )
            messages.append(Turn(role="user", content=text))
        messages.append(stop)
        suffix = ("" if replicate == 1 else f"_ann{replicate}") if human else f"_{replicate}"
        yield Session(
            session_id=names[task] + suffix,
            turns=tuple(messages),
            simulator=simulator,
            domain=domains[task],
            task_id=names[task],
            trial=None if human else str(replicate),
            batch=replicate if human and batches else None,
            outcome=Outcome(reward=float(reward), termination="user_stop"),
            row=row,
            meta={"synthetic": True, "language": "en"},
        )
