"""Pages of scorecards written by hand: what a reader must find, whatever the profile."""

from __future__ import annotations

import json
import re

from report.cards import HOSTILE, NO_SURVEY, card, simulator
from report.html.test_numbers import shown
from report.html.walk import at, read

from usi.report import html
from usi.report.html.summary import summarise, to_dict

FULL = card(
    simulator("beta", 70.0), simulator("alpha", 70.0), simulator("best", 80.0, 6),
    simulator("mute", None),
)  # fmt: skip


def plain(page: str) -> str:
    body = page[page.index("<body>") :]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", body))


def test_people_first_then_by_index() -> None:
    page = html.render(FULL)
    rows = page[page.index('id="summary"') : page.index("</tbody>")]
    at_ = [rows.index(f">{name}<") for name in ("Human (inter-ann.)", "best", "alpha", "beta")]
    assert at_ == sorted(at_)


def test_five_and_six_terms_are_marked_and_told_apart() -> None:
    text = plain(html.render(FULL))
    assert "80.0 ± 0.8 USI(6)" in text
    assert "70.0 ± 0.8 USI(5)" in text
    assert "do not compare" in text


def test_reasons_warnings_counts_and_signature_are_there() -> None:
    text = plain(html.render(FULL))
    for piece in ("93.8", NO_SURVEY, "1,234", "tool result best", "no user turn at all",
                  "one warning for all", "corpus:people@ab12", "not a standard error",
                  "No criteria were given", "people.json", "ab" * 32):  # fmt: skip
        assert piece in text, piece


def test_lost_points_by_hand() -> None:
    # USI(5): components 50, 80, 70, 60, 90; conversation loses (100 - 50) / 5 = 10 points.
    part = summarise(card(simulator("a", 70.0))).simulators[0]
    assert part.lost_points == 30
    assert [(x.name, x.points) for x in part.components_lost] == [
        ("conversation", 10), ("reaction", 8), ("clarification", 6), ("information", 4),
        ("outcome", 2),
    ]  # fmt: skip
    assert part.furthest == "politeness_rate"
    assert {x.name: x.points for x in part.lost}["politeness_rate"] == 10
    assert part.gaps == ()


def test_numbers_of_a_published_card_are_in_it_too() -> None:
    page = read(html.render(FULL))
    files = {"c": FULL.to_dict(), "s": to_dict(summarise(FULL))}
    files = json.loads(json.dumps(files))
    assert len(page.claims) > 100
    assert [x for x in page.claims if x[2] != shown(at(files, x[1]), x[0])] == []


def test_synthetic_and_reference_of_runs_are_said() -> None:
    assert "SYNTHETIC DATA" in html.render(card(simulator("a", 70.0), synthetic=True))
    text = plain(html.render(card(simulator("a", 70.0), is_human=False)))
    assert "No human reference" in text


def test_nothing_comes_from_anywhere_and_names_stay_text() -> None:
    page = html.render(card(simulator(HOSTILE, 50.0)))
    assert "default-src 'none'" in page
    assert page.count("<script>") == 1
    assert not re.findall(r"""(?:src|action)\s*=|url\s*\(""", page)
    assert set(re.findall(r'href="([^"]*)"', page)) <= {
        "#main", "#summary", "#doubt", "#sim1", "#sim1-why", "#sim1-show", "#sim1-mend",
    }  # fmt: skip
    assert not re.findall(r"""\sstyle=|\son[a-z]+\s*=""", page.replace("onerror", ""))
    assert "\x1b" not in page
