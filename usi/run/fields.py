"""The fields that a signature may have, in their order, with their words for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

HEADS: dict[str, str] = {
    "USI": "the published User-Sim Index (arXiv 2603.11245)",
    "USI-R": "the mean of the five behavioural and outcome components of the profile robust",
    "USI-log": "the index over operational logs",
}
"""Index names and what they are."""


@dataclass(frozen=True)
class Field:
    """One field of a signature.

    Attributes
    ----------
    name, short
        Key in the long and in the short form.
    meaning
        What the value says, for people.
    values
        Words for values that are names themselves.
    """

    name: str
    short: str
    meaning: str
    values: Mapping[str, str] = field(default_factory=dict)

    def words(self, value: str) -> str:
        """The value with its meaning."""
        for part, text in self.values.items():
            if value == part or value.startswith(f"{part}@"):
                return f"{value} ({self.meaning}: {text})"
        return f"{value} ({self.meaning})"


_ALL = (
    Field("profile", "p", "scoring definition, with its version"),
    Field("corpus", "c", "reference, and the first digits of the hash of its content"),
    Field(
        "source",
        "s",
        "how the reference was cleaned",
        {"human": "as written by people", "simulated": "as simulator output; it is no human"},
    ),
    Field(
        "design",
        "ds",
        "how the sides are compared",
        {"paired": "the same tasks on both", "unpaired": "tasks differ or are unknown"},
    ),
    Field("cluster", "cl", "what is drawn again as a whole in the bootstrap"),
    Field(
        "terms",
        "t",
        "how many terms the index is the mean of",
        {"6": "with the survey", "5": "without the survey"},
    ),
    Field("components", "k", "components that the index is the mean of"),
    Field("batches", "b", "rounds of people, or trials of the reference"),
    Field("runs", "r", "passes of the simulator over the tasks"),
    Field("tasks", "n", "tasks on both sides"),
    Field("sessions", "ss", "sessions of the simulator that were scored"),
    Field("subset", "sb", "which batches and runs were taken"),
    Field(
        "ids",
        "i",
        "how ids were split into task and run",
        {"suffix": "always at the last underscore", "none": "never"},
    ),
    Field("features", "f", "features scored, and the first digits of the hash of their names"),
    Field("lex", "l", "term lists, with their version"),
    Field("sim", "id", "first digits of the hash of the simulator's identity"),
    Field("lang", "la", "languages other than English, of people (h) and simulator (s)"),
    Field(
        "bins",
        "d",
        "where task difficulties come from",
        {
            "frozen31": "the frozen map over 31 baselines",
            "self": "pooled over the simulators scored",
            "file": "a file, with the first digits of its hash",
            "none": "not used",
        },
    ),
    Field("reward", "rw", "threshold that makes a reward a success"),
    Field("survey", "sv", "how surveys were compared"),
    Field("surveys", "sh", "first digits of the hash of the survey files"),
    Field("boot", "bt", "bootstrap replicates and what they draw"),
    Field("level", "lv", "confidence level of the bounds"),
    Field("c2st", "c2", "two-sample classifier test"),
    Field("seed", "z", "seed of everything that is drawn at random"),
    Field("logs", "lg", "settings of the log reader"),
    Field("v", "v", "version of usi"),
)

FIELDS: dict[str, Field] = {item.name: item for item in _ALL}
"""Fields by name, in the order of every signature."""
