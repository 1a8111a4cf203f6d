"""Criteria files: tiers, tightening and loosening, typing errors, fingerprints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from usi.decisions.criteria import load_criteria, read_criteria, resolve, tier
from usi.errors import InputError, InputErrors, UsageError

EVERY_KEY = """
tier = "B"
min_tasks = 100
max_success_gap = 0.08
c2st_max = 0.8
family_size = 3
profile = "robust@2"
on_inconclusive = "fail"
max_age_days = 90

[minimum]
index = 86
conversation = 76
information = 86.5
clarification = 76
reaction = 76
outcome = 80

[survey]
min_kappa_ratio = 0.6
max_bias = 0.05

[[subgroup]]
by = "domain"
minimum = 70

[[subgroup]]
by = "difficulty"
minimum = { outcome = 60 }

[require]
components = ["conversation", "outcome"]
"""


def write(folder: Path, text: str, name: str = "gate.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "index", "parts", "gap", "c2st", "kappa"),
    [
        ("A", 92, (92, 90, 84, 78, 90), 0.07, 0.70, 0.5),
        ("B", 90, (88, 86, 80, 75, 88), 0.10, 0.85, 0.5),
        ("C", 82, (80, 78, 70, 60, 80), 0.15, None, None),
    ],
)
def test_tiers_as_published(
    name: str, index: float, parts: tuple[float, ...], gap: float, c2st: Any, kappa: Any
) -> None:
    found = tier(name)
    assert tuple(value for _, value in found.minimum.items()) == (index, *parts)
    assert (found.max_success_gap, found.c2st_max) == (gap, c2st)
    assert found.survey.min_kappa_ratio == kappa
    assert found.survey.max_bias == (None if kappa is None else 0.10)
    assert (found.profile, found.on_inconclusive, found.family_size) == (
        "robust",
        "inconclusive",
        1,
    )
    assert len(found.require.components) == 5


def test_every_key_is_read(tmp_path: Path) -> None:
    found = read_criteria(write(tmp_path, EVERY_KEY))
    assert found.min_tasks == 100
    assert found.max_success_gap == 0.08
    assert found.c2st_max == 0.8
    assert found.family_size == 3
    assert found.profile == "robust@2"
    assert found.on_inconclusive == "fail"
    assert found.max_age_days == 90
    assert dict(found.minimum.items()) == {
        "index": 86, "conversation": 76, "information": 86.5, "clarification": 76,
        "reaction": 76, "outcome": 80,
    }  # fmt: skip
    assert (found.survey.min_kappa_ratio, found.survey.max_bias) == (0.6, 0.05)
    assert [(part.by, part.minimum.items()) for part in found.subgroup] == [
        ("domain", [("index", 70)]),
        ("difficulty", [("outcome", 60)]),
    ]
    assert found.require.components == ("conversation", "outcome")


def test_the_same_keys_under_gate_in_the_settings(tmp_path: Path) -> None:
    own = read_criteria(write(tmp_path, 'tier = "C"\nmin_tasks = 50\n'))
    settings = '[score]\nseed = 1\n[gate]\ntier = "C"\nmin_tasks = 50\n'
    assert read_criteria(write(tmp_path, settings, "usi.toml")) == own
    project = '[project]\nname = "x"\n[tool.usi.gate]\ntier = "C"\nmin_tasks = 50\n'
    assert read_criteria(write(tmp_path, project, "pyproject.toml")) == own
    with pytest.raises(UsageError, match=r"no table \[gate\]"):
        read_criteria(write(tmp_path, "[score]\n", "usi.toml"))


def test_a_file_starts_from_a_tier_and_says_what_it_changed() -> None:
    found = resolve({"tier": "B", "max_success_gap": 0.2, "minimum": {"outcome": 80, "index": 91}})
    assert dict(found.minimum.items())["conversation"] == 88
    assert found.changes() == (["max_success_gap", "minimum.outcome"], ["minimum.index"])
    assert found.label == (
        "tier B (loosened: max_success_gap, minimum.outcome; tightened: minimum.index)"
    )
    assert tier("B").label == "tier B"


def test_fingerprint_follows_what_is_asked_and_nothing_else() -> None:
    assert resolve({"tier": "B"}).fingerprint == tier("B").fingerprint
    assert resolve({"tier": "B", "minimum": {"index": 90.0}}).fingerprint == tier("B").fingerprint
    changed = resolve({"tier": "B", "minimum": {"index": 91}}).fingerprint
    assert changed != tier("B").fingerprint
    assert re.fullmatch("[0-9a-f]{12}", changed)
    assert len({tier(name).fingerprint for name in "ABC"}) == 3


def test_unknown_keys_are_reported_together_with_suggestions(tmp_path: Path) -> None:
    text = 'teir = "B"\n[minimum]\noutcom = 80\nsurvey = 70\n[survey]\nmin_kapa_ratio = 1\n'
    text += '[[subgroup]]\nby = "x"\nminimum = {indx = 1}\n[require]\ncomponent = []\n'
    with pytest.raises(InputErrors) as caught:
        read_criteria(write(tmp_path, text))
    message = str(caught.value)
    assert len(caught.value.problems) == 6
    for near in ("tier", "outcome", "min_kappa_ratio", "index", "components"):
        assert f"did you mean '{near}'" in message
    assert "minimum.survey" in message
    assert "[survey] min_kappa_ratio" in message


def test_wrong_values_are_reported_beside_unknown_keys() -> None:
    with pytest.raises(InputErrors) as caught:
        resolve({"teir": "B", "tier": "D", "min_tasks": 0, "minimum": {"indx": 1, "outcome": 101}})
    assert sorted(str(problem.field) for problem in caught.value.problems) == [
        "min_tasks",
        "minimum.indx",
        "minimum.outcome",
        "teir",
        "tier",
    ]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"tier": "D"}, "tier"),
        ({"tier": "B", "min_tasks": 0}, "min_tasks"),
        ({"tier": "B", "min_tasks": 10.5}, "min_tasks"),
        ({"tier": "B", "min_tasks": True}, "min_tasks"),
        ({"tier": "B", "max_success_gap": "0.1"}, "max_success_gap"),
        ({"tier": "B", "max_success_gap": 10}, "max_success_gap"),
        ({"tier": "B", "c2st_max": 0.2}, "c2st_max"),
        ({"tier": "B", "family_size": 0}, "family_size"),
        ({"tier": "B", "on_inconclusive": "ignore"}, "on_inconclusive"),
        ({"tier": "B", "max_age_days": -1}, "max_age_days"),
        ({"tier": "B", "minimum": {"index": 101}}, "minimum.index"),
        ({"tier": "B", "minimum": {"index": float("nan")}}, "minimum.index"),
        ({"tier": "B", "minimum": 85}, "minimum"),
        ({"tier": "B", "require": {"components": ["style"]}}, "require.components"),
        ({"tier": "B", "profile": "robusto"}, "profile"),
        ({"tier": "B", "profile": "tau-usi"}, "profile"),
        ({"tier": "B", "subgroup": [{"by": "domain"}]}, "subgroup"),
    ],
)
def test_wrong_values_name_their_field(data: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=re.escape(field)):
        resolve(data, file="gate.toml")


def test_a_share_where_points_are_meant_is_an_error() -> None:
    with pytest.raises(InputError, match="did you mean 85"):
        resolve({"minimum": {"index": 0.85}})


def test_criteria_that_ask_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="nothing could fail"):
        resolve({"min_tasks": 50})


def test_without_a_tier_the_components_with_a_minimum_are_required() -> None:
    assert resolve({"minimum": {"outcome": 80}}).require.components == ("outcome",)
    assert len(resolve({"minimum": {"index": 80}}).require.components) == 5


def test_what_a_user_types(tmp_path: Path) -> None:
    assert load_criteria("C") == tier("C")
    assert load_criteria(str(write(tmp_path, 'tier = "A"\n'))) == tier("A")
    with pytest.raises(UsageError, match="neither a tier nor a file"):
        load_criteria("D")
    with pytest.raises(InputError, match="one of the two"):
        read_criteria(write(tmp_path, 'tier = "A"\n[gate]\ntier = "C"\n'))
    with pytest.raises(InputError, match="TOML"):
        read_criteria(write(tmp_path, "tier = "))
    with pytest.raises(InputError, match="can't be opened"):
        read_criteria(tmp_path / "absent.toml")
