"""The page as a browser sees it."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import browser
import pytest
from report.cards import HOSTILE, card, simulator

from usi.report import page

PROBE = (
    "<script>addEventListener('load', () => document.body.setAttribute('data-seen', JSON.stringify("
    "[innerWidth, document.documentElement.scrollWidth, document.scripts.length,"
    " getComputedStyle(document.querySelector('thead th')).backgroundColor,"
    " document.querySelectorAll('tbody th').length])))</script>"
)


def probe(html: str, tmp_path: Path, width: int) -> list[object]:
    """Read the laid-out page; the probe replaces the policy, which would forbid it."""
    import json
    from html import unescape

    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    path = tmp_path / "probed.html"
    path.write_text(html.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text("")
    dom = browser.run(path, tmp_path, f"--window-size={width},900", "--dump-dom")
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found, "the probe did not run"
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize("width", [500, 768, 1280])
def test_the_page_itself_never_scrolls_sideways(tmp_path: Path, width: int) -> None:
    text = page.render(card(simulator("a", 70.0), simulator("n" * 200, 60.0), synthetic=True))
    inner, scroll, *_ = probe(text, tmp_path, width)
    assert inner == width
    assert scroll <= inner


def test_the_style_sheet_passes_its_own_policy(tmp_path: Path) -> None:
    """A wrong hash would leave the page without style: then the banner has no border."""
    path = tmp_path / "page.html"
    text = page.render(card(simulator("a", 70.0), synthetic=True))
    path.write_text(text, encoding="utf-8")
    styled = screenshot(path, tmp_path)
    path.write_text(text.replace("'sha256-", "'sha256-x"), encoding="utf-8")
    assert screenshot(path, tmp_path) != styled


def screenshot(path: Path, tmp_path: Path, width: int = 800) -> bytes:
    shot = tmp_path / "shot.png"
    browser.run(path, tmp_path, f"--window-size={width},900", f"--screenshot={shot}")
    data = shot.read_bytes()
    assert struct.unpack(">II", data[16:24]) == (width, 900)
    return data


def test_hostile_names_stay_text_in_the_browser(tmp_path: Path) -> None:
    *_, scripts, _, rows = probe(page.render(card(simulator(HOSTILE, 50.0))), tmp_path, 800)
    assert scripts == 1  # the probe alone
    plain = probe(page.render(card(simulator("plain", 50.0))), tmp_path, 800)
    assert rows == plain[-1]


def test_the_page_needs_nothing_from_anywhere() -> None:
    text = page.render(card(simulator(HOSTILE, 50.0)))
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href|action|url)\s*[=(]""", text)
    assert not re.findall(r"""\sstyle=|\son[a-z]+=""", text)
