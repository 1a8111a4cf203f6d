"""Copies of sessions and tell-tale words, against counts made by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usi.diagnose.copies import copies_of_people, self_copies
from usi.diagnose.telltales import PRIOR_WEIGHT, log_odds, session_counts, telltales
from usi.extraction.content import Names, content_columns, thinned
from usi.extraction.content import word_hash as number
from usi.scoring.robust.wording import Wording

Session = list[str]


def wording(found: list[Session], tasks: list[int], names: Names | None = None) -> Wording:
    """Sessions given as user turns; every turn answers nothing."""
    turns = [turn for session in found for turn in session]
    sizes = np.array([len(session) for session in found], dtype=np.int64)
    none, every = np.full(len(turns), -1), np.ones(len(found), dtype=bool)
    frame = pl.DataFrame(content_columns(turns, sizes, [], none, every, names))
    side = Wording.of(frame, np.array(tasks), np.zeros(len(found), dtype=np.int64))
    assert side is not None
    return side


def said(k: int) -> Session:
    """A session that no other number says."""
    return [f"hello this is customer w{k}a", f"i would like to change item w{k}b please", "yes"]


PEOPLE = wording([said(k) for k in range(60)], list(range(60)))


def test_people_do_not_copy_each_other_and_neither_do_others() -> None:
    other = wording([said(1000 + k) for k in range(60)], list(range(60)))
    for found in (copies_of_people(PEOPLE, other), self_copies(PEOPLE, other)):
        assert (found.share, found.people, found.alarm) == (0.0, 0.0, False)


@pytest.mark.parametrize(
    "change",
    [
        lambda turns: turns,
        lambda turns: turns[::-1],  # in another order
        lambda turns: ["ok", *turns],  # with a word put before
        lambda turns: [turn.upper() + "!" for turn in turns],
    ],
)
def test_sessions_of_people_are_found_as_copies(change) -> None:  # type: ignore[no-untyped-def]
    copied = wording([change(said(k)) for k in range(30)], list(range(30)))
    found = copies_of_people(PEOPLE, copied)
    assert (found.share, found.alarm) == (1.0, True)
    assert list(found.found) == [(k, k) for k in range(30)]
    assert not self_copies(PEOPLE, copied).alarm


def test_one_session_for_all_tasks_copies_itself_and_twice_on_a_task_does_not() -> None:
    replayed = wording([said(5000)] * 30, list(range(30)))
    assert self_copies(PEOPLE, replayed).share == 1.0
    assert self_copies(PEOPLE, replayed).alarm
    same_task = wording([said(5000 + k // 2) for k in range(30)], [k // 2 for k in range(30)])
    assert self_copies(PEOPLE, same_task).share == 0.0


def test_short_sessions_and_a_few_copies_are_no_alarm() -> None:
    terse = wording([["yes please", "no"]] * 60, list(range(60)))
    assert self_copies(PEOPLE, terse).share == 0.0
    one = wording([said(0), *(said(2000 + k) for k in range(59))], list(range(60)))
    found = copies_of_people(PEOPLE, one)
    assert found.share == pytest.approx(1 / 60)
    assert not found.alarm


def test_what_people_repeat_among_themselves_is_taken_off() -> None:
    twins = wording([said(k // 2) for k in range(60)], list(range(60)))
    found = copies_of_people(twins, wording([said(k) for k in range(30)], list(range(30))))
    assert (found.share, found.people, found.alarm) == (1.0, 1.0, False)


def test_log_odds_are_those_of_the_formula() -> None:
    """Log-odds with an informative Dirichlet prior, written out for one of three terms."""
    y, x = [12, 3, 5], [2, 9, 5]
    found = log_odds(np.array(y), np.array(x))
    alpha = [PRIOR_WEIGHT * (a + b) for a, b in zip(y, x, strict=True)]
    a0, n_s, n_h = sum(alpha), sum(y), sum(x)
    a = alpha[0]
    delta = math.log((12 + a) / (n_s + a0 - 12 - a)) - math.log((2 + a) / (n_h + a0 - 2 - a))
    assert found[0] == pytest.approx(delta / math.sqrt(1 / (12 + a) + 1 / (2 + a)))


counts = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=8)


@given(counts)
def test_exchanging_the_sides_turns_the_sign(pairs: list[tuple[int, int]]) -> None:
    y, x = (np.array(side) for side in zip(*pairs, strict=True))
    assert log_odds(y, x) == pytest.approx(-log_odds(x, y))


def test_words_that_give_a_simulator_away_are_named_with_their_sessions() -> None:
    names = Names()
    people = wording([said(k) for k in range(80)], list(range(80)), names)
    model = wording([["certainly happy to help", *said(3000 + k)[:1]] for k in range(80)],
                    list(range(80)), names)  # fmt: skip
    given_away, unsaid = telltales(people, model, names)
    shown = {term.text: (term.simulator_sessions, term.human_sessions) for term in given_away}
    assert any("certainly" in text or "happy" in text for text in shown)
    assert all(pair == (80, 0) for text, pair in shown.items() if "happy" in text)
    assert all(term.simulator_sessions == 0 for term in unsaid)
    assert {word for term in unsaid for word in term.text.split()} >= {"please"}
    # Words of one customer alone are nobody's tell-tale.
    assert not any("w3" in text for text in shown)


def test_two_samples_of_the_same_people_have_no_telltales() -> None:
    names = Names()
    rng = np.random.default_rng(1)
    vocabulary = [f"word{k}" for k in range(60)]
    sides = [
        wording(
            [[" ".join(rng.choice(vocabulary, 8))] for _ in range(100)], list(range(100)), names
        )
        for _ in range(2)
    ]
    assert telltales(*sides, names) == ((), ())


def test_a_session_counts_a_word_once() -> None:
    terms, shown = session_counts(wording([["red red", "red shoes"], ["shoes"]], [0, 1]))
    by_number = dict(zip(terms.tolist(), shown.tolist(), strict=True))
    assert by_number[number("red")] == 1
    assert by_number[number("shoes")] == 2


def test_words_are_kept_of_the_same_tasks_whatever_the_part() -> None:
    rows = [(f"t{k % 40}", f"s{k}") for k in range(120)]
    frame = pl.DataFrame(rows, schema=["task_id", "session_id"], orient="row").with_columns(
        said=pl.lit([[1]], dtype=pl.List(pl.List(pl.UInt32))),
        heard=pl.lit([[]], dtype=pl.List(pl.List(pl.UInt32))),
    )
    few = thinned(frame, 30)
    kept = few.filter(pl.col("said").is_not_null())
    assert kept.height == 30
    assert kept["task_id"].n_unique() == 10
    halves = [thinned(part, 30) for part in (frame[:60], frame[60:])]
    assert thinned(pl.concat(halves), 30).equals(few)
