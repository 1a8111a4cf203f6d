"""What would make a part assessable: for every reason that a scorecard gives, the way there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from decisions.cards import absent, card, index, part, simulator

import usi
from usi.decisions import gate_scorecard, resolve, tier
from usi.decisions.verdict import Need
from usi.estimate import Estimate, not_assessed
from usi.phantom import build_phantom
from usi.reasons import (
    AGGREGATE,
    FEW_FEATURES,
    FEW_FEATURES_UNPAIRED,
    FEW_HUMAN_HITS,
    FEW_SESSIONS_SHOW,
    FEW_SIMULATOR_SESSIONS,
    NO_HUMAN_OUTCOME,
    NO_SIMULATED_OUTCOME,
    ONE_UNIT,
    OTHER_AGENT,
    PAIRED_ONLY,
    PEOPLE_CONSTANT,
    REWARDS_NOT_BINARY,
    TASKS_DIFFER,
    Reason,
)
from usi.scoring.scorecard import FeatureScore, Index, Sizes


def needed(change: dict[str, Any], **criteria: Any) -> dict[str, Need]:
    """What a verdict on one simulator says is needed, by part."""
    rules = resolve({"tier": "B", **criteria}) if criteria else tier("B")
    verdict = gate_scorecard(card(simulator(**change)), rules)
    assert verdict.verdict == "INCONCLUSIVE"
    return {need.part: need for need in verdict.needed}


@pytest.mark.parametrize(
    ("reason", "kind", "words"),
    [
        (NO_HUMAN_OUTCOME(), "data", "add `reward` (or `outcome`) to the human"),
        (NO_SIMULATED_OUTCOME(), "data", "grade its runs and add `reward`"),
        (REWARDS_NOT_BINARY(example=0.5), "rescore", "score again with --success-at"),
        (OTHER_AGENT(people="a", simulator="b"), "data", "--other-agent"),
        (TASKS_DIFFER(), "rescore", "score again with --strata COLUMN"),
        (ONE_UNIT(unit="task"), "tasks", "at least two tasks"),
        (FEW_SESSIONS_SHOW(), "tasks", "more tasks"),
        (AGGREGATE(), "rescore", "against the corpus itself"),
        (Reason("of_a_later_version", "something new"), "data", "something new"),
        (Reason("of_a_later_version", "no human session has an outcome"), "data",
         "no human session has an outcome; data that mend this"),
    ],
)  # fmt: skip
def test_an_absent_component_says_what_would_make_it_assessable(
    reason: Reason, kind: str, words: str
) -> None:
    need = needed({"components": {"outcome": absent(reason)}})["outcome"]
    assert need.kind == kind
    assert need.text.startswith("outcome is not assessed: ")
    assert words in need.text
    assert need.text.endswith("or drop outcome from [require]")


def test_what_is_not_required_and_has_a_minimum_loses_the_minimum() -> None:
    change = {"components": {"outcome": absent(NO_HUMAN_OUTCOME())}}
    rules = {"require": {"components": []}, "minimum": {"outcome": 80}}
    found = gate_scorecard(card(simulator(**change)), resolve({"tier": "B", **rules}))
    for need in found.needed:
        assert "from [require]" not in need.text


def test_a_dimension_names_the_features_that_it_lacks() -> None:
    def feature(dimension: str, reason: Reason | None) -> FeatureScore:
        value = Estimate(value=90.0) if reason is None else not_assessed(reason)
        return FeatureScore(dimension=dimension, unit="share", scored=reason is None,
                            human=value, simulator=value, score=value)  # fmt: skip

    features = {
        "accusation": feature("reaction", FEW_HUMAN_HITS(hits=4, least=10)),
        "emotion": feature("reaction", None),
        "politeness": feature("conversation", PEOPLE_CONSTANT()),
    }
    reason = FEW_FEATURES(scored=1, declared=4)
    change = {"components": {"reaction": absent(reason)}, "features": features}
    text = needed(change)["reaction"].text
    assert "accusation (4 human sessions show it, at least 10 are needed)" in text
    assert "emotion" not in text
    assert "politeness" not in text
    task = feature("clarification", PAIRED_ONLY())
    none = absent(FEW_FEATURES_UNPAIRED(scored=0, declared=5))
    change = {"components": {"clarification": none}, "features": {"clarify": task}}
    assert "run the simulator on the tasks that the people did" in needed(change)[
        "clarification"].text  # fmt: skip


def test_few_sessions_and_subgroups_and_reviews() -> None:
    few = Index(value=None, status="not_assessed", name="USI-R", terms=5, terms_possible=5,
                reason=FEW_SIMULATOR_SESSIONS(have=12, least=50))  # fmt: skip
    change = {"index": few, "n": Sizes(tasks=165, sessions=12, runs=1, clusters=165)}
    need = needed(change)["index"]
    assert (need.kind, "50 sessions of the simulator (now 12)" in need.text) == ("runs", True)
    rules = {"subgroup": [{"by": "domain", "minimum": {"index": 70}}]}
    need = needed({}, **rules)["subgroup.domain"]
    assert (need.kind, "--by domain" in need.text) == ("rescore", True)
    need = needed({}, max_user_errors=0.1)["max_user_errors"]
    assert "review" in need.text


def test_an_open_check_that_has_a_value_is_not_called_absent() -> None:
    change = {"components": {"outcome": part(86.0, se=6.0)}, "index": index(95.0)}
    text = needed(change)["outcome"].text
    assert "not assessed" not in text


def test_a_scorecard_of_people_without_rewards(tmp_path: Path) -> None:
    """The whole way: scored from files, gated, and told what to add."""
    files = build_phantom(tmp_path / "p", tasks=30, runs=2, simulators=["copy"], seed=3)
    rows = [json.loads(line) for line in next(files.human.rglob("*.jsonl")).open()]
    for row in rows:
        row.pop("reward", None)
        row.pop("outcome", None)
    people = tmp_path / "people.jsonl"
    people.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = usi.score(files.simulators["copy"], people,
                     replicates=100, c2st="off")  # fmt: skip
    texts = [need.text for need in gate_scorecard(made, tier("B")).needed]
    assert (
        "outcome is not assessed: no rewards on the human side: add `reward` (or `outcome`) to "
        "the human sessions; or drop outcome from [require]"
    ) in texts
