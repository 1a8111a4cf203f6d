"""Tools, states and hashes, by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lockers import DEFINITION, TASKS, TOOLS, build

from usi.errors import InputError, InputErrors, UsageError, UsiError
from usi.simulate.domains import FolderDomain, load_domain
from usi.simulate.domains.state import Comparison, canonical, state_hash

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
TABLES = st.dictionaries(
    st.sampled_from(["a", "b"]),
    st.dictionaries(st.text(max_size=3), st.dictionaries(st.text(max_size=3), JSON, max_size=3)),
)


def test_schemas_follow_types_and_docstrings(lockers: FolderDomain) -> None:
    look, take = lockers.tools[0], lockers.tools[1]
    assert look == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Show a locker.",
            "parameters": {
                "type": "object",
                "additionalProperties": False,
                "required": ["locker"],
                "properties": {
                    "locker": {"type": "string", "description": "Its number, such as L1."}
                },
            },
        },
    }
    parameters = take["function"]["parameters"]
    assert parameters["required"] == ["locker", "person"]
    assert parameters["properties"]["person"] == {"type": "string", "enum": ["ann", "ben"]}
    assert parameters["properties"]["size"] == {"type": "integer", "default": 1}
    assert lockers.writes == {"take", "free", "order_key", "breaks"}


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("nothing", {}, "there is no tool"),
        ("take", {"locker": "L1"}, "person"),
        ("take", {"locker": "L1", "person": "eve"}, "person"),
        ("take", {"locker": "L1", "person": "ann", "size": "2"}, "size"),
        ("take", {"locker": "L1", "person": "ann", "colour": "red"}, "colour"),
        ("take", {"locker": "L9", "person": "ann"}, "no locker 'L9'"),
        ("take", {"locker": "L2", "person": "ann", "size": 5}, "taken"),
        ("breaks", {}, "KeyError"),
    ],
)
def test_a_call_that_goes_wrong_changes_nothing(
    lockers: FolderDomain, name: str, arguments: dict[str, Any], words: str
) -> None:
    state = lockers.new_state()
    result = state.call(name, arguments)
    assert list(result) == ["error"]
    assert words in result["error"]
    assert state.database.tables == lockers.database.tables


def test_states_share_nothing_and_numbers_go_on(lockers: FolderDomain) -> None:
    one, other = lockers.new_state(), lockers.new_state()
    assert one.call("order_key", {"locker": "L1"}) == {"key": "K008"}
    assert one.call("order_key", {"locker": "L1"}) == {"key": "K009"}
    assert other.call("order_key", {"locker": "L3"}) == {"key": "K008"}
    result = one.call("look", {"locker": "L1"})
    result["owner"] = "eve"
    assert one.call("look", {"locker": "L1"})["owner"] is None


@given(TABLES, st.randoms(use_true_random=False))
def test_the_hash_does_not_see_the_order_of_keys(
    tables: dict[str, Any], rng: random.Random
) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            items = list(value.items())
            rng.shuffle(items)
            return {key: shuffled(part) for key, part in items}
        return [shuffled(part) for part in value] if isinstance(value, list) else value

    assert state_hash(shuffled(tables)) == state_hash(tables)


def test_the_hash_sees_values_and_not_what_it_is_told_to_ignore() -> None:
    base = {"t": {"1": {"a": [1, 2], "n": 1, "w": "x"}}}
    assert state_hash(base) != state_hash({"t": {"1": {"a": [2, 1], "n": 1, "w": "x"}}})
    assert state_hash(base) == state_hash({"t": {"1": {"a": [1, 2], "n": 1.0, "w": "x"}}})
    assert state_hash({"t": {"1": {"a": None}}}) != state_hash({"t": {"1": {}}})
    assert state_hash({"t": {"1": {"a": True}}}) != state_hash({"t": {"1": {"a": 1}}})
    loose = Comparison(frozenset(["t.w"]), frozenset(["t.a"]))
    changed = {"t": {"1": {"a": [2, 1], "n": 1, "w": "y"}}}
    assert state_hash(base, loose) == state_hash(changed, loose)
    assert canonical(base, Comparison(frozenset(["t"]))) == {}


def test_domains_are_found_by_name_and_path(tmp_path: Path) -> None:
    folder = build(tmp_path / "own")
    assert load_domain(folder).name == "lockers"
    with pytest.raises(UsageError, match="did you mean 'service_desk'"):
        load_domain("service_dask")
    with pytest.raises(InputError, match=r"there is no domain\.toml"):
        load_domain(tmp_path / "absent")
    assert load_domain(build(tmp_path / "moved")).fingerprint == load_domain(folder).fingerprint
    changed = build(tmp_path / "changed", policy="# Other rules\n")
    assert load_domain(changed).fingerprint != load_domain(folder).fingerprint


def test_nothing_runs_that_was_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "ran"
    build(tmp_path / "own", tools=f"open({str(mark)!r}, 'w').close()\n{TOOLS}")
    monkeypatch.chdir(tmp_path)
    load_domain("service_desk")
    assert not mark.exists()
    load_domain("own")
    assert mark.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"definition": "name = 3"}, ["domain.toml", "name", "title", "now"]),
        ({"definition": "name = "}, ["domain.toml", "can't be read"]),
        ({"policy": " \n"}, ["policy.md", "empty"]),
        ({"lockers": "[]"}, ["lockers.json", "object"]),
        ({"keys": '{"K1": {"locker": "L8"}}'}, ["keys.json", "K1", "'L8' is not in lockers"]),
        ({"tools": "x = 1"}, ["no function is marked"]),
        ({"tools": "raise ValueError('no')"}, ["tools.py", "ValueError: no"]),
        ({"tools": TOOLS.replace('"""Take a locker back."""', "")}, ["free", "docstring"]),
        ({"tools": TOOLS.replace("odd_lockers", "odd")}, ["not_l3", "odd_lockers"]),
        ({"tasks": "[{}, {}]"}, ["row 1, field id", "row 2, field requests"]),
        ({"tasks": '{"tasks": []}'}, ["must hold tasks"]),
        ({"tasks": "[]"}, ["there are no tasks"]),
        ({"definition": DEFINITION.replace("01-01T08", "13-41T98")}, ["now", "month"]),
        (
            {"definition": DEFINITION.replace('needs = ["look"]', 'needs = ["lok"]')},
            ["rule look_first", "did you mean 'look'"],
        ),
        (
            {"definition": DEFINITION.replace('exempt = ["order_key"]', 'exempt = ["odrer_key"]')},
            ["rule ask_first", "did you mean 'order_key'"],
        ),
        (
            {"definition": DEFINITION.replace('per = "locker"\ntimes', 'per = "lockr"\ntimes')},
            ["rule one_key", "did you mean 'locker'"],
        ),
        (
            {"definition": DEFINITION.replace('"lockers.owner"', '"lockers"')},
            ["rule hands", "no table.field"],
        ),
        (
            {"definition": DEFINITION.replace('"lockers.owner"', '"lockers.ownr"')},
            ["rule hands", "no table.field"],
        ),
        (
            {"definition": DEFINITION.replace('id = "not_l2"', 'id = "ask_first"')},
            ["rule ask_first", "another rule"],
        ),
        (
            {"definition": DEFINITION.replace('"keys.remark"]', '"kes.remark"]')},
            ["compare.ignored", "kes.remark"],
        ),
        (
            {"definition": DEFINITION.replace('"keys.locker" =', '"keys.lockr" =')},
            ["references", "keys.lockr"],
        ),
        ({"lockers": '{"L1": {}, "L1": {}}'}, ["lockers.json", "'L1' occurs twice"]),
        ({"lockers": '{"L1": {"size": NaN}}'}, ["lockers.json", "NaN"]),
        ({"keys": '{"K1": {"locker": {}}}'}, ["keys.json", "K1"]),
        ({"tasks": json.dumps([{**TASKS[0], "instruction": " \n"}])}, ["instruction"]),
        ({"tasks": json.dumps([{**TASKS[0], "id": "a|b"}])}, ["field id"]),
        ({"tools": TOOLS.replace("size: int = 1", 'size: "Nope" = 1')}, ["take", "'Nope'"]),
        ({"tools": TOOLS.replace("size: int = 1", "size: object() = 1")}, ["take", "types"]),
        ({"tools": TOOLS.replace("size: int = 1", 'size: int = "x"')}, ["take", "default", "size"]),
        ({"tools": TOOLS.replace("size: int = 1", "*size: int")}, ["take", "any number"]),
        ({"tools": TOOLS.replace("size: int = 1", "_size: int = 1")}, ["take", "another name"]),
        ({"tools": "import sys; sys.exit(3)"}, ["tools.py", "SystemExit"]),
    ],
)
def test_what_is_wrong_with_a_folder_is_said(
    tmp_path: Path, changes: dict[str, str], words: list[str]
) -> None:
    folder = build(tmp_path / "bad", **changes)
    with pytest.raises(UsiError) as caught:
        load_domain(folder)
    for word in words:
        assert word in str(caught.value)


def test_a_file_of_tasks_that_is_no_text_is_said(tmp_path: Path) -> None:
    folder = build(tmp_path / "bad")
    (folder / "tasks" / "tasks.json").write_bytes(b"\xff\xfe[]")
    with pytest.raises(UsiError, match=r"tasks\.json: not UTF-8"):
        load_domain(folder)


@pytest.mark.parametrize(
    ("body", "why"),
    [("raise KeyError('x')", "odd_lockers: fails: KeyError"), ("yield 'L3'", "gives 'L3'")],
)
def test_a_check_of_ones_own_that_is_broken_is_told_as_such(
    tmp_path: Path, body: str, why: str
) -> None:
    broken = TOOLS.replace(
        "    for call in way.writes:\n", f"    {body}\n    for call in way.writes:\n"
    )
    domain = load_domain(build(tmp_path / "own", tools=broken))
    with pytest.raises(UsiError, match=why):
        domain.grade(domain.tasks[0], domain.new_state(), [])


def test_task_ids_are_unique(tmp_path: Path) -> None:
    one = '{"id": "a", "instruction": "x", "difficulty": "easy", "requests": ["x"], "reply": "x"}'
    with pytest.raises(InputErrors, match="task id 'a' twice"):
        load_domain(build(tmp_path / "twice", tasks=f"[{one}, {one}]"))
