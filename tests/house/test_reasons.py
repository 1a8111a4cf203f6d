"""Reasons are codes: each is used, each call gives what its text needs, and no code reads texts."""

from __future__ import annotations

import ast
import json
import runpy
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest
from pydantic import TypeAdapter

import usi
from usi import reasons
from usi.errors import NotScorable
from usi.estimate import Estimate, not_assessed, unscorable
from usi.reasons import CODES, Code, Reason, remedy

ROOM = Path(usi.__file__).parent
CONSTANTS = {name: value for name, value in vars(reasons).items() if isinstance(value, Code)}
"""Name of the constant -> code."""
ASIDE = {"unit", "n"}
"""What `not_assessed` and `unscorable` take beside the parameters of a reason."""
COMPARERS = {"startswith", "endswith", "find", "index", "partition", "removeprefix", "split"}


@cache
def trees() -> dict[Path, ast.Module]:
    """Every module of usi but the one that holds the texts."""
    paths = [path for path in sorted(ROOM.rglob("*.py")) if path != ROOM / "reasons.py"]
    return {path: ast.parse(path.read_text("utf-8")) for path in paths}


def nodes() -> Iterator[tuple[Path, ast.AST]]:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            yield path, node


def test_names_are_unique_and_plain() -> None:
    assert len(CONSTANTS) == len(CODES) > 100
    for code in CODES.values():
        assert code.name.replace("_", "a").isalnum()
        assert code.name == code.name.lower()


def test_every_code_is_produced_somewhere() -> None:
    used = {node.id for _, node in nodes() if isinstance(node, ast.Name)}
    assert sorted(CONSTANTS.keys() - used) == []


def test_every_text_gets_its_parameters() -> None:
    wrong, seen = [], 0
    for path, node in nodes():
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        given = {word.arg for word in node.keywords}
        if called in CONSTANTS:
            code = CONSTANTS[called]
        elif called in ("not_assessed", "unscorable") and isinstance(node.args[0], ast.Name):
            if node.args[0].id not in CONSTANTS:
                continue
            code, given = CONSTANTS[node.args[0].id], given - ASIDE
        else:
            continue
        seen += 1
        needed = set(code.parameters)
        if None in given:  # ** of a mapping gives the rest, which only a run can tell
            fits = given - {None, "cause"} <= needed
        else:
            fits = given in (needed, needed | {"cause"})
        if not fits:
            wrong.append(f"{path.name}:{node.lineno} {code.name} needs {needed}, not {given}")
    assert wrong == []
    assert seen > 100


def test_every_remedy_is_filled_by_its_reason() -> None:
    for code in CODES.values():
        assert code.kind is not None or code.way is None, code.name
        needed = set(reasons.names_in(code.way or ""))
        assert needed <= {*code.parameters, "resampled"}, code.name


def reads_a_text(node: ast.AST) -> bool:
    """Whether a comparison or a call of a string's method looks into a reason or message."""
    if isinstance(node, ast.Compare):
        looked_into = [
            right
            for how, right in zip(node.ops, node.comparators, strict=True)
            if isinstance(how, ast.In | ast.NotIn)
        ]
        return any(is_text(part) for part in looked_into)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in COMPARERS and is_text(node.func.value)
    return False


def is_text(node: ast.AST) -> bool:
    """Whether an expression is the sentence of a reason, check, warning or left-out line."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return is_text(node.args[0])
    return (isinstance(node, ast.Attribute) and node.attr in {"reason", "message"}) or (
        isinstance(node, ast.Attribute) and node.attr == "text" and is_text(node.value)
    )


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("'no bounds' in part.reason", True),
        ("'no bounds' not in check.message", True),
        ("part.reason.startswith('outcome')", True),
        ("'x' in part.reason.text", True),
        ("'x' in str(part.reason)", True),
        ("check.message.partition(': ')", True),
        ("part.reason in known", False),
        ("part.reason.is_a(NO_BOUNDS)", False),
        ("'x' in turn.text", False),
    ],
)
def test_the_check_of_read_texts_finds_them(source: str, reads: bool) -> None:
    assert any(reads_a_text(node) for node in ast.walk(ast.parse(source))) is reads


def test_no_module_reads_a_text() -> None:
    found = [f"{path.name}:{node.lineno}" for path, node in nodes() if reads_a_text(node)]
    assert found == []


def test_a_reason_tells_code_text_and_parameters() -> None:
    reason = reasons.FEW_HUMAN_HITS(hits=4, least=10)
    assert reason.code == "few_human_hits"
    assert str(reason) == reason.text == "4 human sessions show it, at least 10 are needed"
    assert reason.parameters == {"hits": 4, "least": 10}
    assert reason.is_a(reasons.FEW_HUMAN_MISSES, reasons.FEW_HUMAN_HITS)
    assert not reason.is_a(reasons.FEW_HUMAN_MISSES)


@pytest.mark.parametrize("given", [{}, {"hits": 4}, {"hits": 4, "least": 1, "more": 2}])
def test_a_code_refuses_other_parameters(given: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="few_human_hits"):
        reasons.FEW_HUMAN_HITS(**given)
    with pytest.raises(TypeError, match="few_human_hits"):
        not_assessed(reasons.FEW_HUMAN_HITS, unit="share", **given)


def test_the_root_of_a_reason_says_what_mends_it() -> None:
    cause = reasons.NO_HUMAN_OUTCOME()
    reason = reasons.COMPONENT_MISSING(component="outcome", cause=cause)
    assert reason.root == cause
    assert remedy(reason) == remedy(cause)
    kind, way = remedy(reasons.ONE_UNIT(unit="task"), resampled="tasks") or ("", "")
    assert kind == "tasks"
    assert way.startswith("one task alone")
    assert "at least two tasks" in way
    assert remedy(Reason("of_a_later_version", "no human session has an outcome")) is None


def test_text_of_data_is_no_format() -> None:
    odd = "{unit} {0} %s {cause.text}"
    reason = reasons.OTHER_AGENT(people=odd, simulator="b")
    assert odd in reason.text
    assert (remedy(reason) or ("", ""))[1].startswith(reason.text)


def test_a_reason_survives_json() -> None:
    cause = reasons.REWARDS_NOT_BINARY(example=0.5)
    part = unscorable(reasons.COMPONENT_MISSING, component="outcome", cause=cause)
    again = Estimate.model_validate_json(part.model_dump_json())
    assert again == part
    told = json.loads(part.model_dump_json())["reason"]
    assert told == asdict(part.reason)  # type: ignore[arg-type]
    assert told["cause"]["parameters"] == {"example": 0.5}
    assert Reason.from_dict(told) == part.reason
    adapter = TypeAdapter(Reason)
    assert adapter.validate_python(told) == part.reason


def test_an_error_has_a_reason() -> None:
    assert NotScorable(reasons.NO_USER_TURNS()).reason.code == "no_user_turns"
    assert NotScorable("something else").reason.code == "not_scorable"
    assert str(NotScorable("something else")) == "something else"


def test_the_page_of_reasons_is_current() -> None:
    docs = ROOM.parent / "docs"
    if not docs.is_dir():
        pytest.skip("an installed usi has no docs folder")
    made = runpy.run_path(str(docs / "build_reasons.py"))["page"]()
    assert (docs / "reasons.md").read_text("utf-8") == made, "run: python docs/build_reasons.py"


def test_codes_of_a_check_with_bounds_take_its_figures() -> None:
    figures = {"title", "figures", "limit", "value", "low", "high"}
    more = {"family", "sessions", "unit", "least"}
    found = set()
    for path, node in nodes():
        if path.name != "checks.py" or not isinstance(node, ast.Assign):
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Tuple) and len(part.elts) == 2:
                state, code = part.elts
                if isinstance(state, ast.Constant) and isinstance(code, ast.Name):
                    found.add(code.id)
    given = {name: set(CONSTANTS[name].parameters) for name in found if name in CONSTANTS}
    checked = {name: needed for name, needed in given.items() if "figures" in needed}
    assert len(checked) > 8
    lacking = {name: figures - needed for name, needed in checked.items() if "kappa" not in needed}
    assert {name: names for name, names in lacking.items() if names} == {}
    assert all(checked[name] - figures <= more for name in lacking)
