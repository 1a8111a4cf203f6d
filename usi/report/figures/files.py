"""Figures as files, drawn with matplotlib's Figure class (never pyplot: no state, no display)."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from usi.report.figures.model import HUMAN, OWN, Bars, Curves, Figure, Intervals, Mark, Scatter
from usi.report.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SOFT = "#17202a", "#4d5966"
_RC: Any = {
    "svg.hashsalt": "usi",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
}


def render(figure: Figure, form: str, *, footer: str = "") -> bytes:
    """Bytes of a figure; identical figures give identical bytes.

    Parameters
    ----------
    figure
        What to draw.
    form
        ``"png"`` or ``"svg"``.
    footer
        A line below: where the numbers come from.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(_RC):
        height = 1.7 + 0.36 * len(figure.rows) if isinstance(figure, Intervals) else 4.2
        canvas = Canvas(figsize=(7.0, height), layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        draw(axes, figure)
        if footer:
            canvas.supxlabel(_shown(footer), fontsize=7, color=SOFT)
        out = io.BytesIO()
        metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
        metadata |= {"Creator": "written by usi "} if form == "svg" else {"Software": "usi"}
        canvas.savefig(out, format=form, dpi=150, metadata=metadata)
        return out.getvalue()


def draw(axes: Axes, figure: Figure) -> None:
    """Draw a figure on axes of matplotlib."""
    axes.set_title(_shown(figure.title), fontsize=10, loc="left", color=INK, wrap=True)
    if isinstance(figure, Intervals):
        _intervals(axes, figure)
    elif isinstance(figure, Bars):
        _bars(axes, figure)
    elif isinstance(figure, Scatter):
        _scatter(axes, figure)
    else:
        _curves(axes, figure)


def _shown(text: str) -> str:
    return printable(text)


def _grid(axes: Axes, axis: Any) -> None:
    axes.grid(axis=axis, color="#e3e8ed", linewidth=0.8)
    axes.set_axisbelow(True)


def _bar(axes: Axes, mark: Mark, y: float, colour: str) -> None:
    if mark.low is not None and mark.high is not None:
        axes.plot([mark.low, mark.high], [y, y], color=colour, linewidth=2, zorder=2)


def _intervals(axes: Axes, figure: Intervals) -> None:
    labels: dict[str, Any] = {}
    for k, row in enumerate(figure.rows):
        if row.threshold is not None:
            labels["asked"] = axes.plot(
                [row.threshold] * 2, [k - 0.36, k + 0.36], color=INK, linewidth=2
            )[0]
        if row.floor is not None:
            labels["best degenerate user"] = axes.plot(
                row.floor, k, "x", color=SOFT, markersize=6, linestyle="none"
            )[0]
        if row.ceiling is not None:
            labels["perfect simulator at this n"] = axes.plot(
                row.ceiling, k, "D", markerfacecolor="white", markeredgecolor=INK, linestyle="none"
            )[0]
        if row.human is not None:
            _bar(axes, row.human, k, HUMAN)
            labels[_among(figure)] = axes.plot(
                row.human.value, k, "s", color=HUMAN, linestyle="none", zorder=3
            )[0]
        if row.own is not None:
            _bar(axes, row.own, k, OWN)
            labels["simulator with bounds"] = axes.plot(
                row.own.value, k, "o", color=OWN, linestyle="none", zorder=4
            )[0]
    axes.set_yticks(range(len(figure.rows)), [_shown(row.label) for row in figure.rows])
    axes.set_ylim(len(figure.rows) - 0.5, -0.5)
    axes.set_xlim(-1, 101)
    axes.set_xlabel(f"points (100 = like {figure.like})")
    _grid(axes, "x")
    _legend(axes, labels)


def _among(figure: Intervals) -> str:
    return figure.among or f"{figure.like}, batch against batch"


def _legend(axes: Axes, labels: dict[str, Any]) -> None:
    axes.legend(
        list(labels.values()),
        list(labels),
        fontsize=7,
        frameon=False,
        ncols=3,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.22),
    )


def _bars(axes: Axes, figure: Bars) -> None:
    place = range(len(figure.labels))
    axes.bar(
        [k - 0.2 for k in place], [100 * s for s in figure.human], 0.4, color=HUMAN,
        label=f"people, n = {figure.n_human:,}",
    )  # fmt: skip
    axes.bar(
        [k + 0.2 for k in place], [100 * s for s in figure.own], 0.4, color=OWN, hatch="///",
        edgecolor="white", label=f"{_shown(figure.name)}, n = {figure.n_own:,}",
    )  # fmt: skip
    axes.set_xticks(list(place), list(figure.labels), rotation=45, ha="right", fontsize=7)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("sessions, %")
    axes.set_xlabel(_shown(figure.unit))
    _grid(axes, "y")
    axes.legend(fontsize=8, frameon=False)


_ROOM, _TOP = 0.3, 0.9
"""Shares of the axes below and above which a label has no room at the left of, or over its dot."""


def _merged(label: str) -> str:
    """A bin made of neighbours by its ends: ``0.00-0.40`` of ``0.00-0.20 + 0.20-0.40``."""
    ends = [part.split("-") for part in label.split(" + ")]
    chain = all(len(e) == 2 for e in ends) and all(one[1] == two[0] for one, two in pairwise(ends))
    return f"{ends[0][0]}-{ends[-1][1]}" if chain else label


def _scatter(axes: Axes, figure: Scatter) -> None:
    axes.plot([0, 1], [0, 1], "--", color=SOFT, linewidth=1)
    for pair in figure.pairs:
        x, y = pair.human.value, pair.own.value
        if pair.human.low is not None and pair.human.high is not None:
            axes.plot([pair.human.low, pair.human.high], [y, y], color=HUMAN)
        if pair.own.low is not None and pair.own.high is not None:
            axes.plot([x, x], [pair.own.low, pair.own.high], color=OWN)
        axes.plot(x, y, "o", color=OWN, markersize=6)
        right = y < x or x < _ROOM
        axes.annotate(
            f"{_shown(_merged(pair.label))}\n{pair.tasks} tasks",
            (x, y),
            textcoords="offset points",
            xytext=(7 if right else -7, 6 if x <= y < _TOP else -16),
            ha="left" if right else "right",
            fontsize=6.5,
            color=SOFT,
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_xlabel("share of sessions with success, people")
    axes.set_ylabel("share of sessions with success, simulator")
    _grid(axes, "both")


def _curves(axes: Axes, figure: Curves) -> None:
    sides = (
        (figure.human, HUMAN, "s", "-", "people", -0.04),
        (figure.own, OWN, "o", "--", _shown(figure.name), 0.04),
    )
    for marks, colour, shape, dashes, name, shift in sides:
        known = [(k + shift, m) for k, m in zip(figure.ks, marks, strict=True) if m is not None]
        axes.plot(
            [k for k, _ in known], [m.value for _, m in known], color=colour, marker=shape,
            linestyle=dashes, label=name,
        )  # fmt: skip
        for k, mark in known:
            if mark.low is not None and mark.high is not None:
                axes.plot([k, k], [mark.low, mark.high], color=colour)
    axes.set_xticks(list(figure.ks))
    axes.set_ylim(0, 1)
    axes.set_xlabel("k trials")
    axes.set_ylabel("chance that all succeed")
    _grid(axes, "y")
    axes.legend(fontsize=8, frameon=False)
