"""``usi corpus aggregate``: a corpus added up by task, and such a file read back.

No text, no session: per task and feature the values in ascending order, each feature by itself, so
that no row is a person; counts of outcomes and of survey answers. Scores compare distributions, so
a value that stands alone in its task is still one person's: a task with fewer people than the
smallest cell is refused (or left out). People are counted, not sessions: several sessions of one
participant are one, and a session that names none is taken as somebody of their own.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from usi.corpora.resolve import Corpus
from usi.errors import InputError, NotScorable, UsageError
from usi.extraction.profile import get_feature_profile
from usi.extraction.ranges import BOUNDED
from usi.extraction.spec import FeatureSpec
from usi.reading import parse_json, reading
from usi.reasons import (
    NO_TASK_ADDED,
    NOBODY_COMPARED,
    TASK_TOO_SMALL,
    Reason,
    by_text,
)
from usi.scoring.inputs import SideInput, corpus_digest, read_file
from usi.scoring.people import PROFILE, read_people_of
from usi.scoring.robust.aggregated import AggregateTable, stand_ins
from usi.scoring.robust.design import Design
from usi.scoring.robust.instrument import items_for
from usi.scoring.robust.left_out import repair_counts, session_reasons, stamp_counts
from usi.scoring.robust.reference import reference
from usi.scoring.robust.scorable import Scorable
from usi.scoring.robust.survey import sheets

MARK, VERSION = b"usi_aggregate", "3"
SMALLEST = 5
"""Fewest people of a task by default."""


_NAMED = pl.col("participant")
_PEOPLE = (_NAMED.drop_nulls().n_unique() + _NAMED.null_count()).alias("people")
"""People of a cell; a session without a participant is taken as somebody of their own."""


@dataclass(frozen=True)
class Aggregate:
    """Rows by task and what stands in the metadata of the file."""

    rows: pl.DataFrame
    about: dict[str, Any]

    @property
    def left_out(self) -> dict[Reason, int]:
        """Sessions that were not added up, by reason."""
        return {Reason.from_dict(told): int(count) for told, count in self.about["left_out"]}


def is_aggregate(path: str | Path) -> bool:
    """Whether a file is an aggregate that usi wrote."""
    if Path(path).suffix != ".parquet" or not Path(path).is_file():
        return False
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return MARK in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False


def build_aggregate(
    corpus: Corpus,
    *,
    min_cell: int = SMALLEST,
    drop_small: bool = False,
    one_batch: bool = False,
) -> Aggregate:
    """Add a corpus (of its part that may be read) up by task.

    Parameters
    ----------
    corpus
        From `usi.corpora.resolve.resolve`.
    min_cell
        Fewest people a task may have, at least 2.
    drop_small
        Leave tasks with fewer people out, and count their sessions.
    one_batch
        Forget which batch a session is of.

    Raises
    ------
    NotScorable
        Where no session counts or names a task.
    UsageError
        Where cells are too small.
    """
    if min_cell < 2:
        raise UsageError("--min-cell needs at least 2: one session is one person")
    side = read_people_of(corpus)
    table = side.tables[""]
    specs = get_feature_profile(PROFILE).specs
    ref = reference(table.frame, specs, frozen=corpus.scorable)
    frame = ref.frame
    if one_batch:
        frame = frame.with_columns(batch=pl.lit(1, pl.Int64()))
    left = Counter(dict(side.left_out.get("", {})))
    nobody = Design(False, "task", False, NOBODY_COMPARED())
    left.update(session_reasons(table.frame, nobody) + repair_counts(table.frame))
    left.update(stamp_counts(table.frame))
    keep = frame["task"].is_not_null().to_numpy()
    left[NO_TASK_ADDED()] += int((~keep).sum())
    sizes = frame.group_by("task", "domain").agg(_PEOPLE)
    small = sizes.filter(pl.col("task").is_not_null() & (pl.col("people") < min_cell))
    if small.height and not drop_small:
        raise UsageError(
            f"{small.height} tasks have fewer than {min_cell} people (such as "
            f"{small.sort('task')['task'][0]!r}): values of so few say too much of single people. "
            "Leave them out with --drop-small, or set another --min-cell"
        )
    cells = {(task, domain) for task, domain, _ in small.iter_rows()}
    pairs = zip(frame["task"].to_list(), frame["domain"].to_list(), strict=True)
    few_mask = np.array([pair in cells for pair in pairs], dtype=bool)
    left[TASK_TOO_SMALL()] += int(few_mask.sum())
    keep = keep & ~few_mask
    if not keep.any():
        raise NotScorable(
            f"no task has {min_cell} people, so there is nothing to add up"
            if ref.frame["task"].count()
            else "no session names a task: an aggregate is by task"
        )
    frame, values = frame.filter(pl.Series(keep)), ref.values[keep]
    single = _single(frame, min_cell)
    rows = _rows(frame, values, ref.specs, single, min_cell)
    batches = sorted(set(frame["batch"].fill_null(1).to_list()))
    about = {
        "name": corpus.name,
        "profile": get_feature_profile(PROFILE).tag,
        "lexicon": table.lexicon,
        "corpus_digest": corpus_digest(corpus, side),
        "min_cell": min_cell,
        "batches": len(batches),
        "single": single,
        "agents": sorted(set(frame["agent"].drop_nulls())),
        "synthetic": side.synthetic,
        "source": side.source,
        "licence": corpus.licence,
        "terms": corpus.terms,
        "research_only": corpus.research_only,
        "redistribute": corpus.redistribute,
        "task_sample": corpus.task_sample,
        "expires": corpus.expires.isoformat() if corpus.expires else None,
        "language": corpus.language,
        "frozen": corpus.scorable is not None,
        "left_out": [[asdict(reason), count] for reason, count in by_text(left)],
        "pools": {name: list(members) for name, members in ref.pools.items()},
        "verdicts": {name: _told(v) for name, v in ref.verdicts.items()},
    }
    return Aggregate(rows, about)


def _single(frame: pl.DataFrame, min_cell: int) -> bool:
    """Whether every batch has at most one session of a task; else its cells must be large enough.

    Raises
    ------
    UsageError
        Where some batch has several sessions of a task, and fewer people than the smallest cell.
    """
    cells = frame.group_by("task", "domain", "batch").agg(_PEOPLE, pl.len().alias("sessions"))
    if cells["sessions"].max() == 1:
        return True
    if min(cells["people"].to_list()) >= min_cell:
        return False
    raise UsageError(
        f"some tasks have several sessions in one batch, others fewer than {min_cell} people: "
        "which batch they are of would say too much of single people. Forget the batches with "
        "--one-batch, or set another --min-cell"
    )


def _rows(
    frame: pl.DataFrame,
    values: np.ndarray,
    specs: Sequence[FeatureSpec],
    single: bool,
    min_cell: int,
) -> pl.DataFrame:
    """One row a task."""
    answers = sheets(frame)
    items = items_for(answers)
    batches = {b: k for k, b in enumerate(sorted(set(frame["batch"].fill_null(1).to_list())))}
    slots = [None if single else batches[b] for b in frame["batch"].fill_null(1).to_list()]
    keys = list(zip(frame["task"].to_list(), frame["domain"].to_list(), strict=True))
    members: dict[tuple[str, str], list[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, []).append(i)
    rewards, labels = frame["reward"].to_list(), frame["outcome_label"].to_list()
    turns, who = frame["user_turns"].to_list(), frame["participant"].to_list()
    rows: list[dict[str, Any]] = []
    for (task, domain), own in sorted(members.items(), key=lambda p: (p[0][0], p[0][1] or "")):
        row: dict[str, Any] = {
            "task": task,
            "domain": domain,
            "sessions": len(own),
            "user_turns": sum(turns[i] for i in own),
        }
        for k, spec in enumerate(specs):
            column = values[own, k]
            column = np.sort(column[~np.isnan(column)])
            if spec.harness and _people([who[i] for i, v in zip(own, values[own, k], strict=True)
                                         if not np.isnan(v)]) < min_cell:  # fmt: skip
                column = column[:0]  # of few people with time stamps it would tell one's own
            row[f"{spec.name}.values"] = column.tolist()
        row["outcomes"] = json.dumps(
            _histogram((slots[i], _number(rewards[i]), labels[i]) for i in own)
        )
        survey = {
            item.name: _histogram((slots[i], _option(item, answers[i].get(item.name))) for i in own)
            for item in items
        }
        row["survey"] = json.dumps(survey) if items and any(answers[i] for i in own) else None
        rows.append(row)
    lists = {f"{spec.name}.values": pl.List(pl.Float64) for spec in specs}
    text = {"survey": pl.String, "domain": pl.String}
    return pl.DataFrame(rows, schema_overrides={**text, **lists})


def _people(participants: Sequence[str | None]) -> int:
    """How many people these are; see `_PEOPLE`."""
    named = {name for name in participants if name is not None}
    return len(named) + sum(name is None for name in participants)


def _number(value: Any) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _option(item: Any, answer: Any) -> str | None:
    """The option that was chosen, in the instrument's own words; no other answer is kept."""
    level = item.level(answer)
    return None if level is None else str(item.texts[level])


def _histogram(values: Any) -> list[list[Any]]:
    counts = Counter(values)
    order = sorted(counts, key=lambda key: tuple((v is not None, str(v)) for v in key))
    return [[*key, counts[key]] for key in order]


def write_aggregate(found: Aggregate, path: str | Path) -> None:
    """Write Parquet; the same corpus gives the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = found.rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    metadata = {MARK: VERSION.encode(), b"about": json.dumps(found.about, sort_keys=True).encode()}
    table = pa.Table.from_batches(arrow.to_batches(), schema=arrow.schema.with_metadata(metadata))
    pq.write_table(table, path, compression="zstd")


def read_aggregate(path: str | Path) -> Aggregate:
    """Read what `write_aggregate` wrote.

    Raises
    ------
    InputError
        For a damaged file, another version, or one that was made with other definitions.
    """
    import pyarrow.parquet as pq

    file = str(path)
    with reading(file):
        table = pq.read_table(path)
        metadata = table.schema.metadata or {}
        about = parse_json(metadata.get(b"about", b"{}"), file)
    if not isinstance(about, dict):
        raise InputError("has no description that is an object", file=file, field="about")
    if metadata.get(MARK) != VERSION.encode():
        raise InputError(
            f"has aggregate version {metadata.get(MARK, b'?').decode()}, this usi reads {VERSION}; "
            "make it anew with: usi corpus aggregate",
            file=file,
        )
    own = get_feature_profile(PROFILE)
    for key, want in (("profile", own.tag), ("lexicon", own.lexicon)):
        if about.get(key) != want:
            raise InputError(
                f"was made with {key} {about.get(key)}, this usi has {want}; make it anew with: "
                "usi corpus aggregate",
                file=file,
            )
    with reading(file):
        rows = pl.from_arrow(table)
    wanted = {f"{s.name}.values" for s in own.specs}
    wanted |= {"task", "domain", "sessions", "user_turns", "outcomes", "survey"}
    missing = sorted(wanted - set(table.column_names))
    if missing or not isinstance(rows, pl.DataFrame):
        raise InputError(f"lacks columns ({', '.join(missing[:5])})", file=file)
    with reading(file):
        _check_ranges(rows, own.specs, file)
    return Aggregate(rows, about)


def _check_ranges(rows: pl.DataFrame, specs: Sequence[FeatureSpec], file: str) -> None:
    """Refuse rows that no corpus adds up to.

    Raises
    ------
    InputError
        For the first such row: a task without a name or twice, no session, fewer user turns than
        sessions, values that are not finite, not in order, or outside the range of their feature.
    """
    seen: set[tuple[Any, Any]] = set()
    for number, row in enumerate(rows.iter_rows(named=True), start=1):

        def wrong(text: str, field: str, number: int = number) -> InputError:
            return InputError(text, file=file, row=number, field=field)

        task = (row["task"], row["domain"])
        if not isinstance(row["task"], str) or task in seen:
            raise wrong("must be a name that stands once", "task")
        seen.add(task)
        for field, least in (("sessions", 1), ("user_turns", 0)):
            if not isinstance(row[field], int) or row[field] < least:
                raise wrong(f"must be a whole number from {least}", field)
        if row["user_turns"] < row["sessions"]:
            raise wrong("a session has a user turn at least", "user_turns")
        for spec in specs:
            field = f"{spec.name}.values"
            found = np.asarray(row[field] or (), dtype=np.float64)
            if not np.isfinite(found).all() or (np.diff(found) < 0).any():
                raise wrong("must be finite numbers in ascending order", field)
            if found.size and spec.kind in BOUNDED and not 0 <= found[0] <= found[-1] <= 1:
                raise wrong("must lie from 0 to 1", field)


def _told(verdict: Scorable) -> list[Any]:
    """A verdict on a feature as plain data."""
    reason = None if verdict.reason is None else asdict(verdict.reason)
    return [reason, verdict.hits, verdict.sessions, verdict.rare]


def _verdict(told: list[Any]) -> Scorable:
    """The verdict that `_told` wrote."""
    reason, hits, sessions, rare = told
    return Scorable(None if reason is None else Reason.from_dict(reason), hits, sessions, rare)


def aggregate_table(found: Aggregate, *, file: str) -> AggregateTable:
    """An aggregate as the people's side of a scoring."""
    about = found.about
    with reading(file):
        frame, matrix = stand_ins(
            found.rows,
            profile=PROFILE,
            pools=tuple(about["pools"]),
            batches=max(1, int(about["batches"])),
            agents=tuple(about["agents"]),
            file=file,
        )
        verdicts = {name: _verdict(value) for name, value in about["verdicts"].items()}
        left_out = found.left_out
    return AggregateTable(
        frame,
        PROFILE,
        about["lexicon"],
        bool(about["synthetic"]),
        matrix=matrix,
        verdicts=verdicts,
        pools=about["pools"],
        frozen=bool(about["frozen"]),
        left_out=left_out,
    )


def read_side(path: Path, profile: str) -> tuple[Corpus, SideInput]:
    """An aggregate as reference and side of a scoring.

    Raises
    ------
    UsageError
        For another profile than the aggregate holds sums of.
    """
    if get_feature_profile(profile).name != PROFILE:
        raise UsageError(
            f"{path.name} holds sums of the profile {PROFILE}; score with --profile {PROFILE}, or "
            "against the corpus itself"
        )
    found = read_aggregate(path)
    table = aggregate_table(found, file=str(path))
    about: Mapping[str, Any] = found.about
    corpus = Corpus(
        name=about["name"],
        paths=(path,),
        synthetic=bool(about["synthetic"]),
        licence=about["licence"],
        terms=about["terms"],
        research_only=bool(about["research_only"]),
        redistribute=about["redistribute"],
        task_sample=about.get("task_sample"),
        language=about["language"],
        expires=date.fromisoformat(about["expires"]) if about["expires"] else None,
        declared=True,
    )
    side = SideInput(
        tables={"": table},
        files=[
            read_file(
                "human",
                path,
                layout="aggregate",
                # The corpus behind it: its numbers are those of the corpus.
                content=about["corpus_digest"],
                sessions=table.frame.height,
            )
        ],
        synthetic=table.synthetic,
        source=about["source"],
    )
    return corpus, side
