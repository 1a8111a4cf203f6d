"""What can go wrong in an episode that is not the candidate's behaviour, and what ends a run."""

from __future__ import annotations

import os

from usi.errors import UsiError
from usi.secrets import hidden, remember

INFRASTRUCTURE = (
    "timeout",
    "rate_limited",
    "provider_error",
    "malformed_response",
    "context_window_exceeded",
    "out_of_tokens",
    "user_process_failed",
    "plugin_error",
)
"""Reasons that are nobody's behaviour: such an episode is stored, counted and never scored."""


class EpisodeFault(Exception):
    """An episode can't go on; `reason` is one of `INFRASTRUCTURE`."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, hidden(detail)
        super().__init__(f"{reason}: {self.detail}")


class RunStopped(Exception):
    """The run ends in good order before this episode could: it is left for the next time."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class ReplayMiss(UsiError):
    """With ``--replay`` a call was needed that the cache does not hold."""


class Refused(UsiError):
    """The provider refuses every call (key, permission, unknown model): no episode can succeed."""


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
    remember(value)
    return value
