"""What loading knows and scoring does not change: errors of the simulated user, lossiness notes.

All profiles get them in the same way, as `Facts` of each simulator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from usi.corpora.candidate import fingerprint
from usi.estimate import Estimate, not_assessed
from usi.extraction.table import SessionTable
from usi.loading.formats.tau2 import TERMINATION
from usi.loading.notes import Loss
from usi.reasons import NOT_REVIEWED
from usi.scoring.agents import KEY, fingerprints
from usi.scoring.episodes import EpisodeTally
from usi.scoring.parts import Facts
from usi.scoring.scorecard import LoadNote

USER_ENDED = f"{TERMINATION}user_error"


def is_user_error(tag: str) -> bool:
    """Whether a tag blames the user: every tag but ends for another reason (``max_steps``)."""
    return tag == USER_ENDED or not tag.startswith(TERMINATION)


def user_errors(table: SessionTable) -> tuple[dict[str, int], Estimate]:
    """Sessions by tag, and the share of sessions with an error of the user.

    Returns
    -------
    counts : dict
        Tag to number of sessions, sorted by tag; runs that broke count, too.
    share : Estimate
        0 to 1, over the sessions that ended in a conversation and of which the harness says
        something. Not assessed where it reviewed none: an end for another reason is no review.
    """
    columns = table.frame.select("status", "error_tags").iter_rows()
    counts: Counter[str] = Counter()
    sessions = wrong = 0
    reviewed = False
    for status, text in columns:
        if text is None:
            continue
        tags = [tag for tag in text.split(",") if tag]
        counts.update(tags)
        if status in ("failed", "infrastructure_error"):
            continue
        blamed = any(map(is_user_error, tags))
        reviewed = reviewed or blamed or not tags
        sessions += 1
        wrong += blamed
    if not reviewed:
        share = not_assessed(NOT_REVIEWED, unit="share")
    else:
        share = Estimate(value=wrong / sessions, n=sessions, unit="share")
    return dict(sorted(counts.items())), share


def load_notes(losses: Sequence[Loss]) -> tuple[LoadNote, ...]:
    """The lossiness note as it stands in the card: equal lines add up, sorted."""
    total: Counter[tuple[str, str]] = Counter()
    for loss in losses:
        total[loss.kind, loss.what] += loss.count
    return tuple(
        LoadNote.model_validate({"kind": kind, "what": what, "count": count})
        for (kind, what), count in sorted(total.items())
    )


def facts_of(
    table: SessionTable,
    *,
    losses: Sequence[Loss] = (),
    episodes: EpisodeTally | None = None,
    identity: Mapping[str, str] | None = None,
    redistribute: bool | None = True,
) -> Facts:
    """What is known of one simulator beside its scores.

    Parameters
    ----------
    table
        Its session table, for errors of the user and the agents that took part.
    losses
        What loading lost.
    episodes
        What its runs recorded beside the reward.
    identity
        Of a recorded candidate; ``None`` for plain files.
    redistribute
        Whether its texts may be passed on.
    """
    agents = fingerprints(table)
    counts, share = user_errors(table)
    told = bool(counts) or share.ok
    return Facts(
        identity={**(identity or {}), **({KEY: ", ".join(agents)} if agents else {})},
        mark=None if identity is None else fingerprint(identity),
        load_notes=load_notes(losses),
        episodes=None if episodes is None else episodes.card(),
        user_errors=counts if told else {},
        user_error_share=share if told else None,
        redistribute=redistribute,
    )
