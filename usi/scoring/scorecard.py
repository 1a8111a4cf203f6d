"""The scorecard: everything that is said about simulators against one human reference.

These models are the published JSON (`Scorecard.model_json_schema()`); a reader of the file
needs nothing else. No clock time, host or absolute path stands in it, so identical inputs give
identical bytes.

The published JSON Schema of the scorecard, made from its models.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from usi.errors import InputError, InputErrors
from usi.estimate import Estimate, with_bounds
from usi.provenance.digest import DIGEST, is_intact, with_digest
from usi.reading import held_to, read_json
from usi.reasons import CARD_EDITED, Reason
from usi.rounding import Number, PValue
from usi.scoring.episodes import Episodes
from usi.scoring.possible import impossible

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = "4"

COMPONENTS: tuple[str, ...] = (
    "conversation",
    "information",
    "clarification",
    "reaction",
    "outcome",
    "survey",
)
"""Components in table order. ``outcome`` is 100 (1 - ECE), ``survey`` 100 (1 - MAE)."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Component(Estimate):
    """One component in points (0 to 100, 100 = like people).

    `value` is the raw score. The profile ``tau-usi`` fills `sd` and `per_batch` (population
    standard deviation over batches, not a standard error); ``robust`` fills the rest, with
    `low` = the gate's lower bound and `high` = its upper bound.
    """

    sd: Number | None = Field(None, description="population sd over human batches (tau-usi)")
    per_batch: tuple[Number | None, ...] = ()
    corrected: Number | None = Field(None, description="noise-corrected, for display only")
    ceiling_at_n: Number | None = Field(None, description="expected score of a perfect simulator")
    floor: Number | None = Field(
        None, description="score of the degenerate user that `floor_user` names"
    )
    floor_user: str | None = Field(
        None, description="the degenerate user with the best mean of the dimensions"
    )
    se: Number | None = Field(None, description="bootstrap standard error")
    maxbias: Number | None = Field(None, description="largest downward bias, closed form")
    df: Number | None = Field(None, description="t degrees of freedom (unpaired); null = normal")
    batch_range: tuple[Number, Number] | None = Field(
        None, description="lowest and highest value with one human batch left out"
    )
    features_scored: int | None = None
    features_declared: int | None = None
    decides_fail: bool = Field(
        True, description="false: follows the task script in this design, never decides FAIL"
    )
    detail: dict[str, Estimate] = Field(default_factory=dict)


class Index(Component):
    """The mean of the components; which, and how many, is part of it."""

    name: Literal["USI", "USI-R", "USI-log"] = "USI"
    terms: int = 0
    terms_possible: int = 6


class FeatureScore(_Part):
    """One feature: people, simulator, Dice score, and (robust) their signed gap."""

    dimension: str
    unit: str
    scored: bool
    note: Reason | None = Field(
        None, description="why it is never scored, or which rare marks it counts together"
    )
    human: Estimate
    simulator: Estimate
    score: Estimate
    means: Estimate | None = Field(
        None, description="robust: Dice of the means; above `score` where variety is lost"
    )
    gap: Estimate | None = Field(None, description="simulator minus human, percentile bounds")
    relative_gap: Estimate | None = None
    icc: Estimate | None = None
    human_hits: int | None = Field(None, description="human sessions that show it")
    simulator_hits: int | None = None
    distance: dict[str, Estimate] = Field(
        default_factory=dict, description="wasserstein (in human sd), jensen_shannon (bits), ..."
    )


class Sizes(_Part):
    """How much data a side brought: what was scored, after everything left out."""

    tasks: int
    sessions: int
    runs: int | None = None
    batches: int | None = None
    clusters: int | None = None
    clusters_worth: int | None = Field(
        default=None,
        description="Clusters of equal size that the clusters are worth (Kish), rounded down; "
        "event logs alone.",
    )
    turns: int | None = None


class LeftOut(_Part):
    """What was not scored (or was repaired on the way), and how often."""

    reason: Reason
    count: int


class LoadNote(_Part):
    """What loading dropped, guessed or merged, and how often: the lossiness note."""

    kind: Literal["dropped", "guessed", "merged"]
    what: str
    count: int


class OutcomeBin(_Part):
    """One difficulty bin of the outcome gap."""

    label: str
    tasks: int
    human: Estimate
    simulator: Estimate
    gap: Estimate


class Tripwire(_Part):
    """A mark that people do not make: sessions that show it, one-sided Fisher exact test."""

    feature: str
    human_sessions: int
    human_hits: int
    simulator_sessions: int
    simulator_hits: int
    p_value: PValue
    threshold: Number
    alarm: bool
    session_ids: tuple[str, ...] = Field((), description="of the simulator, the first that show it")
    power_note: Reason | None = None


class SurveyItem(_Part):
    """Agreement on one survey item."""

    item: str
    mae: Estimate
    bias: Estimate
    kappa: Estimate
    human_kappa: Estimate | None = None
    skill: Estimate | None = None
    human_skill: Estimate | None = None
    answered: Estimate | None = None
    worst_case: Estimate | None = None
    wasserstein: Estimate | None = Field(None, description="between the answer distributions, 0-1")
    alpha: Estimate | None = Field(None, description="Krippendorff's alpha, ordinal or nominal")
    human_distribution: dict[str, int] = Field(default_factory=dict)
    simulator_distribution: dict[str, int] = Field(default_factory=dict)


class PerceivedSuccess(_Part):
    """Reward against the success that the person saw (reference sessions with both)."""

    both: int = Field(description="reward 1, seen as success")
    reward_only: int
    perceived_only: int
    neither: int
    phi: Estimate
    success_given_reward_0: Estimate
    reward_1_given_correct_refusal: Estimate


class TwoSample(_Part):
    """Two-sample classifier test: can a classifier tell the sides apart?"""

    classifier: Literal["logistic", "trees"]
    mode: Literal["fast", "full"]
    auc: Estimate
    p_value: PValue | None = None
    permutations: int | None = Field(
        None, description="permutations counted for the p-value; null where it is a closed form"
    )
    sessions_per_side: int | None = None
    folds: int | None = None
    grouped_by: str | None = None
    features: tuple[tuple[str, Number], ...] = Field(
        (), description="what gives the simulator away, most telling first"
    )


class CopyShare(_Part):
    """Sessions whose wording stands in another session, against people among themselves."""

    share: Number = Field(description="of the simulator's sessions")
    people: Number = Field(description="of people's sessions, by the same rule among themselves")
    low: Number = Field(description="lower bound of the difference (one-sided 1 %)")
    copies: int
    sessions: int
    alarm: bool = Field(description="surely more than people's share and one in a hundred")


class Telltale(_Part):
    """A word or pair of words that one side says more often."""

    text: str
    z: Number = Field(description="log-odds over their standard error, without sign")
    simulator_sessions: int
    human_sessions: int


class CertainGap(_Part):
    """A feature whose difference from people is more than chance, scored or not."""

    feature: str
    effect: Number | None = Field(
        None,
        description="difference of means over the sd between sessions (Cohen's d), without sign; "
        "null where neither side varies",
    )
    p_value: PValue = Field(description="two-sided, before the control of the family")
    more: bool = Field(description="whether the simulator shows more of it than people")


class SubgroupScore(_Part):
    """Index and components within one value of a column (domain, difficulty, ...)."""

    by: str
    value: str
    index: Estimate
    components: dict[str, Estimate] = Field(default_factory=dict)
    tasks: int = 0


class SideCard(_Part):
    """What is said about one side of the comparison."""

    name: str
    n: Sizes
    components: dict[str, Component]
    index: Index
    features: dict[str, FeatureScore]
    left_out: tuple[LeftOut, ...] = ()
    load_notes: tuple[LoadNote, ...] = ()
    warnings: tuple[Reason, ...] = Field((), description="what a reader must know")


class HumanCard(SideCard):
    """The human reference, and (as `components`) how its own batches score among themselves."""

    is_human: bool = True
    synthetic: bool = False
    licence: str | None = None
    research_only: bool = False
    redistribute: bool | None = Field(None, description="whether its texts may be passed on")
    terms: str | None = Field(None, description="what users of the corpus agreed to")
    expires: str | None = Field(None, description="day from which on it stands for nobody")


class BlindScore(_Part):
    """What practitioners could tell in a blind check (``usi blind``).

    Attributes
    ----------
    auc
        Of the raters' answers, sessions of this simulator against people's: 0.5 = they can't tell.
    called_program, people_called_program
        Share of the ratings that say program.
    realism, people_realism
        Mean of 1 to 5.
    agreement
        Krippendorff's alpha of the verdicts.
    synthetic
        Whether scripts or synthetic people took part.
    """

    auc: Estimate
    called_program: Estimate
    people_called_program: Estimate
    realism: Estimate
    people_realism: Estimate
    agreement: Estimate
    raters: int
    synthetic: bool
    signature: str


class SimulatorCard(SideCard):
    """One simulator against the reference; the robust profile fills the lower half."""

    identity: dict[str, str] = Field(default_factory=dict)
    signature: str = ""
    design: Literal["paired", "unpaired"] | None = None
    design_reason: Reason | None = None
    coverage: Estimate | None = None
    success_gap: Estimate | None = Field(
        None, description="simulator success minus human success; above 0 = easy mode"
    )
    human_success: Estimate | None = None
    simulator_success: Estimate | None = None
    outcome_offset: Estimate | None = None
    outcome_bins: tuple[OutcomeBin, ...] = ()
    outcome_labels: dict[str, dict[str, int]] = Field(default_factory=dict)
    perceived: PerceivedSuccess | None = None
    difficulty: str | None = Field(None, description="where the difficulty bins came from")
    reward_threshold: Number | None = Field(None, description="success = reward at least this")
    tier_limit: Literal["A", "B", "C"] | None = Field(
        None, description="highest tier that this design can certify; null = any"
    )
    inconclusive: tuple[Reason, ...] = Field(
        (), description="reasons for which every verdict is INCONCLUSIVE"
    )
    versus_humans: Estimate | None = Field(
        None, description="human-human minus human-simulator score, one run against one batch"
    )
    survey_items: tuple[SurveyItem, ...] = ()
    survey_design: Literal["same-transcript", "same-task"] | None = None
    survey_kappa: Estimate | None = None
    human_kappa: Estimate | None = None
    survey_bias: Estimate | None = None
    survey_answered: Estimate | None = None
    certain_gaps: tuple[CertainGap, ...] = Field(
        (), description="features that differ by more than chance, largest first (FDR 5 %)"
    )
    gaps_tested: int | None = Field(None, description="features that were tested for a gap")
    tripwires: tuple[Tripwire, ...] = ()
    two_sample: tuple[TwoSample, ...] = ()
    task_tracking: Estimate | None = Field(
        None, description="does behaviour follow the task: ratio to people, 1 = like people"
    )
    content_tracking: Estimate | None = Field(
        None, description="do words follow the task: ratio to people, 1 = like people"
    )
    turn_adjacency: Estimate | None = Field(
        None, description="do replies answer the agent: ratio to people, 1 = like people"
    )
    copies: CopyShare | None = Field(None, description="sessions that copy people's")
    self_copies: CopyShare | None = Field(
        None, description="sessions that copy the simulator's own of another task"
    )
    run_copies: CopyShare | None = Field(
        None,
        description="sessions that repeat the simulator's own of the same task; `people`: sessions "
        "of people that repeat one of another batch",
    )
    telltales: tuple[Telltale, ...] = Field(
        (), description="what the simulator says more often than people, most telling first"
    )
    unsaid: tuple[Telltale, ...] = Field(
        (), description="what people say more often than the simulator, most telling first"
    )
    spread_index: Estimate | None = None
    correlation_difference: Estimate | None = None
    gaming: dict[str, Estimate] = Field(default_factory=dict)
    gaming_suspected: bool = False
    collapsed: bool = False
    subgroups: tuple[SubgroupScore, ...] = ()
    style: dict[str, FeatureScore] = Field(default_factory=dict)
    style_score: Component | None = Field(
        None, description="robust: mean D of the style features; no term of the index"
    )
    floors: dict[str, Estimate] = Field(
        default_factory=dict, description="index of degenerate users, by anchor"
    )
    log_distances: dict[str, Estimate] = Field(
        default_factory=dict,
        description="of operational logs: n-gram and time distances, and the real log's own",
    )
    user_errors: dict[str, int] = Field(
        default_factory=dict, description="sessions by what the harness says the user did wrong"
    )
    user_error_share: Estimate | None = Field(
        None, description="share of the reviewed sessions with an error of the simulated user"
    )
    blind: BlindScore | None = Field(
        None, description="what practitioners could tell in a blind check, where one was joined"
    )
    episodes: Episodes | None = Field(
        None, description="what runs recorded beside the reward: rules broken, findings, cost"
    )
    redistribute: bool | None = Field(True, description="whether its texts may be passed on")


class InputFile(_Part):
    """A file that the numbers rest on: base name and content, never a path."""

    role: str
    name: str
    content_digest: str = Field(
        description="of what was read, whatever the order of sessions: sum modulo 2^256 of the "
        "SHA-256 of every session (of other inputs: of the value). The SHA-256 of the file's "
        "bytes stands in the run record"
    )
    layout: str
    sessions: int


MOST_SHOWN = 8
"""Sides that the text form of a scorecard names."""


def _index_text(index: Index) -> str:
    if index.value is None:
        return f"{index.name} {index.status.replace('_', ' ')}"
    return f"{index.name}({index.terms}) {with_bounds(index.value, index.low, index.high)}"


class Refused(_Part):
    """A simulator that could not be scored, beside others that were."""

    name: str
    reason: Reason


class Scorecard(_Part):
    """The whole card. Numbers of different signatures are never compared silently."""

    schema_version: str = SCHEMA_VERSION
    usi_version: str
    profile: str
    signature: str
    synthetic: bool
    difficulty: str
    settings: dict[str, str] = Field(default_factory=dict)
    human: HumanCard
    simulators: tuple[SimulatorCard, ...]
    refused: tuple[Refused, ...] = Field((), description="simulators that could not be scored")
    inputs: tuple[InputFile, ...] = ()
    warnings: tuple[Reason, ...] = Field((), description="what a reader must know")
    tasks_sha256: str | None = Field(
        None, description="hash of the per-task sums beside the card (NAME.tasks.parquet)"
    )

    digest: str | None = Field(
        None, description="SHA-256 of the rest of the card: a card edited by hand has another"
    )

    @model_validator(mode="after")
    def _without_digest(self) -> Self:
        """The digest is that of a file: `read` compares it, and it is made anew when written."""
        self.__dict__[DIGEST] = None
        self.__pydantic_fields_set__.discard(DIGEST)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The JSON form as plain Python values, with the digest of what it says."""
        data = self.model_dump(mode="json")
        return with_digest(data)

    def to_json(self) -> str:
        """Deterministic JSON text, two-space indent, with a final newline."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        """Say in a few lines who was scored and how."""
        sides = [self.human, *self.simulators]
        lines = [f"  {side.name!r}: {_index_text(side.index)}" for side in sides[:MOST_SHOWN]]
        if len(sides) > MOST_SHOWN:
            lines.append(f"  ... and {len(sides) - MOST_SHOWN} more")
        mark = "SYNTHETIC, " if self.synthetic else ""
        head = f"<Scorecard {self.profile}, {mark}{len(self.simulators)} simulators"
        return "\n".join([head, *lines]) + ">"

    __str__ = __repr__

    def to_pandas(self) -> pd.DataFrame:
        """One row per side (human first): index and every component, each with its bounds.

        Columns ``NAME``, ``NAME_low`` and ``NAME_high`` of every component; ``value``, ``low`` and
        ``high`` are those of the index. What is not assessed is missing.
        """
        import pandas as pd

        rows = []
        for card in (self.human, *self.simulators):
            row: dict[str, Any] = {
                "name": card.name,
                "index": card.index.name,
                "terms": card.index.terms,
                "value": card.index.value,
                "low": card.index.low,
                "high": card.index.high,
                "sd": card.index.sd,
                "tasks": card.n.tasks,
                "sessions": card.n.sessions,
            }
            for name in COMPONENTS:
                part = card.components.get(name)
                row[name] = part.value if part else None
                row[f"{name}_low"] = part.low if part else None
                row[f"{name}_high"] = part.high if part else None
            rows.append(row)
        return pd.DataFrame(rows)

    def features_to_pandas(self) -> pd.DataFrame:
        """One row a simulator and feature: both sides, score and gap with their bounds.

        ``reason`` says why there is no score, where there is none.
        """
        import pandas as pd

        rows = []
        for card in self.simulators:
            for name, part in (*card.features.items(), *card.style.items()):
                row: dict[str, Any] = {
                    "simulator": card.name,
                    "feature": name,
                    "dimension": part.dimension,
                    "unit": part.unit,
                    "scored": part.scored,
                    "human": part.human.value,
                    "simulated": part.simulator.value,
                }
                for column, value in (("score", part.score), ("gap", part.gap)):
                    row[column] = value.value if value else None
                    row[f"{column}_low"] = value.low if value else None
                    row[f"{column}_high"] = value.high if value else None
                row["reason"] = str(part.score.reason) if part.score.reason else None
                rows.append(row)
        return pd.DataFrame(rows)

    @classmethod
    def read(cls, path: str | Path, *, trust_edited: bool = False) -> Self:
        """Read a scorecard file.

        Parameters
        ----------
        trust_edited
            Take a card that was changed after scoring; a warning on it says so.

        Raises
        ------
        InputError
            Where the file is unreadable, no JSON, no scorecard of this schema version, says what
            can't be (bounds that exclude their value, shares above 1, a name twice, ...), or was
            changed after scoring.
        """
        path = Path(path)
        data = read_json(path)
        if not isinstance(data, dict) or "schema_version" not in data:
            raise InputError(
                "this is not a usi scorecard (there is no schema_version); "
                "make one with: usi score SIM --human CORPUS -o scorecard.json",
                file=str(path),
            )
        if data["schema_version"] != SCHEMA_VERSION:
            raise InputError(
                f"scorecard schema {data['schema_version']!r}; this usi reads {SCHEMA_VERSION!r}: "
                "make a new one with: usi score SIM --human CORPUS -o scorecard.json",
                file=str(path),
            )
        card = held_to(cls, data, str(path), strict=True)
        problems = impossible(card.model_dump(mode="json"), str(path))
        if problems:
            raise problems[0] if len(problems) == 1 else InputErrors(problems)
        if is_intact(data):
            return card
        if not trust_edited:
            raise InputError(
                "the scorecard was changed after scoring (its digest is not that of its content), "
                "so nothing is decided by it: score again, or pass --trust-edited",
                file=str(path),
                field=DIGEST,
            )
        return card.model_copy(update={"warnings": (*card.warnings, CARD_EDITED())})


FILE = "schemas/scorecard.schema.json"


def scorecard_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of what `Scorecard.to_json` writes."""
    schema = Scorecard.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "usi scorecard",
        "version": SCHEMA_VERSION,
        **{key: value for key, value in schema.items() if key != "title"},
    }


def schema_text() -> str:
    """The text of the published file."""
    return json.dumps(scorecard_schema(), indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the shipped file anew: ``python -m usi.scoring.scorecard``."""
    from pathlib import Path

    path = Path(str(resources.files("usi.scoring").joinpath(FILE)))
    path.parent.mkdir(exist_ok=True)
    path.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
