"""Write docs/map.md and docs/figures/map.svg from the import graph.

Packages stand above what they import. An arrow is an import between two packages that does not
already follow from other arrows (the transitive reduction of the graph).
"""

from __future__ import annotations

import ast
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).with_name("map.md")
FIGURE = Path(__file__).parent / "figures" / "map.svg"

HEAD = """# A map of the code

<!-- made by docs/build_map.py from the import graph; do not edit -->

![Packages of usi, each above the packages that it imports](figures/map.svg)

Each box is a package (or a single module) of `usi`, above what it imports; an arrow is an import
that does not already follow from other arrows. `usi/pipeline.py` is the first file to read: it
goes from files to a scorecard.

## Where things are

To follow a number on the page to its code: [statistics](statistics.md) and
[all features](features.md) name, for each statistic and feature, the function or the counts behind
it; the docstring of that function holds formula, range and source. The tests of a package stand in
the folder of `tests/` that the table names.
"""

TESTS = {
    "loading": "tests/loading",
    "extraction": "tests/extraction",
    "scoring": "tests/scoring",
    "decisions": "tests/decisions",
    "diagnose": "tests/diagnose",
    "logs": "tests/logs",
    "corpora": "tests/corpora",
    "curation": "tests/corpora",
    "report": "tests/report",
    "simulate": "tests/simulate",
    "study": "tests/study_site",
    "phantom": "tests/phantom, tests/study",
    "provenance": "tests/provenance",
    "cli": "tests/e2e",
    "audit": "tests/audit",
    "api": "tests/api",
    "reasons": "tests/house",
    "options": "tests/house",
}


def packages() -> dict[str, set[str]]:
    """Each package or module directly below `usi`, with those that it imports."""
    graph = grimp.build_graph("usi")
    tops = sorted(name for name in graph.find_children("usi") if not name.startswith("usi._"))
    found: dict[str, set[str]] = {}
    for top in tops:
        inside = {top, *graph.find_descendants(top)}
        used = {
            name for module in inside for name in graph.find_modules_directly_imported_by(module)
        }
        found[top.removeprefix("usi.")] = {
            other.removeprefix("usi.")
            for other in tops
            if other != top and any(name == other or name.startswith(other + ".") for name in used)
        }
    return found


def heights(uses: dict[str, set[str]]) -> dict[str, int]:
    """How many packages stand below each one on the longest way down (0 for the lowest)."""
    done: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in done:
            done[name] = 1 + max((height(below) for below in uses[name]), default=-1)
        return done[name]

    for name in uses:
        height(name)
    return done


def reduced(uses: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Imports that do not follow from others."""

    def reach(name: str) -> set[str]:
        return {name}.union(*(reach(below) for below in uses[name]))

    return {
        (name, below)
        for name, used in uses.items()
        for below in used
        if not any(below in reach(other) for other in used - {below})
    }


def place(name: str) -> Path:
    """The package folder or the module file."""
    folder = ROOT / "usi" / name
    return folder if folder.is_dir() else folder.with_suffix(".py")


def says(path: Path) -> str:
    """First sentence of the docstring of a module or package."""
    file = path / "__init__.py" if path.is_dir() else path
    doc = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.split("\n\n")[0].split())


def files(name: str) -> list[Path]:
    """Modules of a package, without its own docstring."""
    path = place(name)
    if not path.is_dir():
        return []
    return sorted(
        found
        for found in path.rglob("*.py")
        if found.name != "__init__.py" and "service_desk" not in found.parts
    )


def figure(uses: dict[str, set[str]]) -> str:
    """The map as SVG."""
    level = heights(uses)
    rows: dict[int, list[str]] = {}
    for name in sorted(uses):
        rows.setdefault(level[name], []).append(name)
    top = max(rows)
    width, step, tall, wide = 900, 70, 36, 150
    at: dict[str, tuple[float, float]] = {}
    for height, names in rows.items():
        for i, name in enumerate(names):
            at[name] = (width * (i + 1) / (len(names) + 1), 30 + (top - height) * step)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top * step + 80}" '
        'font-family="sans-serif" font-size="13" role="img">',
        "<title>Packages of usi, each above the packages that it imports</title>",
        f'<rect width="{width}" height="{top * step + 80}" fill="#ffffff"/>',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
    ]
    for name, below in sorted(reduced(uses)):
        (x1, y1), (x2, y2) = at[name], at[below]
        out.append(
            f'<path d="M{x1:.0f} {y1 + tall / 2:.0f}C{x1:.0f} {y1 + step / 2:.0f} {x2:.0f} '
            f'{y2 - step / 2:.0f} {x2:.0f} {y2 - tall / 2:.0f}" fill="none" stroke="#99a" '
            'marker-end="url(#a)"/>'
        )
    for name, (x, y) in at.items():
        count = len(files(name))
        text = f"{name} · {count} files" if count else f"{name}.py"
        out.append(
            f'<rect x="{x - wide / 2:.0f}" y="{y - tall / 2:.0f}" width="{wide}" height="{tall}" '
            'rx="5" fill="#eef2f8" stroke="#456"/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" fill="#123">{escape(text)}'
            "</text>"
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def render() -> str:
    """The page."""
    uses = packages()
    level = heights(uses)
    lines = [HEAD, "| package | what it does | tests |", "|---|---|---|"]
    order = sorted(uses, key=lambda name: (-level[name], name))
    for name in order:
        path = f"usi/{name}" + ("/" if place(name).is_dir() else ".py")
        lines.append(f"| `{path}` | {says(place(name))} | {TESTS.get(name, '')} |")
    for name in order:
        inside = files(name)
        if not inside:
            continue
        lines += ["", f"## usi/{name}", "", "| file | what it holds |", "|---|---|"]
        lines += [
            f"| `{path.relative_to(ROOT / 'usi' / name).as_posix()}` | {says(path)} |"
            for path in inside
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    FIGURE.write_text(figure(packages()), encoding="utf-8")
