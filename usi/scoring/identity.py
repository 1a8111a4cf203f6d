"""Recorded candidates on a scorecard: their identity, and its hash in the signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from usi.corpora.candidate import Candidate, candidate_called, find_candidate, fingerprint
from usi.provenance.signature import build, parse
from usi.scoring.agents import KEY as AGENT
from usi.scoring.scorecard import Scorecard, SimulatorCard

FIELD = "sim"


def split_candidates(paths: Sequence[str | Path]) -> tuple[list[str | Path], list[Candidate]]:
    """Plain paths, and the recorded candidates among the names."""
    plain: list[str | Path] = []
    found: list[Candidate] = []
    for path in paths:
        candidate = find_candidate(path)
        if candidate is None:
            plain.append(path)
        else:
            found.append(candidate)
    return plain, found


def with_identities(card: Scorecard, identities: Mapping[str, Mapping[str, str]]) -> Scorecard:
    """The card with what is known of its simulators; the signature names the identity."""
    if not identities:
        return card
    cards = [
        _identified(part, identities[part.name]) if part.name in identities else part
        for part in card.simulators
    ]
    marks = sorted({fingerprint(own) for own in identities.values()})
    signature = _signed(card.signature, "+".join(marks))
    return card.model_copy(update={"simulators": tuple(cards), "signature": signature})


def _identified(part: SimulatorCard, identity: Mapping[str, str]) -> SimulatorCard:
    signature = _signed(part.signature, fingerprint(identity)) if part.signature else ""
    return part.model_copy(update={"identity": dict(identity), "signature": signature})


def _signed(signature: str, mark: str) -> str:
    found = parse(signature)
    return str(build(found.index, {**found.fields, FIELD: mark}))


def changed(card: Scorecard) -> dict[str, str]:
    """Simulators of the workspace that are others now than when they were scored, and how.

    The agent that a card names is told from its sessions, not by the candidate's file.
    """
    found: dict[str, str] = {}
    for part in card.simulators:
        then = {key: value for key, value in part.identity.items() if key != AGENT}
        if not then:
            continue
        now = candidate_called(part.name)
        if now is None or now.fingerprint == fingerprint(then):
            continue
        keys = sorted(
            key for key in {*now.identity, *then} if now.identity.get(key) != then.get(key)
        )
        found[part.name] = ", ".join(keys)
    return found
