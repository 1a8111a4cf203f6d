"""Sphinx: the Markdown pages of this folder as a site, with signatures from the code.

The pages are written to be read as plain Markdown, too. So what only Sphinx understands (tables of
contents, signatures) is put below them here, while they are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from usi import __version__

project = "usi"
author = "the usi authors"
project_copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
root_doc = "index"
language = "en"
nitpicky = False

myst_heading_anchors = 3
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"

html_theme = "furo"
html_title = f"usi {__version__}"
html_show_copyright = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

CONTENTS = {
    "Start": (
        "fidelity",
        "tutorial-phantom",
        "tutorial-tau-bench",
        "tutorial-csv",
        "tutorial-pipeline",
    ),
    "Reference": (
        "commands",
        "settings",
        "gate",
        "features",
        "metric-robust",
        "metric-tau-usi",
        "statistics",
        "scorecard",
        "report",
        "formats",
        "own-format",
        "corpora",
        "simulators",
        "languages",
        "api",
    ),
    "More": ("phantom", "real-data", "gallery", "limits", "map"),
}

API = {
    "The road": (
        *(
            ("function", f"usi.api.{name}")
            for name in ("load", "features", "score", "gate", "compare", "rank", "plan")
        ),
    ),
    "Records": (
        ("class", "usi.records.Session"),
        ("class", "usi.records.Turn"),
        ("class", "usi.records.Outcome"),
        ("class", "usi.records.SurveyAnswer"),
        ("class", "usi.estimate.Estimate"),
        ("class", "usi.extraction.spec.FeatureSpec"),
        ("class", "usi.extraction.table.SessionTable"),
        ("class", "usi.scoring.scorecard.Scorecard"),
    ),
    "Gate": (
        ("function", "usi.decisions.decide.gate_scorecard"),
        ("function", "usi.decisions.criteria.tier"),
        ("function", "usi.decisions.criteria.load_criteria"),
        ("class", "usi.decisions.verdict.Verdict"),
        ("function", "usi.decisions.tables.compare_files"),
        ("function", "usi.decisions.tables.rank_files"),
        ("class", "usi.decisions.admission.Admission"),
    ),
    "Reports": (
        ("function", "usi.report.html.page.render"),
        ("function", "usi.report.leaderboard.render"),
        ("function", "usi.report.comparison_page.render"),
    ),
    "Populations": (("function", "usi.phantom.build.build_phantom"),),
    "Errors": (
        ("exception", "usi.errors.UsiError"),
        ("exception", "usi.errors.InputError"),
        ("exception", "usi.errors.NotScorable"),
        ("exception", "usi.errors.UsageError"),
    ),
}


def pages() -> list[str]:
    """Every page but the first one."""
    return sorted(p.stem for p in Path(__file__).parent.glob("*.md") if p.stem != "index")


def contents() -> str:
    """Tables of contents; a page that no part names stands in the last one."""
    named = {name for part in CONTENTS.values() for name in part}
    rest = [page for page in pages() if page not in named]
    text = ""
    for caption, names in CONTENTS.items():
        more = rest if caption == "More" else []
        lines = "\n".join((*names, *more))
        text += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"
    return text


def signatures() -> str:
    """What autodoc says of the stable functions and classes."""
    text = "\n## Signatures\n"
    for title, entries in API.items():
        text += f"\n### {title}\n\n```{{eval-rst}}\n"
        for kind, name in entries:
            text += f".. auto{kind}:: {name}\n\n"
        text += "```\n"
    return text


def add(_app: Any, name: str, source: list[str]) -> None:
    """Put below a page what only Sphinx understands."""
    if name == "index":
        source[0] += contents()
    elif name == "api":
        source[0] += signatures()


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", add)
    return {"parallel_read_safe": True}
