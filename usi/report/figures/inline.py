"""Figures as SVG inside the page.

Small SVG pieces: elements with presentation attributes only, since the page's policy refuses
inline styles; colours come from the page's classes, so they follow its theme.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from markupsafe import escape

from usi.report.figures.model import Bars, Curves, Figure, Intervals, Mark, Row, Scatter
from usi.report.text import printable

_ANCHORS = {"start": "", "middle": "m", "end": "e"}


def number(value: float) -> str:
    """A coordinate, at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line of a class."""
    return lines([(x1, y1, x2, y2)], kind)


def lines(ends: Iterable[tuple[float, float, float, float]], kind: str) -> str:
    """Straight lines of a class, as one element."""
    return f'<path class="{kind}" d="{"".join(_stroke(*one) for one in ends)}"/>'


def _stroke(x1: float, y1: float, x2: float, y2: float) -> str:
    a, b, c, d = map(number, (x1, y1, x2, y2))
    return f"M{a} {b}H{c}" if b == d else f"M{a} {b}V{d}" if a == c else f"M{a} {b}L{c} {d}"


def text(x: float, y: float, words: str, kind: str = "tick", anchor: str = "start") -> str:
    """A text; that of ticks needs no class but for its anchor (``m`` middle, ``e`` end)."""
    css = " ".join(filter(None, ("" if kind == "tick" else kind, _ANCHORS[anchor])))
    shown = escape(printable(words))
    own = f' class="{css}"' if css else ""
    return f'<text{own} x="{number(x)}" y="{number(y)}">{shown}</text>'


def circle(x: float, y: float, r: float, kind: str) -> str:
    """A circle of a class."""
    return f'<circle class="{kind}" cx="{number(x)}" cy="{number(y)}" r="{number(r)}"/>'


def square(x: float, y: float, r: float, kind: str) -> str:
    """A square of half-width r."""
    side = number(2 * r)
    return (
        f'<rect class="{kind}" x="{number(x - r)}" y="{number(y - r)}" '
        f'width="{side}" height="{side}"/>'
    )


def diamond(x: float, y: float, r: float, kind: str) -> str:
    """A square on its corner."""
    n = number
    return (
        f'<path class="{kind}" d="M{n(x)} {n(y - r)}L{n(x + r)} {n(y)}'
        f'L{n(x)} {n(y + r)}L{n(x - r)} {n(y)}Z"/>'
    )


def cross(x: float, y: float, r: float, kind: str) -> str:
    """Two crossing strokes."""
    n = number
    return (
        f'<path class="{kind}" d="M{n(x - r)} {n(y - r)}L{n(x + r)} {n(y + r)}'
        f'M{n(x - r)} {n(y + r)}L{n(x + r)} {n(y - r)}"/>'
    )


def whole(width: float, height: float, title: str, body: list[str], kind: str = "") -> str:
    """An image with its name for those who don't see it."""
    css = f"fig {kind}".strip()
    name = escape(printable(title))
    return (
        f'<svg class="{css}" role="img" aria-label="{name}" '
        f'viewBox="0 0 {number(width)} {number(height)}">{"".join(body)}</svg>'
    )


def column(x: float, y: float, width: float, height: float) -> str:
    """Part of a path: a bar that stands on y."""
    n = number
    return f"M{n(x)} {n(y)}v{n(-height)}h{n(width)}v{n(height)}z"


_LEFT, _RIGHT, _ROW = 98.0, 14.0, 24.0
_WIDE = 400.0
_LETTERS, _LETTER = 14, 6.6
"""Letters of a label that fit into the margin, and the width that each further one takes."""
Axis = Callable[[float], float]


def draw(figure: Figure) -> str:
    """SVG of a figure."""
    if isinstance(figure, Intervals):
        return intervals(figure)
    if isinstance(figure, Bars):
        return bars(figure)
    if isinstance(figure, Scatter):
        return scatter(figure)
    return curves(figure)


def intervals(figure: Intervals) -> str:
    """Rows of dots with intervals over the whole range of points."""
    bottom = 14 + _ROW * len(figure.rows)
    longest = max((len(row.label) for row in figure.rows), default=0)
    letters = max(_LETTERS, min(2 * _LETTERS, longest))
    left = _LEFT + _LETTER * (letters - _LETTERS)
    wide = _WIDE + left - _LEFT

    def x(points: float) -> float:
        return left + (wide - left - _RIGHT) * max(0.0, min(100.0, points)) / 100

    body = []
    ticks = range(0, 101, 20)
    body.append(lines([(x(tick), 8, x(tick), bottom) for tick in ticks], "grid"))
    body += [text(x(tick), bottom + 13, str(tick), "tick", "middle") for tick in ticks]
    body.append(text(x(50), bottom + 27, f"points (100 = like {figure.like})", "axis", "middle"))
    for k, row in enumerate(figure.rows):
        body.append(text(left - 10, _middle(k) + 4, *_label(row, letters), "end"))
        body += _row(row, _middle(k), x)
    return whole(wide, bottom + 33, figure.title, body, "wide")


def _middle(k: int) -> float:
    return 8 + _ROW * (k + 0.5)


def _label(row: Row, letters: int) -> tuple[str, str]:
    return _short(row.label, letters), "lab strong" if row.strong else "lab"


def _row(row: Row, y: float, x: Axis) -> list[str]:
    body = []
    if row.threshold is not None:
        body.append(line(x(row.threshold), y - 11, x(row.threshold), y + 11, "need"))
    if row.floor is not None:
        body.append(cross(x(row.floor), y, 3.2, "floor"))
    if row.ceiling is not None:
        body.append(diamond(x(row.ceiling), y, 5, "ceil"))
    if row.human is not None:
        body += _whisker(row.human, y, x, "hum")
        body.append(square(x(row.human.value), y, 4, "hum"))
    if row.own is None:
        if row.human is not None:
            return body
        body.append(text(x(0) + 6, y + 4, "not assessed", "tick"))
        return body
    body += _whisker(row.own, y, x, "sim")
    body.append(circle(x(row.own.value), y, 5.5 if row.strong else 4.5, "sim"))
    return body


def _whisker(mark: Mark, y: float, x: Axis, kind: str) -> list[str]:
    if mark.low is None or mark.high is None:
        return []
    return [line(x(mark.low), y, x(mark.high), y, f"bar-{kind}")]


def bars(figure: Bars) -> str:
    """Two bars a bin, shares from 0."""
    width, height, left, top, bottom = 300.0, 132.0, 40.0, 8.0, 34.0
    most = max(*figure.human, *figure.own, 0.05)
    full = min(1.0, math.ceil(most * 10) / 10)
    slot = (width - left - 4) / len(figure.labels)

    def y(share: float) -> float:
        return height - bottom - (height - bottom - top) * share / full

    ticks = (0.0, full / 2, full)
    body = [lines([(left, y(share), width - 4, y(share)) for share in ticks], "grid")]
    for share in ticks:
        body.append(text(left - 5, y(share) + 4, f"{100 * share:.0f} %", "tick", "end"))
    thick = slot * 0.4
    for shares, kind, shift in ((figure.human, "hum", -thick), (figure.own, "own", 0.0)):
        columns = [
            column(left + slot * (k + 0.5) + shift, y(0), thick, y(0) - y(share))
            for k, share in enumerate(shares)
            if share > 0
        ]
        body.append(f'<path class="{kind}" d="{"".join(columns)}"/>')
    shown = _ticks(len(figure.labels))
    for k in shown:
        at = left + slot * (k + 0.5)
        anchor = "end" if k == len(figure.labels) - 1 else "middle"
        at = width - 4 if anchor == "end" else at
        body.append(text(at, height - bottom + 14, figure.labels[k], "tick", anchor))
    body.append(text((left + width) / 2, height - 4, _short(figure.unit, 46), "axis", "middle"))
    return whole(width, height, figure.title, body)


def _ticks(bins: int) -> tuple[int, ...]:
    return (0, bins // 2, bins - 1) if bins > 3 else tuple(range(bins))


def scatter(figure: Scatter) -> str:
    """Success by bin of difficulty: people across, simulator up, equal on the diagonal."""
    size, left, bottom, top = 330.0, 46.0, 40.0, 10.0
    right = 24.0

    def x(share: float) -> float:
        return left + (size - left - right) * share

    def y(share: float) -> float:
        return size - bottom - (size - bottom - top) * share

    ticks = (0, 0.25, 0.5, 0.75, 1)
    grid = [(x(tick), y(0), x(tick), y(1)) for tick in ticks]
    body = [lines([*grid, *((x(0), y(tick), x(1), y(tick)) for tick in ticks)], "grid")]
    for tick in ticks:
        label = f"{100 * tick:.0f} %"
        body.append(text(x(tick), y(0) + 14, label, "tick", "middle"))
        body.append(text(x(0) - 5, y(tick) + 4, label, "tick", "end"))
    body.append(line(x(0), y(0), x(1), y(1), "diag"))
    body.append(text(x(0.04), y(0.93), "easier with the simulator", "tick"))
    body.append(text(x(0.98), y(0.04), "harder", "tick", "end"))
    for pair in figure.pairs:
        px, py = x(pair.human.value), y(pair.own.value)
        if pair.human.low is not None and pair.human.high is not None:
            body.append(line(x(pair.human.low), py, x(pair.human.high), py, "bar-hum"))
        if pair.own.low is not None and pair.own.high is not None:
            body.append(line(px, y(pair.own.low), px, y(pair.own.high), "bar-sim"))
        radius = 3 + 1.2 * math.sqrt(pair.tasks) / 2
        body.append(circle(px, py, radius, "sim"))
        low = py + radius + 11 < y(0)
        body.append(text(px + radius + 2, py + (radius + 9 if low else -radius), f"n {pair.tasks}"))
    body.append(text((x(0) + x(1)) / 2, size - 8, "success with people", "axis", "middle"))
    body.append(
        f'<text class="axis m" transform="rotate(-90 11 {number(y(0.5))})" '
        f'x="11" y="{number(y(0.5))}">success with simulator</text>'
    )
    return whole(size, size, figure.title, body, "mid")


def curves(figure: Curves) -> str:
    """pass^k over k for both sides."""
    width, height, left, bottom, top = 330.0, 210.0, 46.0, 38.0, 10.0
    steps = max(1, len(figure.ks) - 1)

    def x(k: int) -> float:
        return left + 24 + (width - left - 48) * k / steps

    def y(share: float) -> float:
        return height - bottom - (height - bottom - top) * share

    ticks = (0, 0.25, 0.5, 0.75, 1)
    body = [lines([(left, y(tick), width - 8, y(tick)) for tick in ticks], "grid")]
    for tick in ticks:
        body.append(text(left - 5, y(tick) + 4, f"{100 * tick:.0f} %", "tick", "end"))
    for k, value in enumerate(figure.ks):
        body.append(text(x(k), height - bottom + 14, f"k = {value}", "tick", "middle"))
    for marks, kind, shift in ((figure.human, "hum", -5.0), (figure.own, "sim", 5.0)):
        body += _curve(marks, kind, [x(k) + shift for k in range(len(figure.ks))], y)
    body.append(text(width / 2, height - 6, "trials that all succeed", "axis", "middle"))
    return whole(width, height, figure.title, body, "mid")


def _curve(marks: tuple[Mark | None, ...], kind: str, xs: list[float], y: Axis) -> list[str]:
    known = [(px, m) for px, m in zip(xs, marks, strict=True) if m is not None]
    path = "L".join(f"{number(px)} {number(y(m.value))}" for px, m in known)
    body = [f'<path class="line-{kind}" d="M{path}"/>'] if len(known) > 1 else []
    for px, mark in known:
        if mark.low is not None and mark.high is not None:
            body.append(line(px, y(mark.low), px, y(mark.high), f"bar-{kind}"))
        shape = square if kind == "hum" else circle
        body.append(shape(px, y(mark.value), 4, kind))
    return body


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
