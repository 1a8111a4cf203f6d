"""What tau2-bench says the simulated user did wrong, as tags of the session.

Sources in a simulation: ``user_only_review`` (and the review of both sides), the retries that the
hallucination check forced, and how the run ended (tau2-bench, src/tau2/data_model/simulation.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from usi.load.fields import BadField, kind

REVIEWS = ("user_only_review", "review")
NORMAL_ENDS = frozenset(("user_stop", "agent_stop"))
ERROR, CRITICAL, RETRY = "user_error", "critical_user_error", "hallucination_retry"
TERMINATION = "termination:"


def error_tags(record: Mapping[str, Any], termination: str | None) -> tuple[str, ...] | None:
    """Tags of one simulation, each once.

    ``user_error``, ``critical_user_error``, ``user_error:<tag of the reviewer>``,
    ``hallucination_retry``, and ``termination:<reason>`` of every end that is not the ordinary
    one. ``()`` where the harness looked and found nothing, ``None`` where it did not look.
    """
    tags: list[str] = []
    looked = False
    for name in REVIEWS:
        review = record.get(name)
        if review is None:
            continue
        if not isinstance(review, dict):
            raise BadField(name, f"must be an object or null, not {kind(review)}")
        looked = True
        tags += _of_review(review, name)
    retries = record.get("hallucination_retries_used")
    if retries is not None:
        if not isinstance(retries, int) or isinstance(retries, bool):
            raise BadField("hallucination_retries_used", f"must be a number, not {kind(retries)}")
        looked = True
        tags += [RETRY] if retries > 0 else []
    if termination is not None and termination not in NORMAL_ENDS:
        tags.append(f"{TERMINATION}{_plain(termination)}")
    return tuple(dict.fromkeys(tags)) if looked or tags else None


def _of_review(review: Mapping[str, Any], name: str) -> Iterator[str]:
    errors = review.get("errors") or []
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise BadField(f"{name}.errors", "must be a list of objects")
    own = [error for error in errors if error.get("source", "user") == "user"]
    if review.get("user_error") or (own and "user_error" not in review):
        yield ERROR
    if review.get("critical_user_error"):
        yield CRITICAL
    for error in own:
        for tag in error.get("error_tags") or []:
            if isinstance(tag, str) and tag.strip():
                yield f"{ERROR}:{_plain(tag)}"


def _plain(text: str) -> str:
    """A tag without commas and line ends, of at most 80 characters."""
    return " ".join(text.replace(",", " ").split())[:80]
