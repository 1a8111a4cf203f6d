"""One verdict object: text, JSON, Markdown, JUnit, GitHub and the exit code agree."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from decisions.cards import absent, card, part, simulator, wire

from usi.decisions import Verdict, gate_scorecard, resolve, tier
from usi.decisions.verdict import FOLDER, schemas, text
from usi.reasons import Reason
from usi.report import github, junit, verdict_markdown
from usi.scoring.scorecard import Scorecard, Sizes

EVIL = "<script>|x</script>\n::error::`boom`\x1b[31m\x00\u202e"

CASES: dict[str, tuple[Scorecard, dict[str, Any]]] = {
    "pass": (card(), {}),
    "fail": (card(simulator(components={"reaction": part(10.0)})), {}),
    "inconclusive": (card(simulator(gaming_suspected=True)), {}),
    "mapped to fail": (card(simulator(gaming_suspected=True)), {"on_inconclusive": "fail"}),
    "mapped to pass": (card(simulator(gaming_suspected=True)), {"on_inconclusive": "pass"}),
    "not assessed": (
        card(simulator(components={"outcome": absent(Reason("made_up", "<b>no</b> | reward"))})),
        {},
    ),
    "too few tasks": (
        card(simulator(n=Sizes(tasks=20, sessions=60), components={"reaction": part(5.0)})),
        {},
    ),
    "warning": (card(simulator(tripwires=(wire(True),))), {"tier": "C"}),
    "several": (
        card(simulator("good"), simulator("bad", tripwires=(wire(True),)), simulator(EVIL)),
        {},
    ),
    "evil": (card(simulator(EVIL, components={"reaction": part(10.0)})), {}),
    "synthetic": (card(synthetic=True), {}),
}


def verdict_of(name: str) -> Verdict:
    scorecard, changes = CASES[name]
    return gate_scorecard(scorecard, resolve({"tier": "B", **changes}))


@pytest.mark.parametrize("name", sorted(CASES))
def test_all_forms_say_the_same(name: str) -> None:
    verdict = verdict_of(name)
    data = json.loads(verdict.to_json())
    markdown = verdict_markdown.render(verdict)
    root = ET.fromstring(junit.render(verdict))
    assert data["verdict"] == verdict.verdict
    assert data["exit_code"] == verdict.exit_code
    assert markdown.split("\n")[2] == f"# usi: {verdict.verdict}"
    assert f"- exit code: {verdict.exit_code}" in markdown
    assert verdict.to_text().startswith(verdict.verdict)
    assert f"exit code {verdict.exit_code}" in verdict.to_text()
    checks = [check for sim in verdict.simulators for check in sim.checks]
    mapped = verdict.criteria["on_inconclusive"] == "fail"
    failing = [c for c in checks if c.state == "fail" or (mapped and c.state == "inconclusive")]
    open_ = [c for c in checks if c.state == "inconclusive" and not mapped]
    asked = [c for c in checks if c.state == "not_asked"]
    assert len(root.findall(".//testcase")) == len(checks)
    assert len(root.findall(".//failure")) == len(failing)
    assert len(root.findall(".//skipped")) == len(open_) + len(asked)
    assert int(root.attrib["tests"]) == len(checks)
    assert int(root.attrib["failures"]) == len(failing)
    suites = {
        suite.attrib["name"]: {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
        for suite in root.findall("testsuite")
    }
    assert [found["verdict"] for found in suites.values()] == [
        part_.verdict for part_ in verdict.simulators
    ]
    for found in suites.values():
        assert found["criteria_fingerprint"] == verdict.criteria_fingerprint
        assert found["exit_code"] == str(verdict.exit_code)
    # what a CI system sees as red is what the exit code says
    assert (verdict.exit_code == 1) == bool(failing)
    outputs = github.outputs(verdict)
    assert (outputs["verdict"], outputs["exit-code"]) == (verdict.verdict, str(verdict.exit_code))


@pytest.mark.parametrize("name", sorted(CASES))
def test_forms_are_the_same_bytes_each_time(name: str) -> None:
    one, two = verdict_of(name), verdict_of(name)
    assert one.to_json() == two.to_json()
    assert junit.render(one) == junit.render(two)
    assert verdict_markdown.render(one) == verdict_markdown.render(two)


def test_foreign_names_are_no_markup() -> None:
    verdict = verdict_of("evil")
    markdown = verdict_markdown.render(verdict)
    assert "<script>" not in markdown
    assert "\x1b" not in markdown
    assert "\x00" not in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    # every row of the table has exactly four cells
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}
    assert not [line for line in markdown.splitlines() if line.startswith("::")]
    shown = verdict.to_text()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert not [line for line in shown.splitlines() if line.startswith("::")]


def test_junit_escapes_what_xml_cannot_hold() -> None:
    xml = junit.render(verdict_of("evil"))
    assert "\x1b" not in xml
    assert "\x00" not in xml
    root = ET.fromstring(xml)
    assert "<script>" in root.findall("testsuite")[0].attrib["name"]
    assert "\\x00" in root.findall("testsuite")[0].attrib["name"]
    lone = junit.xml_text("a\ud800b\ufffe\x0b")
    assert lone == "a\\ud800b\\ufffe\\x0b"


def test_workflow_commands_cannot_be_injected() -> None:
    lines = github.workflow_commands(verdict_of("evil")).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("::error title=usi FAIL%3A <script>")
    assert "%0A%3A%3Aerror" in lines[0]
    assert github.escape_data("50 %\r\n") == "50 %25%0D%0A"
    assert github.escape_property("a:b,c") == "a%3Ab%2Cc"


def test_commands_by_verdict() -> None:
    kinds = {
        name: github.workflow_commands(verdict_of(name)).split(" ")[0]
        for name in ("pass", "fail", "inconclusive")
    }
    assert kinds == {"pass": "::notice", "fail": "::error", "inconclusive": "::warning"}
    assert "::warning title=usi warning" in github.workflow_commands(verdict_of("warning"))


def test_github_is_written_to_there_and_only_there(tmp_path: Path) -> None:
    summary, output = tmp_path / "summary", tmp_path / "output"
    summary.write_text("before\n")
    environment = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}
    verdict = verdict_of("several")
    assert github.publish(verdict, environment) == ""
    assert summary.read_text() == "before\n"
    assert not output.exists()
    said = github.publish(verdict, {**environment, "GITHUB_ACTIONS": "true"})
    assert said == github.workflow_commands(verdict)
    written = summary.read_text(encoding="utf-8")
    assert written.startswith("before\n")
    assert verdict_markdown.MARKER in written
    values = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
    assert values["verdict"] == "FAIL"
    assert values["decided-by"] == "bad: tripwire.dash"
    assert set(values) == set(github.outputs(verdict))


def test_schemas_are_those_of_the_models_and_hold() -> None:
    for name, schema in schemas().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text(schema), (
            f"{name} is not that of the models: python -c "
            "'from usi.decisions.verdict import write; write()'"
        )
        jsonschema.Draft202012Validator.check_schema(schema)
    validate = jsonschema.Draft202012Validator(schemas()["verdict.schema.json"])
    for name in CASES:
        validate.validate(json.loads(verdict_of(name).to_json()))
    criteria = jsonschema.Draft202012Validator(schemas()["criteria.schema.json"])
    for letter in "ABC":
        criteria.validate(tier(letter).model_dump(mode="json"))
    criteria.validate({"tier": "B", "subgroup": [{"by": "domain", "minimum": 70}]})
    assert not criteria.is_valid({"teir": "B"})
    assert not criteria.is_valid({"minimum": {"index": 101}})
