"""Output files: form by suffix, nobody's file is overwritten, all or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from report.cards import card, simulator

from usi.errors import UsageError
from usi.report import files
from usi.report.files import FORMS

CARD = card(simulator("a", 70.0))


@pytest.mark.parametrize("suffix", [".json", ".tau-usi.json", ".md", ".html"])
def test_usi_knows_its_own_files_again(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    files.write_all({path: files.text(FORMS[suffix](CARD, path))})
    assert files.written_by_usi(path)
    assert files.claim([path], known=FORMS, force=False) == {path: suffix}


@pytest.mark.parametrize("content", ['{"rows": []}', "# notes", "a,b\n1,2\n"])
def test_a_foreign_file_is_kept_unless_forced(tmp_path: Path, content: str) -> None:
    path = tmp_path / "out.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="--force"):
        files.claim([path], known=FORMS, force=False)
    assert path.read_text() == content
    assert files.claim([path], known=FORMS, force=True) == {path: ".json"}


def test_the_longest_suffix_decides() -> None:
    assert files.form_of(Path("x.tau-usi.json"), FORMS) == ".tau-usi.json"
    assert files.form_of(Path("x.tau.JSON"), FORMS) == ".json"


@pytest.mark.parametrize("name", ["out", "out.xlsx", ".json", "out.json.bak"])
def test_an_unknown_suffix_lists_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.tau-usi\.json") as caught:
        files.form_of(Path(name), FORMS)
    assert name in str(caught.value)


def test_an_input_is_never_an_output_even_by_another_name(tmp_path: Path) -> None:
    source = tmp_path / "sim.json"
    source.write_text("[]")
    (tmp_path / "alias.json").symlink_to(source)
    with pytest.raises(UsageError, match="input"):
        files.claim([tmp_path / "alias.json"], known=FORMS, force=True, inputs=[source])


def test_one_path_twice_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        files.claim([tmp_path / "a.md", tmp_path / "." / "a.md"], known=FORMS, force=False)
    with pytest.raises(UsageError, match="folder"):
        files.claim([tmp_path], known=FORMS, force=False)


def test_all_or_nothing(tmp_path: Path) -> None:
    def broken(path: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(UsageError, match="No space left"):
        files.write_all({tmp_path / "a.md": files.text("a"), tmp_path / "b.md": broken})
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_and_rights_are_usual(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "a.md"
    files.write_all({path: files.text("ä\n")})
    mask = os.umask(0)
    os.umask(mask)
    assert path.read_bytes() == "ä\n".encode()
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
