"""Recorded candidates: among the inputs, and what a scorecard says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from usi.corpora.candidate import Candidate, candidate_called, find_candidate, fingerprint
from usi.scoring.agents import KEY as AGENT
from usi.scoring.scorecard import Scorecard


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
