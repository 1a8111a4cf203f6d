"""An option exists once: flag, key, keyword, help and documentation come from its declaration."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT
from house.test_docs_build import builder, page

from usi.cli.doctor import diagnose
from usi.cli.flags import made_flags
from usi.cli.settings import TABLES, find_workspace, keys_of, template
from usi.cli.verbs import VERBS
from usi.options import ScoreOptions, declared

FUNCTIONS = {words: function for verb in VERBS for words, function in verb.functions().items()}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_option_of_a_verb_is_declared(verb) -> None:
    command = verb.load()
    inner = getattr(command, "commands", None)
    found = {f"{verb.name} {n}": c for n, c in inner.items()} if inner else {verb.name: command}
    assert found.keys() == verb.functions().keys()
    for words, one in found.items():
        flags = {flag.name: flag for flag in made_flags(FUNCTIONS[words])}
        options = [p for p in one.params if p.opts[0].startswith("-")]
        assert {p.name for p in options} == flags.keys(), words
        for parameter in options:
            about = flags[parameter.name].option
            assert parameter.help == about.help
            wanted = about.flags or ("--" + parameter.name.rstrip("_").replace("_", "-"),)
            assert parameter.opts == list(wanted)


def test_no_module_of_the_command_line_declares_an_option_of_its_own() -> None:
    found = {
        path.name
        for path in (ROOT / "usi" / "cli").glob("*.py")
        if "typer.Option(" in path.read_text(encoding="utf-8")
    }
    assert found == {"flags.py", "main.py"}  # --version is of no verb


def test_the_fields_of_scoring_have_the_names_of_the_flags() -> None:
    names = {flag.name for flag in made_flags(FUNCTIONS["score"]) if flag.group is ScoreOptions}
    assert names == set(declared(ScoreOptions))
    assert {"by", "sim_runs", "sim_where", "success_at"} <= names
    for old in ("subgroups", "simulator_runs", "reward_threshold", "robust", "log"):
        with pytest.raises(TypeError, match=old):
            ScoreOptions(**{old: None})


def test_the_pages_are_as_their_builder_makes_them() -> None:
    made = builder("build_options")
    assert page("settings") == made.settings(), "run: python docs/build_options.py"
    assert page("commands") == made.commands(page("commands")), "run: python docs/build_options.py"


def test_the_settings_page_has_every_key() -> None:
    text = page("settings")
    for table in TABLES:
        part = text.split(f"## [{table}]\n")[1].split("\n## ")[0]
        assert set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == set(keys_of(table))


def test_the_file_that_init_writes_has_every_key_once_and_all_of_them_can_be_set(tmp_path) -> None:
    text = template()
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if heading := re.match(r"\[(\w+)\]", line):
            keys = found.setdefault(heading[1], [])
        elif key := re.match(r"# (\w+) = ", line):
            keys.append(key[1])
    assert {*found} == {*TABLES, "gate"}
    for table in TABLES:
        shared = [] if table == "load" else found["load"]
        assert len(found[table]) == len(set(found[table]))
        assert {*found[table], *shared} >= set(keys_of(table)) >= set(found[table])
    set_all = re.sub(r"(?m)^# (?=\w+ = )", "", text)
    (tmp_path / "usi.toml").write_text(set_all, encoding="utf-8")
    said = find_workspace(tmp_path).settings
    assert {table: {*said.of(table)} for table in TABLES} == {t: {*found[t]} for t in TABLES}


def test_doctor_lists_the_settings_that_a_file_makes(tmp_path) -> None:
    (tmp_path / "usi.toml").write_text('[score]\nreplicates = 500\n[gate]\ntier = "A"\n')
    made = {item.what: item.detail for item in diagnose(tmp_path)}
    assert made["setting score.replicates"].startswith("500: Bootstrap replicates")
    assert made["setting gate.tier"] == '"A"'
    assert sum(name.startswith("setting ") for name in made) == 2


NEW = """    colour: Literal["red", "green"] = option("red", "Colour of the score.", panel=COMPARED)
    held_out: bool = False
"""
PROBE = """
import inspect, json, sys
sys.path.insert(0, {docs!r})
import build_options, usi
from usi.cli.flags import made_flags
from usi.cli.score import Request, command, resolved
from usi.cli.settings import template
from usi.options import ScoreOptions

def read(**said):
    asked = Request(simulators=("a",), choices={{"human": "people.json"}}, options=said)
    return resolved(asked)[2].colour

print(json.dumps({{
    "keyword": str(inspect.signature(usi.score).parameters["colour"]),
    "documented": "Colour of the score." in usi.score.__doc__,
    "template": '# colour = "red"' in template(),
    "flag": "colour" in [flag.name for flag in made_flags(command)],
    "key": read(),
    "over": read(colour="red"),
    "field": ScoreOptions(colour="green").colour,
    "row": "| `--colour` | `red`, `green` | `red` | Colour of the score. |"
    in build_options.commands("## usi score\\n"),
    "settings": "| `colour` | `red`, `green` | `red` |" in build_options.settings(),
}}))
"""


def test_one_declaration_adds_flag_key_help_and_pages(tmp_path: Path) -> None:
    """A field in a copy of usi/options.py, and then the builders; nothing is written by hand."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "usi", tmp_path / "usi", ignore=ignored)
    options = tmp_path / "usi" / "options.py"
    text = options.read_text(encoding="utf-8")
    assert text.count("    held_out: bool = False\n") == 1
    options.write_text(text.replace("    held_out: bool = False\n", NEW), encoding="utf-8")
    (tmp_path / "usi.toml").write_text('[score]\ncolour = "green"\n', encoding="utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"}
        return subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("*.svg"))
    assert run("docs/build_api.py").returncode == 0
    done = run("-c", PROBE.format(docs=str(tmp_path / "docs")))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "keyword": """colour: "Literal['red', 'green']" = 'red'""", "documented": True,
        "template": True, "flag": True, "key": "green", "over": "red", "field": "green",
        "row": True, "settings": True,
    }  # fmt: skip
    help_ = run("-m", "usi", "score", "--help").stdout
    assert "--colour" in help_
    assert "Colour of the score." in help_
    wrong = run("-m", "usi", "score", "a.json", "--human", "b.json", "--colour", "blue")
    assert wrong.returncode == 2
    assert "blue" in wrong.stderr
