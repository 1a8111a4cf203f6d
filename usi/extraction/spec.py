"""What a feature is (declared once), and the fixed columns of the session table.

The session table is the pivot: one row per session with integer counts and sums; everything
after it is arithmetic on that table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

SCHEMA_VERSION = "4"
"""Version of the session table's layout, kept in the Parquet metadata."""

Dimension = Literal["conversation", "information", "clarification", "reaction", "style", "none"]
DIMENSIONS: tuple[str, ...] = ("conversation", "information", "clarification", "reaction")
"""The four scored dimensions of chat, in the order of D1 to D4."""

Kind = Literal["rate", "flag", "mean", "share", "cv", "count", "duration", "geometric", "value"]
Scope = Literal["any", "paired"]


@dataclass(frozen=True)
class FeatureSpec:
    """One feature of a profile.

    Attributes
    ----------
    name
        Stable name, unique in its profile.
    dimension
        Scored or reported dimension; ``"none"`` is reported and belongs to no dimension.
    kind
        ``rate``: numerator / denominator in [0, 1]. ``flag``: 0 or 1 a session. ``mean``: a sum
        over a count, unbounded. ``share``: one sum over another in [0, 1]. ``cv``: from integer
        sums. ``count``: a number a session. ``duration``: microseconds, shown in hours.
        ``geometric``: exp of a sum of logarithms over their number. ``value``: a number as it
        stands, which may be negative.
    numerator, denominator
        Columns of the session table; the denominator ``""`` means the session itself.
    percent
        Whether the published row multiplies it by 100 (matters for bit identity only).
    unit
        Unit as shown to people, such as ``"share of user turns"``.
    scope
        ``"paired"``: comparable only where both sides did the same tasks.
    scored
        Whether the feature enters its dimension (style and diagnostics do not).
    pole
        ``"as_is"`` or ``"complement"``: which pole of a rate the Dice score counts (the rarer
        one among people, fixed in the profile, never from the data).
    tripwire
        Whether the feature is a mark that people do not make and models do.
    scale
        ``"amount"``: compared by arithmetic means (rates, counts, words). ``"ratio"``: durations,
        by geometric means. ``"interval"``: no true zero, by the Wasserstein distance.
    span
        Smallest and largest value of an interval scale; without it the feature is not scored.
    lexical
        Whether it rests on word lists, so that it has a value only in languages that have them.
    harness
        Whether it is a property of the harness, not of the user: it is reported with that reason,
        and no score, classifier, distance, tripwire or sign of gaming looks at it.
    must_show
        Where people have a value and the simulator has none at all, the score is 0; without it
        the feature then has no score.
    description, source
        For readers: what it counts, and where the definition comes from.
    """

    name: str
    dimension: Dimension
    kind: Kind
    numerator: str
    denominator: str
    percent: bool = False
    unit: str = "share of user turns"
    scope: Scope = "any"
    scored: bool = True
    pole: Literal["as_is", "complement"] = "as_is"
    tripwire: bool = False
    scale: Literal["amount", "ratio", "interval"] = "amount"
    span: tuple[float, float] | None = None
    lexical: bool = False
    harness: bool = False
    must_show: bool = False
    description: str = ""
    source: str = ""


IDENTITY_SCHEMA: dict[str, pl.DataType] = {
    # Who and where. Keys as the file gave them ...
    "seq": pl.Int64(),  # position in input order, unique in a table
    "session_id": pl.String(),
    "side": pl.String(),  # human | simulated
    "simulator": pl.String(),  # "" for people
    "domain": pl.String(),
    "task_id": pl.String(),  # as found, null where absent
    "trial": pl.String(),  # as found, null where absent
    "batch_id": pl.Int64(),  # as found, null where absent
    "layout": pl.String(),
    # ... and as the key rules resolved them (usi.scoring.keys); null before that.
    "task": pl.String(),
    "run": pl.String(),
    "batch": pl.Int64(),
    "participant": pl.String(),
    "agent": pl.String(),
    # Why a session may not count.
    "status": pl.String(),  # ok | no_user_turn | failed | infrastructure_error
    "status_reason": pl.String(),
    # Language that its words were counted in, null where the profile does not ask; and its word
    # lists, null where there are none (then features of words have no value).
    "language": pl.String(),
    "word_lists": pl.String(),
    "keep": pl.Boolean(),  # truthiness of the tau-usi mark, true where absent
    "keep_is_false": pl.Boolean(),  # the mark is exactly false (published ECE rule)
    # Outcome and survey.
    "reward": pl.Float64(),  # null where null or absent
    "outcome_label": pl.String(),
    "termination": pl.String(),
    "survey": pl.String(),  # JSON object {item: answer}, null where there is none
    # What the harness says the simulator did wrong: comma-separated tags, "" where it looked and
    # found nothing, null where it did not look.
    "error_tags": pl.String(),
}
"""Columns that every session table has, whatever its profile, in this order."""

CORE_COUNTS: dict[str, pl.DataType] = {
    "n_turns": pl.Int64(),  # kept messages of any role; null without a user turn
    "user_turns": pl.Int64(),  # N
    "words": pl.Int64(),  # W = sum of w_i
    "words_sq": pl.Int64(),  # sum of w_i squared
    "words_first": pl.Int64(),  # w_1
    "words_first_two": pl.Int64(),  # w_1 + w_2
}
"""Integer sums that both profiles have; null where the status is not ``ok``."""
