"""The vocabulary: what a loader gives and what features are computed from.

Records keep content as it was found (text, null, parts, numbers). Cleaning belongs to the
scoring profile, since two profiles clean differently.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

MISSING = msgspec.UNSET
"""Content of a message that has no ``content`` key at all; ``None`` is a null that was written."""

Side = Literal["human", "simulated"]
SIDES: tuple[Side, ...] = ("human", "simulated")

SessionStatus = Literal["ok", "failed", "infrastructure_error"]
"""`ok`: a conversation took place (it may still hold no user turn). `failed`: the run broke
and left no conversation. `infrastructure_error`: it ended for a reason that is nobody's
behaviour (timeout, context window, provider error)."""

UNKNOWN_DOMAIN = "unknown"


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One message, by whoever it is.

    Attributes
    ----------
    role
        As found. Only the exact string ``"user"`` is the user; ``None`` where there was none.
    content
        As found: text, ``None``, a list of parts, a number, a mapping, or `MISSING`.
    tool_calls
        As found, where the list is not empty; else ``None``.
    name
        Speaker name, where one is given beside the role.
    time
        When it was sent, in UTC; without a zone where the data name none (only differences
        within a session are used). Loaders never mix the two in one session.
    """

    role: Any
    content: Any = MISSING
    tool_calls: Any = None
    name: str | None = None
    time: datetime | None = None

    @property
    def is_action(self) -> bool:
        """A user message that only calls tools: an action, not an utterance, in every profile."""
        if self.role != "user" or not self.tool_calls:
            return False
        content = self.content
        return (
            content is None
            or content is MISSING
            or content == []
            or (isinstance(content, str) and not content.strip())
        )


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """How the session ended.

    Attributes
    ----------
    reward
        As graded, usually 0 or 1; ``None`` where it is null or absent.
    label
        One of full, partial, correct_refusal, wrong_refusal, failure, where the data have it.
    termination
        The harness's own reason, as found.
    """

    reward: float | None = None
    label: str | None = None
    termination: str | None = None


class SurveyAnswer(msgspec.Struct, frozen=True, gc=False):
    """One answered (or unanswered: ``None``) item of a survey, option text as found."""

    item: str
    answer: str | None


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation between a user and an agent: the unit that features are computed on.

    Attributes
    ----------
    session_id
        Identifier as found, or built from what the file has (domain, task, trial).
    turns
        Messages in order. Loaders set tool results aside where their format marks them.
    simulator
        Label of the candidate; empty for people.
    domain
        From the data, else from the user, else the file name, else ``"unknown"``.
    task_id, trial, batch
        As the file gives them, else ``None``. The rules that turn them into task, run and batch
        of the session table stand in `usi.scoring.keys`, because they need the whole file.
    layout
        Name of the loader that read it; some key rules are bound to one layout.
    keep
        The `keep` mark of the tau-usi layout as found (`MISSING` where there is none).
    survey
        Answers, or ``None`` where there is no survey or a null one.
    participant, agent
        Who took part; fingerprint of the agent, where known.
    status, status_reason
        See `SessionStatus`.
    error_tags
        What the harness says the simulator did wrong (a review, a retry, how it ended); ``()``
        where it looked and found nothing, ``None`` where nobody looked.
    row
        1-based position in its file.
    meta
        What else was found and is worth carrying through a conversion.
    """

    session_id: str
    turns: tuple[Turn, ...] = ()
    simulator: str = ""
    domain: str = UNKNOWN_DOMAIN
    task_id: str | None = None
    trial: str | None = None
    batch: int | None = None
    layout: str = "usi-jsonl"
    keep: Any = MISSING
    outcome: Outcome = Outcome()
    survey: tuple[SurveyAnswer, ...] | None = None
    participant: str | None = None
    agent: str | None = None
    status: SessionStatus = "ok"
    status_reason: str | None = None
    error_tags: tuple[str, ...] | None = None
    row: int = 0
    meta: dict[str, Any] = {}
