"""Until when a verdict counts: an age, and the end of the corpus.

A verdict ends 90 days after the scoring where the criteria name no other age (`max_age_days`),
and where the corpus expires if that is earlier. Both stand in the verdict and in the admission
record, so that no other file is needed to tell. It ends at once where the simulator, the profile
or usi's major version is another (`usi.decisions.admission`).

When a scorecard was made: from the run record beside it, if that record is of this file.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from usi.provenance.record import read_record
from usi.reasons import ENDS_BY_AGE, ENDS_BY_DEFAULT, ENDS_WITH_CORPUS, NO_SCORING_DAY, Reason

DAYS = 90
"""Age that an admission reaches where the criteria name none."""


def scored_on(scorecard: str | Path) -> str | None:
    """Day of scoring (``YYYY-MM-DD``), or ``None`` where no record vouches for this very file.

    Raises
    ------
    InputError
        Where there is a record that can't be read, or was changed.
    """
    record = read_record(scorecard)
    return None if record is None else record.finished[:10]


def end_of(age: int | None, scored: str | None, corpus: str | None) -> tuple[str | None, Reason]:
    """First day on which a verdict counts no more, and what sets it.

    Parameters
    ----------
    age
        `max_age_days` of the criteria; ``None``: `DAYS`.
    scored
        Day of scoring, ``YYYY-MM-DD``; without it only the corpus can set an end.
    corpus
        Day from which on the corpus stands for nobody.
    """
    ends: list[tuple[date, Reason]] = []
    if scored is not None:
        # An age of exactly so many days still passes, so the day after it is the first without.
        day = date.fromisoformat(scored[:10])
        reason = ENDS_BY_DEFAULT(days=DAYS) if age is None else ENDS_BY_AGE(days=age)
        ends.append((day + timedelta(days=(DAYS if age is None else age) + 1), reason))
    if corpus is not None:
        ends.append((date.fromisoformat(corpus), ENDS_WITH_CORPUS()))
    if not ends:
        return None, NO_SCORING_DAY()
    day, reason = min(ends, key=lambda end: end[0])
    return day.isoformat(), reason
