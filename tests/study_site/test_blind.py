"""The blind check: numbers by hand and by an independent library, choice, site, card, gate."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command import refused, usi
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from study_site.client import Client
from study_site.support import CONSENT, OWNER, SECRET, Clock

from usi.errors import UsageError
from usi.records import Session, Turn
from usi.report.card_text import practitioners
from usi.study.blind import raters, status
from usi.study.blind.items import Item, choose_items, choose_sessions, read_items, shown_messages
from usi.study.blind.results import Rating, agreement_of, marked_turns, results_of
from usi.study.blind.retention import forget_ratings
from usi.study.blind.settings import read_blind
from usi.study.blind.text import markdown_of, result_of
from usi.study.database import study_name
from usi.study.links import Signer
from usi.study.web.blind import blind_app

starlette = pytest.importorskip("starlette.testclient")


def items_of(n: int, simulators: tuple[str, ...] = ("sim",)) -> list[Item]:
    talk = (("assistant", "hi"), ("user", "my fridge is broken"), ("assistant", "oh"))
    found = []
    for k in range(n):
        found.append(Item(f"h{k:03}", "person", "", f"t{k}", f"h{k}", talk))
        found += [Item(f"{s}{k:03}", "program", s, f"t{k}", f"{s}{k}", talk) for s in simulators]
    return found


def rating(rater: str, item: str, answer: int, **more: object) -> Rating:
    verdict = "program" if answer > 3 else "person"
    sure = answer - 3 if answer > 3 else 4 - answer
    made = Rating(rater, item, verdict, sure, 3, **more)  # type: ignore[arg-type]
    assert made.answer == answer
    return made


def test_the_auc_by_hand() -> None:
    """Rater a: (5 > 2), (5 > 5 is a tie), (1 < 2), (1 < 5): 1.5 of 4. Rater b: (6 > 1): 1 of 1."""
    items = items_of(2)
    ratings = [
        rating("a", "h000", 2), rating("a", "h001", 5),
        rating("a", "sim000", 5), rating("a", "sim001", 1),
        rating("b", "h000", 1), rating("b", "sim000", 6),
    ]  # fmt: skip
    draws = results_of(items, ratings, title="x", seed=1, replicates=50)
    assert draws.auc.status == "unscorable", "two raters are too few for bounds"
    assert draws.auc.reason is not None
    assert draws.auc.reason.code == "blind_few"
    more = [*ratings, rating("c", "h000", 1), rating("c", "sim000", 1)]
    bigger = items_of(5)
    more += [rating(r, f"{s}{k:03}", 3) for r in "abc" for s in ("h", "sim") for k in (2, 3, 4)]
    card = results_of(bigger, more, title="x", seed=1, replicates=50)
    # a: programs 5, 1, 3, 3, 3 against people 2, 5, 3, 3, 3: wins 1 + 3 (5) + 3 (3 > 2) = 7,
    # ties 1 (5 = 5) + 9 (3 = 3) = 10: 12 of 25.
    # b: programs 6, 3, 3, 3 against 1, 3, 3, 3: wins 4 + 3 = 7, ties 9: 11.5 of 16.
    # c: programs 1, 3, 3, 3 against 1, 3, 3, 3: wins 3, ties 1 + 9 = 10: 8 of 16.
    assert card.auc.value == pytest.approx((12 + 11.5 + 8) / (25 + 16 + 16), abs=1e-6)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 6)), min_size=12, max_size=40))
def test_one_raters_auc_is_that_of_scikit_learn(answers: list[tuple[bool, int]]) -> None:
    programs = [a for is_program, a in answers if is_program]
    people = [a for is_program, a in answers if not is_program]
    if len(programs) < 5 or len(people) < 5:
        return
    items = items_of(40)
    ratings = []
    for name in ("a", "b", "c"):  # three raters who answer alike: pooled as one
        ratings += [rating(name, f"sim{k:03}", a) for k, a in enumerate(programs)]
        ratings += [rating(name, f"h{k:03}", a) for k, a in enumerate(people)]
    expected = roc_auc_score([1] * len(programs) + [0] * len(people), programs + people)
    card = results_of(items, ratings, title="x", seed=1, replicates=20)
    assert card.auc.value == pytest.approx(expected, abs=1e-6)


def simulate(rng: np.random.Generator, gap: float, raters_: int, sessions: int) -> list[Rating]:
    """Raters with a bias of their own read sessions with a look of their own."""
    look = {f"h{k:03}": rng.normal(0, 0.6) for k in range(sessions)}
    look |= {f"sim{k:03}": rng.normal(gap, 0.6) for k in range(sessions)}
    found = []
    for r in range(raters_):
        bias = rng.normal(0, 0.5)
        for name, value in look.items():
            seen = value + bias + rng.normal(0, 0.6)
            found.append(rating(f"r{r}", name, int(np.clip(round(3.5 + seen), 1, 6))))
    return found


def test_bounds_hold_the_truth_and_tell_a_clear_difference() -> None:
    """The truth is the chance that one rater's answer is higher, from 400,000 pairs."""
    rng = np.random.default_rng(99)
    bias = rng.normal(0, 0.5, 400_000)
    person, program = (
        np.clip(np.round(3.5 + rng.normal(gap, 0.6, bias.size) + bias
                         + rng.normal(0, 0.6, bias.size)), 1, 6)
        for gap in (0.0, 1.0)
    )  # fmt: skip
    truth = float((program > person).mean() + (program == person).mean() / 2)
    items = items_of(12)
    outside = told = 0
    for seed in range(40):
        ratings = simulate(np.random.default_rng(seed), 1.0, 6, 12)
        auc = results_of(items, ratings, title="x", seed=seed, replicates=300).auc
        assert auc.low is not None
        assert auc.high is not None
        outside += not auc.low <= truth <= auc.high
        told += auc.low > 0.5
    assert outside <= 8  # 10 % of 40 is 4; more than 8 has a chance of 1.5 % at 10 %
    assert told >= 25


def test_no_difference_is_not_told() -> None:
    items = items_of(20)
    told = 0
    for seed in range(40):
        ratings = simulate(np.random.default_rng(seed), 0.0, 6, 12)
        auc = results_of(items, ratings, title="x", seed=seed, replicates=300).auc
        assert auc.low is not None
        told += auc.low > 0.5
    assert told <= 4


def test_agreement_by_hand() -> None:
    """Units (1,1), (0,0), (1,0): o_11 = 2, o_00 = 2, o_10 = o_01 = 1, n = 6.

    D_o = 2/6; n_1 = n_0 = 3, D_e = 2 * 9 / (6 * 5) = 0.6; alpha = 1 - (1/3) / 0.6 = 4/9.
    """
    ratings = [
        rating("a", "x", 5), rating("b", "x", 6), rating("a", "y", 1), rating("b", "y", 3),
        rating("a", "z", 4), rating("b", "z", 3), rating("a", "w", 4),
    ]  # fmt: skip
    assert agreement_of(ratings).value == pytest.approx(4 / 9, abs=1e-6)
    assert agreement_of(ratings[:1]).status == "not_assessed"
    assert agreement_of([rating("a", "x", 5), rating("b", "x", 6)]).status == "unscorable"


def test_turns_that_gave_it_away() -> None:
    by_id = {item.id: item for item in items_of(2)}
    ratings = [
        rating("a", "sim000", 6, turn=1), rating("b", "sim000", 5, turn=1),
        rating("c", "sim000", 1), rating("a", "h000", 5, turn=1), rating("a", "sim001", 6, turn=9),
    ]  # fmt: skip
    (marked,) = marked_turns(ratings, by_id)
    assert (marked.marks, marked.ratings, marked.text) == (2, 3, "my fridge is broken")


def test_what_a_sentence_says() -> None:
    from usi.estimate import Estimate

    def say(value: float, low: float, high: float) -> str:
        return practitioners(Estimate(value=value, low=low, high=high, unit="share"))

    assert say(0.55, 0.48, 0.62) == "practitioners could not tell: AUC 0.55 [0.48, 0.62]"
    assert say(0.8, 0.7, 0.9).startswith("practitioners could tell")
    assert say(0.3, 0.2, 0.4).startswith("practitioners took people for programs")


@given(st.integers(2, 12), st.integers(2, 20), st.integers(1, 3), st.integers(0, 5))
def test_raters_get_both_sides_in_halves_and_tasks_once(
    tasks: int, number: int, simulators: int, person: int
) -> None:
    items = items_of(tasks, tuple(f"s{k}" for k in range(simulators)))
    by_id = {item.id: item for item in items}
    chosen = choose_items(items, {}, number, seed=1, person=f"p{person}")
    assert len(set(chosen)) == len(chosen) <= number
    sides = Counter(by_id[name].side for name in chosen)
    if number <= tasks:
        assert len(chosen) == number
        assert abs(sides["person"] - sides["program"]) <= 1
        assert len({by_id[name].task for name in chosen}) == number, "each task once"


def test_over_raters_every_session_is_read_about_equally_often() -> None:
    items = items_of(10, ("a", "b"))
    counts: Counter[str] = Counter()
    for k in range(30):
        counts.update(choose_items(items, counts, 10, seed=1, person=f"p{k}"))
    by_id = {item.id: item for item in items}
    for label, expected in (("", 15.0), ("a", 7.5), ("b", 7.5)):
        own = [counts[name] for name in by_id if by_id[name].simulator == label]
        assert min(own) >= expected - 4
        assert max(own) <= expected + 4


def session(task: str, simulator: str, text: str, **more: object) -> Session:
    turns = (
        Turn("system", "rules"), Turn("assistant", "hi"), Turn("user", text),
        Turn("assistant", None, [{"id": "1"}]), Turn("tool", "{}"), Turn("assistant", "done"),
        Turn("user", "thanks ###STOP###"), Turn("user", "###STOP###"),
    )  # fmt: skip
    return Session(
        session_id=f"{task}{simulator}{text}", turns=turns, simulator=simulator, domain="d",
        task_id=task, **more,
    )  # fmt: skip


def test_sessions_are_matched_by_task_and_hold_no_tell_tale() -> None:
    people = [session(f"t{k}", "", f"h{k}") for k in range(6)]
    sims = {"a": [session(f"t{k}", "a", f"s{k}") for k in range(2, 9)]}
    items = choose_sessions(people, sims, tasks=3, seed=1)
    assert Counter(i.side for i in items) == {"person": 3, "program": 3}
    assert {i.task for i in items if i.side == "person"} == {
        i.task for i in items if i.side == "program"
    }
    assert items[0].messages[-1] == ("user", "thanks")
    assert all(not i.id.startswith(("h", "a", "s")) or len(i.id) == 12 for i in items)
    assert shown_messages(people[0]) == (
        ("assistant", "hi"), ("user", "h0"), ("assistant", "done"), ("user", "thanks"),
    )  # fmt: skip


class Site:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        lines = [
            {"id": i.id, "side": i.side, "simulator": i.simulator, "task": i.task,
             "session": i.session, "messages": i.messages}
            for i in items_of(6)
        ]  # fmt: skip
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "items.jsonl").write_text(text, encoding="utf-8")
        (folder / "consent.md").write_text(CONSENT, encoding="utf-8")
        (folder / "blind.toml").write_text(
            'title = "Person or program?"\nsessions_per_rater = 4\n', encoding="utf-8"
        )
        self.blind = raters.open_blind(read_blind(folder), clock=Clock())
        raters.set_trial(self.blind, trial=True)
        self.http = starlette.TestClient(blind_app(self.blind, secret=SECRET, password=OWNER))
        self.signer = Signer(SECRET, study_name(self.blind.database))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "b")
    with made.http:
        yield made
    made.blind.database.close()


def test_a_rater_goes_all_the_way_and_may_withdraw(site: Site) -> None:
    rater = Client(site.http)
    rater.get(f"/i/{site.signer.sign('invitation', 1)}")
    rater.post("/consent", answer="yes", agree="yes")
    rater.post("/background", experience="3")
    for n in range(4):
        assert f"Conversation {n + 1} of 4" in rater.text
        for word in ("sim0", "h00", '"program"}', "person-"):
            assert word not in re.sub(r'name="item" value="\w+"', "", rater.text)
        item = re.search(r'name="item" value="(\w+)"', rater.text)
        assert item
        incomplete = rater.post("/rate", item=item[1], verdict="program")
        assert "answer all three" in incomplete
        rater.post("/rate", item=item[1], verdict="program", sure="3", realism="2", turn="2")
        if n < 3:  # the last page has no form
            rater.post("/rate", item=item[1], verdict="person", sure="1", realism="5")
    assert "Your completion code" in rater.text
    found, left = raters.ratings_of(site.blind.database.read())
    assert [(r.verdict, r.sure, r.realism, r.turn, r.experience) for r in found] == [
        ("program", 3, 2, 1, "I have worked in support")
    ] * 4, "the first answer stays"
    assert left == 0
    rater.get(f"{rater.place}/withdraw")
    rater.post("/withdraw")
    assert "You have withdrawn" in rater.text
    assert raters.ratings_of(site.blind.database.read()) == ([], 0)


def test_the_owner_leaves_a_rater_out_with_a_reason_and_the_result_names_it(site: Site) -> None:
    for number in (1, 2):
        rater = Client(site.http)
        rater.get(f"/i/{site.signer.sign('invitation', number)}")
        rater.post("/consent", answer="yes", agree="yes")
        rater.post("/background", experience="3")
        for _ in range(4):
            item = re.search(r'name="item" value="(\w+)"', rater.text)
            assert item
            rater.post("/rate", item=item[1], verdict="program", sure="3", realism="2", turn="2")
    db = site.blind.database
    first, second = sorted(row.id for row in status.rater_rows(db.read()))
    assert not db.write(lambda own: status.exclude(own, first, "  "))
    assert db.write(lambda own: status.exclude(own, first, "read nothing"))
    found, _ = raters.ratings_of(db.read())
    assert len(found) == 4
    (left,) = status.left_out(db.read())
    assert (left.reason, left.ratings) == ("read nothing", 4)
    assert "read nothing" in markdown_of(result_of(site.blind))
    assert db.write(lambda own: status.include(own, first))
    assert status.left_out(db.read()) == ()
    with pytest.raises(UsageError, match="no rater"):
        forget_ratings(site.blind, raters=("nobody",))
    code = next(row.code for row in status.rater_rows(db.read()) if row.id == second)
    assert forget_ratings(site.blind, raters=(code,)).raters == 1
    assert len(raters.ratings_of(db.read())[0]) == 4
    assert forget_ratings(site.blind, everything=True).raters == 1
    assert raters.ratings_of(db.read()) == ([], 0)


def test_the_owners_page_is_behind_the_password(site: Site) -> None:
    closed = site.http.get("/owner").text
    token = re.search(r'name="csrf" value="([^"]+)"', closed)
    assert token
    assert "Raters" not in closed
    wrong = site.http.post("/owner/enter", data={"csrf": token[1], "password": "x"})
    assert "Raters" not in wrong.text
    right = site.http.post("/owner/enter", data={"csrf": token[1], "password": OWNER})
    assert "Raters" in right.text


def test_forgetting_says_what_and_is_confirmed(tmp_path: Path) -> None:
    refused(usi("blind", "forget", tmp_path), "say what")
    refused(usi("blind", "forget", tmp_path, "--everything"), "--yes")


def test_from_transcripts_to_the_gate(tmp_path: Path) -> None:
    """The command line: new, ratings, export, join, gate, page."""
    from usi.phantom import build_phantom

    files = build_phantom(tmp_path / "p", seed=7)
    card = tmp_path / "card.json"
    scored = usi(
        "score", files.simulators["copy"], "--human", files.human, "-o", card, "--quiet",
        "--c2st", "off",
    )  # fmt: skip
    assert scored.code == 0, scored.err
    made = usi(
        "blind", "new", tmp_path / "b", "--human", files.human, files.simulators["copy"],
        "--tasks", "12", "--sessions-per-rater", "10",
    )  # fmt: skip
    assert made.code == 0, made.err
    items = read_items(tmp_path / "b" / "items.jsonl")
    assert Counter(i.side for i in items) == {"person": 12, "program": 12}
    refused(usi("blind", "export", tmp_path / "b"), "no rating")
    blind = raters.open_blind(read_blind(tmp_path / "b"))
    rng = np.random.default_rng(3)

    def fill(db) -> None:  # type: ignore[no-untyped-def]
        for n in range(6):
            person = raters.arrive(db, blind, invitation=n + 1)
            assert person is not None
            raters.consent(db, blind, person, agreed=True)
            raters.begin(db, blind, person, "None")
            while (here := raters.where(db, blind, person)) and here.item:
                raters.rate(
                    db, blind, person, here.item, verdict=str(rng.choice(["person", "program"])),
                    sure=int(rng.integers(1, 4)), realism=3, turn=None,
                )  # fmt: skip

    blind.database.write(fill)
    blind.database.close()
    result = tmp_path / "blind.json"
    done = usi("blind", "export", tmp_path / "b", "-o", result, "-o", tmp_path / "blind.md")
    assert done.code == 0, done.err
    assert "could not tell" in done.err
    assert "| copy |" in (tmp_path / "blind.md").read_text(encoding="utf-8")
    criteria = tmp_path / "gate.toml"
    criteria.write_text("max_blind_auc = 0.95\n[minimum]\nindex = 10\n", encoding="utf-8")
    before = usi("gate", card, "--criteria", criteria)
    assert before.code == 3, before.err
    assert "no blind check" in before.out
    joined = usi("blind", "join", card, result, "-o", tmp_path / "joined.json")
    assert joined.code == 0, joined.err
    verdict = usi("gate", tmp_path / "joined.json", "--criteria", criteria)
    assert verdict.code == 0, verdict.out
    criteria.write_text("max_blind_auc = 0.5\n[minimum]\nindex = 10\n", encoding="utf-8")
    assert usi("gate", tmp_path / "joined.json", "--criteria", criteria).code == 3
    page = tmp_path / "page.html"
    shown = usi("report", tmp_path / "joined.json", "-o", page)
    assert shown.code == 0, shown.err
    assert "What practitioners could tell" in page.read_text(encoding="utf-8")
    refused(usi("blind", "join", card, card, "-o", tmp_path / "x.json"), "is not a result")
