"""The page on the gate says what the code does: its tier table and its example criteria."""

from __future__ import annotations

import re
import tomllib

import pytest
from helpers import ROOT

from usi.decisions.criteria import TIERS, resolve, tier

PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def rows() -> dict[str, list[str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| ")
    ]
    return {row[0]: row[1:] for row in cells if len(row) == 4}


@pytest.mark.parametrize("letter", TIERS)
def test_tier_table(letter: str) -> None:
    column = TIERS.index(letter)
    found, asked = rows(), tier(letter)
    for name, value in asked.minimum.items():
        assert float(found["USI-R" if name == "index" else name][column]) == value
    assert float(found["success gap within ±"][column]) == asked.max_success_gap
    assert float(found["least number of tasks"][column]) == asked.min_tasks
    kappa = found["survey kappa, lower bound, share of the humans' own"][column]
    assert kappa == ("not asked" if asked.survey.min_kappa_ratio is None else "0.5")


def test_example_criteria_are_valid_and_name_every_key() -> None:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 1
    data = tomllib.loads(blocks[0])
    criteria = resolve(data)
    assert criteria.minimum.index == 87
    assert set(data) == set(type(criteria).model_fields)
