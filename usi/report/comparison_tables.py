"""Comparisons, rankings and plans as tables of text."""

from __future__ import annotations

from usi.decisions.compare import Difference
from usi.decisions.plan import Plan
from usi.decisions.tables import Comparison, Leaderboard, Rankings
from usi.estimate import Estimate, with_bounds
from usi.report.success import Grid
from usi.scoring.robust.terms import PARTS

_SYNTHETIC = "The reference is synthetic: this says nothing about people."


def comparison_grids(found: Comparison, *, features: int = 20) -> tuple[Grid, ...]:
    """Index and components, then the features that changed most."""
    scores = [row for row in found.differences if row.part in ("index", "component")]
    rest = [row for row in found.differences if row.part not in ("index", "component")]
    notes = [*found.notes]
    if found.synthetic:
        notes.insert(0, _SYNTHETIC)
    words = {word: [r.name for r in scores if r.word == word] for word in ("better", "worse")}
    for word, names in words.items():
        if names:
            notes.append(f"{found.b} is {word} in: {', '.join(names)}")
    if scores and not any(words.values()) and all(row.word == "noise" for row in scores):
        notes.append("nothing here is more than noise")
    notes.append("Difference B - A in points with 90 % bounds; above 0 = B is nearer to people.")
    head = ("", found.a, found.b, "difference", "")
    grids = [Grid(f"{found.a} against {found.b}", head, _rows(scores), tuple(notes))]
    if rest:
        more = len(rest) - features
        left = (f"{more} more features changed less",) if more > 0 else ()
        grids.append(Grid("Features", head, _rows(rest[:features]), left))
    return tuple(grids)


def _rows(rows: list[Difference]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (row.name, f"{row.a:.1f}", f"{row.b:.1f}", _signed(row.difference), row.word)
        for row in rows
    )


def _signed(value: Estimate) -> str:
    if value.value is None:
        return f"not assessed: {value.reason}"
    return with_bounds(value.value, value.low, value.high, signed=True)


def ranking_grids(found: Rankings) -> tuple[Grid, ...]:
    """One table for each set of comparable scorecards; the human row first."""
    grids = []
    for board in found.tables:
        grids.append(_board(board, found.notes))
        records = _admissions(board)
        if records:
            grids.append(Grid("Admission records", _ADMISSION, records, _expiry(found.as_of)))
    if found.left_out:
        grids.append(Grid("In no table", ("what", "why"), found.left_out))
    return tuple(grids)


_ADMISSION = ("name", "verdict", "criteria", "scored", "expires", "why then", "file")


def _admissions(board: Leaderboard) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            row.name,
            record.verdict,
            record.criteria,
            record.scored or "-",
            (record.expires or "-") + (" (expired)" if record.expired else ""),
            record.reason.text,
            record.file,
        )
        for row in board.ranking.rows
        for record in board.entries[row.name].admissions
    )


def _expiry(as_of: str | None) -> tuple[str, ...]:
    if as_of is None:
        return ("No day was given (--as-of), so nothing is called expired.",)
    return (f"Expiry counts to {as_of}.",)


def _board(board: Leaderboard, more: tuple[str, ...]) -> Grid:
    head = ("tie group", "rank", "name", "USI-R", *PARTS)
    people = board.human
    first = ("", "", board.human_name, "-" if people.value is None else f"{people.value:.1f}")
    own = board.human_components
    rows = [(*first, *("-" if (v := own.get(p)) is None else f"{v:.1f}" for p in PARTS))]
    for row in board.ranking.rows:
        parts = board.components[row.name]
        cells = [_bounded(parts[name]) if name in parts else "-" for name in PARTS]
        ranks = str(row.best) if row.best == row.worst else f"{row.best}-{row.worst}"
        index = _bounded(board.entries[row.name].index)
        rows.append((str(row.group), ranks, row.name, index, *cells))
    k = len(board.ranking.rows)
    notes = [_SYNTHETIC] if board.synthetic else []
    if k > 1:
        notes += [
            f"Ranks hold at once with {board.ranking.level:.0%} (all pairs, one critical value "
            f"{board.ranking.critical:.2f}); members of a tie group can't be told from its best.",
            f"Winner's curse: the best of {k} exceeds its own expectation by about "
            f"{board.ranking.excess:.1f} points; run it again on fresh seeds before gating it, and "
            f"gate with --family-size {k} where any that passes is accepted.",
        ]
    for row in board.ranking.rows:
        notes += [f"{row.name}: {doubt}" for doubt in board.entries[row.name].doubts]
    notes.append("[low, high] are the bounds that a gate decides by, each with 95 %.")
    notes.append(f"signature {board.signature}")
    return Grid("Ranking", head, tuple(rows), (*notes, *more))


def _bounded(value: Estimate) -> str:
    if value.value is None:
        return "-"
    return with_bounds(value.value, value.low, value.high)


def plan_grids(found: Plan) -> tuple[Grid, ...]:
    """What a design can show, and the trade-off between tasks and runs."""
    grids = []
    notes = list(found.notes)
    if found.power is not None:
        rows = tuple(
            (part.part, f"{part.minimum:g}", f"{part.expected:.1f}", f"{part.power:.0%}")
            for part in found.power
        )
        grids.append(
            Grid(
                f"Power of {found.tasks} tasks x {found.batches} batches x {found.runs} runs",
                ("part", "asked", "expected score", "chance to pass"),
                rows,
                (f"all parts together: about {found.joint:.0%}",),
            )
        )
    columns = list(found.trade[0].by_batches) if found.trade else []
    head = (
        "runs",
        "index alone, near the ceiling",
        "far from it",
        *(f"all parts, {m} {'batch' if m == 1 else 'batches'}" for m in columns),
        f"sessions of the simulator, {found.batches} batches",
    )
    trade = tuple(
        (
            str(line.runs),
            _count(line.index_near),
            _count(line.index_far),
            *(_count(line.by_batches[m]) for m in columns),
            _count(None if line.all_parts is None else line.all_parts * line.runs),
        )
        for line in found.trade
    )
    grids.append(
        Grid(
            f"Tasks for {found.wanted:.0%} power, true score {found.truth:g}, {found.criteria}",
            head,
            trade,
            tuple(notes),
        )
    )
    if found.picked:
        grids.append(
            Grid(
                f"{len(found.picked)} tasks to check with people first",
                ("task", "difficulty (success rate)", "bin"),
                tuple((t.task, f"{t.difficulty:.2f}", t.bin) for t in found.picked),
            )
        )
    return tuple(grids)


def _count(value: int | None) -> str:
    return "never" if value is None else str(value)
