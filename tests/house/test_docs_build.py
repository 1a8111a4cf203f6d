"""The pages build as a site without a warning, are made from their data, and reach each other."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from helpers import ROOT

from usi.extraction.profile import LOG_PROFILES, PROFILES, get_specs

DOCS = ROOT / "docs"
PAGES = sorted(path.stem for path in DOCS.glob("*.md"))


def builder(name: str) -> ModuleType:
    """A script of the folder docs as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html",
         "-d", str(folder / "trees"), str(DOCS), str(folder / "html")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
    return folder / "html"


def test_every_page_is_built_and_stands_in_the_contents(site: Path) -> None:
    start = (site / "index.html").read_text(encoding="utf-8")
    side = start.partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    for name in PAGES:
        assert (site / f"{name}.html").is_file()
        if name != "index":
            assert f'href="{name}.html"' in side


def test_the_interface_page_holds_signatures(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    for name in ("usi.api.score", "usi.decisions.tables.rank_files", "usi.errors.UsiError"):
        assert f'id="{name}"' in text


def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    loads = re.compile(
        r"""<(?:script|img|iframe)[^>]*\ssrc="(?:https?:)?//"""
        r"""|<link[^>]*\srel="(?:stylesheet|preconnect)"[^>]*href="(?:https?:)?//"""
    )
    assert loads.search('<script src="https://x.y/z.js">')
    assert loads.search('<link href="a" rel="stylesheet" href="//x.y/z.css">')
    for path in site.glob("*.html"):
        assert not loads.search(path.read_text(encoding="utf-8")), path.name


def test_links_between_the_plain_pages_lead_somewhere() -> None:
    for name in PAGES:
        for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page(name)):
            assert (DOCS / target).exists(), f"{name}.md: {target}"


def test_the_first_page_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([a-z-]+)\.md\)", page("index")))
    assert linked >= set(PAGES) - {"index"}


def test_plain_pages_hold_nothing_that_only_sphinx_understands() -> None:
    for name in PAGES:
        assert not re.search(r"^(?:```|:::)\{", page(name), re.MULTILINE), name


@pytest.mark.parametrize("name", ["features", "gallery", "map"])
def test_made_pages_are_as_their_builders_make_them(name: str) -> None:
    assert page(name) == builder(f"build_{name}").render(), f"run: python docs/build_{name}.py"


def test_the_map_is_drawn_from_the_import_graph() -> None:
    made = builder("build_map")
    assert made.FIGURE.read_text(encoding="utf-8") == made.figure(made.packages())


def test_the_features_page_names_every_feature() -> None:
    for profile in (*PROFILES, *LOG_PROFILES):
        for spec in get_specs(profile):
            assert f"| {spec.name} | {spec.dimension} |" in page("features")


def test_published_rows_are_whole_and_their_means_hold() -> None:
    """Where all six terms of a row are known, the printed index is their mean."""
    sources = tomllib.loads((DOCS / "published.toml").read_text(encoding="utf-8"))["source"]
    checked = 0
    for source in sources:
        columns = source["columns"]
        for row in source["rows"]:
            assert len(row) == len(columns) + 1
            terms = [name for name in columns if name in ("D1", "D2", "D3", "D4", "Eval", "ECE")]
            index = next((name for name in columns if name.startswith("USI")), None)
            cells = dict(zip(columns, row[1:], strict=True))
            if index is None or len(terms) < 5 or not all(cells[n] for n in (*terms, index)):
                continue
            values = {n: float(cells[n].partition("±")[0]) for n in (*terms, index)}
            points = [100 * (1 - values[n]) if n == "ECE" else values[n] for n in terms]
            assert values[index] == pytest.approx(sum(points) / len(points), abs=0.1), row[0]
            checked += 1
    assert checked > 15


def test_every_published_value_has_a_source_and_the_page_a_caution() -> None:
    sources = tomllib.loads((DOCS / "published.toml").read_text(encoding="utf-8"))["source"]
    for source in sources:
        assert f"## {source['title']}" in page("gallery")
        assert source["protocol"] in page("gallery")
    assert "Caution: these are values of other protocols" in page("gallery")
