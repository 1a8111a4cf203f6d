"""Every number on the page is in the JSON: the page is walked and each one looked up."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from command import usi
from report.html.made import Made
from report.html.walk import Page, at, read

from usi.extraction.profile import get_specs

MINUS = "\u2212"


def expected(value: Any, code: str) -> str:
    """How a value is written, by rules of this test alone."""
    if value is None:
        return "–"
    if code == "s":
        return str(value)
    if code == "y":
        return {True: "yes", False: "no"}[value]
    if code in ("m", "n"):
        return f"{value['amount'] - value['now'] if code == 'm' else len(value):,}"
    digits = {"%": 1, "pp": 1, "pu": 1, "i": 0}.get(code)
    scaled = value * 100 if code in ("%", "pp", "pu") else value
    if code == "p":
        return "< 0.001" if value < 0.001 else format(value, ".3f")
    if digits is None:
        digits = int(code[-1])
    text = format(scaled, ("+" if code == "pp" or code[0] == "+" else "") + f",.{digits}f")
    if not re.search("[1-9]", text):
        text = text.lstrip("+-")
    if code != "i":
        text = text.replace(",", "")
    return text.replace("-", MINUS) + (" %" if code == "%" else "")


def ends(value: dict[str, Any], code: str) -> str:
    low, high = (expected(value[end], code).removesuffix(" %") for end in ("low", "high"))
    return f"[{low}, {high}]"


def shown(value: Any, code: str) -> str:
    if code[0] == "b":
        return ends(value, code[1:])
    if code[0] == "e":
        return f"{expected(value['value'], code[1:])} {ends(value, code[1:])}"
    return expected(value, code)


def documents(made: Made) -> dict[str, Any]:
    done = usi("report", made.card, "-o", made.folder / "all.summary.json")
    assert done.code == 0, done.err
    names = {
        "c": "card.json", "v": "card.verdict.json", "d": "card.report.json",
        "e": "card.evidence.json", "s": "all.summary.json",
    }  # fmt: skip
    return {k: json.loads((made.folder / name).read_text()) for k, name in names.items()}


def wrong(page: Page, files: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Claims of a page that the files do not bear out."""
    return [claim for claim in page.claims if claim[2] != shown(at(files, claim[1]), claim[0])]


NAMES = re.compile(
    r"USI-?R?(log)?\(\d\)|SHA-256|usi (report|gate|plan)|arXiv 2603\.11245|95 %|card\.json"
)
"""What is a name and no number of the data: the index with its terms, commands, a paper, a hash."""


def loose(page: Page) -> list[str]:
    """Texts with a digit that say of no place where it comes from."""
    return [text for text in page.loose if re.search(r"\d", NAMES.sub("", text))]


def test_every_number_on_the_page_is_in_the_json(made: Made) -> None:
    files = documents(made)
    page = read(made.html())
    assert len(page.claims) > 2000
    assert {pointer[0] for _, pointer, _ in page.claims} == {"c", "v", "d", "e", "s"}
    assert wrong(page, files) == []


def test_no_number_stands_there_without_its_place(made: Made) -> None:
    assert loose(read(made.html())) == []


CONSTANTS = {"0", "1", "2", "5", "100", "95", "2603.11245", "2000", ".5"}
"""Numbers of fixed sentences: formulas, the paper, confidence, false discovery rate."""


NUMBER = re.compile(r"\d[\d.,]*\d|\.?\d")


def test_fixed_sentences_hold_constants_or_what_the_signature_says(made: Made) -> None:
    card = json.loads(made.card.read_text())
    said = [card["signature"], *card["settings"].values(), *(f["name"] for f in card["inputs"])]
    said += [answer for side in card["simulators"] for item in side["survey_items"]
             for answer in item["human_distribution"]]  # fmt: skip
    said += [spec.description for spec in get_specs("robust")]
    known = CONSTANTS | set(NUMBER.findall(" ".join(said)))
    page = read(made.html())
    assert len(page.fixed) > 50
    numbers = {
        (number, text) for text in page.fixed for number in NUMBER.findall(NAMES.sub("", text))
    }
    assert len(numbers) > 20
    assert {pair for pair in numbers if pair[0].replace(",", "") not in known} == set()


def test_the_walk_notices_each_kind_of_wrong_number(made: Made) -> None:
    """One digit changed in a claim of each code is seen, and only there."""
    files, html = documents(made), made.html()
    codes = {code for code, _, text in read(html).claims if re.search(r"\d", text)}
    assert codes >= {"1", "2", "%", "pp", "pu", "i", "p", "e1", "e%", "epp", "b1", "bpp", "s"} - {
        "b1", "p"
    }  # fmt: skip
    for code in codes:
        place = re.compile(rf'(data-p="{re.escape(code)} [^"]*"[^>]*>)([^<]*?)(\d)')
        bad, count = place.subn(lambda m: f"{m[1]}{m[2]}{(int(m[3]) + 1) % 10}", html, count=1)
        assert count == 1, code
        assert [claim[0] for claim in wrong(read(bad), files)] == [code]


def test_the_walk_notices_a_number_without_a_place(made: Made) -> None:
    html = made.html().replace("</main>", "<p>about 42 sessions</p></main>")
    assert loose(read(html)) == ["about 42 sessions"]


def test_dots_of_the_figure_stand_where_the_numbers_are(made: Made) -> None:
    card = json.loads(made.card.read_text())
    parts = ("conversation", "information", "clarification", "reaction", "outcome", "survey")
    html = made.html()
    for side in card["simulators"]:
        figure = html.partition(f"Index and components of {side['name']} in points")[2]
        figure = figure.partition("</svg>")[0]
        grid = re.search(r'class="grid" d="M([\d.]+) 8V[\d.]+(?:M[\d.]+ 8V[\d.]+)*M([\d.]+) 8V',
                         figure)  # fmt: skip
        assert grid is not None
        zero, full = float(grid[1]), float(grid[2])
        drawn = [(float(x) - zero) / (full - zero) * 100
                 for x in re.findall(r'<circle class="sim" cx="([\d.]+)"', figure)]  # fmt: skip
        values = [side["index"]["value"]] + [side["components"][part]["value"] for part in parts]
        assert drawn == pytest.approx([v for v in values if v is not None], abs=0.05)


def test_report_from_files_is_the_page_of_the_run(made: Made) -> None:
    again = made.folder / "again.html"
    done = usi("report", made.card, "--verdict", made.folder / "card.verdict.json", "-o", again)
    assert done.code == 0, done.err
    assert again.read_bytes() == made.page.read_bytes()


def test_the_four_questions_are_answered(made: Made) -> None:
    text = re.sub(r"<[^>]+>", " ", made.html())
    for question in (
        "Does it pass?",
        "Which behaviour is furthest from people?",
        "How sure are we?",
        "How many more tasks would settle it?",
    ):
        assert text.count(question) == 2
    verdict = json.loads((made.folder / "card.verdict.json").read_text())
    for part in verdict["simulators"]:
        assert part["verdict"] in text
