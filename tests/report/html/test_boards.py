"""Leaderboard and comparison under the same rules as the report: numbers, places, axe-core."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command import usi
from report.boards import comparison, rankings
from report.html.look import look
from report.html.made import Made
from report.html.test_numbers import loose, wrong
from report.html.walk import read

from usi.report import comparison_page as leaderboard_compare
from usi.report import leaderboard
from usi.report.as_json import plain

SERIOUS = ("serious", "critical")
HANDMADE = {
    "rank": (leaderboard.render(rankings()), {"r": plain(rankings())}),
    "compare": (leaderboard_compare.render(comparison()), {"m": plain(comparison())}),
}
KINDS = pytest.mark.parametrize("kind", sorted(HANDMADE))


@pytest.fixture(scope="module")
def pages(made: Made) -> dict[str, Path]:
    """Both pages as the command line writes them, each with its JSON beside it."""
    again = made.folder / "again.json"
    done = usi(
        "score", made.files.simulators["polite"], "--human", made.files.human, "--name", "polite",
        "--profile", "robust", "--replicates", "200", "--print", "none", "-o", again,
    )  # fmt: skip
    assert done.code == 0, done.err
    found = {kind: made.folder / f"{kind}.html" for kind in HANDMADE}
    for verb, page, more in (
        ("rank", found["rank"], (made.card,)),
        ("compare", found["compare"], (made.card, again, "--simulator", "polite")),
    ):
        done = usi(verb, *more, "-o", page, "-o", page.with_suffix(".json"), "--print", "none")
        assert done.code == 0, done.err
    return found


@KINDS
def test_every_number_of_a_page_is_in_the_json(kind: str) -> None:
    html, files = HANDMADE[kind]
    page = read(html)
    assert len(page.claims) > 25
    assert {pointer[0] for _, pointer, _ in page.claims} == set(files)
    hostile = [claim for claim in wrong(page, files) if claim[0] != "s"]
    assert hostile == []


@KINDS
def test_every_number_of_a_written_page_is_in_the_file_beside_it(
    kind: str, pages: dict[str, Path]
) -> None:
    page = read(pages[kind].read_text(encoding="utf-8"))
    letter = {"rank": "r", "compare": "m"}[kind]
    files = {letter: json.loads(pages[kind].with_suffix(".json").read_text())}
    assert len(page.claims) > 25
    assert {pointer[0] for _, pointer, _ in page.claims} == {letter}
    assert wrong(page, files) == []


FIXED = {
    "compare": r"A\.json B\.json|1\.645|90 %|written by usi [\d.]+",
    "rank": r"Wilhelm 2024|Ranking 1|written by usi [\d.]+",
}
"""Names and constants of these pages: files, a quantile, its confidence, a paper, the version."""


@KINDS
def test_no_number_of_a_page_stands_there_without_its_place(
    kind: str, pages: dict[str, Path]
) -> None:
    found = loose(read(pages[kind].read_text(encoding="utf-8")))
    rows = json.loads(pages[kind].with_suffix(".json").read_text()).get("differences", ())
    names = {row["name"].replace("_", " ") for row in rows}  # such as outcome 0.00-0.60
    found = [text for text in found if text not in names]
    assert [text for text in found if re.search(r"\d", re.sub(FIXED[kind], "", text))] == []


@KINDS
def test_the_walk_notices_wrong_numbers_of_a_page(kind: str) -> None:
    html, files = HANDMADE[kind]
    codes = {code for code, _, text in read(html).claims if re.search(r"\d", text)} - {"s"}
    assert len(codes) >= 2
    for code in codes:
        place = re.compile(rf'(data-p="{re.escape(code)} [^"]*"[^>]*>)([^<]*?)(\d)')
        bad, count = place.subn(lambda m: f"{m[1]}{m[2]}{(int(m[3]) + 1) % 10}", html, count=1)
        assert count == 1, code
        assert code in [claim[0] for claim in wrong(read(bad), files)]


@KINDS
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 375)])
def test_axe_finds_no_serious_violation_on_a_page(
    kind: str, scheme: str, width: int, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(HANDMADE[kind][0], encoding="utf-8")
    seen = look(page, scheme=scheme, width=width, axe=True)
    assert [v for v in seen["violations"] if v["impact"] in SERIOUS] == []
    assert seen["rules"] > 20
    assert seen["console"] == []
    assert seen["requests"] == [page.as_uri()]
