"""Every attack keeps what it promises to keep, and breaks what it is named after."""

from __future__ import annotations

import random

import pytest

from usi.audit.attacks import ATTACKS, CannotMake, flags_of
from usi.audit.draws import Design, draw, largest, people_of
from usi.audit.material import Material, positions, utterances, with_utterances
from usi.errors import NotScorable, UsageError
from usi.phantom import default_tasks, get_simulator, load_spec, realise
from usi.phantom import draw as draw_phantom
from usi.records import Outcome, Session, Turn

BY_NAME = {attack.name: attack for attack in ATTACKS}
WITHOUT_MODELS = [attack.name for attack in ATTACKS if not attack.needs_models]


def session(number: int, task: str, *texts: str, participant: str | None = None) -> Session:
    turns = []
    for at, text in enumerate(texts):
        turns += [Turn("assistant", f"question {at} of {number}?"), Turn("user", text)]
    return Session(
        session_id=str(number),
        task_id=task,
        turns=tuple(turns),
        participant=participant,
        outcome=Outcome(reward=float(number % 2)),
    )


@pytest.fixture(scope="module")
def material() -> Material:
    """40 tasks x 2 batches x 2 runs of the phantom's people, four sessions a person."""
    plan = draw_phantom(load_spec("human"), default_tasks(40), replicates=4, seed=3)
    sessions = [
        Session(
            session_id=s.session_id,
            turns=s.turns,
            task_id=s.task_id,
            participant=f"p{i % 40}",
            outcome=s.outcome,
        )
        for i, s in enumerate(realise(plan, side="human"))
    ]
    people = people_of(sessions, [s.task_id for s in sessions])
    models = tuple(
        realise(
            draw_phantom(get_simulator("polite"), default_tasks(40), replicates=2, seed=4),
            side="simulated",
            simulator="m",
        )
    )
    return draw(people, Design(40, 2, 2), seed=1, models=models)


def made(material: Material, name: str) -> list[Session]:
    return BY_NAME[name].make(material, random.Random(5))


@pytest.mark.parametrize("name", [attack.name for attack in ATTACKS])
def test_one_session_for_every_place_and_the_same_every_time(material: Material, name: str) -> None:
    first, second = made(material, name), made(material, name)
    assert len(first) == len(material.slots) == 80
    assert first == second


def test_places_hold_disjoint_sessions_of_one_task(material: Material) -> None:
    reference = {s.turns for s in material.people}
    assert not reference & {s.turns for s in material.held_out}
    for slot, own in zip(material.slots, material.held_out, strict=True):
        assert material.group[slot.task] == own.task_id


def test_nonsense_keeps_flags_lengths_and_the_agent(material: Material) -> None:
    for name in ("nonsense", "own-words"):
        changed = same = flags = 0
        for before, after in zip(material.held_out, made(material, name), strict=True):
            assert positions(before) == positions(after)
            agent = [t for t in before.turns if t.role == "assistant"]
            assert agent == [t for t in after.turns if t.role == "assistant"]
            a, b = utterances(before), utterances(after)
            assert [len(t.split()) for t in a] == [len(t.split()) for t in b]
            changed += a != b
            same += sum(x == y for x, y in zip(flags_of(tuple(a)), flags_of(tuple(b)), strict=True))
            flags += len(a)
        assert changed == 80
        assert same / flags > 0.98


@pytest.mark.parametrize("name", ["shuffled", "sentences"])
def test_an_order_keeps_the_words(material: Material, name: str) -> None:
    moved = 0
    for before, after in zip(material.held_out, made(material, name), strict=True):
        a, b = utterances(before), utterances(after)
        assert sorted(" ".join(a).split()) == sorted(" ".join(b).split())
        moved += a != b
    assert moved > 60


def test_wrong_tasks_are_other_tasks_and_nobody_is_lost(material: Material) -> None:
    found = made(material, "wrong-task")
    for slot, own in zip(material.slots, found, strict=True):
        assert own.task_id != material.group[slot.task]
    assert len({s.turns for s in found}) > 70


@pytest.mark.parametrize(("name", "count"), [("replay-30", 30), ("replay-10", 10)])
def test_replays_are_few_and_equally_frequent(material: Material, name: str, count: int) -> None:
    texts = [s.turns for s in made(material, name)]
    assert len(set(texts)) == count
    most = max(texts.count(text) for text in set(texts))
    assert most <= -(-80 // count)


def test_one_person_is_one_person(material: Material) -> None:
    assert len({s.participant for s in made(material, "one-person")}) == 1


def test_copies_are_copies(material: Material) -> None:
    people = {(s.task_id, s.batch): s.turns for s in material.people}
    for slot, own in zip(material.slots, made(material, "self-copy"), strict=True):
        assert own.turns == people[slot.task, slot.replicate]
    permuted = made(material, "self-copy-permuted")
    assert {s.turns for s in permuted} == set(people.values())
    for slot, own in zip(material.slots, permuted, strict=True):
        assert own.task_id != slot.task


def test_an_echo_says_what_the_agent_said(material: Material) -> None:
    for own in made(material, "echo"):
        heard = ""
        for turn in own.turns:
            if turn.role == "assistant":
                heard = turn.content
            elif turn.content != "/stop":
                assert turn.content == heard


def test_the_silent_and_the_one_word_user(material: Material) -> None:
    assert all(utterances(s) == [] for s in made(material, "silent"))
    words = {text for s in made(material, "one-word") for text in utterances(s)}
    assert words <= {"yes", "no", "ok", "sure"}


def test_hidden_errors_hide_half_of_the_bad(material: Material) -> None:
    found = made(material, "hidden-errors")
    hidden = [s for s in found if s.status == "infrastructure_error"]
    changed = sum(a.turns != b.turns for a, b in zip(material.held_out, found, strict=True))
    assert (len(hidden), changed) == (16, 32)


@pytest.mark.parametrize(("name", "share"), [("mix-5", 0.05), ("mix-20", 0.2), ("mix-50", 0.5)])
def test_mixtures_have_their_share(material: Material, name: str, share: float) -> None:
    models = {s.turns for s in material.models}
    found = made(material, name)
    assert sum(s.turns in models for s in found) == round(80 * share)
    for before, after in zip(material.held_out, found, strict=True):
        assert before.outcome == after.outcome


def test_matched_turns_are_the_model_s_and_as_near_as_can_be(material: Material) -> None:
    pool = tuple(dict.fromkeys(text for s in material.models for text in utterances(s)))
    known = set(flags_of(pool))
    for before, after in zip(material.held_out, made(material, "matched"), strict=True):
        a, b = utterances(before), utterances(after)
        assert len(a) == len(b)
        assert set(b) <= set(pool)
        for x, y in zip(flags_of(tuple(a)), flags_of(tuple(b)), strict=True):
            assert len(x ^ y) == min(len(x ^ own) for own in known)


def test_fewer_texts_end_the_session_and_more_are_not_used() -> None:
    own = session(1, "t", "first thing", "second thing", "third thing")
    assert utterances(with_utterances(own, ["a b c"])) == ["a b c"]
    assert with_utterances(own, ["a b c"]).turns[-1].role == "assistant"
    assert utterances(with_utterances(own, ["x", "y", "z", "w"])) == ["x", "y", "z"]


def test_what_cannot_be_made_says_what_it_lacks() -> None:
    rows = [session(i, "only", f"word {i}", "yes") for i in range(80)]
    found = draw(people_of(rows, ["only"] * 80), Design(40, 1, 1), seed=1)
    for name, lack in (
        ("wrong-task", "two tasks"), ("one-person", "participants"), ("model", "--mix"),
    ):  # fmt: skip
        with pytest.raises(CannotMake, match=lack):
            made(found, name)


def test_unusable_sessions_are_counted_by_reason() -> None:
    rows = [session(1, "a", "hello there"), session(2, "a"), session(3, "a", "x y")]
    people = people_of(rows, ["a", "a", None])
    assert (len(people.sessions), people.left_out) == (
        1, {"no utterance of the user": 1, "no task": 1},
    )  # fmt: skip


def test_participants_stand_on_one_side_alone() -> None:
    rows = [session(i, f"t{i % 9}", "some words", participant=f"p{i % 20}") for i in range(900)]
    people = people_of(rows, [s.task_id for s in rows])
    found = draw(people, Design(60, 2, 2), seed=4, split="participant")
    reference = {s.participant for s in found.people}
    assert reference
    assert not reference & {s.participant for s in found.held_out}


def test_the_largest_design_follows_from_the_sessions() -> None:
    rows = [session(i, f"t{i % 60}", "some words") for i in range(180)]
    people = people_of(rows, [s.task_id for s in rows])
    assert largest(people) == Design(60, 2, 1)  # three sessions a task
    with pytest.raises(NotScorable, match="at least 30 tasks"):
        largest(people_of(rows[:40], [str(i) for i in range(40)]))
    with pytest.raises(NotScorable, match="not for 61"):
        draw(people, Design(61, 2, 1), seed=1)


@pytest.mark.parametrize("text", ["165", "0x1x1", "axbxc", "1x2x3x4", "-1x2x3"])
def test_a_design_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="TASKSxBATCHESxRUNS"):
        Design.parse(text)
