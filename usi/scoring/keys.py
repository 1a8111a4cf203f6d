"""Which task, run and batch a session belongs to: rules that need the whole file.

Two families of rows exist. *Id rows* name task, run and batch inside their id, as the tau-usi
layout does (arXiv 2603.11245 and its public scorer):

- a reference id that ends with ``_ann2`` or ``_ann3`` is batch 2 or 3 of the id without these five
  characters; everything else is batch 1, unchanged;
- a simulator with at most `ONE_RUN_ENTRIES` entries has one run and its ids stay whole; with more,
  an id splits at its last underscore when ``1``, ``2`` or ``3`` follows, and otherwise belongs to
  run ``"0"`` with its full id. This is kept as published, with its consequences: 3 runs of 50
  tasks count as one run of 150 unknown tasks (``run_ids="suffix"`` is the way out).

*Explicit rows* bring their task id, and a trial or batch beside it. Each trial is a run (of a
simulator) or a batch (of a reference), unless every trial occurs with one task only: such a
"trial" is the task's own number, and all of it is one run.
"""

from __future__ import annotations

import re
from typing import cast

import polars as pl

from usi.options import RunIds
from usi.records import UNKNOWN_DOMAIN, Side

ONE_RUN_ENTRIES = 170
"""Largest number of entries that the published scorer reads as a single run."""

ONE_RUN = "1"
LEFTOVER_RUN = "0"
"""Run of the ids that the published rule can't split."""

UNNUMBERED_RUN = "unnumbered"
"""Run of rows without a trial where other rows of the same simulator have one."""

ID_LAYOUT = "tau-usi"
NO_ID_LAYOUTS = ("tau-bench", "tau2-bench", "tau2")
"""Layouts whose ids are made by the loader, so that nothing can be read off them."""

_PUBLISHED_ID = r"^(airline|retail)_\d+(_(ann)?\d+)?$"
_PUBLISHED_RUN_ID = r"^(airline|retail)_\d+_\d+$"
_BARE_ID = r"^(airline|retail)_\d+$"


def is_id_row() -> pl.Expr:
    """Whether a row names its task (and batch or run) inside its id."""
    return (pl.col("layout") == ID_LAYOUT) | (
        pl.col("task_id").is_null() & ~pl.col("layout").is_in(NO_ID_LAYOUTS)
    )


def names_run_by_id() -> pl.Expr:
    """Whether a row has nothing but its id to tell run or batch from."""
    return is_id_row() & (pl.col("trial").is_null() | (pl.col("layout") == ID_LAYOUT))


def _explicit_task() -> pl.Expr:
    """Task of explicit rows: the domain goes before the task id, once."""
    task, domain = pl.col("task_id"), pl.col("domain")
    bare = domain.is_null() | (domain == UNKNOWN_DOMAIN) | task.str.starts_with(domain + "_")
    return pl.when(bare).then(task).otherwise(domain + "_" + task)


def split_batch(session_id: str) -> tuple[str, int]:
    """Base id and batch of a reference (or survey) id, by the published suffix rule.

    >>> split_batch("retail_7_ann3"), split_batch("retail_7"), split_batch("retail_7_ann4")
    (('retail_7', 3), ('retail_7', 1), ('retail_7_ann4', 1))
    """
    for batch in (2, 3):
        if session_id.endswith(f"_ann{batch}"):
            return session_id[:-5], batch
    return session_id, 1


def split_run(session_id: str) -> tuple[str, str]:
    """Base id and run of a simulator id in a file of more than 170 entries, as published.

    >>> split_run("airline_0_3"), split_run("airline_0_4"), split_run("retail_2")
    (('airline_0', '3'), ('airline_0_4', '0'), ('retail', '2'))
    """
    base, _, suffix = session_id.rpartition("_")
    return (base, suffix) if suffix in ("1", "2", "3") else (session_id, LEFTOVER_RUN)


def split_any_run(session_id: str) -> tuple[str, str]:
    """As `split_run` with any run number, leaving bare published task ids whole."""
    base, _, suffix = session_id.rpartition("_")
    if base and re.fullmatch(r"[0-9]+", suffix) and not re.fullmatch(_BARE_ID, session_id):
        return base, suffix
    return session_id, LEFTOVER_RUN


def natural(label: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts trial 10 after trial 2."""
    parts = re.split(r"([0-9]+)", label)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)


def _trial_is_task(frame: pl.DataFrame) -> bool:
    """Whether every trial occurs with one task only, of several (the trial is no repetition)."""
    known = frame.filter(pl.col("trial").is_not_null() & pl.col("task").is_not_null())
    per_trial = known.group_by("trial").agg(pl.col("task").n_unique())
    several = known["task"].n_unique() > 1 or known["trial"].n_unique() == 1
    return several and per_trial.height > 0 and bool(per_trial["task"].max() == 1)


def _ids(frame: pl.DataFrame) -> list[str]:
    return cast("list[str]", frame["session_id"].to_list())


def _runs_by_id(frame: pl.DataFrame, run_ids: RunIds) -> list[tuple[str, str]]:
    """Base id and run of every id row of one simulator."""
    ids = _ids(frame)
    if run_ids == "suffix":
        return [split_any_run(session_id) for session_id in ids]
    published = bool((frame["layout"] == ID_LAYOUT).all()) or all(
        re.fullmatch(_PUBLISHED_ID, session_id) for session_id in ids
    )
    if run_ids == "auto" and published and len(ids) > ONE_RUN_ENTRIES:
        return [split_run(session_id) for session_id in ids]
    return [(session_id, ONE_RUN) for session_id in ids]


def _batches_by_id(frame: pl.DataFrame, run_ids: RunIds) -> list[tuple[str, int]]:
    """Base id and batch of every id row of a reference.

    A reference that is itself a simulator's file with run suffixes has its runs as batches.
    """
    ids = _ids(frame)
    numbered = _PUBLISHED_RUN_ID if run_ids == "auto" else r"^.+_\d+$"
    if run_ids != "none" and ids and all(re.fullmatch(numbered, i) for i in ids):
        pairs = [split_any_run(session_id) for session_id in ids]
        if all(run != LEFTOVER_RUN or base != i for (base, run), i in zip(pairs, ids, strict=True)):
            order = {run: k for k, run in enumerate(sorted({r for _, r in pairs}, key=natural), 1)}
            return [(base, order[run]) for base, run in pairs]
    return [split_batch(session_id) for session_id in ids]


def _strip_trial(frame: pl.DataFrame) -> pl.Expr:
    """Task of id rows that have a trial: the id, without the trial where every id ends with it."""
    session_id, end = pl.col("session_id"), pl.lit("_") + pl.col("trial")
    rows = frame.filter(pl.col("trial").is_not_null() & pl.col("task_id").is_null())
    ends = rows.select(
        (session_id.str.ends_with(end) & ~session_id.str.contains(_BARE_ID)).all()
    ).item()
    return session_id.str.strip_suffix(end) if ends else session_id


def _with_pairs(
    frame: pl.DataFrame,
    mask: pl.Series,
    pairs: list[tuple[str, object]],
    into: str,
    dtype: pl.DataType,
) -> pl.DataFrame:
    """Write base ids into ``task`` and the second part into `into` where `mask` holds."""
    task = frame["task"].to_list()
    other = frame[into].to_list()
    for position, (base, value) in zip(mask.arg_true().to_list(), pairs, strict=True):
        task[position], other[position] = base, value
    return frame.with_columns(
        pl.Series("task", task, dtype=pl.String()), pl.Series(into, other, dtype=dtype)
    )


def assign_keys(frame: pl.DataFrame, *, side: Side, run_ids: RunIds = "auto") -> pl.DataFrame:
    """Fill ``task``, ``run`` and ``batch`` of a session table from what its file gave.

    Parameters
    ----------
    frame
        All rows of one simulator, or of the whole reference, with the columns of
        `usi.extraction.spec.IDENTITY_SCHEMA`. Not changed; the result keeps its row order.
    side
        ``"human"``: tasks and batches (run stays null); ``"simulated"``: tasks and runs (batch
        stays null).
    run_ids
        ``"auto"`` is the published rule on id rows (tau-usi layout, or ids that look like it);
        ``"suffix"`` always splits at the last underscore before a number, whatever the number of
        entries; ``"none"`` never does.

    Returns
    -------
    pl.DataFrame
        The same columns; ``task`` is null where a row names none.
    """
    frame = frame.with_columns(
        task=pl.when(is_id_row()).then(None).otherwise(_explicit_task()),
        run=pl.lit(None, pl.String()),
        batch=pl.lit(None, pl.Int64()),
    )
    id_rows = frame.select(is_id_row().alias("x"))["x"]
    with_trial = frame.select(~names_run_by_id() & pl.col("trial").is_not_null()).to_series()
    frame = frame.with_columns(
        task=pl.when(id_rows & with_trial).then(_strip_trial(frame)).otherwise(pl.col("task"))
    )
    plain = id_rows & ~with_trial
    if side == "human":
        return _human_keys(frame, plain, with_trial, run_ids)
    return _simulator_keys(frame, plain, with_trial, run_ids)


def _human_keys(
    frame: pl.DataFrame, plain: pl.Series, with_trial: pl.Series, run_ids: RunIds
) -> pl.DataFrame:
    pairs = _batches_by_id(frame.filter(plain), run_ids)
    frame = _with_pairs(frame, plain, list(pairs), "batch", pl.Int64())
    trials = frame.filter(with_trial)
    if trials.height and not _trial_is_task(trials):
        labels = sorted(set(trials["trial"].to_list()), key=natural)
        order = {label: number for number, label in enumerate(labels, 1)}
        by_trial = pl.col("trial").replace_strict(order, default=None, return_dtype=pl.Int64())
        frame = frame.with_columns(
            batch=pl.when(with_trial).then(by_trial).otherwise(pl.col("batch"))
        )
    suffix = pl.col("session_id").str.extract(r"_ann([23])$").cast(pl.Int64())
    return frame.with_columns(batch=pl.coalesce("batch_id", "batch", suffix, pl.lit(1, pl.Int64())))


def _simulator_keys(
    frame: pl.DataFrame, plain: pl.Series, with_trial: pl.Series, run_ids: RunIds
) -> pl.DataFrame:
    pairs = _runs_by_id(frame.filter(plain), run_ids)
    frame = _with_pairs(frame, plain, list(pairs), "run", pl.String())
    trials = frame.filter(with_trial)
    repeated = trials.height > 0 and not _trial_is_task(trials)
    # An explicit task whose id carries a run number behind the task, as OdysSim files do.
    suffix = (
        pl.when(pl.col("session_id").str.starts_with(pl.col("task") + "_"))
        .then(pl.col("session_id").str.slice(pl.col("task").str.len_chars() + 1))
        .otherwise(None)
        .str.extract(r"^(\d+)$")
    )
    by_id = suffix if run_ids != "none" else pl.lit(None, pl.String())
    rest = pl.lit(UNNUMBERED_RUN if repeated else ONE_RUN)
    by_trial = pl.col("trial") if repeated else pl.lit(ONE_RUN)
    return frame.with_columns(
        run=pl.when(pl.lit(with_trial)).then(by_trial).otherwise(pl.coalesce("run", by_id, rest))
    )
