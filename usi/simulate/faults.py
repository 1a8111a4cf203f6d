"""What can go wrong in an episode that is not the candidate's behaviour, and what ends a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from usi.errors import UsiError

INFRASTRUCTURE = (
    "timeout",
    "rate_limited",
    "provider_error",
    "malformed_response",
    "context_window_exceeded",
    "user_process_failed",
    "plugin_error",
)
"""Reasons that are nobody's behaviour: such an episode is stored, counted and never scored."""

_KEYS = re.compile(r"\b(?:sk|pk|gsk|xai|AIza)[-_A-Za-z0-9]{12,}|(?i:bearer)\s+[-._A-Za-z0-9]{8,}")


class EpisodeFault(Exception):
    """An episode can't go on; `reason` is one of `INFRASTRUCTURE`."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(f"{reason}: {detail}")


class RunStopped(Exception):
    """The run ends in good order before this episode could: it is left for the next time."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class ReplayMiss(UsiError):
    """With ``--replay`` a call was needed that the cache does not hold."""


class Refused(UsiError):
    """The provider refuses every call (key, permission, unknown model): no episode can succeed."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Text without keys: known ones, and whatever looks like one.

    >>> redact("key sk-abcdefghijklmnop rejected")
    'key [key] rejected'
    """
    for secret in sorted({s for s in secrets if s}, key=len, reverse=True):
        text = text.replace(secret, "[key]")
    return _KEYS.sub("[key]", text)


def environment_secret(name: str | None) -> str | None:
    """A key by the name of its environment variable.

    Raises
    ------
    Refused
        Where the variable is not set.
    """
    if name is None:
        return None
    value = os.environ.get(name)
    if not value:
        raise Refused(f"the environment variable {name} (key_env) is not set")
    return value
