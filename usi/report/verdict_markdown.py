"""A verdict as Markdown: for a pull request, a job summary, or beside the scorecard."""

from __future__ import annotations

from usi.decisions.verdict import SimulatorVerdict, Verdict
from usi.report.names import name_of
from usi.report.tables import Table, markdown_lines
from usi.report.text import markdown as esc

MARKER = "<!-- usi-verdict -->"
"""Lets a bot find its own comment and replace it."""
_ALERT = {"PASS": "NOTE", "FAIL": "CAUTION", "INCONCLUSIVE": "WARNING"}
_STATE = {
    "pass": "pass",
    "fail": "FAIL",
    "inconclusive": "open",
    "warning": "warning",
    "not_asked": "not asked",
}


def render(verdict: Verdict) -> str:
    """Markdown text of a verdict; identical verdicts give identical bytes.

    Every name and message is escaped: text of files never becomes markup.
    """
    lines = [
        MARKER,
        f"<!-- written by usi {verdict.usi_version} -->",
        f"# usi: {verdict.headline}",
        "",
    ]
    lines += [f"> [!{_ALERT[verdict.verdict]}]"]
    reasons = [reason.text for reason in verdict.reasons] or ["nothing was asked"]
    lines += [f"> {esc(reason)}<br>" for reason in reasons]
    lines += [""]
    facts = [
        ("exit code", str(verdict.exit_code)),
        ("reason for this code", verdict.exit_code_note.text if verdict.exit_code_note else ""),
        ("decided by", ", ".join(verdict.decided_by)),
        ("criteria", f"{verdict.criteria_label} ({verdict.criteria_fingerprint})"),
        ("profile", verdict.profile),
        ("signature", verdict.signature),
        ("as of", verdict.as_of or ""),
        ("scored", verdict.scored or ""),
        ("counts no more from", verdict.expires or ""),
        ("unverified", "; ".join(reason.text for reason in verdict.unverified)),
    ]
    lines += [f"- {name}: {esc(value)}" for name, value in facts if value]
    if verdict.synthetic:
        lines += ["", "**Synthetic data: this says nothing about people.**"]
    if verdict.needed:
        lines += ["", "## What would settle it", ""]
        lines += [f"- {esc(need.text)}" for need in verdict.needed]
    for part in verdict.simulators:
        lines += ["", *_simulator(part)]
    if verdict.warnings:
        lines += ["", "## Notes", "", *(f"- {esc(warning.text)}" for warning in verdict.warnings)]
    return "\n".join(lines) + "\n"


def _simulator(part: SimulatorVerdict) -> list[str]:
    lines = [f"## {esc(part.name)}: {part.verdict}", ""]
    rows = tuple(
        (name_of(check.id), _STATE[check.state], check.rule, check.message) for check in part.checks
    )
    lines += markdown_lines(Table("", ("check", "state", "asked", "found"), rows))
    if part.context:
        lines += ["", *(f"- {esc(line.text)}" for line in part.context)]
    return lines
