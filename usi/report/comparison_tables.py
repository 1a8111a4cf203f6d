"""Comparisons, rankings and plans as tables of text."""

from __future__ import annotations

from usi.decisions.compare import Difference
from usi.decisions.plan import Plan
from usi.decisions.tables import Comparison, Leaderboard, Rankings
from usi.report.names import name_of
from usi.report.tables import Cell, Column, Entry, Table
from usi.scoring.robust.terms import PARTS

_SYNTHETIC = "The reference is synthetic: this says nothing about people."


def comparison_tables(found: Comparison, *, features: int = 20) -> tuple[Table, ...]:
    """Index and components, then the features that changed most."""
    scores = [row for row in found.differences if row.part in ("index", "component")]
    rest = [row for row in found.differences if row.part not in ("index", "component")]
    notes = [*found.notes]
    if found.synthetic:
        notes.insert(0, _SYNTHETIC)
    words = {word: [r.name for r in scores if r.word == word] for word in ("better", "worse")}
    for word, names in words.items():
        if names:
            notes.append(f"{found.b} is {word} in: {', '.join(map(name_of, names))}")
    if scores and not any(words.values()) and all(row.word == "noise" for row in scores):
        notes.append("nothing here is more than noise")
    notes.append("Difference B - A in points with 90 % bounds; above 0 = B is nearer to people.")
    head = (
        "score",
        Column(found.a, "1"),
        Column(found.b, "1"),
        Column("difference", "+1", why=True),
        "more than noise?",
    )
    title = f"{found.a} against {found.b}" + (" (unverified)" if found.unverified else "")
    notes = [*(f"unverified: {why.text}" for why in found.unverified), *notes]
    tables = [Table(title, head, _rows(scores), tuple(notes))]
    if rest:
        more = len(rest) - features
        left: tuple[str, ...] = (f"{more} more features changed less",) if more > 0 else ()
        if any(row.word == "may be chance" for row in rest):
            left += (
                "may be chance: its own bounds leave out 0, but with so many features some do by "
                "chance; better and worse stand at a false discovery rate of 5 %",
            )
        tables.append(Table("Features", head, _rows(rest[:features]), left))
    return tuple(tables)


def _rows(rows: list[Difference]) -> tuple[tuple[Entry, ...], ...]:
    return tuple((name_of(row.name), row.a, row.b, row.difference, row.word) for row in rows)


def ranking_tables(found: Rankings) -> tuple[Table, ...]:
    """One table for each set of comparable scorecards; the human row first."""
    tables = []
    for board in found.tables:
        tables.append(_board(board, (*board.notes, *found.notes)))
        records = _admissions(board)
        if records:
            expiry = _expiry(found.as_of)
            tables.append(Table("Admission records", _ADMISSION, records, expiry))
    if found.left_out:
        tables.append(Table("In no table", ("what", "why"), found.left_out))
    return tuple(tables)


_ADMISSION = ("name", "verdict", "criteria", "scored", "expires", "reason then", "file")


def _admissions(board: Leaderboard) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            row.name,
            f"{record.verdict} unverified" if record.unverified else record.verdict,
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


def _board(board: Leaderboard, more: tuple[str, ...]) -> Table:
    head: tuple[Column | str, ...] = (
        "name",
        Column("rank", "i"),
        Column("tie group", "i"),
        Column("USI-R", "1"),
        *(Column(part, "1") for part in PARTS),
    )
    own = board.human_components
    rows: list[tuple[Entry, ...]] = [
        (board.human_name, None, None, board.human, *(own.get(part) for part in PARTS))
    ]
    for row in board.ranking.rows:
        parts = board.components[row.name]
        ranks = Cell(row.best) if row.best == row.worst else f"{row.best}-{row.worst}"
        index = board.entries[row.name].index
        rows.append((row.name, ranks, row.group, index, *(parts.get(name) for name in PARTS)))
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
    return Table("Ranking", head, tuple(rows), (*notes, *more), strong=(0,))


def plan_tables(found: Plan) -> tuple[Table, ...]:
    """What a design can show, and the trade-off between tasks and runs."""
    tables = []
    if found.power is not None:
        tables.append(
            Table(
                f"Power of {found.tasks} tasks x {found.batches} batches x {found.runs} runs",
                (
                    "part",
                    Column("asked", "0"),
                    Column("expected score", "1"),
                    Column("chance to be assessed", "%"),
                    Column("chance to pass", "%"),
                ),
                tuple(
                    (name_of(p.part), p.minimum, p.expected, p.assessed, p.chance)
                    for p in found.power
                ),
                (f"all parts together: about {found.joint:.0%}",),
            )
        )
    columns = list(found.trade[0].by_batches) if found.trade else []
    names = (
        "runs",
        "index alone, near the ceiling",
        "far from it",
        *(f"all parts, {m} {'batch' if m == 1 else 'batches'}" for m in columns),
        f"sessions of the simulator, {found.batches} batches",
    )
    trade = tuple(
        (
            line.runs,
            _count(line.index_near),
            _count(line.index_far),
            *(_count(line.by_batches[m]) for m in columns),
            _count(None if line.all_parts is None else line.all_parts * line.runs),
        )
        for line in found.trade
    )
    tables.append(
        Table(
            f"Tasks for {found.wanted:.0%} power, true score {found.truth:g}, {found.criteria}",
            tuple(Column(name, "i") for name in names),
            trade,
            tuple(found.notes),
        )
    )
    if found.picked:
        tables.append(
            Table(
                f"{len(found.picked)} tasks to check with people first",
                ("task", Column("difficulty (success rate)", "2"), "bin"),
                tuple((t.task, t.difficulty, t.bin) for t in found.picked),
            )
        )
    return tuple(tables)


def _count(value: int | None) -> int | str:
    return "never" if value is None else value
