"""Task tracking, content tracking and turn adjacency: definitions, laws, known truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.extraction.content import HEARD, PAIR, SAID, Names, content_columns, pair_hash, word_hash
from usi.scoring.robust.adjacency import (
    FEWEST_SESSIONS,
    FOLDS,
    PENALTY,
    AdjacencyModel,
    turn_adjacency,
)
from usi.scoring.robust.sums import SideSums, side_sums
from usi.scoring.robust.tracking import ContentModel, content_tracking, task_tracking
from usi.scoring.robust.wording import Wording, stop_words

WORDS = ("ähre", "bread", "cloud", "dune", "ember", "flint", "grove", "harbor", "?", "it's", "x9")
Session = list[tuple[str, str]]  # (agent's message, reply)
texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
sessions = st.lists(st.lists(st.tuples(texts, texts), max_size=4), max_size=5)


def columns(found: list[Session], names: Names | None = None) -> pl.DataFrame:
    """Content columns of sessions given as (message, reply) pairs; "" is no message."""
    agents = [message for session in found for message, _ in session]
    turns = [reply for session in found for _, reply in session]
    at = np.array([k if agents[k] else -1 for k in range(len(agents))], dtype=np.int64)
    sizes = np.array([len(session) for session in found], dtype=np.int64)
    return pl.DataFrame(
        content_columns(turns, sizes, agents, at, np.ones(len(found), dtype=bool), names)
    )


def wording(found: list[Session], unit: list[int], split: list[int]) -> Wording:
    side = Wording.of(columns(found), np.array(unit), np.array(split))
    assert side is not None
    return side


# ---------------------------------------------------------------- what the table keeps


def test_a_word_is_the_crc32_of_its_bytes_and_a_pair_depends_on_order() -> None:
    assert word_hash("hello") == 0x3610A686  # the check value of CRC-32 tables
    a, b = (np.array([word_hash(w)], dtype=np.uint32) for w in ("red", "shoes"))
    assert pair_hash(a, b)[0] != pair_hash(b, a)[0]
    assert pair_hash(a, b)[0] & PAIR
    assert not a[0] & PAIR


def test_turns_become_sets_of_words_and_neighbouring_pairs() -> None:
    names = Names()
    frame = columns([[("Which color?", "Red shoes, RED shoes"), ("", "")]], names)
    said = frame[SAID].to_list()[0]
    assert said[0] == sorted(said[0])
    assert {names.term(n) for n in said[0]} == {"red", "shoes", "red shoes", "shoes red"}
    assert said[1] == []
    heard = frame[HEARD].to_list()[0]
    assert [len(part) for part in heard] == [5, 0]  # which, color, ?, two pairs
    assert names.term(123) is None


@given(sessions, sessions)
def test_rows_do_not_depend_on_the_partition(first: list[Session], second: list[Session]) -> None:
    whole = columns(first + second)
    parts = [columns(part) for part in (first, second)]
    assert whole.to_dicts() == [row for part in parts for row in part.to_dicts()]


# ---------------------------------------------------------------- task tracking


def sums(values: np.ndarray, splits: int) -> SideSums:
    """Sums of values (units, splits, features)."""
    n, k, f = values.shape
    flat = values.reshape(n * k, f)
    assert k == splits
    return side_sums(
        unit=np.repeat(np.arange(n), k),
        units=[f"t{i}" for i in range(n)],
        split=[str(j + 1) for j in range(k)] * n,
        bin_index=np.full(n * k, -1),
        bins=(),
        features=[f"f{j}" for j in range(f)],
        values=flat,
        hits=(flat > 0).astype(float),
        success=np.full(n * k, np.nan),
        labels=np.full((n * k, 5), np.nan),
    )


def test_task_tracking_is_the_covariance_over_tasks_relative_to_people() -> None:
    """Written out with numpy's covariance, pair by pair and feature by feature."""
    rng = np.random.default_rng(5)
    task = rng.normal(size=(40, 1, 3))
    people = task + rng.normal(size=(40, 3, 3))
    model = 0.5 * task + rng.normal(size=(40, 2, 3))

    def cov(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.cov(a, b, bias=True)[0, 1])

    var = people.reshape(-1, 3).var(axis=0)
    across = np.mean([
        sum(cov(model[:, r, f], people[:, j, f]) / var[f] for f in range(3))
        for r in range(2) for j in range(3)
    ])  # fmt: skip
    among = np.mean([
        sum(cov(people[:, i, f], people[:, j, f]) / var[f] for f in range(3))
        for i in range(3) for j in range(i)
    ])  # fmt: skip
    found = task_tracking(
        sums(people, 3), sums(model, 2), ("f0", "f1", "f2"), replicates=200, seed=1
    )
    assert found is not None
    assert found.value == pytest.approx(across / among, rel=1e-9)
    assert found.people == pytest.approx(among, rel=1e-9)
    assert found.low < found.value < found.high
    assert found.units == 40


def test_task_tracking_covers_the_true_share_of_the_task_effect() -> None:
    inside = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        task = rng.normal(size=(80, 1, 6))
        people = task + rng.normal(size=(80, 3, 6))
        model = 0.6 * task + rng.normal(size=(80, 3, 6))
        found = task_tracking(
            sums(people, 3), sums(model, 3), [f"f{k}" for k in range(6)], replicates=200, seed=1
        )
        assert found is not None
        inside += found.low <= 0.6 <= found.high
    assert inside >= 48  # 54 expected of a 90 % interval, less three standard deviations


def test_task_tracking_is_none_where_people_do_not_follow_tasks() -> None:
    rng = np.random.default_rng(4)
    people, model = rng.normal(size=(60, 3, 4)), rng.normal(size=(60, 3, 4))
    names = [f"f{k}" for k in range(4)]
    assert task_tracking(sums(people, 3), sums(model, 3), names, replicates=200, seed=1) is None
    constant = np.ones((60, 3, 4))
    assert task_tracking(sums(constant, 3), sums(model, 3), names, replicates=200, seed=1) is None


def test_a_feature_that_is_undefined_for_a_side_says_nothing() -> None:
    rng = np.random.default_rng(6)
    task = rng.normal(size=(50, 1, 2))
    people, model = task + rng.normal(size=(50, 2, 2)), task + rng.normal(size=(50, 2, 2))
    hollow = model.copy()
    hollow[:, :, 1] = np.nan
    found = task_tracking(sums(people, 2), sums(hollow, 2), ("f0", "f1"), replicates=200, seed=1)
    alone = task_tracking(sums(people, 2), sums(model, 2), ("f0",), replicates=200, seed=1)
    assert found is not None
    assert alone is not None
    # The numerator is that of the first feature alone.
    assert found.value * found.people == pytest.approx(alone.value * alone.people, rel=1e-9)


# ---------------------------------------------------------------- content tracking

CONTENT = (
    "flight",
    "boston",
    "refund",
    "lamp",
    "hotel",
    "guest",
    "doctor",
    "fever",
    "bank",
    "loan",
)


def talk(rng: np.random.Generator, topic: int, follow: float) -> Session:
    """A session whose words are the topic's with probability `follow`, else anyone's."""
    own = CONTENT[2 * topic : 2 * topic + 2]
    replies = [
        " ".join(str(rng.choice(own if rng.random() < follow else CONTENT)) for _ in range(4))
        for _ in range(3)
    ]
    return [("ok", reply) for reply in replies]


def sides(follow: float, seed: int, *, people: float = 0.7) -> tuple[ContentModel, Wording, int]:
    rng = np.random.default_rng(seed)
    tasks = 50
    unit = [t for t in range(tasks) for _ in range(3)]
    split = [0, 1, 2] * tasks
    human = wording([talk(rng, t % 5, people) for t in unit], unit, split)
    model = wording([talk(rng, t % 5, follow) for t in unit], unit, split)
    return ContentModel.fit(human, tasks), model, tasks


def test_content_tracking_equals_the_formula_written_out_with_sklearn() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(2)
    people = [talk(rng, t % 5, 0.7) for t in range(12) for _ in range(2)]
    model = [talk(rng, t % 5, 0.4) for t in range(12)]
    unit = [t for t in range(12) for _ in range(2)]
    found = content_tracking(
        ContentModel.fit(wording(people, unit, [0, 1] * 12), 12),
        wording(model, list(range(12)), [0] * 12),
        np.arange(12), replicates=200, seed=1,
    )  # fmt: skip
    assert found is not None

    def rows(group: list[Session]) -> np.ndarray:  # how many turns show each word
        binary = CountVectorizer(binary=True, vocabulary=CONTENT)
        return np.stack([
            binary.transform([reply for _, reply in session]).sum(axis=0).A1 for session in group
        ]).astype(float)  # fmt: skip

    counts = rows(people)
    idf = np.log((1 + len(people)) / (1 + (counts > 0).sum(axis=0))) + 1

    def means(group: list[Session]) -> np.ndarray:
        with np.errstate(divide="ignore"):
            tf = np.where(rows(group) > 0, 1 + np.log(rows(group)), 0.0)
        return normalize(normalize(tf * idf))

    def lift(a: np.ndarray, b: np.ndarray) -> float:
        cosine = a @ b.T
        return float(np.mean([
            cosine[t, t] - np.delete(cosine[t], t).mean() for t in range(len(a))
        ]))  # fmt: skip

    one, two, sim = means(people[0::2]), means(people[1::2]), means(model)
    among = (lift(one, two) + lift(two, one)) / 2
    assert found.people == pytest.approx(among, rel=1e-9)
    assert found.value == pytest.approx((lift(sim, one) + lift(sim, two)) / 2 / among, rel=1e-9)


@pytest.mark.parametrize(("follow", "low", "high"), [(0.7, 0.9, 1.1), (0.0, -0.1, 0.1)])
def test_content_tracking_is_one_for_people_and_zero_off_topic(
    follow: float, low: float, high: float
) -> None:
    human, model, tasks = sides(follow, seed=8)
    found = content_tracking(human, model, np.arange(tasks), replicates=300, seed=1)
    assert found is not None
    assert low < found.value < high
    assert found.low < found.value < found.high


def test_more_of_the_topic_than_people_say_is_above_one() -> None:
    human, model, tasks = sides(1.0, seed=8)
    found = content_tracking(human, model, np.arange(tasks), replicates=300, seed=1)
    assert found is not None
    assert found.low > 1.1


def test_content_tracking_is_none_where_people_talk_alike_on_all_tasks() -> None:
    human, model, tasks = sides(0.7, seed=8, people=0.0)
    assert content_tracking(human, model, np.arange(tasks), replicates=300, seed=1) is None


def test_stop_words_carry_no_content() -> None:
    assert {word_hash("the"), word_hash("?")} <= set(stop_words().tolist())
    assert word_hash("lamp") not in set(stop_words().tolist())


# ---------------------------------------------------------------- turn adjacency

ASKED = {"name": "anna smith", "day": "friday please", "size": "large one", "sure": "yes it is"}


def chat(rng: np.random.Generator, answers: float) -> Session:
    """Four questions in any order, each answered with probability `answers`, else at random."""
    order = [str(word) for word in rng.permutation(list(ASKED))]
    return [
        (
            f"which {word}",
            ASKED[word] if rng.random() < answers else str(rng.choice(list(ASKED.values()))),
        )
        for word in order
    ]


def chats(answers: float, seed: int, tasks: int = 40) -> Wording:
    rng = np.random.default_rng(seed)
    unit = [t for t in range(tasks) for _ in range(2)]
    return wording([chat(rng, answers) for _ in unit], unit, [0, 1] * tasks)


def adjacency(human: float, simulator: float, *, paired: bool = True) -> tuple[float, float, float]:
    model = AdjacencyModel.fit(chats(human, 1), 40)
    assert model is not None
    at = np.arange(40)
    found = turn_adjacency(
        model, chats(simulator, 2), (at, at), paired=paired, replicates=300, seed=1
    )
    assert found is not None
    return found.low, found.value, found.high


@pytest.mark.parametrize("paired", [True, False])
def test_turn_adjacency_is_one_for_people_and_zero_for_random_answers(paired: bool) -> None:
    low, value, high = adjacency(0.8, 0.8, paired=paired)
    assert 0.85 < value < 1.15
    assert low < value < high
    low, value, high = adjacency(0.8, 0.0, paired=paired)
    assert low < 0.1
    assert high < 0.4


def test_shuffled_answers_do_not_answer() -> None:
    human = chats(0.9, 1)
    model = AdjacencyModel.fit(human, 40)
    assert model is not None
    rng = np.random.default_rng(3)
    mixed = []
    for _ in range(80):
        own = chat(rng, 0.9)
        replies = [own[k][1] for k in rng.permutation(4)]
        mixed.append([(message, reply) for (message, _), reply in zip(own, replies, strict=True)])
    unit = [t for t in range(40) for _ in range(2)]
    at = np.arange(40)
    found = turn_adjacency(
        model, wording(mixed, unit, [0, 1] * 40), (at, at), paired=True, replicates=300, seed=1
    )
    assert found is not None
    assert abs(found.value) < 0.3
    assert found.high < 0.4


@pytest.mark.parametrize(("without", "judged"), [(None, 1), (3, 1), (1, 1)])
def test_a_form_is_the_ridge_solution_on_the_tasks_that_it_may_know(
    without: int | None, judged: int
) -> None:
    """Against least squares on rows that bear the penalty, written out exchange by exchange."""
    human = chats(0.8, 1, tasks=20)
    model = AdjacencyModel.fit(human, 20)
    assert model is not None
    own = model.exchanges(human)
    products, fold = [], []
    for apart in (1, 2):
        for at in own.blocks():
            n = at.stop - at.start
            for i in range(n):
                other = own.message[at.start + (i + apart) % n]
                difference = own.message[at.start + i] - other
                products.append(np.outer(own.reply[at.start + i], difference).ravel())
                fold.append(own.unit[at.start] % FOLDS)
    x = np.array(products)
    scale = np.sqrt((x**2).mean(axis=0))
    scale[scale == 0] = 1
    known = ~np.isin(fold, [judged] if without is None else [judged, without])
    rows = x[known] / scale
    penalty = np.sqrt(PENALTY * len(rows)) * np.eye(len(scale))
    target = np.concatenate([np.ones(len(rows)), np.zeros(len(scale))])
    expected = np.linalg.lstsq(np.vstack([rows, penalty]), target, rcond=None)[0] / scale
    form = model.forms[0 if without is None else 1 + without, judged]
    assert np.allclose(form.ravel(), expected, rtol=1e-6, atol=1e-9)


def test_bounds_of_adjacency_hold_what_is_due_to_the_people_learned_from() -> None:
    """The jackknife over folds joins the bootstrap: the distance of a bound is their root sum."""
    model = AdjacencyModel.fit(chats(0.5, 3, tasks=20), 20)
    assert model is not None
    at, simulator = np.arange(20), chats(0.3, 4, tasks=20)
    found = turn_adjacency(model, simulator, (at, at), paired=True, replicates=300, seed=1)
    alone = replace(model, forms=np.repeat(model.forms[:1], 1 + FOLDS, axis=0))
    people = np.repeat(model.people[:, :1], FOLDS, axis=1)
    alone = replace(alone, people=np.hstack([model.people[:, :2], people]))
    bootstrap = turn_adjacency(alone, simulator, (at, at), paired=True, replicates=300, seed=1)
    assert found is not None
    assert bootstrap is not None
    sums = model.by_unit(model.exchanges(simulator), 20).sum(axis=0)
    own = model.people.sum(axis=0)
    r = (sums[2:] / sums[1] - 0.5) / (own[2:] / own[1] - 0.5)
    reach = 1.6448536 * np.sqrt(0.8 * ((r - r.mean()) ** 2).sum())
    assert reach > 0.01
    assert found.value == bootstrap.value
    assert found.low == pytest.approx(found.value - np.hypot(reach, found.value - bootstrap.low))
    assert found.high == pytest.approx(found.value + np.hypot(reach, bootstrap.high - found.value))


def test_people_who_do_not_answer_are_no_yardstick() -> None:
    model = AdjacencyModel.fit(chats(0.0, 1), 40)
    assert model is not None
    at = np.arange(40)
    found = turn_adjacency(model, chats(0.9, 2), (at, at), paired=True, replicates=300, seed=1)
    assert found is None


def test_sessions_under_three_exchanges_make_no_model() -> None:
    rng = np.random.default_rng(0)
    short = [chat(rng, 1.0)[:2] for _ in range(2 * FEWEST_SESSIONS)]
    count = len(short)
    assert AdjacencyModel.fit(wording(short, list(range(count)), [0] * count), count) is None


def test_an_agent_that_says_one_thing_alone_prefers_nothing() -> None:
    """All other messages of the session are the same: every comparison is a tie."""
    model = AdjacencyModel.fit(chats(0.9, 1), 40)
    assert model is not None
    same = [[("which day", ASKED["day"])] * 4 for _ in range(40)]
    side = wording(same, list(range(40)), [0] * 40)
    assert model.session_preference(side) == pytest.approx(np.full(40, 0.5))


# ---------------------------------------------------------------- inputs by session


@settings(max_examples=20)
@given(st.permutations(range(12)))
def test_the_order_of_sessions_changes_no_number(order: list[int]) -> None:
    rng = np.random.default_rng(2)
    talks = [talk(rng, k % 3, 0.8) for k in range(12)]
    unit, split = [k // 2 for k in range(12)], [k % 2 for k in range(12)]
    model = ContentModel.fit(wording(talks, unit, split), 6)
    own = model.session_lift(wording(talks, unit, split))
    moved = wording([talks[k] for k in order], [unit[k] for k in order], [split[k] for k in order])
    again = ContentModel.fit(moved, 6)
    assert again.among == pytest.approx(model.among)
    assert again.session_lift(moved) == pytest.approx(own[list(order)])


def test_a_session_is_never_compared_with_itself() -> None:
    """Two batches that share no word: a session whose lift held itself would not be 0 or less."""
    unit = [0, 1, 0, 1]
    talks: list[Session] = [
        [("", "flight boston")], [("", "refund lamp")], [("", "hotel guest")], [("", "doctor bank")]
    ]  # fmt: skip
    side = wording(talks, unit, [0, 0, 1, 1])
    model = ContentModel.fit(side, 2)
    assert model.session_lift(side) == pytest.approx(np.zeros(4))
