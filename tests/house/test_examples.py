"""Examples in the README and in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

from helpers import ROOT

import usi

FLAGS = doctest.ELLIPSIS


def test_the_readme_example_runs() -> None:
    done = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=FLAGS)
    assert done.failed == 0
    assert done.attempted >= 5


def test_every_docstring_example_runs() -> None:
    tried = 0
    for found in pkgutil.walk_packages(usi.__path__, "usi."):
        if found.name == "usi.__main__":
            continue
        done = doctest.testmod(importlib.import_module(found.name), optionflags=FLAGS)
        assert done.failed == 0, found.name
        tried += done.attempted
    assert tried > 20
