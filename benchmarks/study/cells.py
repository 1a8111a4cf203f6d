"""What is studied: designs, simulators, and how often."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from usi.phantom import PhantomSpec, blend, get_simulator, load_spec


@dataclass(frozen=True)
class Cell:
    """A design and the simulators that are scored in it, all against the same people.

    Attributes
    ----------
    tasks, batches, runs
        Size; in unpaired cells tasks of each side, and sessions a task on either side.
    simulators
        Names, see `simulator`; the first of a regression cell is the old version.
    share
        Part of the number of studies that is run here (large designs cost more).
    """

    tasks: int
    batches: int
    runs: int
    simulators: tuple[str, ...]
    share: float = 1.0

    @property
    def name(self) -> str:
        """Such as ``165x3x3``."""
        return f"{self.tasks}x{self.batches}x{self.runs}"

    def studies(self, asked: int) -> int:
        """How many studies are run, at least 2."""
        return max(2, round(asked * self.share))


LADDER = ("copy", "easy-0.1", "easy-0.2", "easy-0.35", "easy-0.5", "easy-1")
"""From the people themselves to easy mode; the number says how far."""
DEFECTS = ("defect-short", "defect-verbose", "defect-questions", "defect-calm", "defect-outcome")
_FEW = ("copy", "easy-0.2", "easy-0.5", "easy-1", "defect-outcome")

PAIRED = (
    Cell(50, 1, 1, _FEW, 0.5),
    Cell(50, 3, 3, (*_FEW, "outcome-0.85")),
    Cell(165, 1, 1, _FEW, 0.5),
    Cell(165, 3, 3, (*LADDER, *DEFECTS, "collapsed", "outcome-0.85")),
    Cell(495, 1, 1, _FEW, 0.25),
    Cell(495, 3, 3, (*LADDER, "defect-calm", "defect-outcome")),
    Cell(1500, 3, 3, ("copy", "easy-0.2", "easy-1"), 0.05),
)

_THREE = ("copy", "easy-0.35", "easy-0.5")
UNPAIRED = (
    Cell(36, 1, 1, _THREE, 0.5),
    Cell(36, 5, 5, _THREE, 0.5),
    Cell(100, 3, 3, _THREE, 0.5),
    Cell(250, 3, 3, _THREE, 0.25),
)

VERSIONS = (
    Cell(165, 3, 3, ("copy", "copy", "easy-0.16"), 0.25),
    Cell(165, 3, 7, ("copy", "copy"), 0.25),
    Cell(
        165,
        3,
        10,
        (
            "copy",
            "copy",
            "easy-0.1",
            "part-conversation",
            "part-information",
            "part-clarification",
            "part-reaction",
            "part-outcome",
        ),
    ),
    Cell(165, 3, 10, ("easy-0.2", "easy-0.31"), 0.25),
)
"""Old version first; every other simulator is a new version of it."""

CLASSIFIER = Cell(100, 3, 3, ("copy", "collapsed", "easy-0.2", "easy-0.5"), 0.15)
"""300 sessions a side."""

_PARTS = {
    "part-conversation": ("defect-short", 0.19),
    "part-information": ("defect-verbose", 0.5),
    "part-clarification": ("defect-questions", 0.37),
    "part-reaction": ("defect-calm", 0.1),
    "part-outcome": ("defect-outcome", 0.64),
}
"""Defects so strong that their component truly drops by about 10 points."""


@cache
def people() -> PhantomSpec:
    """The population that stands for people."""
    return load_spec("human")


@cache
def simulator(name: str) -> PhantomSpec:
    """``easy-0.35`` (35 % of the way to easy mode), ``part-...``, ``outcome-0.85`` (people but for
    their success), or a preset of the phantom.
    """
    if name.startswith("easy-"):
        strength = float(name.removeprefix("easy-"))
        return blend(people(), get_simulator("polite"), strength, name)
    if name in _PARTS:
        end, strength = _PARTS[name]
        return blend(people(), get_simulator(end), strength, name)
    if name.startswith("outcome-"):
        return people().with_rates(success=float(name.removeprefix("outcome-")))
    return get_simulator(name)
