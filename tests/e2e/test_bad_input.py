"""Bad input of every kind ends with exit code 2, one message and nothing written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from command import refused, usi

GOOD = [{"role": "user", "content": "hi"}]
FORMS: dict[str, object] = {
    "tau-bench": [{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": GOOD}],
    "tau2": {
        "info": {}, "tasks": [],
        "simulations": [{"id": "a", "task_id": "0", "trial": 0, "messages": GOOD,
                         "reward_info": {"reward": 1.0}}],
    },
    "tau-usi": {"airline_0": {"conversation": GOOD, "reward": 1.0}},
    "odyssim": {"benchmark": "tau_usi", "results": [
        {"instance_id": "airline_0", "conversation": GOOD, "reward": 1.0}]},
    "usi-jsonl": {"id": "a", "messages": GOOD},
}  # fmt: skip


def write(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data) + "\n", encoding="utf-8")
    return path


def everywhere(path: Path, tmp_path: Path, *words: str) -> None:
    """`features` refuses it and writes nothing, `validate` names it."""
    out = tmp_path / "written"
    refused(
        usi("features", path, "--side", "simulated", "--profile", "tau-usi",
            "-o", out / "f.csv"), *words,
    )  # fmt: skip
    assert not out.exists() or list(out.iterdir()) == []
    checked = usi("validate", path)
    assert checked.code == 2
    assert checked.json()["ok"] is False
    for word in words:
        assert word in json.dumps(checked.json(), ensure_ascii=False)


@pytest.mark.parametrize("form", FORMS)
def test_the_good_form_is_read(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "good.json", FORMS[form])
    checked = usi("validate", path)
    assert checked.code == 0, checked.out
    assert checked.json()["inputs"][0]["layout"] == form
    assert checked.json()["inputs"][0]["user_turns"] == 1


@pytest.mark.parametrize("form", FORMS)
def test_truncated_json(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "cut.json", FORMS[form])
    path.write_bytes(path.read_bytes()[:-6])
    everywhere(path, tmp_path, "cut.json")


@pytest.mark.parametrize("form", FORMS)
def test_not_utf8(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "latin.json", FORMS[form])
    path.write_bytes(path.read_bytes().replace(b'"hi"', b'"h\xe9"'))
    everywhere(path, tmp_path, "latin.json", "UTF-8")


@pytest.mark.parametrize("form", FORMS)
def test_wrong_types_name_row_and_field(form: str, tmp_path: Path) -> None:
    text = json.dumps(FORMS[form]).replace(json.dumps(GOOD), '"not a list"')
    path = tmp_path / "types.json"
    path.write_text(text + "\n")
    everywhere(path, tmp_path, "types.json", "row 1")


def test_all_bad_rows_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows: list[object] = [{"id": "a", "messages": GOOD}, {"id": "b", "messages": 7},
                          {"id": "c", "messages": GOOD}, {"id": "d", "messages": "x"}]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    everywhere(path, tmp_path, "row 2", "row 4")


@pytest.mark.parametrize("content", [b"", b" \n\n", b"[]", b"{}", b"plain text\n", b"[1, 2]"])
def test_empty_and_foreign_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    everywhere(path, tmp_path, "odd.json")


def test_deep_nesting_and_a_huge_record(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text('{"id": "a", "messages": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    everywhere(deep, tmp_path, "deep.json")
    big = tmp_path / "big.jsonl"
    long = [{"role": "user", "content": "x" * 2_000_000}]
    big.write_text(json.dumps({"id": "a", "messages": long}) + "\n")
    done = usi("validate", big, "--max-record", "1MB")
    assert done.code == 2
    assert "--max-record" in done.out
    assert usi("validate", big).code == 0


def test_a_folder_of_mixed_things(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    write(folder / "runs.json", FORMS["tau-bench"])
    (folder / "notes.txt").write_text("notes\n")
    everywhere(folder, tmp_path, "mixed", "notes.txt")


@pytest.mark.parametrize("form", FORMS)
def test_no_half_file_is_left_by_a_conversion(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / "cut.json", FORMS[form])
    path.write_bytes(path.read_bytes()[:-6])
    refused(usi("convert", path, "-o", tmp_path / "out" / "c.jsonl"), "cut.json")
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["cut.json"]


def test_a_missing_file_and_a_damaged_archive(tmp_path: Path) -> None:
    everywhere(tmp_path / "absent.json", tmp_path, "absent.json")
    packed = tmp_path / "cut.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(FORMS["tau-bench"]).encode() * 50)[:-20])
    everywhere(packed, tmp_path, "cut.json.gz")


def test_a_name_that_is_too_long_for_a_file() -> None:
    refused(usi("features", "x" * 5000, "--side", "human", "--profile", "tau-usi"), "too long")


def test_unknown_names_list_the_known(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", FORMS["tau-bench"])
    refused(usi("features", path, "--side", "human", "--profile", "tau-uis"), "'tau-usi'")
    refused(usi("convert", path, "--format", "tau-bensh"), "tau-bench")
    refused(usi("score", path, "--human", "nobody", "--profile", "tau-usi"), "nobody")
    refused(usi("explain", "USI|profil:tau-usi"), "profil")
    refused(usi("validate", path, "--max-record", "64XB"), "--max-record")
    refused(
        usi("score", path, "--human", path, "--profile", "tau-usi", "--difficulty", "frozn"),
        "frozen",
    )


def test_text_of_a_file_can_not_steer_the_terminal(tmp_path: Path) -> None:
    row = {"id": "\x1b[31mred\u202e", "messages": 7}
    path = write(tmp_path / "\x1b[2Jname.jsonl", row)
    done = usi("convert", path)
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err
    shown = usi("validate", path, "--print", "table").out
    assert "\x1b" not in shown


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_threshold_that_is_no_number_grades_nothing(value: str, tmp_path: Path) -> None:
    path = write(tmp_path / "good.json", FORMS["tau-bench"])
    for command in (
        ("score", path, "--human", path),
        ("correct", path, "--human", path),
        ("passk", path),
    ):
        refused(usi(*command, "--success-at", value), "--success-at needs a finite number")
