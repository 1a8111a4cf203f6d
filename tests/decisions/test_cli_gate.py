"""`usi gate` as a user runs it: options, files, exit codes, age, settings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from decisions.cards import card, part, simulator

from usi.cli.main import run
from usi.decisions import Verdict, tier
from usi.provenance.record import FileHash, make_record, record_path, sha256_file
from usi.scoring.scorecard import Scorecard

CARDS = {
    "pass": card(),
    "fail": card(simulator(components={"reaction": part(10.0)})),
    "open": card(simulator(gaming_suspected=True)),
    "published": card(profile="tau-usi"),
}


@pytest.fixture(autouse=True)
def _outside_github(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> int:
    """Exit code of the command line."""
    with pytest.raises(SystemExit) as caught:
        run(list(arguments))
    code = caught.value.code
    return code if isinstance(code, int) else 0


def saved(name: str, folder: Path) -> str:
    path = folder / f"{name}.json"
    path.write_text(CARDS[name].to_json(), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [("pass", 0, "PASS"), ("fail", 1, "FAIL"), ("open", 3, "INCONCLUSIVE")],
)
def test_exit_code_and_every_output_agree(
    name: str, code: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = [tmp_path / f"v{suffix}" for suffix in (".json", ".md", ".junit.xml")]
    options = [part_ for path in outputs for part_ in ("-o", str(path))]
    assert call("gate", saved(name, tmp_path), "--tier", "B", *options) == code
    said = capsys.readouterr()
    assert json.loads(said.out)["verdict"] == word
    assert said.err.startswith(word)
    verdict = Verdict.read(outputs[0])
    assert (verdict.verdict, verdict.exit_code) == (word, code)
    assert f"# usi: {word}" in outputs[1].read_text(encoding="utf-8")
    assert f'value="{word}"' in outputs[2].read_text(encoding="utf-8")
    # usi overwrites what it wrote, and says the same again
    before = [path.read_bytes() for path in outputs]
    assert call("gate", saved(name, tmp_path), "--tier", "B", *options) == code
    assert [path.read_bytes() for path in outputs] == before


def test_print_and_exit_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved("fail", tmp_path)
    assert call("gate", path, "--tier", "B", "--print", "table") == 1
    assert capsys.readouterr().out.startswith("FAIL unverified  (tier B")
    assert call("gate", path, "--tier", "B", "--exit-zero", "--print", "none") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "exit code 1 is not used" in said.err


def test_usage_errors_have_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved("pass", tmp_path)
    for arguments, text in (
        (["gate", path], "no criteria"),
        (["gate", path, "--tier", "X"], "unknown tier 'X'"),
        (["gate", path, "--tier", "B", "--criteria", "gate.toml"], "do not go together"),
        (["gate", path, "--criteria", "absent.toml"], "can't be opened"),
        (["gate", path, "--tier", "B", "--simulator", "simm"], "did you mean 'sim'"),
        (["gate", saved("published", tmp_path), "--tier", "B"], "--profile robust"),
        (["gate", str(tmp_path / "absent.json"), "--tier", "B"], "can't be opened"),
        (["gate", path, "--tier", "B", "-o", "verdict.pdf"], "suffix"),
        (["gate", path, "--tier", "B", "-o", path], "input"),
        (["gate", path, "--tier", "B", "--baseline", path], "per-task sums"),
    ):
        assert call(*arguments) == 2, arguments
        said = capsys.readouterr()
        assert text in said.err, (arguments, said.err)
        assert said.out == ""


def test_a_foreign_file_is_not_overwritten(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("mine\n")
    path = saved("pass", tmp_path)
    assert call("gate", path, "--tier", "B", "-o", str(notes)) == 2
    assert notes.read_text() == "mine\n"
    assert call("gate", path, "--tier", "B", "-o", str(notes), "--force") == 0


def test_criteria_from_the_workspace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved("open", tmp_path)
    (tmp_path / "usi.toml").write_text('[gate]\ntier = "C"\non_inconclusive = "fail"\n')
    assert call("gate", path) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["verdict"], data["exit_code"]) == ("INCONCLUSIVE", 1)
    assert "on_inconclusive" in data["exit_code_note"]["text"]
    assert call("gate", path, "--tier", "C") == 3  # the command line goes before the file


def test_age_is_that_of_the_run_record_of_this_very_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved("pass", tmp_path)
    rules = tmp_path / "gate.toml"
    rules.write_text('tier = "B"\nmax_age_days = 30\n')
    gate = ("gate", path, "--criteria", str(rules), "--as-of")
    assert call("gate", path, "--criteria", str(rules)) == 2
    assert call(*gate, "2026-02-01") == 3
    assert "no run record" in capsys.readouterr().err
    hashed = FileHash(role="scorecard", name="pass.json", sha256=sha256_file(path))
    record = make_record(["score"], started="2026-01-01T00:00:00+00:00", outputs=[hashed])
    record = record.model_copy(update={"finished": "2026-01-01T10:00:00+00:00"})
    record_path(path).write_text(record.to_json())
    assert call(*gate, "2026-01-31") == 0
    assert call(*gate, "2026-02-01") == 3
    assert "31 days" in capsys.readouterr().err
    # another scorecard under the same name is not vouched for
    Path(path).write_text(card(synthetic=True).to_json(), encoding="utf-8")
    assert call(*gate, "2026-01-31") == 3


def test_family_size_option(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    sim = simulator(components={"outcome": part(95.0, se=3.0)})
    path.write_text(card(sim).to_json(), encoding="utf-8")
    assert call("gate", str(path), "--tier", "B") == 0
    assert call("gate", str(path), "--tier", "B", "--family-size", "10") == 3


def test_scorecard_from_stdin(tmp_path: Path) -> None:
    code = "from usi.cli.main import run; run(['gate', '-', '--tier', 'B', '--print', 'table'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=CARDS["fail"].to_json(),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout[:4]) == (1, "FAIL")


def test_annotations_go_to_stderr_on_github_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved("fail", tmp_path)
    assert call("gate", path, "--tier", "B") == 1
    assert "::error" not in capsys.readouterr().err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert call("gate", path, "--tier", "B") == 1
    said = capsys.readouterr()
    assert "\n::error title=usi FAIL unverified%3A sim::" in said.err
    json.loads(said.out)
    assert "# usi: FAIL" in (tmp_path / "summary.md").read_text()


def test_the_python_interface_takes_a_scorecard(tmp_path: Path) -> None:
    from usi.decisions import gate_scorecard

    found = gate_scorecard(Scorecard.read(saved("pass", tmp_path)), tier("B"))
    assert found.verdict == "PASS"


@pytest.mark.parametrize("verb", ["gate", "compare", "rank", "plan"])
def test_help_has_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(verb, "--help") == 0
    said = capsys.readouterr().out
    _, example, after = said.partition("Example")
    assert example
    assert f"usi {verb} " in after


def test_gating_what_was_scored_just_now_asks_no_age(tmp_path: Path) -> None:
    from usi.cli.gate import gate_now
    from usi.decisions import load_criteria

    rules = tmp_path / "gate.toml"
    rules.write_text('tier = "B"\nmax_age_days = 1\n')
    assert gate_now(CARDS["pass"], load_criteria(str(rules))).verdict == "PASS"
    assert gate_now(CARDS["fail"], tier("B")).verdict == "FAIL"
