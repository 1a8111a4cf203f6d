"""Plan -> session table, without any text: the fast road of studies.

`tests/phantom` holds the other road (plan -> text -> extraction) to exactly these numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from phantom_truth.effects import core_counts, profile_counts
from usi.extraction.spec import IDENTITY_SCHEMA
from usi.phantom.drawn_sessions import DrawnSessions
from usi.records import Side

if TYPE_CHECKING:
    from usi.extraction.table import SessionTable


def identity_columns(
    plan: DrawnSessions,
    *,
    side: Side,
    simulator: str = "",
    first_seq: int = 0,
    resolved: bool = True,
) -> dict[str, pl.Series]:
    """Who and where; with `resolved` also task, run and batch as the key rules give them."""
    tasks = np.array(plan.tasks.names)[plan.task]
    human = side == "human"
    rows = len(plan)
    replicate = plan.replicate
    suffix = (
        np.where(replicate == 1, "", np.char.add("_ann", replicate.astype(np.str_)))
        if human
        else np.char.add("_", replicate.astype(np.str_))
    )
    trial = pl.Series(replicate.astype(np.str_).tolist(), dtype=pl.String())
    columns: dict[str, Any] = dict.fromkeys(IDENTITY_SCHEMA)
    columns |= {
        "seq": np.arange(first_seq, first_seq + rows),
        "session_id": np.char.add(tasks, suffix).tolist(),
        "side": side,
        "simulator": simulator,
        "domain": np.array(plan.tasks.domains)[plan.task].tolist(),
        "task_id": tasks.tolist(),
        "trial": None if human else trial,
        "batch_id": replicate if human else None,
        "layout": "usi-jsonl",
        "status": "ok",
        "keep": True,
        "keep_is_false": False,
        "reward": plan.reward.astype(np.float64),
        "termination": "user_stop",
    }
    if resolved:
        columns["task"] = columns["task_id"]
        columns["batch" if human else "run"] = replicate if human else trial
    return {
        name: _series(name, columns[name], dtype, rows) for name, dtype in IDENTITY_SCHEMA.items()
    }


def _series(name: str, values: Any, dtype: pl.DataType, rows: int) -> pl.Series:
    if values is None or isinstance(values, str | bool):
        return pl.repeat(values, rows, dtype=dtype, eager=True).alias(name)
    if isinstance(values, pl.Series):
        return values.cast(dtype).alias(name)
    return pl.Series(name, values, dtype=dtype)


def count_frame(
    plan: DrawnSessions,
    profile: str,
    *,
    side: Side,
    simulator: str = "",
    first_seq: int = 0,
    resolved: bool = True,
) -> pl.DataFrame:
    """The session table's frame of a plan: identity, core counts, counts of the profile.

    Parameters
    ----------
    plan
        From `usi.phantom.drawn_sessions.draw`.
    profile
        ``"tau-usi"`` or ``"robust"``.
    side, simulator
        As in the session table.
    first_seq
        Position of the first row, for streams.
    resolved
        Whether task, run and batch are filled, or left to `usi.scoring.keys`.
    """
    from usi.extraction.language import ENGLISH
    from usi.extraction.language_packs import word_lists_of
    from usi.extraction.profile import get_feature_profile

    chosen = get_feature_profile(profile)
    counts = core_counts(plan) | profile_counts(plan, profile)
    data = identity_columns(
        plan, side=side, simulator=simulator, first_seq=first_seq, resolved=resolved
    ) | {
        name: _series(name, values, pl.Int64(), len(plan))
        if name not in chosen.types  # hashed words: a plan holds no words
        else _series(name, None, chosen.types[name], len(plan))
        for name, values in counts.items()
    }
    if chosen.for_language is not None:  # the phantom speaks English
        data["language"] = _series("language", ENGLISH, pl.String(), len(plan))
        data["word_lists"] = _series("word_lists", word_lists_of(ENGLISH), pl.String(), len(plan))
    return pl.DataFrame(data)


def phantom_table(
    plan: DrawnSessions, profile: str, *, side: Side, simulator: str = "", resolved: bool = True
) -> SessionTable:
    """The session table of a plan, as extraction from its texts would give it.

    Examples
    --------
    >>> from usi.phantom import default_tasks, draw, load_spec
    >>> plan = draw(load_spec("human"), default_tasks(10), replicates=3, seed=1)
    >>> len(phantom_table(plan, "tau-usi", side="human"))
    30
    """
    from usi.extraction.profile import get_feature_profile
    from usi.extraction.table import SessionTable

    frame = count_frame(plan, profile, side=side, simulator=simulator, resolved=resolved)
    chosen = get_feature_profile(profile)
    return SessionTable(frame, chosen.name, chosen.lexicon, synthetic=True)
