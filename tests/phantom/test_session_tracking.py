"""Words with a meaning: topics and replies of a known strength, which touch no count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phantom_truth.counts import count_frame

from usi.errors import UsageError
from usi.phantom import blend, default_tasks, draw, get_simulator, load_spec, realise
from usi.phantom.drawn_sessions import STOCK
from usi.phantom.spec import SenseSpec
from usi.phantom.wording import TOPIC_WORDS

TASKS = default_tasks(60)
SAME_COUNTS = ("off-topic", "shuffled", "reads-instruction")


def drawn(name: str, seed: int = 5):
    spec = load_spec("human") if name == "human" else get_simulator(name)
    return draw(spec, TASKS, replicates=3, seed=seed)


@pytest.mark.parametrize("profile", ["tau-usi", "robust"])
@pytest.mark.parametrize("name", SAME_COUNTS)
def test_counts_do_not_depend_on_sense(name: str, profile: str) -> None:
    frames = [count_frame(drawn(each), profile, side="simulated") for each in ("copy", name)]
    assert frames[0].equals(frames[1])


def topic_words(name: str) -> list[Counter[str]]:
    known = set(TOPIC_WORDS)
    return [
        Counter(
            word
            for turn in session.turns
            if turn.role == "user"
            for word in turn.content.lower().replace(",", "").replace(".", "").split()
            if word in known
        )
        for session in realise(drawn(name), side="simulated", simulator=name)
    ]


def test_sessions_of_one_task_share_its_words_and_off_topic_ones_do_not() -> None:
    def shared(counts: list[Counter[str]]) -> float:
        # sessions i, i + 60, i + 120 are runs of the same task
        both = [len(counts[i].keys() & counts[i + 60].keys()) for i in range(60)]
        return float(np.mean(both)) / float(np.mean([len(c) for c in counts]))

    assert shared(topic_words("copy")) > 0.3
    # two tasks share 8 x 8 / 152 = 0.4 of their 8 words by chance
    assert shared(topic_words("off-topic")) < 0.12


def test_share_of_topic_words_is_the_chance() -> None:
    plan = drawn("human")
    share = plan.topical.sum() / plan.long_words.sum()
    n = plan.long_words.sum()
    assert share == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / n))
    everything = drawn("reads-instruction")
    assert (everything.topical == everything.long_words).all()


@pytest.mark.parametrize(("name", "answers"), [("human", 0.8), ("shuffled", 0.0)])
def test_replies_fit_their_messages_as_often_as_said(name: str, answers: float) -> None:
    plan = drawn(name)
    can = plan.kind != STOCK
    fits = (plan.asked == plan.reply)[can]
    # independent ones fit by chance in one of four
    expected = answers + (1 - answers) / 4
    assert fits.mean() == pytest.approx(expected, abs=4 * np.sqrt(0.19 / len(fits)))


def test_replayed_sessions_are_few_and_keep_the_outcomes_of_their_places() -> None:
    plan, copy = drawn("replayed"), drawn("copy")
    texts = {
        tuple(turn.content for turn in session.turns)
        for session in realise(plan, side="simulated", simulator="replayed")
    }
    assert 25 <= len(texts) <= 30
    assert np.array_equal(plan.reward, copy.reward)
    assert np.array_equal(plan.task, copy.task)


@settings(max_examples=25, deadline=None)
@given(st.floats(0, 1))
def test_sense_blends_like_everything_else(strength: float) -> None:
    found = blend(load_spec("human"), get_simulator("shuffled"), strength).sense
    assert found.answers == pytest.approx(0.8 * (1 - strength))
    assert found.topic == pytest.approx(0.4)


@pytest.mark.parametrize("wrong", [{"topic": 1.2}, {"answers": -0.1}, {"replayed": -1}])
def test_impossible_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="sense needs"):
        SenseSpec(**wrong)
