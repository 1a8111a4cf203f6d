"""The page in Chromium: quiet, offline, no sideways scroll, working controls, accessible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report.html.look import look
from report.html.made import Made

OPEN_ALL = "for (const d of document.querySelectorAll('details')) d.open = true;"
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize("width", [375, 768, 1280])
def test_quiet_offline_and_never_wider_than_the_window(made: Made, width: int) -> None:
    seen = look(made.page, width=width, script=f"{OPEN_ALL} document.documentElement.scrollWidth")
    assert seen["console"] == []
    assert seen["requests"] == [made.page.as_uri()]
    assert seen["inner"] == width
    assert seen["scroll"] <= width
    assert seen["result"] <= width


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 375)])
def test_axe_finds_no_serious_violation(made: Made, scheme: str, width: int) -> None:
    seen = look(made.page, scheme=scheme, width=width, axe=True, script=OPEN_ALL)
    assert [v for v in seen["violations"] if v["impact"] in SERIOUS] == []
    assert seen["rules"] > 20


def test_axe_would_notice(made: Made, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    # The policy refuses a style sheet of another hash, so the hash goes, too.
    text = made.html().replace("--soft: #4d5966", "--soft: #dddddd")
    text = text.replace("style-src 'sha256-", "style-src 'unsafe-inline' 'x-")
    page.write_text(text, encoding="utf-8")
    seen = look(page, axe=True)
    assert "color-contrast" in [v["id"] for v in seen["violations"]]


def test_the_theme_switches_and_says_so(made: Made) -> None:
    script = """(() => {
      const button = document.getElementById('theme');
      const look = () => [getComputedStyle(document.body).backgroundColor,
        button.getAttribute('aria-pressed'), button.textContent.trim()];
      const before = look(); button.click(); const after = look(); button.click();
      return [before, after, look()];
    })()"""
    before, after, again = look(made.page, script=script)["result"]
    assert before == again == ["rgb(255, 255, 255)", "false", "Dark theme"]
    assert after == ["rgb(15, 20, 25)", "true", "Light theme"]
    dark = look(made.page, scheme="dark", script=script)["result"][0]
    assert dark == after


def test_on_paper_it_is_light_whole_and_no_wider_than_a_sheet(made: Made) -> None:
    script = """(() => {
      document.documentElement.dataset.theme = 'dark';
      const wide = [...document.querySelectorAll('table')]
        .filter((t) => t.getBoundingClientRect().right > innerWidth + 1).map((t) => t.id);
      return [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector('.badge')).color,
        document.querySelectorAll('details:not([open])').length, wide];
    })()"""
    seen = look(made.page, width=794, scheme="dark", media="print", script=script)
    paper, badge, closed, wide = seen["result"]
    assert paper == "rgb(255, 255, 255)"
    assert badge in ("rgb(11, 107, 60)", "rgb(169, 35, 24)", "rgb(122, 79, 0)")
    assert closed == 0
    assert wide == []


def test_tables_sort_by_number_and_keep_people_first(made: Made) -> None:
    script = """(() => {
      const table = document.querySelector('#summary table');
      const names = () => [...table.tBodies[0].rows].map((r) => r.cells[0].textContent.trim());
      const head = table.tHead.rows[0].cells[2];
      const seen = [names()];
      head.querySelector('button').click(); seen.push(names(), head.getAttribute('aria-sort'));
      head.querySelector('button').click(); seen.push(names(), head.getAttribute('aria-sort'));
      return seen;
    })()"""
    start, up, one, down, two = look(made.page, script=script)["result"]
    card = json.loads(made.card.read_text())
    value = {s["name"]: s["index"]["value"] for s in card["simulators"]}
    people, *best = start
    assert people == card["human"]["name"]
    assert best == sorted(value, key=lambda name: -value[name])
    assert (up, one) == ([people, *reversed(best)], "ascending")
    assert (down, two) == ([people, *best], "descending")


def test_filtering_leaves_what_fits(made: Made) -> None:
    script = """(() => {
      const input = document.querySelector('.filter input');
      const rows = [...document.getElementById(input.dataset.table).tBodies[0].rows];
      input.value = 'courtesy'; input.dispatchEvent(new Event('input'));
      const left = rows.filter((r) => !r.hidden).map((r) => r.cells[0].textContent);
      input.value = ''; input.dispatchEvent(new Event('input'));
      return [left, rows.length, rows.filter((r) => !r.hidden).length];
    })()"""
    left, every, after = look(made.page, script=script)["result"]
    assert len(left) == 1
    assert left[0].startswith("politeness")
    assert every == after > 10


def test_a_link_opens_what_it_leads_to_and_controls_take_the_keyboard(made: Made) -> None:
    script = """(async () => {
      const part = document.querySelector('details.part:not([open])');
      part.querySelector('div, p, ol').id = 'inside';
      location.hash = '#inside';
      await new Promise((done) => setTimeout(done, 200));
      const heads = [...document.querySelectorAll('th .sort')];
      heads[0].focus();
      return [part.open, document.activeElement === heads[0],
        [...document.querySelectorAll('.scroll')].every((s) => s.tabIndex === 0)];
    })()"""
    assert look(made.page, script=script)["result"] == [True, True, True]


def test_without_its_hash_the_script_does_not_run(made: Made, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(made.html().replace("</main>", "<script>document.title='run'</script></main>"),
                    encoding="utf-8")  # fmt: skip
    seen = look(page, script="document.title")
    assert "run" not in seen["result"]
    assert any("Content Security Policy" in line for line in seen["console"])
