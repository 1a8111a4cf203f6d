"""A comparison as one self-contained page: what got better, what got worse, what is noise."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from usi._version import __version__
from usi.decisions.compare import Difference
from usi.decisions.tables import Comparison
from usi.report.as_json import plain
from usi.report.figures import inline
from usi.report.html.document import Docs
from usi.report.html.page import fill
from usi.report.text import printable

_SCORES = ("index", "component")
_SHOWN = 8
_WIDE, _LEFT, _RIGHT, _ROW = 400.0, 118.0, 14.0, 24.0


def render(found: Comparison) -> str:
    """HTML text of a comparison; identical inputs give identical bytes.

    Parameters
    ----------
    found
        From `usi.decisions.tables.compare_files`.

    Notes
    -----
    Numbers say where they stand in the JSON form, under the letter ``m``.
    """
    docs = Docs({"m": plain(found)})
    rows = [_row(row, at) for at, row in enumerate(found.differences)]
    scores = [row for row in rows if row["part"] in _SCORES]
    features = [row for row in rows if row["part"] not in _SCORES]
    index = next((row for row in scores if row["part"] == "index"), None)
    better, worse = _changed(rows, "better"), _changed(rows, "worse")
    drawn = [row for row in found.differences if row.part in _SCORES]
    return fill(
        "compare.html.j2",
        version=__version__,
        synthetic=found.synthetic,
        docs=docs,
        show=docs.show,
        say=docs.text,
        est=docs.estimate,
        a=found.a,
        b=found.b,
        paired=found.paired,
        index=index,
        scores=scores,
        features=features,
        better=better[:_SHOWN],
        better_more=bool(better[_SHOWN:]),
        worse=worse[:_SHOWN],
        worse_more=bool(worse[_SHOWN:]),
        chance=any(row["word"] != "unknown" for row in features),
        figure=Markup(_figure(drawn)),
        notes=[f"m:/notes/{k}" for k in range(len(found.notes))],
    )


def _row(row: Difference, at: int) -> dict[str, Any]:
    names = {"index": "USI-R"} if row.part == "index" else {}
    title = names.get(row.name, row.name)
    return {
        "p": f"m:/differences/{at}",
        "name": title,
        "title": title,
        "part": row.part,
        "word": row.word,
    }


def _changed(rows: list[dict[str, Any]], word: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["word"] == word and row["part"] != "index"]


def reach(rows: list[Difference]) -> float:
    """Half width of the axis: the largest bound, up to the next of 2, 5, 10, 20, 50, 100."""
    ends = [
        abs(end)
        for row in rows
        for end in (row.difference.value, row.difference.low, row.difference.high)
        if end is not None
    ]
    most = max(ends, default=0.0)
    return next((step for step in (2.0, 5.0, 10.0, 20.0, 50.0) if most <= step), 100.0)


def _figure(rows: list[Difference]) -> str:
    """Dots with intervals around 0, on an axis that is even on both sides."""
    full = reach(rows)
    bottom = 14 + _ROW * len(rows)

    def x(points: float) -> float:
        inner = _WIDE - _LEFT - _RIGHT
        return _LEFT + inner * (max(-full, min(full, points)) + full) / (2 * full)

    body = []
    for tick in (-full, -full / 2, 0.0, full / 2, full):
        kind = "need" if tick == 0 else "grid"
        body.append(inline.line(x(tick), 8, x(tick), bottom, kind))
        shown = f"{tick:+g}".replace("-", "\N{MINUS SIGN}") if tick else "0"
        body.append(inline.text(x(tick), bottom + 13, shown, "tick", "middle"))
    body.append(
        inline.text(x(0), bottom + 27, "points, B − A (right: B is nearer)", "axis", "middle")
    )
    for k, row in enumerate(rows):
        y = 8 + _ROW * (k + 0.5)
        name = "USI-R" if row.name == "index" else printable(row.name)
        short = name if len(name) <= 18 else name[:17] + "…"
        kind = "lab strong" if row.part == "index" else "lab"
        body.append(inline.text(_LEFT - 10, y + 4, short, kind, "end"))
        value = row.difference
        if value.value is None:
            body.append(inline.text(_LEFT + 6, y + 4, "not assessed", "tick"))
            continue
        if value.low is not None and value.high is not None:
            body.append(inline.line(x(value.low), y, x(value.high), y, "bar-sim"))
        body.append(inline.circle(x(value.value), y, 4.5, "sim"))
    return inline.whole(_WIDE, bottom + 33, "Differences in points, with bounds", body, "wide")
