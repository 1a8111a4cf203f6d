"""Formats of installed packages: entry points, and what a broken one does (nothing to others)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import types
import zipfile
from importlib.metadata import EntryPoint

import pytest
from command import usi
from helpers import ROOT

from usi.errors import InputError, UsageError
from usi.loading import LoadOptions, open_sessions, registry, stream
from usi.loading import registry as sniff
from usi.loading.reader import About, Reader, carries
from usi.records import Session, Turn


def read_lines(context):
    with context.open() as opened:
        text = opened.read(-1).decode()
    turns = [Turn("user" if line.startswith("U:") else "assistant", line[2:]) for line in
             text.splitlines()[1:]]  # fmt: skip
    yield Session(session_id="one", turns=tuple(turns), simulator=context.label, layout="acme")


def plugin(monkeypatch, **parts):
    module = types.ModuleType("acme_usi")
    module.NAME = "acme"
    module.ABOUT = About("Acme chat logs", carries("agent"))
    module.recognise = lambda sample: sample.head.startswith(b"ACME")
    module.read = read_lines
    for name, value in parts.items():
        if value is None:
            delattr(module, name)
        else:
            setattr(module, name, value)
    monkeypatch.setitem(sys.modules, "acme_usi", module)
    return EntryPoint("acme", "acme_usi", registry.GROUP)


@pytest.fixture
def install(monkeypatch):
    def _install(*points):
        found = registry.collect(points)
        for place in (registry, sniff, stream):
            monkeypatch.setattr(place, "registry", lambda: found)
        return found

    return _install


def test_a_format_of_ones_own(write, monkeypatch, install):
    found = install(plugin(monkeypatch))
    assert found.broken == ()
    assert isinstance(found.readers["acme"], Reader)
    opened = open_sessions(write("x.log", "ACME 1\nU:hi\nA:yo\n"))
    (session,) = opened
    assert [(t.role, t.content) for t in session.turns] == [("user", "hi"), ("assistant", "yo")]
    assert opened.notes.layout == "acme"
    named = open_sessions(write("y.log", "?\nU:hi\n"), options=LoadOptions(format="acme"))
    assert len(list(named)) == 1


def test_a_plugin_never_takes_a_known_format(write, monkeypatch, install):
    install(plugin(monkeypatch, recognise=lambda sample: True))
    opened = open_sessions(write("x.jsonl", [{"messages": []}], lines=True))
    assert len(list(opened)) == 1
    assert opened.notes.layout == "usi-jsonl"


def test_broken_packages_break_nothing(write, monkeypatch, install):
    absent = EntryPoint("gone", "no_such_module_of_anybody", registry.GROUP)
    taken = plugin(monkeypatch, NAME="tau2")
    found = install(absent, taken)
    assert len(found.broken) == 2
    assert "no_such_module_of_anybody" in found.broken[1]
    assert "'tau2', which is taken" in found.broken[0]
    assert len(list(open_sessions(write("x.jsonl", [{"messages": []}], lines=True)))) == 1
    with pytest.raises(UsageError, match="no_such_module_of_anybody"):
        list(open_sessions(write("y.jsonl", "x"), options=LoadOptions(format="gone")))


@pytest.mark.parametrize("name", ["NAME", "ABOUT", "recognise", "read"])
def test_a_part_that_is_missing_is_named(monkeypatch, install, name):
    (message,) = install(plugin(monkeypatch, **{name: None})).broken
    assert f"lacks {name}" in message
    assert "docs/own-format.md" in message


def boom(_):
    raise RuntimeError("boom")


def test_what_breaks_while_it_works_is_told_in_one_message(write, monkeypatch, install):
    install(plugin(monkeypatch, recognise=boom))
    with pytest.raises(
        InputError, match=r"acme.*broke while looking at the file: RuntimeError: boom"
    ):
        open_sessions(write("x.json", {"a": 1}))
    install(plugin(monkeypatch, read=boom))
    with pytest.raises(InputError, match="broke while reading: RuntimeError: boom"):
        list(open_sessions(write("y.log", "ACME\n")))
    install(plugin(monkeypatch, read=lambda context: iter([3])))
    with pytest.raises(InputError, match="gave a int, not a Session"):
        list(open_sessions(write("z.log", "ACME\n")))


def test_every_own_reader_keeps_the_protocol():
    for name, reader in registry.registry().readers.items():
        assert isinstance(reader.ABOUT, About), name
        assert reader.ABOUT.holds, name
        assert reader.ABOUT.lacks, name
        assert reader.ABOUT.follows, name
    with pytest.raises(ValueError, match="carry"):
        carries("wings")


CHATS = """#ACME chatlog 1
chat 17 order-late solved
C: my parcel is late
A: I am sorry. One moment.
! lookup parcel 9
C: thanks

chat 18 order-late open
C: hello?
"""


def test_the_worked_example_of_the_docs_is_a_package(tmp_path):
    """Install the two files of docs/own-format.md as they stand, and read the log beside them."""
    page = (ROOT / "docs" / "own-format.md").read_text(encoding="utf-8")
    log, code, project = re.findall(r"```(?:python|toml)?\n(.*?)```", page, flags=re.DOTALL)
    assert log == CHATS
    package, site = tmp_path / "package", tmp_path / "site"
    package.mkdir()
    (package / "acme_usi.py").write_text(code)
    (package / "pyproject.toml").write_text(project)
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=package, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    (tmp_path / "chats.log").write_text(CHATS)
    env = {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    done = usi("validate", "chats.log", cwd=tmp_path, env=env)
    assert done.code == 0, done.err + done.out
    (found,) = done.json()["inputs"]
    assert (found["layout"], found["sessions"], found["user_turns"]) == ("acme", 2, 3)
    assert found["left_out"] == {"message: note of the server": 1}
    rows = {row["format"]: row for row in usi("formats", env=env).json()}
    assert rows["acme"]["plugin"] is True
    # The same package, broken, is one line on stderr.
    (site / "acme_usi.py").write_text("raise RuntimeError('no licence')\n")
    done = usi("formats", env=env)
    assert done.code == 0
    assert "acme" not in {row["format"] for row in done.json()}
    assert done.err.count("\n") == 1
    assert "no licence" in done.err
