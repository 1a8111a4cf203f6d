"""What loading knows and scoring does not change: errors of the simulated user, lossiness notes.

Both profiles get them in the same way, after their card is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from usi.estimate import Estimate
from usi.extraction.table import SessionTable
from usi.loading.formats.tau2 import TERMINATION
from usi.loading.notes import Loss
from usi.scoring.episodes import EpisodeTally
from usi.scoring.scorecard import LoadNote, Scorecard, SimulatorCard

USER_ENDED = f"{TERMINATION}user_error"
NOT_REVIEWED = "the transcripts hold no review of the simulated user"


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
        share = Estimate(value=None, status="not_assessed", reason=NOT_REVIEWED, unit="share")
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


def with_load_facts(
    card: Scorecard,
    tables: Mapping[str, SessionTable],
    losses: Mapping[str, Sequence[Loss]],
    episodes: Mapping[str, EpisodeTally] | None = None,
) -> Scorecard:
    """The card with errors of its simulators and what loading lost (label ``""``: people).

    With `episodes` it tells what the runs recorded beside the reward, too.
    """
    tallies = episodes or {}
    simulators = []
    for part in card.simulators:
        update: dict[str, object] = {"load_notes": load_notes(losses.get(part.name, ()))}
        if part.name in tallies:
            update["episodes"] = tallies[part.name].card()
        table = tables.get(part.name)
        if table is not None:
            counts, share = user_errors(table)
            if counts or share.ok:
                update |= {"user_errors": counts, "user_error_share": share}
        simulators.append(_updated(part, update))
    human = card.human.model_copy(update={"load_notes": load_notes(losses.get("", ()))})
    return card.model_copy(update={"human": human, "simulators": tuple(simulators)})


def _updated(part: SimulatorCard, update: dict[str, object]) -> SimulatorCard:
    return part.model_copy(update=update)
