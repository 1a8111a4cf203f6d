"""The smallest example of every format is read, and docs/formats.md is made from the registry."""

from __future__ import annotations

import runpy

import pytest

from tests.helpers import ROOT
from usi.loading import open_sessions
from usi.loading.registry import FORMATS, registry

MADE = runpy.run_path(str(ROOT / "docs/build_formats.py"))


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_of_a_format_is_read_as_this_format(name):
    stream = open_sessions(MADE["example_of"](name))
    (session,) = stream
    assert stream.notes.layout == name
    said = [(turn.role, turn.content) for turn in session.turns if not turn.tool_calls]
    assert said[:3] == [
        ("user", "my tram pass wont renew"), ("assistant", "It is renewed."), ("user", "thx bye"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_where_it_comes_from_and_what_is_lost(name):
    about = registry().readers[name].ABOUT
    assert all((about.holds, about.lacks, about.follows, about.version, about.told_by))


def test_the_page_is_as_its_builder_makes_it():
    text = (ROOT / "docs/formats.md").read_text("utf-8")
    assert MADE["page"](text) == text, "run: python docs/build_formats.py"
