"""A scorecard as a decision reads it: checked against the per-task sums beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from usi.decisions.simulator_terms import read_sidecar, sidecar_path, terms_of
from usi.reasons import (
    CARD_EDITED,
    CARD_WITHOUT_FILE,
    SUMS_ABSENT,
    SUMS_NOT_NAMED,
    SUMS_OF_LOGS,
    Reason,
)
from usi.scoring.scorecard import Scorecard


@dataclass(frozen=True)
class Evidence:
    """A scorecard and what could not be checked about it.

    Attributes
    ----------
    card
        The scorecard.
    doubts
        Why a decision on it is unverified; empty where its numbers follow from the sums.
    """

    card: Scorecard
    doubts: tuple[Reason, ...] = ()


def read_evidence(
    path: str | Path, *, simulators: Iterable[str] | None = None, trust_edited: bool = False
) -> Evidence:
    """Read a scorecard and hold its numbers to its per-task sums.

    Parameters
    ----------
    path
        The scorecard's file, or ``-`` for standard input, beside which no sums can stand.
    simulators
        Those that are decided on; all of them by default.
    trust_edited
        Take a card that was changed after scoring: the decision is unverified then.

    Raises
    ------
    InputError
        See `Scorecard.read`; and where the sums are others than those that the card was made
        with, or give other numbers, names or sizes.
    """
    source = "/dev/stdin" if path == "-" else path
    card = Scorecard.read(source, trust_edited=trust_edited)
    doubts = [why for why in card.warnings if why.is_a(CARD_EDITED)]
    if path == "-":
        return Evidence(card, (*doubts, CARD_WITHOUT_FILE()))
    if card.profile.partition("@")[0] == "tau-usi":  # has no bounds, and no verb decides on it
        return Evidence(card, tuple(doubts))
    if not sidecar_path(path).is_file():
        return Evidence(card, (*doubts, SUMS_ABSENT(file=sidecar_path(path).name)))
    table = read_sidecar(path, card)
    if card.tasks_sha256 is None:
        doubts.append(SUMS_NOT_NAMED())
    if not card.profile.startswith("robust"):
        return Evidence(card, (*doubts, SUMS_OF_LOGS()))
    wanted = None if simulators is None else set(simulators)
    for simulator in card.simulators:
        if wanted is None or simulator.name in wanted:
            terms_of(card, simulator, table, path=str(path))
    return Evidence(card, tuple(doubts))
