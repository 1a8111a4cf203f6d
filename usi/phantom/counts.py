"""Plan -> session table, without any text: the fast road of studies.

`tests/phantom` holds the other road (plan -> text -> extraction) to exactly these numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from usi.features.spec import IDENTITY_SCHEMA
from usi.phantom.plan import ACK, MARK, STOCK, BoolArray, IntArray, Plan
from usi.phantom.wording import FRAGMENTS, LOOP
from usi.phantom.wording import STOCK as STOCK_TEXT
from usi.records import Side

if TYPE_CHECKING:
    from usi.features.table import SessionTable

_MARK_WORDS = np.array([FRAGMENTS[name].words for name in MARK], dtype=np.int64)
_LOOP_WORDS = len(LOOP.split())
_STOCK_WORDS = len(STOCK_TEXT.split())
_REPEATS = 10
"""A trigram that occurs more often than this makes a session repetitive (published)."""


def per_session(plan: Plan, values: np.ndarray[tuple[int], np.dtype[np.generic]]) -> IntArray:
    """(sessions,) sums of (turns,) values."""
    return np.asarray(np.add.reduceat(values.astype(np.int64), plan.start), dtype=np.int64)


def turn_words(plan: Plan) -> IntArray:
    """(turns,) words of every turn."""
    words = plan.filler + plan.marks @ _MARK_WORDS
    words[plan.kind == STOCK] = _STOCK_WORDS
    words[plan.start[plan.repeat]] += _LOOP_WORDS
    return np.asarray(words, dtype=np.int64)


def core_counts(plan: Plan) -> dict[str, IntArray]:
    """The integer sums that both profiles have."""
    words = turn_words(plan)
    second = np.minimum(plan.turns, 2) - 1
    return {
        "n_turns": 2 * plan.turns,
        "user_turns": plan.turns,
        "words": per_session(plan, words),
        "words_sq": per_session(plan, words * words),
        "words_first": words[plan.start],
        "words_first_two": words[plan.start] + second * words[plan.start + second],
    }


def tau_usi_counts(plan: Plan) -> dict[str, IntArray]:
    """Count columns of the profile ``tau-usi``."""
    marks = {name: plan.marks[:, column] for name, column in MARK.items()}
    words = turn_words(plan)
    tokens = plan.long_words + marks["identifier"]
    stock = per_session(plan, plan.kind == STOCK)
    role = per_session(plan, marks["role"])
    repeat = plan.repeat | (stock > _REPEATS) | _fragment_loops(plan)

    def count(flags: np.ndarray[tuple[int], np.dtype[np.generic]]) -> IntArray:
        return per_session(plan, flags)

    return {
        "politeness": count(marks["politeness"]),
        "short": count(words <= 3),
        "dash": count(marks["dash"]),
        "ack": count(plan.kind == ACK),
        "repeat": repeat.astype(np.int64),
        "id_confuse": (role > 0).astype(np.int64),
        "id_tokens": count(tokens),
        "uncertainty": count(marks["uncertainty"] | marks["lack"]),
        "certainty": count(marks["certainty"]),
        "pushback": count(marks["pushback"]),
        "clarify": count(marks["clarify"]),
        "info": count(marks["info"]),
        "emotion": count(marks["emotion"]),
        "accusation": count(marks["accusation"]),
        "pivot": count(marks["pivot"]),
    }


def _fragment_loops(plan: Plan) -> BoolArray:
    """Sessions in which one wording of three or more words stands in too many turns."""
    found = np.zeros(len(plan), dtype=np.bool_)
    if not (plan.turns > _REPEATS).any():
        return found
    info = plan.marks[:, MARK["info"]]
    for name, fragment in FRAGMENTS.items():
        if fragment.words < 3:
            continue
        if name in ("info", "request"):
            has = info & (plan.request == (name == "request"))
        else:
            has = plan.marks[:, MARK[name]]
        which = plan.wording % len(fragment.wordings)
        for wording in range(len(fragment.wordings)):
            found |= per_session(plan, has & (which == wording)) > _REPEATS
    return found


def identity_columns(
    plan: Plan, *, side: Side, simulator: str = "", first_seq: int = 0, resolved: bool = True
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
    plan: Plan,
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
        From `usi.phantom.plan.draw`.
    profile
        ``"tau-usi"`` or ``"robust"``.
    side, simulator
        As in the session table.
    first_seq
        Position of the first row, for streams.
    resolved
        Whether task, run and batch are filled, or left to `usi.score.keys`.
    """
    counts = core_counts(plan) | profile_counts(plan, profile)
    data = identity_columns(
        plan, side=side, simulator=simulator, first_seq=first_seq, resolved=resolved
    ) | {name: pl.Series(name, values) for name, values in counts.items()}
    return pl.DataFrame(data)


def phantom_table(
    plan: Plan, profile: str, *, side: Side, simulator: str = "", resolved: bool = True
) -> SessionTable:
    """The session table of a plan, as extraction from its texts would give it.

    Examples
    --------
    >>> from usi.phantom import default_tasks, draw, load_spec
    >>> plan = draw(load_spec("human"), default_tasks(10), replicates=3, seed=1)
    >>> len(phantom_table(plan, "tau-usi", side="human"))
    30
    """
    from usi.features.registry import get_profile
    from usi.features.table import SessionTable

    frame = count_frame(plan, profile, side=side, simulator=simulator, resolved=resolved)
    chosen = get_profile(profile)
    return SessionTable(frame, chosen.name, chosen.lexicon, synthetic=True)


def profile_counts(plan: Plan, profile: str) -> dict[str, IntArray]:
    """Count columns of a profile."""
    from usi.errors import unknown_name

    if profile == "tau-usi":
        return tau_usi_counts(plan)
    raise unknown_name("profile", profile, ("tau-usi",))
