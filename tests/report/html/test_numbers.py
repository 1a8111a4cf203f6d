"""Every number on the page is in the JSON: the page is walked and each one looked up."""

from __future__ import annotations

import json
import re
from typing import Any

from command import usi
from report.html.made import Made
from report.html.walk import at, read

MINUS = "\u2212"


def expected(value: Any, code: str) -> str:
    """How a value is written, by rules of this test alone."""
    if value is None:
        return "–"
    if code == "s":
        return str(value)
    if code == "y":
        return {True: "yes", False: "no"}[value]
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


def test_every_number_on_the_page_is_in_the_json(made: Made) -> None:
    files = documents(made)
    page = read(made.html())
    assert len(page.claims) > 2000
    assert {pointer[0] for _, pointer, _ in page.claims} == {"c", "v", "d", "e", "s"}
    wrong = [
        (code, pointer, text)
        for code, pointer, text in page.claims
        if text != shown(at(files, pointer), code)
    ]
    assert wrong == []


def test_no_number_stands_there_without_its_place(made: Made) -> None:
    found = [text for text in read(made.html()).loose if re.search(r"\d", text)]
    # What is left are names of things: the index with its terms, commands, a paper, a hash.
    allowed = re.compile(
        r"USI-?R?\(\d\)|SHA-256|usi (report|gate|plan)|arXiv 2603\.11245|95 %|card\.json"
    )
    assert [text for text in found if re.search(r"\d", allowed.sub("", text))] == []


def test_the_walk_notices_a_wrong_number(made: Made) -> None:
    files = documents(made)
    html = re.sub(r'(data-p="1 [^"]*">)(\d)', lambda m: f"{m[1]}9{m[2]}", made.html(), count=1)
    page = read(html)
    assert any(t != shown(at(files, p), c) for c, p, t in page.claims)


def test_report_from_files_is_the_page_of_the_run(made: Made) -> None:
    again = made.folder / "again.html"
    done = usi("report", made.card, "--verdict", made.folder / "card.verdict.json", "-o", again)
    assert done.code == 0, done.err
    assert again.read_bytes() == made.page.read_bytes()


def test_the_four_questions_are_answered(made: Made) -> None:
    text = re.sub(r"<[^>]+>", " ", made.html())
    for question in (
        "May this simulator enter?",
        "Which behaviour is furthest from people?",
        "How sure are we?",
        "How many more tasks would settle it?",
    ):
        assert text.count(question) == 2
    verdict = json.loads((made.folder / "card.verdict.json").read_text())
    for part in verdict["simulators"]:
        assert part["verdict"] in text
