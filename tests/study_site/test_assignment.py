"""Laws of assignment: each cell once, no task twice, strata balanced, idle places returned."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from usi.study.assignment import Cells, availability, choose_cell, stratum_counts

LEVELS = ("easy", "medium", "hard")


@st.composite
def designs(draw: st.DrawFn) -> tuple[dict[str, str], int]:
    levels = draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=12))
    return {f"t{n}": level for n, level in enumerate(levels)}, draw(st.integers(1, 4))


@given(designs(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_with_people_who_come_and_go_each_cell_is_filled_once(design, each, rng) -> None:
    """A simulation of arrivals, leavers and finishers, in any order."""
    strata, batches = design
    taken: dict[str, set[int]] = {task: set() for task in strata}
    filled: set[tuple[str, int]] = set()
    had: dict[str, set[str]] = {}
    under_way: dict[str, tuple[str, int]] = {}
    for n in range(200):
        idle = [name for name in had if name not in under_way and len(had[name]) < each]
        move = rng.random()
        if under_way and move < 0.3:
            name = rng.choice(sorted(under_way))
            cell = under_way.pop(name)
            assert cell not in filled
            filled.add(cell)
        elif under_way and move < 0.4:
            task, batch = under_way.pop(rng.choice(sorted(under_way)))
            taken[task].discard(batch)
        else:
            name = rng.choice(idle) if idle and move < 0.7 else f"p{n}"
            chosen = choose_cell(
                Cells(strata, batches, taken), had.setdefault(name, set()), seed=1, person=name
            )
            if chosen is None:
                continue
            task, batch = chosen
            assert task not in had[name], "nobody gets a task twice"
            assert batch not in taken[task], "a cell is held once"
            assert 1 <= batch <= batches
            had[name].add(task)
            taken[task].add(batch)
            under_way[name] = chosen
    assert len(filled) <= len(strata) * batches


@given(designs())
def test_enough_people_fill_every_cell(design) -> None:
    strata, batches = design
    taken: dict[str, set[int]] = {task: set() for task in strata}
    for n in range(len(strata) * batches):
        chosen = choose_cell(Cells(strata, batches, taken), (), seed=3, person=f"p{n}")
        assert chosen is not None
        taken[chosen[0]].add(chosen[1])
    assert all(taken[task] == set(range(1, batches + 1)) for task in strata)
    assert choose_cell(Cells(strata, batches, taken), (), seed=3, person="late") is None


@given(designs(), st.data())
def test_at_any_time_tasks_differ_by_one_and_strata_by_one_cell(design, data) -> None:
    strata, batches = design
    steps = data.draw(st.integers(0, len(strata) * batches))
    taken: dict[str, set[int]] = {task: set() for task in strata}
    for n in range(steps):
        chosen = choose_cell(Cells(strata, batches, taken), (), seed=5, person=f"p{n}")
        assert chosen is not None
        taken[chosen[0]].add(chosen[1])
    counts = [len(found) for found in taken.values()]
    assert max(counts) - min(counts) <= 1
    size = Counter(strata.values())
    shares = {
        name: sum(len(taken[t]) for t in strata if strata[t] == name) / (size[name] * batches)
        for name in size
    }
    assert max(shares.values()) - min(shares.values()) <= 1 / (min(size.values()) * batches) + 1e-12


def test_the_least_filled_cell_comes_first() -> None:
    cells = Cells({"a": "easy", "b": "easy"}, 3, {"a": {1}})
    assert choose_cell(cells, (), seed=0, person="x") == ("b", 1)
    assert choose_cell(cells, ("b",), seed=0, person="x") == ("a", 2)


def test_a_place_that_was_given_back_is_given_again() -> None:
    cells = Cells({"a": "easy"}, 3, {"a": {1, 3}})
    assert choose_cell(cells, (), seed=0, person="x") == ("a", 2)


def test_a_person_gets_strata_that_they_had_less_of() -> None:
    cells = Cells({"a": "easy", "b": "easy", "c": "hard", "d": "hard"}, 1, {"a": {1}, "c": {1}})
    assert choose_cell(cells, ("a",), seed=0, person="x") == ("d", 1)
    assert choose_cell(cells, ("c",), seed=0, person="x") == ("b", 1)


def test_availability_tells_now_later_and_never() -> None:
    strata = {"a": "easy", "b": "easy"}
    assert availability(Cells(strata, 1, {"a": {1}}), (), {}) == "free"
    assert availability(Cells(strata, 1, {"a": {1}, "b": {1}}), (), {"a": 1}) == "held"
    assert availability(Cells(strata, 1, {"a": {1}, "b": {1}}), (), {"a": 1, "b": 1}) == "none"
    assert availability(Cells(strata, 1, {"a": {1}, "b": {1}}), ("b",), {"a": 1}) == "none"


def test_counts_of_strata() -> None:
    size, taken = stratum_counts(Cells({"a": "easy", "b": "hard"}, 3, {"a": {1, 2}}))
    assert (size["easy"], size["hard"], taken["easy"], taken["hard"]) == (3, 3, 2, 0)
