"""A verdict for GitHub Actions: step summary, annotations and outputs, there and only there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from usi.decisions.verdict import Verdict
from usi.report.text import printable
from usi.report.verdict_markdown import render

_COMMAND = {"PASS": "notice", "FAIL": "error", "INCONCLUSIVE": "warning"}


def active(environment: Mapping[str, str]) -> bool:
    """Whether this runs as a step of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS") == "true"


def escape_data(text: str) -> str:
    """Escape a workflow command's message: percent and line ends, then other controls.

    >>> escape_data("50 %\\nnext")
    '50 %25%0Anext'
    """
    for char, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(char, code)
    return printable(text)


def escape_property(text: str) -> str:
    """Escape a workflow command's property: also colons and commas."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def workflow_commands(verdict: Verdict) -> str:
    """Workflow commands, one a simulator and one a warning, each a line.

    They start at the beginning of a line; foreign text can't start another command, since its
    line ends are escaped.
    """
    lines = []
    for part in verdict.simulators:
        mark = " unverified" if verdict.unverified else ""
        title = escape_property(f"usi {part.verdict}{mark}: {part.name}")
        reasons = "\n".join(reason.text for reason in part.reasons) or part.verdict
        lines.append(f"::{_COMMAND[part.verdict]} title={title}::{escape_data(reasons)}")
        for check in part.checks:
            if check.state == "warning":
                title = escape_property(f"usi warning: {part.name}")
                lines.append(f"::warning title={title}::{escape_data(check.message)}")
    return "".join(f"{line}\n" for line in lines)


def outputs(verdict: Verdict) -> dict[str, str]:
    """Step outputs: verdict, exit code, what decides, criteria fingerprint, signature."""
    return {
        "verdict": verdict.verdict,
        "exit-code": str(verdict.exit_code),
        "decided-by": ", ".join(verdict.decided_by),
        "criteria-fingerprint": verdict.criteria_fingerprint,
        "signature": verdict.signature,
    }


def publish(verdict: Verdict, environment: Mapping[str, str]) -> str:
    """Write summary and outputs to the files that GitHub names; return the annotations.

    Parameters
    ----------
    verdict
        What was decided.
    environment
        Environment of the process; nothing is done where it is no step of GitHub Actions.

    Returns
    -------
    str
        Text to print for annotations; empty outside GitHub Actions.
    """
    if not active(environment):
        return ""
    summary = environment.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(render(verdict) + "\n")
    target = environment.get("GITHUB_OUTPUT")
    if target:
        with Path(target).open("a", encoding="utf-8") as stream:
            for name, value in outputs(verdict).items():
                # One line a value: escaped line ends can't start another output.
                stream.write(f"{name}={printable(value)}\n")
    return workflow_commands(verdict)
