"""Small SVG pieces: elements with presentation attributes only, since the page's policy refuses
inline styles; colours come from the page's classes, so they follow its theme."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import escape

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


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A rectangle of a class."""
    n = number
    return f'<rect class="{kind}" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}"/>'


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
