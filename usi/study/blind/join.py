"""The result of a blind check as a part of a scorecard."""

from __future__ import annotations

from usi.errors import UsageError
from usi.scoring.scorecard import BlindScore, Scorecard
from usi.study.blind.results import BlindCard


def joined(card: Scorecard, blind: BlindCard) -> tuple[Scorecard, list[str]]:
    """A scorecard with the blind check of its simulators, and which these are.

    Raises
    ------
    UsageError
        Where the two name no simulator in common.
    """
    results = {simulator.name: simulator for simulator in blind.simulators}
    names = [simulator.name for simulator in card.simulators if simulator.name in results]
    if not names:
        raise UsageError(
            f"the blind check is of {', '.join(results)}, the scorecard of "
            f"{', '.join(s.name for s in card.simulators)}: no simulator is in both"
        )
    simulators = tuple(
        simulator
        if (found := results.get(simulator.name)) is None
        else simulator.model_copy(
            update={
                "blind": BlindScore(
                    auc=found.auc,
                    called_program=found.called_program,
                    people_called_program=blind.people_called_program,
                    realism=found.realism,
                    people_realism=blind.people_realism,
                    agreement=blind.agreement,
                    raters=blind.raters,
                    synthetic=blind.synthetic,
                    signature=blind.signature,
                )
            }
        )
        for simulator in card.simulators
    )
    return card.model_copy(update={"simulators": simulators}), names
