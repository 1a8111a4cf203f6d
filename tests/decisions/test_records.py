"""Records that prove themselves: no single edit of a decision's files makes it better.

One admission is made by the real command line. The law: whoever edits one number, name or word in
one file gets a refusal (exit code 2), the word "unverified", or an outcome that is no better than
before. Forgers that make a new digest, too, are found out by the files behind the record.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from usi.cli.admission import walked
from usi.cli.main import run
from usi.decisions.admission import find_records
from usi.decisions.tables import rank_files
from usi.errors import UsiError
from usi.phantom import build_phantom
from usi.provenance.digest import with_digest
from usi.provenance.record import sha256_file

TOML = """kind = "recorded"
runs = "../runs/copy.jsonl"
licence = "MIT"
[identity]
model = "m-1"
provider = "p"
prompt_sha256 = "ab"
harness = "h 1"
date = "2026-01-01"
"""
EDITS = 100
"""Single edits that the law tries; each takes some ten milliseconds."""


def call(*arguments: str) -> int:
    """Exit code of the command line."""
    with pytest.raises(SystemExit) as caught:
        run(list(arguments))
    code = caught.value.code
    return code if isinstance(code, int) else 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one admission: PASS by criteria of its own."""
    home = tmp_path_factory.mktemp("workspace")
    build_phantom(home, seed=3, tasks=30, simulators=("copy",))
    (home / "simulators").mkdir()
    (home / "simulators" / "mine.toml").write_text(TOML)
    (home / "gate.toml").write_text("[minimum]\nindex = 50\nconversation = 50\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        asked = ("submit", "mine", "--human", "phantom", "--gate", "gate.toml", "--print", "none")
        assert call(*asked, "--quiet") == 0
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be edited; the working directory."""
    place = tmp_path / "ws"
    shutil.copytree(made, place)
    monkeypatch.chdir(place)
    return place


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def standing(home: Path) -> tuple[bool, bool, float]:
    """Whether a PASS stands in the ranking, whether it is verified, and the score."""
    (board,) = rank_files([home / "reports"]).tables
    entry = board.entries[board.ranking.rows[0].name]
    passes = [a for a in entry.admissions if a.verdict == "PASS" and not a.expired]
    verified = bool(passes) and not any(a.unverified for a in passes) and not entry.unverified
    return bool(passes), verified, board.ranking.rows[0].value


def test_a_whole_admission_verifies_from_end_to_end(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = home / "reports" / "mine.admission.json"
    assert call("admission", "verify", str(record), "--print", "table") == 0
    said = capsys.readouterr().out
    for word in ("scorecard", "per-task sums", "simulator", "decision", "end", "corpus"):
        assert f"ok     {word}" in said
    assert standing(home)[:2] == (True, True)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all numbers, words, truth values and nulls of a JSON document."""
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        for key, part in items:
            yield from leaves(part, (*path, key))
    else:
        yield path


def other(value: Any, rng: random.Random) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 7))
    if isinstance(value, float):
        return value + rng.choice((-1.0, 0.5, 3.0))
    if value is None:
        return rng.choice((1, "x"))
    return rng.choice(("PASS", "FAIL", "other", value + "x", value[:-1]))


def test_no_single_edit_of_a_record_makes_it_better(home: Path) -> None:
    rng = random.Random(19)
    before = standing(home)
    files = sorted((home / "reports").glob("*.json"))
    assert len(files) == 6
    tried = refused = 0
    while tried < EDITS:
        file = files[tried % len(files)]
        whole = file.read_bytes()
        data = json.loads(whole)
        path = rng.choice(list(leaves(data)))
        place = data
        for step in path[:-1]:
            place = place[step]
        new = other(place[path[-1]], rng)
        if new == place[path[-1]]:
            continue
        tried += 1
        place[path[-1]] = new
        file.write_text(json.dumps(data), encoding="utf-8")
        if file.name in ("mine.report.json", "mine.evidence.json"):
            # read by no verb that decides: looked at once each
            files.remove(file)
        try:
            after = standing(home)
        except UsiError:
            refused += 1
        else:
            passes, verified, score = after
            where = (file.name, path, new)
            assert not (passes and verified) or after == before, where
            assert not verified or score <= before[2], where
        file.write_bytes(whole)
    assert refused > 0.9 * EDITS


def test_no_edit_of_the_sums_goes_unseen(home: Path) -> None:
    path = home / "reports" / "mine.tasks.parquet"
    table = pl.read_parquet(path)
    for column in ("side", "simulator", "unit", "split", "sessions", "success", "sums.politeness"):
        first = table[column][0]
        new = f"{first}x" if isinstance(first, str) else first + 1
        changed = table.with_columns(
            pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(new)).otherwise(pl.col(column))
            .cast(table[column].dtype).alias(column)
        )  # fmt: skip
        changed.write_parquet(path)
        assert call("gate", "reports/mine.json", "--tier", "C") == 2
        assert call("rank", "reports") == 2


def score(name: str, **change: float) -> Callable[[dict[str, Any]], None]:
    def edit(card: dict[str, Any]) -> None:
        part = card["index"] if name == "index" else card["components"][name]
        for key, value in change.items():
            part[key] += value

    return edit


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "the index": score("index", value=1.0, low=1.0),
    "the lower bound of the index": score("index", low=0.5),
    "a standard error and its bound": score("index", se=-0.3, low=0.3 * 1.6448536269514722),
    "a component": score("reaction", value=2.0, low=2.0),
    "the bound of a component": score("clarification", low=2.0),
    "the success gap": lambda c: c["success_gap"].update(value=0.0),
    "the bounds of the success gap": lambda c: c["success_gap"].update(
        low=c["success_gap"]["value"] - 0.001, high=c["success_gap"]["value"] + 0.001
    ),
    "the number of tasks": lambda c: c["n"].update(tasks=300),
    "the number of sessions": lambda c: c["n"].update(sessions=3000),
    "the name": lambda c: c.update(name="better"),
    "the style score": lambda c: c["style_score"].update(value=99.5, low=99.0),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_card_with_a_new_digest_contradicts_its_sums(
    what: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "reports" / "mine.json"
    data = read(path)
    FORGED[what](data["simulators"][0])
    path.write_text(json.dumps(with_digest(data)), encoding="utf-8")
    assert call("gate", str(path), "--criteria", "gate.toml") == 2
    assert "sums" in capsys.readouterr().err
    assert call("rank", "reports") == 2


def verdict_of(home: Path) -> Path:
    return home / "reports" / "mine.verdict.json"


FORGED_VERDICTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "other criteria": lambda v: v["criteria"].update(max_success_gap=0.5),
    "a fingerprint": lambda v: v.update(criteria_fingerprint="0" * 12),
    "a tier that was not asked": lambda v: v.update(criteria_label="tier A"),
    "a later end": lambda v: v.update(expires="2099-01-01"),
    "no end": lambda v: v.update(expires=None),
    "another value": lambda v: v["simulators"][0]["checks"][2].update(value=99.0),
    "a check less": lambda v: v["simulators"][0]["checks"].pop(),
    "another word": lambda v: v.update(verdict="FAIL", exit_code=1),
}


@pytest.mark.parametrize("what", FORGED_VERDICTS)
def test_a_forged_verdict_with_a_new_digest_does_not_follow_from_its_card(
    what: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = verdict_of(home)
    data = read(path)
    FORGED_VERDICTS[what](data)
    path.write_text(json.dumps(with_digest(data)), encoding="utf-8")
    assert call("rank", "reports") == 2
    assert "mine.verdict.json" in capsys.readouterr().err


def forged_record(home: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    path = home / "reports" / "mine.admission.json"
    data = read(path)
    change(data)
    path.write_text(json.dumps(with_digest(data)), encoding="utf-8")
    return path


def test_a_record_with_the_hash_of_another_simulator_admits_neither(home: Path) -> None:
    card = read(home / "reports" / "mine.json")
    card["simulators"][0]["identity"]["model"] = "m-9"
    reports = home / "reports"
    stranger = reports / "stranger.json"
    stranger.write_text(json.dumps(with_digest(card)), encoding="utf-8")
    shutil.copy(reports / "mine.tasks.parquet", reports / "stranger.tasks.parquet")
    forged_record(home, lambda d: d.update(scorecard_sha256=sha256_file(stranger)))
    with pytest.raises(UsiError, match="another simulator"):
        rank_files([home / "reports"])


def test_what_a_record_says_twice_must_agree(home: Path) -> None:
    for change in (
        lambda d: d.update(verdict="FAIL"),
        lambda d: d.update(admitted=False),
        lambda d: d.update(expires="2099-01-01"),
        lambda d: d["identity"].update(model="m-2"),
        lambda d: d.update(name="other"),
    ):
        original = read(home / "reports" / "mine.admission.json")
        path = forged_record(home, change)
        assert call("rank", "reports") == 2
        assert call("admission", "verify", str(path), "--print", "none") == 2
        path.write_text(json.dumps(original), encoding="utf-8")


def test_the_end_stands_in_the_record_without_the_verdict_file(home: Path) -> None:
    verdict_of(home).unlink()
    (home / "reports" / "mine.run.json").unlink()
    record = read(home / "reports" / "mine.admission.json")
    (board,) = rank_files([home / "reports"]).tables
    (found,) = board.entries["mine"].admissions
    assert found.expires == record["expires"] is not None
    (board,) = rank_files([home / "reports"], as_of=record["expires"]).tables
    assert board.entries["mine"].admissions[0].expired


def test_an_admission_ends_at_once_when_the_simulator_or_the_corpus_changes(home: Path) -> None:
    (home / "simulators" / "mine.toml").write_text(TOML.replace("m-1", "m-2"))
    assert standing(home)[0] is False
    record = home / "reports" / "mine.admission.json"
    assert call("admission", "verify", str(record), "--print", "none") == 3
    (home / "simulators" / "mine.toml").write_text(TOML)
    assert standing(home)[0] is True
    manifest = home / "human_corpus" / "phantom" / "manifest.toml"
    hashed = sha256_file(home / "human_corpus" / "phantom" / "sessions.jsonl")
    text = manifest.read_text()
    assert hashed in text
    manifest.write_text(text.replace(hashed, "0" * 64))
    assert standing(home)[0] is False
    assert call("admission", "verify", str(record), "--print", "none") == 2


def test_a_changed_simulator_is_noticed_with_and_without_a_baseline(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "simulators" / "mine.toml").write_text(TOML.replace("m-1", "m-2"))
    asked = ("gate", "reports/mine.json", "--criteria", "gate.toml", "--print", "table")
    for more in ((), ("--baseline", "reports/mine.json")):
        assert call(*asked, *more) == 3
        assert "has changed since it was scored (model)" in capsys.readouterr().out


def test_the_card_as_its_own_baseline_is_inconclusive(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("gate", "reports/mine.json", "--criteria", "gate.toml", "--print", "json")
    assert call(*asked, "--baseline", "reports/mine.json") == 3
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["decided_by"] == ["baseline.identical"]


def test_baseline_and_margins_are_criteria_and_in_the_fingerprint(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("gate", "reports/mine.json", "--print", "json")

    def criteria(*more: str) -> tuple[str, dict[str, Any]]:
        assert call(*asked, *more) == 3
        said = json.loads(capsys.readouterr().out)
        return said["criteria_fingerprint"], said["criteria"]["regression"]

    line = ("--criteria", "gate.toml", "--baseline", "reports/mine.json")
    first, told = criteria(*line)
    assert told["baseline_sha256"] == sha256_file(home / "reports" / "mine.json")
    second, _ = criteria(*line, "--margin", "20")
    assert first != second
    rules = home / "both.toml"
    rules.write_text(
        (home / "gate.toml").read_text()
        + '[regression]\nbaseline = "reports/mine.json"\nmargin = 20\n'
    )
    assert criteria("--criteria", "both.toml")[0] == second
    rules.write_text(rules.read_text() + f'baseline_sha256 = "{"0" * 64}"\n')
    assert call(*asked, "--criteria", "both.toml") == 2
    assert "not the baseline that the criteria name" in capsys.readouterr().err


def test_without_sums_a_decision_says_unverified_and_can_be_refused(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "reports" / "mine.tasks.parquet").unlink()
    asked = ("gate", "reports/mine.json", "--criteria", "gate.toml", "--print", "table")
    assert call(*asked) == 0
    assert capsys.readouterr().out.startswith("PASS unverified")
    strict = home / "strict.toml"
    rules = (home / "gate.toml").read_text()
    strict.write_text("require_verified = true\n" + rules)
    assert call("gate", "reports/mine.json", "--criteria", "strict.toml", "--print", "none") == 3
    monkeypatch.setenv("CI", "true")
    assert call(*asked) == 3
    strict.write_text("require_verified = false\n" + rules)
    assert call("gate", "reports/mine.json", "--criteria", "strict.toml", "--print", "none") == 0


def test_a_submission_can_not_be_dated_back(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("submit", "mine", "--human", "phantom", "--gate", "gate.toml")
    assert call(*asked, "--as-of", "2001-01-01") == 2
    assert "before the day of scoring" in capsys.readouterr().err
    asked = ("gate", "reports/mine.json", "--criteria", "gate.toml")
    assert call(*asked, "--as-of", "2001-01-01") == 2
    assert call("rank", "reports", "--as-of", "2001-01-01") == 2


def test_a_corpus_that_is_not_what_its_manifest_says_is_not_submitted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (home / "human_corpus" / "phantom" / "sessions.jsonl").open("a") as file:
        file.write("\n")
    assert call("submit", "mine", "--human", "phantom", "--gate", "gate.toml") == 2
    assert "has changed" in capsys.readouterr().err


def test_records_of_other_scorecards_say_nothing(home: Path) -> None:
    assert len(find_records([home / "reports"]).submissions) == 1
    record = home / "reports" / "mine.admission.json"
    steps = walked(record, scorecard=home / "reports" / "mine.run.json", as_of=None)
    assert [step.what for step in steps if step.state == "wrong"] == ["scorecard"]
