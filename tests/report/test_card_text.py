"""Rows and sentences of a card in its three forms: order, labels, reasons, foreign text as text."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from report.cards import HOSTILE, NO_SURVEY, card, simulator
from rich.console import Console

from usi.report import card_text, html, markdown
from usi.report.files import FORMS
from usi.report.terminal import print_scorecard
from usi.scoring.scorecard import Scorecard


def terminal(scorecard: Scorecard, width: int = 170) -> str:
    stream = io.StringIO()
    print_scorecard(scorecard, Console(file=stream, width=width, markup=False, highlight=False))
    return stream.getvalue()


SPELLED = pytest.mark.parametrize("form", [terminal, markdown.render])
FULL = card(
    simulator("beta", 70.0), simulator("alpha", 70.0), simulator("best", 80.0, 6),
    simulator("mute", None),
)  # fmt: skip


def test_human_first_then_falling_index_ties_and_unscored_by_name() -> None:
    names = [side.name for side in card_text.sides(FULL)]
    assert names == ["Human (inter-ann.)", "best", "alpha", "beta", "mute"]


@SPELLED
def test_every_form_keeps_that_order(form) -> None:
    text = form(FULL)
    text = text[text.index("conversation") :]
    at = [text.index(name) for name in ("best", "alpha", "beta", "mute")]
    assert at == sorted(at)


@SPELLED
def test_five_and_six_terms_are_marked_and_told_apart(form) -> None:
    text = form(FULL).replace("\\", "")
    assert "80.0 ± 0.8 USI(6)" in text
    assert "70.0 ± 0.8 USI(5)" in text
    assert "do not compare" in text


@SPELLED
def test_components_counts_and_reasons_are_there(form) -> None:
    text = form(FULL).replace("\\", "")
    for piece in ("93.8 ± 1.2", "495", "3 batches", "3 runs", NO_SURVEY, "1,234 x tool result",
                  "no user turn at all", "one warning for all", "corpus:people@ab12",
                  "standard deviation over the batches"):  # fmt: skip
        assert piece in text, piece


@SPELLED
def test_a_phantom_is_called_synthetic_and_people_are_not(form) -> None:
    assert "SYNTHETIC" in form(card(simulator("a", 1.0), synthetic=True))
    assert "SYNTHETIC" not in form(card(simulator("a", 1.0)))


@SPELLED
def test_hostile_names_are_shown_and_do_nothing(form) -> None:
    text = form(card(simulator(HOSTILE, 50.0)))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "alert(1)" in text
    if form is not terminal:
        assert "<script" not in text


def test_markup_in_a_name_reaches_the_terminal_as_it_is() -> None:
    assert "[bold red]" in terminal(card(simulator("[bold red]x", 50.0)))


def test_a_narrow_terminal_keeps_every_number() -> None:
    wide, narrow = terminal(FULL), terminal(FULL, width=100)
    for cell in ("80.0 ± 0.8", "92.4 ± 0.8", "50.0 ± 1.2", "3 batches"):
        assert cell in wide
        assert cell in narrow
    assert max(len(line) for line in narrow.splitlines()[:16]) <= 100


def test_bounds_are_shown_where_a_profile_gives_them() -> None:
    bounded = simulator("a", 50.0).index.model_copy(update={"low": 45.0, "high": 55.5})
    assert card_text.number(bounded) == "50.0 [45.0, 55.5]"


@SPELLED
def test_the_ceiling_stands_beside_the_index_where_it_is_known(form) -> None:
    known = simulator("a", 50.0)
    known = known.model_copy(
        update={"index": known.index.model_copy(update={"ceiling_at_n": 96.25})}
    )
    assert "96.2" in form(card(known))
    assert "ceiling" in form(card(known))
    assert card_text.headline(card(known))[0] == (
        "Ceiling: with so many data a perfect simulator would score about 96.2 of 100; "
        "people, one batch against another: 92.4."
    )
    assert "a perfect simulator would" not in form(card(simulator("a", 50.0)))


def test_headline_says_ceiling_order_and_the_worst_component() -> None:
    first, second, third = card_text.headline(card(simulator("a", 70.0), simulator("b", 60.0)))
    assert "92.4" in first
    assert "a 70.0 > b 60.0" in second
    assert "b" in third
    assert "conversation (50.0)" in third


def test_synthetic_people_are_never_called_people() -> None:
    for line in card_text.headline(card(simulator("a", 70.0), synthetic=True)):
        assert "people" not in line.replace("synthetic people", "")


def test_a_reference_of_runs_is_not_called_people() -> None:
    text = " ".join(card_text.headline(card(simulator("a", 70.0), is_human=False)))
    assert "people" not in text


def test_published_shape_by_hand() -> None:
    data = json.loads(FORMS[".tau-usi.json"](card(simulator("five", 70.0)), Path("x")))
    human, five = data["rows"]
    assert human["name"] == "Human (inter-ann.)"
    assert five["D1_conv"] == [50.0, 1.25]
    assert five["eval_agree"] is None
    assert five["usi"] == [70.0, 0.75]


@pytest.mark.parametrize("form", [markdown.render, html.render])
def test_equal_cards_give_equal_bytes(form) -> None:
    assert form(FULL) == form(Scorecard.model_validate_json(FULL.to_json()))
