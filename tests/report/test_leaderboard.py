"""The leaderboard and the comparison: what their pages say, and as a browser sees them."""

from __future__ import annotations

import json
import re
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import browser
import pytest
from report.boards import comparison, rankings
from report.cards import HOSTILE

from usi.decisions.compare import judged
from usi.report import comparison_page as leaderboard_compare
from usi.report import leaderboard
from usi.report.comparison_tables import ranking_tables
from usi.report.tables import to_markdown

PAGES = {
    "rank": lambda: leaderboard.render(rankings()),
    "compare": lambda: leaderboard_compare.render(comparison()),
}
BOTH = pytest.mark.parametrize("kind", sorted(PAGES))

PROBE = """<!doctype html><iframe id="page" width="{width}" height="900" style="border:0"
srcdoc="{page}"></iframe><script>
const page = document.getElementById("page");
page.onload = () => {{
  const inside = page.contentDocument, view = page.contentWindow;
  const names = (table) => [...table.tBodies[0].rows].map((row) => row.cells[0].innerText);
  const seen = {{ inner: view.innerWidth, scroll: inside.documentElement.scrollWidth,
    scripts: inside.scripts.length, images: inside.images.length,
    handlers: inside.querySelectorAll("main script, main iframe, main img").length,
    loaded: view.performance.getEntriesByType("resource").map((entry) => entry.name),
    orders: [] }};
  const table = inside.querySelector("table.sortable");
  const press = (at) => table.tHead.rows[0].cells[at].querySelector("button").click();
  seen.orders.push(names(table));
  for (const at of {presses}) {{ press(at); seen.orders.push(names(table)); }}
  const paper = () => view.getComputedStyle(inside.body).backgroundColor;
  seen.before = paper();
  inside.getElementById("theme").click();
  seen.after = paper();
  const box = inside.querySelector(".filter input");
  if (box) {{
    box.value = "dash";
    box.dispatchEvent(new view.Event("input"));
    seen.filtered = [...inside.querySelectorAll("#feature-table tbody tr:not([hidden])")].length;
  }}
  document.body.setAttribute("data-seen", JSON.stringify(seen));
}};
</script>"""


def look(html: str, tmp_path: Path, width: int, presses: tuple[int, ...] = ()) -> dict[str, Any]:
    """Lay a page out under its own policy, press headings, and look at it from outside."""
    path = tmp_path / "frame.html"
    path.write_text(
        PROBE.format(width=width, page=escape(html), presses=list(presses)), encoding="utf-8"
    )
    dom = browser.run(path, tmp_path, "--window-size=1400,1000", "--dump-dom")
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found, "the probe did not run"
    seen: dict[str, Any] = json.loads(unescape(found[1]))
    return seen


def console(html: str, tmp_path: Path) -> list[str]:
    """What the browser's console says when the page itself is opened."""
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    done = subprocess.run(
        [browser.browser(), *browser._FLAGS, f"--user-data-dir={tmp_path / 'own'}",
         "--enable-logging=stderr", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def text_of(html: str) -> str:
    """The page as running text."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", body)))


@BOTH
@pytest.mark.parametrize("width", [375, 768, 1280])
def test_the_page_never_scrolls_sideways_and_asks_for_nothing(
    kind: str, width: int, tmp_path: Path
) -> None:
    seen = look(PAGES[kind](), tmp_path, width)
    assert seen["inner"] == width
    assert seen["scroll"] <= width
    assert seen["loaded"] == []
    assert seen["scripts"] == 1
    assert seen["handlers"] == seen["images"] == 0
    assert seen["before"] != seen["after"]


@BOTH
def test_the_console_stays_empty_and_would_not(kind: str, tmp_path: Path) -> None:
    html = PAGES[kind]()
    assert console(html, tmp_path) == []
    (tmp_path / "broken").mkdir()
    broken = html.replace("</main>", "<script>alert(1)</script></main>")
    assert any("Content Security Policy" in line for line in console(broken, tmp_path / "broken"))


def test_headings_sort_and_people_stay_on_top(tmp_path: Path) -> None:
    html = leaderboard.render(rankings("alpha"))
    seen = look(html, tmp_path, 1280, presses=(3, 3, 7))
    orders = [[name.split("\n")[0] for name in order] for order in seen["orders"]]
    assert orders == [
        ["people", "alpha", "b/two~", "third"],
        ["people", "third", "b/two~", "alpha"],  # USI-R, rising
        ["people", "alpha", "b/two~", "third"],  # falling
        ["people", "b/two~", "third", "alpha"],  # conversation: 9.5, 20.5, 90.5
    ]


def test_features_of_a_comparison_are_filtered(tmp_path: Path) -> None:
    assert look(PAGES["compare"](), tmp_path, 1280)["filtered"] == 1


@BOTH
def test_nothing_foreign_is_markup(kind: str) -> None:
    html = PAGES[kind]()
    assert HOSTILE[:8] not in html.partition("<main")[2].partition("</main>")[0]
    assert "&lt;script&gt;alert(1)" in html
    assert "default-src 'none'" in html
    main = html.partition("<main")[2].partition("</main>")[0]
    assert not re.findall(r"""\s(?:src|style|on[a-z]+)=""", main)
    assert not re.findall(r"""\shref=(?!"#)""", main)


def test_the_leaderboard_says_ties_intervals_and_admissions() -> None:
    text = text_of(leaderboard.render(rankings("alpha")))
    assert "Several that can’t be ordered" in text
    assert "alpha, b/two~: their differences are within noise" in text
    assert "91.2 [88.0, 95.7]" in text
    assert "1–2" in text
    assert "Which of them may enter? alpha Admission records" in text
    assert "expires" in text
    assert "2027-01-30" in text
    assert "Expiry counts to 2026-12-01" in text
    assert "SYNTHETIC DATA" in text
    assert "old.json" in text


def test_an_expired_admission_is_no_pass_at_a_glance() -> None:
    html = leaderboard.render(rankings("alpha", expired=True))
    assert "Which of them may enter? None: nobody passed a gate" in text_of(html)
    assert "Passed once, and expired: alpha." in text_of(html)
    table = html.partition('<table class="sortable pin wide fit">')[2].partition("</table>")[0]
    assert 'class="badge PASS"' not in table
    assert "tier B</span>, expired" in table


def test_the_comparison_tells_change_from_noise() -> None:
    text = text_of(leaderboard_compare.render(comparison(b="new")))
    assert "Yes, and it is more than noise." in text
    assert "+5.0 [+3.4, +6.6]" in text
    better = text.partition("What got better")[2].partition("What got worse")[0]
    worse = text.partition("What got worse")[2].partition("Differences")[0]
    assert "conversation" in better
    assert "outcome" not in better
    assert "short turn" in worse
    assert "dash" not in worse
    assert "about one in ten would still look changed" in text


def test_without_bounds_nothing_is_called_a_change() -> None:
    text = text_of(leaderboard_compare.render(comparison(b="new", se=None)))
    assert "these numbers have no bounds" in text
    assert "▲" not in text
    assert "▼" not in text


@pytest.mark.parametrize(
    ("value", "se", "wanted"), [(0.5, 0.5, 2.0), (5.0, 1.0, 10.0), (60.0, 10.0, 100.0)]
)
def test_the_axis_of_differences_is_even_and_wide_enough(
    value: float, se: float, wanted: float
) -> None:
    # 0.5 + 1.645 x 0.5 = 1.3; 5 + 1.645 = 6.6; 60 + 16.4 = 76.4
    row = judged("index", "index", 10.0, 10.0 + value, se)
    assert leaderboard_compare.reach([row]) == wanted


def test_the_markdown_has_the_admissions() -> None:
    text = to_markdown(ranking_tables(rankings("alpha")))
    assert "## Admission records" in text
    assert "| alpha | PASS | tier B | 2026-10-31 | 2027-01-30 |" in text
    assert text.index("people") < text.index("alpha")
    assert "<script>" not in to_markdown(ranking_tables(rankings()))
