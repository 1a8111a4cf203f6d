"""The parts that a scorecard is built from, beside the scores themselves.

A profile compares both sides (`Studies`); `usi.diagnose` adds what means can't see
(`Diagnosis`); reading knows what is said of each simulator (`Facts`). All of them travel to the
one place that builds the card, ``Studies.card``, and nothing is changed on a finished card.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from usi.reasons import (
    Reason,
)
from usi.scoring.scorecard import CopyShare, LoadNote, Telltale, TwoSample

if TYPE_CHECKING:
    import polars as pl

    from usi.estimate import Estimate
    from usi.scoring.context import ScoreContext
    from usi.scoring.episodes import Episodes
    from usi.scoring.scorecard import Scorecard


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What means can't see of one simulator; its fields are those of `SimulatorCard`.

    Attributes
    ----------
    distances
        Feature -> distance -> estimate; each stands with its feature on the card.
    warnings
        What a reader must know of these numbers; they follow the other warnings of the card.
    """

    two_sample: tuple[TwoSample, ...] = ()
    task_tracking: Estimate | None = None
    content_tracking: Estimate | None = None
    turn_adjacency: Estimate | None = None
    copies: CopyShare | None = None
    self_copies: CopyShare | None = None
    run_copies: CopyShare | None = None
    telltales: tuple[Telltale, ...] = ()
    unsaid: tuple[Telltale, ...] = ()
    spread_index: Estimate | None = None
    correlation_difference: Estimate | None = None
    gaming: Mapping[str, Estimate] = field(default_factory=dict)
    gaming_suspected: bool = False
    collapsed: bool = False
    log_distances: Mapping[str, Estimate] = field(default_factory=dict)
    distances: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    warnings: tuple[Reason, ...] = ()

    def card_fields(self) -> dict[str, Any]:
        """The fields of `SimulatorCard` that are nobody else's."""
        return {
            "two_sample": self.two_sample,
            "task_tracking": self.task_tracking,
            "content_tracking": self.content_tracking,
            "turn_adjacency": self.turn_adjacency,
            "copies": self.copies,
            "self_copies": self.self_copies,
            "run_copies": self.run_copies,
            "telltales": self.telltales,
            "unsaid": self.unsaid,
            "spread_index": self.spread_index,
            "correlation_difference": self.correlation_difference,
            "gaming": dict(self.gaming),
            "gaming_suspected": self.gaming_suspected,
            "collapsed": self.collapsed,
            "log_distances": dict(self.log_distances),
        }


NO_DIAGNOSIS = Diagnosis()


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What reading knows of one simulator and scoring does not change.

    Attributes
    ----------
    identity
        Identity of a recorded candidate, and the fingerprints of the agents in its sessions.
    mark
        Fingerprint of the recorded identity for the signature; ``None`` for plain files.
    load_notes
        What loading dropped, guessed or merged.
    episodes, user_errors, user_error_share
        What the runs and the harness recorded beside the reward.
    redistribute
        Whether its texts may be passed on.
    """

    identity: Mapping[str, str] = field(default_factory=dict)
    mark: str | None = None
    load_notes: tuple[LoadNote, ...] = ()
    episodes: Episodes | None = None
    user_errors: Mapping[str, int] = field(default_factory=dict)
    user_error_share: Estimate | None = None
    redistribute: bool | None = True

    def card_fields(self) -> dict[str, Any]:
        """The fields of `SimulatorCard` that are nobody else's."""
        return {
            "identity": dict(self.identity),
            "load_notes": self.load_notes,
            "episodes": self.episodes,
            "user_errors": dict(self.user_errors),
            "user_error_share": self.user_error_share,
            "redistribute": self.redistribute,
        }


NO_FACTS = Facts()


class Studies(Protocol):
    """Every simulator compared with the reference by one profile.

    It is computed once; the per-task sums, the diagnosis and the card all come from it.
    """

    @property
    def refused(self) -> Mapping[str, Reason]:
        """Label -> why a simulator could not be scored, where others could."""

    def sums(self) -> pl.DataFrame:
        """Per-task sums of what was scored, without any text."""

    def card(
        self, context: ScoreContext, diagnoses: Mapping[str, Diagnosis] | None = None
    ) -> Scorecard:
        """Build the scorecard.

        Parameters
        ----------
        context
            What is known about the inputs.
        diagnoses
            Simulator -> what means can't see; ``None`` where it was not looked at.
        """


def to_parquet(sums: pl.DataFrame) -> bytes:
    """Parquet bytes of the sums; the same sums give the same bytes."""
    buffer = io.BytesIO()
    sums.write_parquet(buffer, compression="zstd", statistics=False)
    return buffer.getvalue()
