"""The page as a browser sees it."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import browser
import pytest
from report.cards import HOSTILE, card, simulator

from usi.report import page

PROBE = """<!doctype html><iframe id="page" width="{width}" height="900" style="border:0"
srcdoc="{page}"></iframe><script>
const page = document.getElementById("page");
page.onload = () => {{
  const inside = page.contentDocument;
  const seen = {{
    inner: page.contentWindow.innerWidth,
    scroll: inside.documentElement.scrollWidth,
    scripts: inside.scripts.length,
    rows: inside.querySelectorAll("tbody th").length,
    sheets: inside.styleSheets.length,
    padding: page.contentWindow.getComputedStyle(inside.querySelector("td")).paddingTop,
  }};
  document.body.setAttribute("data-seen", JSON.stringify(seen));
}};
</script>"""


def probe(html: str, tmp_path: Path, width: int) -> dict[str, Any]:
    """Lay the page out at a width, under its own policy, and look at it from outside."""
    path = tmp_path / "frame.html"
    path.write_text(PROBE.format(width=width, page=escape(html)), encoding="utf-8")
    dom = browser.run(path, tmp_path, "--window-size=1400,1000", "--dump-dom")
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found, "the probe did not run"
    seen: dict[str, Any] = json.loads(unescape(found[1]))
    return seen


@pytest.mark.parametrize("width", [375, 768, 1280])
def test_the_page_itself_never_scrolls_sideways(tmp_path: Path, width: int) -> None:
    text = page.render(card(simulator("a", 70.0), simulator("n" * 200, 60.0), synthetic=True))
    seen = probe(text, tmp_path, width)
    assert seen["inner"] == width
    assert seen["scroll"] <= width


def test_the_style_sheet_passes_its_own_policy(tmp_path: Path) -> None:
    text = page.render(card(simulator("a", 70.0)))
    assert probe(text, tmp_path, 800)["padding"] != "1px"  # the browser's own
    broken = text.replace("'sha256-", "'sha256-x")
    assert probe(broken, tmp_path, 800)["padding"] == "1px"


def test_hostile_names_stay_text_in_the_browser(tmp_path: Path) -> None:
    hostile = probe(page.render(card(simulator(HOSTILE, 50.0))), tmp_path, 800)
    plain = probe(page.render(card(simulator("plain", 50.0))), tmp_path, 800)
    assert hostile["scripts"] == 0
    assert hostile["rows"] == plain["rows"]


def test_the_page_needs_nothing_from_anywhere() -> None:
    text = page.render(card(simulator(HOSTILE, 50.0)))
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href|action|url)\s*[=(]""", text)
    assert not re.findall(r"""\sstyle=|\son[a-z]+=""", text)
