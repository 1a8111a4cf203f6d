"""A human reference is a path, or a name under ``human_corpus/``."""

from __future__ import annotations

from pathlib import Path

import pytest

from usi.corpora.resolve import corpus_names, resolve
from usi.errors import InputError


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    home = tmp_path / "human_corpus" / "people"
    (home / "survey_data").mkdir(parents=True)
    (home / "sessions.jsonl").write_text("{}\n", encoding="utf-8")
    (home / "manifest.toml").write_text(
        'name = "People 1"\nsessions = "sessions.jsonl"\nlicence = "CC BY 4.0"\n'
        "synthetic = true\nresearch_only = true\nredistribute = false\n",
        encoding="utf-8",
    )
    (tmp_path / "human_corpus" / "plain").mkdir()
    (tmp_path / "deep" / "er").mkdir(parents=True)
    return tmp_path


def test_a_name_is_found_from_below_the_workspace(workspace: Path) -> None:
    found = resolve("people", start=workspace / "deep" / "er")
    home = workspace / "human_corpus" / "people"
    assert found.name == "People 1"
    assert found.paths == (home / "sessions.jsonl",)
    assert found.surveys == home / "survey_data"
    assert (found.licence, found.synthetic) == ("CC BY 4.0", True)
    assert (found.research_only, found.redistribute) == (True, False)
    assert corpus_names(workspace) == ("people", "plain")


def test_a_folder_without_a_manifest_has_its_own_name(workspace: Path) -> None:
    found = resolve("plain", start=workspace)
    assert (found.name, found.surveys, found.licence) == ("plain", None, None)
    assert found.paths == (workspace / "human_corpus" / "plain",)


def test_a_path_goes_before_a_name(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    Path("people").write_text("{}", encoding="utf-8")
    assert resolve("people").paths == (Path("people"),)
    Path("people").unlink()
    assert resolve("people").name == "People 1"


def test_a_file_has_the_surveys_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "tau_bench_tasks_unified.json"
    path.write_text("{}", encoding="utf-8")
    assert resolve(path).surveys is None
    assert resolve(path).name == "tau_bench_tasks_unified"
    (tmp_path / "survey_data").mkdir()
    assert resolve(path).surveys == tmp_path / "survey_data"
    folder = tmp_path / "data"
    folder.mkdir()
    assert resolve(folder).surveys == tmp_path / "survey_data"


@pytest.mark.parametrize("name", ["peeple", "../people", "human_corpus", "a/b"])
def test_an_unknown_name_lists_what_there_is(
    workspace: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace / "deep" / "er")
    with pytest.raises(InputError, match="people") as caught:
        resolve(name, start=workspace)
    assert ("did you mean 'people'" in str(caught.value)) == (name in ("peeple", "../people"))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('sessions = "../../secret"', "leads out"),
        ('sessions = "/etc/passwd"', "leads out"),
        ('sessions = "absent.jsonl"', "there is no"),
        ("sessions = [1]", "field sessions"),
        ("synthetic = 1", "field synthetic"),
        ("licence = 4", "field licence"),
        ("name = [", "TOML"),
    ],
)
def test_a_bad_manifest_is_named(workspace: Path, text: str, where: str) -> None:
    manifest = workspace / "human_corpus" / "people" / "manifest.toml"
    manifest.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=where):
        resolve("people", start=workspace)
