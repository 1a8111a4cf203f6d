"""A ranking as one self-contained page: people first, ranks as intervals, admissions."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from usi._version import __version__
from usi.decisions.tables import Leaderboard, Rankings
from usi.report.as_json import plain
from usi.report.figures.inline import draw
from usi.report.figures.model import Intervals, Row, mark
from usi.report.html.document import Docs, step
from usi.report.html.page import fill
from usi.report.text import printable
from usi.scoring.robust.terms import PARTS

_SIGNS = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?"}


def render(found: Rankings) -> str:
    """HTML text of a leaderboard; identical inputs give identical bytes.

    Parameters
    ----------
    found
        From `usi.decisions.tables.rank_files`.

    Notes
    -----
    The page has the policy of the report: its own style and script by hash, and nothing else.
    Every number of the JSON form says where it comes from, under the letter ``r``.
    """
    docs = Docs({"r": plain(found)})
    boards = [_board(board, at, len(found.tables)) for at, board in enumerate(found.tables)]
    return fill(
        "rank.html.j2",
        version=__version__,
        synthetic=any(board.synthetic for board in found.tables),
        docs=docs,
        show=docs.show,
        say=docs.text,
        est=docs.estimate,
        boards=boards,
        parts=PARTS,
        as_of=found.as_of,
        left_out=[f"r:/left_out/{k}" for k in range(len(found.left_out))],
        notes=[f"r:/notes/{k}" for k in range(len(found.notes))],
    )


def _board(board: Leaderboard, at: int, of: int) -> dict[str, Any]:
    place = f"r:/tables/{at}"
    rows: list[dict[str, Any]] = []
    for k, row in enumerate(board.ranking.rows):
        entry = board.entries[row.name]
        pointer, beside = f"{place}/ranking/rows/{k}", f"{place}/entries/{step(row.name)}"
        records = [
            {
                "record": record,
                "p": f"{beside}/admissions/{i}",
                "row": pointer,
                "entry": beside,
                "identity": sorted(entry.identity),
                "unverified": [
                    f"{beside}/admissions/{i}/unverified/{j}" for j in range(len(record.unverified))
                ],
                "sign": _SIGNS.get(record.verdict, "?"),
            }
            for i, record in enumerate(entry.admissions)
        ]
        rows.append(
            {
                "p": pointer,
                "entry": beside,
                "key": step(row.name),
                "interval": row.best != row.worst,
                "gap": entry.success_gap is not None,
                "admissions": records,
                "passed": [a for a in entry.admissions if a.verdict == "PASS"],
                "unverified": all(
                    a.unverified for a in entry.admissions if a.verdict == "PASS" and not a.expired
                ),
                "leads": row.group == 1,
                "doubts": [f"{beside}/doubts/{i}" for i in range(len(entry.doubts))],
            }
        )
    passed = [row for row in rows if row["passed"]]
    expired = [row for row in passed if all(a.expired for a in row["passed"])]
    return {
        "p": place,
        "id": f"table{at + 1}",
        "title": "Ranking" if of == 1 else f"Ranking {at + 1}",
        "rows": rows,
        "first": [row["p"] for row in rows if row["leads"]],
        "admissions": [a for row in rows for a in row["admissions"]],
        "admitted": [row for row in passed if row not in expired],
        "expired": expired,
        "figure": Markup(draw(_figure(board))),
    }


def _figure(board: Leaderboard) -> Intervals:
    rows = [Row(label="people", own=None, human=mark(board.human), strong=True)]
    for row in board.ranking.rows:
        entry = board.entries[row.name]
        rows.append(Row(printable(row.name), own=mark(entry.index), ceiling=entry.ceiling))
    return Intervals("USI-R of every simulator in points, with bounds", tuple(rows))
