"""The verdict: one object that makes the text, the JSON, the JUnit file and the exit code.

JSON Schemas of criteria and verdict, as published in ``usi/decisions/schemas``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from usi.decisions.criteria import Criteria
from usi.errors import InputError
from usi.provenance.digest import DIGEST, require_intact, with_digest
from usi.reading import held_to, read_json
from usi.reasons import CHECK_NOT_ASSESSED, COUNTS_AS, SURVEY_NOT_COMPARED, Reason
from usi.rounding import Number, PValue

SCHEMA_VERSION = "4"
State = Literal["pass", "fail", "inconclusive", "warning", "not_asked"]
Outcome = Literal["PASS", "FAIL", "INCONCLUSIVE"]
EXIT_CODES: dict[str, int] = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}
"""2 is bad input or usage and 70 an internal error: neither has a verdict."""
ON_INCONCLUSIVE: dict[str, int] = {"inconclusive": 3, "fail": 1, "pass": 0}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Check(_Part):
    """One rule of the criteria, what was found, and which way it decides.

    `state` ``warning`` and ``not_asked`` never touch the verdict. `overrides` marks a check that,
    when inconclusive, leaves no room for FAIL either (too few tasks, an expired scorecard).
    Programs decide by the code of `found`; people read `message`.
    """

    id: str = Field(description="stable name, such as index, outcome, success_gap, tripwire.dash")
    rule: str = Field(description="what is asked, such as 'USI-R >= 85 (lower bound)'")
    state: State
    found: Reason = Field(
        description="what was found: reaches, lies_below, not_surely_within, check_not_assessed ..."
    )
    notes: tuple[Reason, ...] = Field((), description="what is added to it")
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    threshold: Number | None = None
    p_value: PValue | None = Field(None, description="of 'the true score reaches the minimum'")
    overrides: bool = False

    @property
    def message(self) -> str:
        """What was found, with its notes, in one sentence."""
        return "; ".join(part.text for part in (self.found, *self.notes))

    @property
    def told(self) -> Reason:
        """What was found, with the sentence of `message`."""
        return replace(self.found, text=self.message)

    @property
    def reason(self) -> Reason | None:
        """Why there is no value, where there is none."""
        return self.found.cause if self.found.is_a(*_WITHOUT_VALUE) else None


_WITHOUT_VALUE = (CHECK_NOT_ASSESSED, SURVEY_NOT_COMPARED)


class Need(_Part):
    """What would settle one part that is open."""

    part: str
    kind: Literal["tasks", "runs", "batches", "data", "rescore", "nothing"]
    amount: int | None = Field(None, description="how many in total would do, where a number helps")
    now: int | None = None
    text: str


class SimulatorVerdict(_Part):
    """The verdict on one simulator."""

    name: str
    signature: str
    verdict: Outcome
    decided_by: tuple[str, ...]
    reasons: tuple[Reason, ...]
    needed: tuple[Need, ...]
    checks: tuple[Check, ...]
    context: tuple[Reason, ...] = ()


MOST_SHOWN = 6
"""Reasons that the text form of a verdict names."""


class Verdict(_Part):
    """The verdict on a scorecard: that of its worst simulator.

    Attributes
    ----------
    verdict, exit_code
        PASS 0, FAIL 1, INCONCLUSIVE 3, or what the criteria map INCONCLUSIVE to; then
        `exit_code_note` says so.
    decided_by
        Checks that decide: those that fail, those that are open, or the tightest one of a PASS.
    reasons, needed
        Why (what the deciding checks found, with the code of that), and what would settle what is
        open.
    """

    schema_version: str = SCHEMA_VERSION
    usi_version: str
    verdict: Outcome
    exit_code: int
    exit_code_note: Reason | None = None
    decided_by: tuple[str, ...]
    reasons: tuple[Reason, ...]
    needed: tuple[Need, ...]
    criteria: dict[str, Any]
    criteria_label: str
    criteria_fingerprint: str
    profile: str
    signature: str
    scorecard_digest: str = Field(description="digest of the scorecard that was decided on")
    as_of: str | None = None
    scored: str | None = Field(None, description="day of scoring, where one is known")
    expires: str | None = Field(None, description="first day on which the verdict counts no more")
    ends: Reason | None = Field(None, description="what sets that day, or why none is set")
    unverified: tuple[Reason, ...] = Field(
        (), description="what kept the scorecard from being checked; empty: it was checked"
    )
    synthetic: bool = False
    warnings: tuple[Reason, ...] = ()
    simulators: tuple[SimulatorVerdict, ...]
    digest: str | None = Field(None, description="SHA-256 of the rest of the verdict")

    @model_validator(mode="after")
    def _without_digest(self) -> Self:
        """The digest is that of a file: `read` compares it, and it is made anew when written."""
        self.__dict__[DIGEST] = None
        self.__pydantic_fields_set__.discard(DIGEST)
        return self

    def __repr__(self) -> str:
        """Say in a few lines what was decided and why."""
        lines = [f"  {visible(reason.text)}" for reason in self.reasons[:MOST_SHOWN]]
        if len(self.reasons) > MOST_SHOWN:
            lines.append(f"  ... and {len(self.reasons) - MOST_SHOWN} more")
        head = f"<{self.headline} ({self.criteria_label}), exit code {self.exit_code}"
        return "\n".join([head, *lines]) + ">"

    __str__ = __repr__

    def to_dict(self) -> dict[str, Any]:
        """The JSON form as plain Python values, with the digest of what it says."""
        return with_digest(self.model_dump(mode="json"))

    @property
    def headline(self) -> str:
        """The verdict, with the word ``unverified`` where the scorecard could not be checked."""
        return f"{self.verdict} unverified" if self.unverified else self.verdict

    def to_json(self) -> str:
        """Deterministic JSON text with a final newline."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_text(self) -> str:
        """A few lines for a terminal; names are shown with control characters escaped."""
        lines = [f"{self.headline}  ({self.criteria_label}, {self.criteria_fingerprint})"]
        lines += [f"  unverified: {visible(reason.text)}" for reason in self.unverified]
        if self.synthetic:
            lines.append("  The data are synthetic: this says nothing about people.")
        for part in self.simulators:
            lines.append(f"  {visible(part.name)}: {part.verdict}")
            lines += [f"    {visible(reason.text)}" for reason in part.reasons]
            lines += [f"    needed: {visible(need.text)}" for need in part.needed]
            lines += [
                f"    {check.state.upper()}: {visible(check.message)}"
                for check in part.checks
                if check.state == "warning"
            ]
            lines += [f"    {visible(line.text)}" for line in part.context]
        lines += [f"  note: {visible(warning.text)}" for warning in self.warnings]
        note = f" ({self.exit_code_note})" if self.exit_code_note else ""
        lines.append(f"  exit code {self.exit_code}{note}")
        return "\n".join(lines) + "\n"

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a verdict file (JSON).

        Raises
        ------
        InputError
            Where the file is unreadable, no verdict, of another schema version, or was changed
            after the gate wrote it.
        """
        data = read_json(path)
        if not isinstance(data, dict) or "schema_version" not in data:
            raise InputError(
                "this is not a verdict of usi (there is no schema_version); make one with: "
                "usi gate SCORECARD --tier B -o verdict.json",
                file=str(path),
            )
        version = data["schema_version"]
        if version == SCHEMA_VERSION:
            found = held_to(cls, data, str(path), strict=True)
            require_intact(
                data, "the verdict was changed after the gate wrote it",
                again="decide again with usi gate", file=str(path),
            )  # fmt: skip
            return found
        raise InputError(
            f"verdict schema {version!r}; this usi reads {SCHEMA_VERSION!r}: make a new one with: "
            "usi gate SCORECARD --tier B -o verdict.json",
            file=str(path),
        )


def visible(text: str) -> str:
    """Text with line breaks and control characters shown as escapes."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def worst(verdicts: Sequence[Outcome]) -> Outcome:
    """FAIL before INCONCLUSIVE before PASS."""
    for name in ("FAIL", "INCONCLUSIVE"):
        if name in verdicts:
            return name
    return "PASS"


def exit_code(verdict: Outcome, on_inconclusive: str) -> tuple[int, Reason | None]:
    """Exit code, and a note where the criteria map INCONCLUSIVE to another one."""
    if verdict == "INCONCLUSIVE" and on_inconclusive != "inconclusive":
        return ON_INCONCLUSIVE[on_inconclusive], COUNTS_AS(counts=on_inconclusive)
    return EXIT_CODES[verdict], None


FOLDER = Path(__file__).parent / "schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> JSON Schema, made from the models."""
    return {
        "criteria.schema.json": _schema(Criteria, "validation"),
        "verdict.schema.json": _schema(Verdict, "serialization"),
    }


def _schema(model: Any, mode: str) -> dict[str, Any]:
    schema: dict[str, Any] = model.model_json_schema(mode=mode)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    if model is Criteria:
        # A number is short for a minimum of the index.
        minimum = schema["$defs"]["Subgroup"]["properties"]["minimum"]
        schema["$defs"]["Subgroup"]["properties"]["minimum"] = {
            "anyOf": [minimum, {"type": "number", "minimum": 0, "maximum": 100}]
        }
    return schema


def text(schema: dict[str, Any]) -> str:
    """Text of a schema file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write() -> None:
    """Write the files anew, after a change of the models."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / name).write_text(text(schema), encoding="utf-8")
