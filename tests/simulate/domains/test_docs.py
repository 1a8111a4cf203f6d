"""The domain of docs/domains.md is one that loads and passes its check."""

from __future__ import annotations

import json
import re
from pathlib import Path

from helpers import ROOT

from usi.simulate.domains import FolderDomain, load_domain
from usi.simulate.domains.check import check_domain
from usi.simulate.domains.rules import (
    AtMost,
    Before,
    Confirmation,
    InOrder,
    Never,
    Own,
    Transitions,
)

PAGE = (ROOT / "docs" / "domains.md").read_text(encoding="utf-8")


def test_the_example_of_the_page_is_sound(tmp_path: Path) -> None:
    (tools,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    definition, tasks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    folder = tmp_path / "mydesk"
    for name, content in {
        "domain.toml": definition,
        "tools.py": tools,
        "policy.md": "# Rules\n",
        "tasks/tasks.toml": tasks,
        "tables/people.json": json.dumps({"P1": {"name": "Ann"}}),
        "tables/tickets.json": json.dumps(
            {
                key: {"status": "open", "owner": "P1", "code": None, "remark": ""}
                for key in ("T1", "T2")
            }
        ),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    found = check_domain(load_domain(folder))
    assert [task.problems for task in found.tasks] == [()]
    assert (found.tools, found.write_tools, found.rules) == (2, 1, 2)


def test_the_page_tells_every_kind_of_rule() -> None:
    for rule in (AtMost, Before, Confirmation, InOrder, Never, Own, Transitions):
        (kind,) = rule.model_fields["kind"].annotation.__args__  # type: ignore[union-attr]
        assert f"| `{kind}` |" in PAGE


def test_the_numbers_of_the_page_are_those_of_the_desk(desk: FolderDomain) -> None:
    tasks = desk.tasks
    refused = sum(task.refusal for task in tasks)
    compound = sum("compound" in task.kinds for task in tasks)
    handed = sum(bool({"approval", "handoff"} & set(task.kinds)) for task in tasks)
    words = " ".join(PAGE.split())
    assert f"{len(tasks)} tasks in three a-priori levels, {refused} of them to be refused" in words
    assert f"{compound} compound, {handed} with approvals or handoffs" in words
    assert f"{len(desk.functions)} tools, {len(desk.writes)} of which write" in words
