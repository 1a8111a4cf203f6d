"""What would make a part assessable: for every reason that a scorecard gives, the way there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gate.cards import absent, card, index, part, simulator

import usi
from usi.decisions import gate_scorecard, resolve, tier
from usi.decisions.verdict import Need
from usi.estimate import Estimate, not_assessed
from usi.phantom import build_phantom
from usi.scoring.robust.options import RobustOptions
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
        ("no human session has an outcome", "data", "add `reward` (or `outcome`) to the human"),
        ("no simulated session has an outcome", "data", "grade its runs and add `reward`"),
        ("rewards other than 0 and 1 (such as 0.5): declare what counts as success "
         "(--success-at)", "rescore", "score again with --success-at"),
        ("people talked to another agent (a) than the simulator (b): success ...", "data",
         "--other-agent"),
        ("tasks differ: success is compared only within declared strata (--strata COLUMN)",
         "rescore", "score again with --strata COLUMN"),
        ("one task alone: nothing to resample, so no bounds", "tasks", "at least two tasks"),
        ("too few sessions show it for a bound", "tasks", "more tasks"),
        ("the reference is an aggregate: it holds sums by task and no session", "rescore",
         "against the corpus itself"),
        ("something new", "data", "something new"),
    ],
)  # fmt: skip
def test_an_absent_component_says_what_would_make_it_assessable(
    reason: str, kind: str, words: str
) -> None:
    need = needed({"components": {"outcome": absent(reason)}})["outcome"]
    assert need.kind == kind
    assert need.text.startswith("outcome is not assessed: ")
    assert words in need.text
    assert need.text.endswith("or drop outcome from [require]")


def test_what_is_not_required_and_has_a_minimum_loses_the_minimum() -> None:
    change = {"components": {"outcome": absent("no human session has an outcome")}}
    rules = {"require": {"components": []}, "minimum": {"outcome": 80}}
    found = gate_scorecard(card(simulator(**change)), resolve({"tier": "B", **rules}))
    for need in found.needed:
        assert "from [require]" not in need.text


def test_a_dimension_names_the_features_that_it_lacks() -> None:
    def feature(dimension: str, reason: str | None) -> FeatureScore:
        value = Estimate(value=90.0) if reason is None else not_assessed(reason)
        return FeatureScore(dimension=dimension, unit="share", scored=reason is None,
                            human=value, simulator=value, score=value)  # fmt: skip

    features = {
        "accusation": feature("reaction", "4 human sessions show it, at least 10 are needed"),
        "emotion": feature("reaction", None),
        "politeness": feature("conversation", "people do not vary in it"),
    }
    reason = "1 of its 4 features can be scored"
    change = {"components": {"reaction": absent(reason)}, "features": features}
    text = needed(change)["reaction"].text
    assert "accusation (4 human sessions show it, at least 10 are needed)" in text
    assert "emotion" not in text
    assert "politeness" not in text
    task = feature("clarification", "follows the task, not the user: scored in paired designs only")
    change = {"components": {"clarification": absent("0 of its 5 features can be scored in an "
              "unpaired design")}, "features": {"clarify": task}}  # fmt: skip
    assert "run the simulator on the tasks that the people did" in needed(change)[
        "clarification"].text  # fmt: skip


def test_few_sessions_and_subgroups_and_reviews() -> None:
    few = Index(value=None, status="not_assessed", name="USI-R", terms=5, terms_possible=5,
                reason="12 simulator sessions, an index needs at least 50")  # fmt: skip
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
                     robust=RobustOptions(replicates=100, c2st="off"))  # fmt: skip
    texts = [need.text for need in gate_scorecard(made, tier("B")).needed]
    assert (
        "outcome is not assessed: no rewards on the human side: add `reward` (or `outcome`) to "
        "the human sessions; or drop outcome from [require]"
    ) in texts
