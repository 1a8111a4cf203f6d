"""One study of the regression gate: an accepted version and new ones of a known true drop."""

from __future__ import annotations

from dataclasses import dataclass

from study.cells import Cell
from study.paired import NAMES, cuts_of, human_side, scored
from study.truth import Truth
from usi.decisions.regression import COMPONENT_MARGIN, INDEX_MARGIN, changes, margins_for
from usi.errors import UsageError


@dataclass(frozen=True)
class Step:
    """From the old version to a new one.

    Attributes
    ----------
    new
        Name of the new version; ``"copy (again)"`` where nothing changed.
    drop
        True drop in points of the index and every component.
    at_drop
        Whether each part is certified at a margin of exactly its true drop (where above 0).
    smallest
        Smallest margin that the design can certify, by part.
    allowed
        Whether the default margins (5 and 10) can be certified at all.
    passed
        Whether the whole gate certifies the default margins.
    regressed
        Whether it says REGRESSED of any part at the default margins.
    """

    new: str
    drop: dict[str, float]
    at_drop: dict[str, bool]
    smallest: dict[str, float]
    allowed: bool
    passed: bool
    regressed: bool


def one_study(cell: Cell, number: int, truths: dict[str, Truth]) -> list[Step]:
    """The new versions of a cell against its first simulator."""
    old_name, *names = cell.simulators
    tasks, ref = human_side(cell, number)
    old = scored(cell, number, old_name, tasks, ref, stream=3)
    before = truths[old_name].scores(old, cuts_of(tasks))
    steps = []
    for name in names:
        new = scored(cell, number, name, tasks, ref)
        after = truths[name].scores(new, cuts_of(tasks))
        found = changes(old.terms, new.terms)
        drop = {part: before[part] - after[part] for part in NAMES}
        certain = {
            part: found[part].state(drop[part]) in ("unchanged", "better")
            for part in NAMES
            if drop[part] > 1e-9
        }
        try:
            margins_for(found, INDEX_MARGIN, COMPONENT_MARGIN)
            allowed = True
        except UsageError:
            allowed = False
        states = [
            change.state(INDEX_MARGIN if part == "index" else COMPONENT_MARGIN)
            for part, change in found.items()
        ]
        steps.append(
            Step(
                new=name,
                drop=drop,
                at_drop=certain,
                smallest={part: found[part].smallest_margin for part in NAMES},
                allowed=allowed,
                passed=allowed and all(s in ("unchanged", "better") for s in states),
                regressed=allowed and "regressed" in states,
            )
        )
    return steps
