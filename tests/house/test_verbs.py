"""Every verb helps, teaches by an example, and is written about."""

from __future__ import annotations

import re

import pytest
from command import usi
from helpers import ROOT

from usi.cli.verbs import VERBS

NAMES = [verb.name for verb in VERBS]


@pytest.mark.parametrize("name", NAMES)
def test_help_teaches_by_an_example(name: str) -> None:
    done = usi(name, "--help")
    assert done.code == 0, done.err
    assert re.search(rf"Examples?:\s+usi {name} ?", done.out)


def test_the_first_page_lists_every_verb_with_its_help() -> None:
    text = re.sub(r"[│\s]+", " ", usi("--help", env={"COLUMNS": "200"}).out)
    for verb in VERBS:
        assert f" {verb.name} " in text
        assert verb.help in text


def test_an_unknown_verb_and_option_suggest_the_near_one() -> None:
    verb = usi("scor")
    assert verb.code == 2
    assert "score" in verb.err
    option = usi("score", "--humann", "x")
    assert option.code == 2
    assert "--human" in option.err


def test_documents_name_only_verbs_that_exist() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"```(?:sh|bash|console)\n(.*?)```", text, re.DOTALL):
            for named in re.findall(r"^(?:\$ )?usi ([a-z][a-z-]*)", block, re.MULTILINE):
                assert named in NAMES, f"{page.name}: usi {named}"


def test_every_verb_stands_in_the_command_page() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    missing = [name for name in NAMES if f"## usi {name}" not in text]
    assert missing == []
