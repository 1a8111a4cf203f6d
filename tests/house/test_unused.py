"""What stands in usi is used in usi: code for tests or benchmarks alone lives with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from helpers import ROOT

import usi

CALLED_BY_NAME = frozenset({"command", "recognise", "read", "write"})
"""Functions that are found by their name: of verbs, of readers and of writers."""
REGISTERING = frozenset({"command", "read", "write"})
"""Decorators that make what they decorate reachable: verbs, and the tools of a domain."""
INTERFACE = frozenset(f"usi.api.{name}" for name in usi.__all__) | {
    "usi.extraction.extract.extract",  # sessions that do not fit into memory, block by block
}


def shown_to_users() -> set[str]:
    """What pages of the docs import, and the scripts that make them."""
    found = set()
    for path in (ROOT / "docs").rglob("*"):
        if path.suffix in (".md", ".py"):
            text = path.read_text(encoding="utf-8")
            for module, names in re.findall(
                r"^from (usi[\w.]*) import ([\w, ]+)", text, re.MULTILINE
            ):
                found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return found


def named_in_rules() -> set[str]:
    """Functions that the definition of a domain names."""
    found = set()
    for path in (ROOT / "usi" / "simulate" / "domains").rglob("domain.toml"):
        text = path.read_text(encoding="utf-8")
        package = module_of(path.parent / "rules.py", ROOT / "usi")
        found |= {
            f"{package}.{name}" for name in re.findall(r'^function = "(\w+)"', text, re.MULTILINE)
        }
    return found


Definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def module_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def registers(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in REGISTERING


def public(tree: ast.Module) -> Iterator[str]:
    """Functions and classes of a module that begin with no underscore and register nowhere."""
    for node in tree.body:
        if (
            isinstance(node, Definitions)
            and not node.name.startswith("_")
            and not any(registers(decorator) for decorator in node.decorator_list)
        ):
            yield node.name


def read_in(tree: ast.Module, own: str) -> bool:
    """Whether a module reads a name outside its definition; annotations may be texts."""
    for node in tree.body:
        if isinstance(node, Definitions) and node.name == own:
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id == own:
                return True
    return False


def unused(root: Path) -> set[str]:
    """Public functions and classes of a package that nothing in it uses."""
    trees = {
        module_of(path, root): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.py"))
    }
    packages = {module_of(path, root) for path in root.rglob("__init__.py")}
    used: set[tuple[str, str]] = set()
    passed_on: dict[tuple[str, str], tuple[str, str]] = {}
    for module, source, name in imported(trees):
        if f"{source}.{name}" in trees:  # a module: what is read of it
            other = f"{source}.{name}"
            used |= {
                (other, n.attr) for n in ast.walk(trees[module]) if isinstance(n, ast.Attribute)
            }
        elif module in packages and not read_in(trees[module], name):
            passed_on[module, name] = (source, name)
        else:
            used.add((source, name))
    used |= {source for place, source in passed_on.items() if place in used}
    return {
        f"{module}.{name}"
        for module, tree in trees.items()
        for name in public(tree)
        if name not in CALLED_BY_NAME and (module, name) not in used and not read_in(tree, name)
    }


def imported(trees: Mapping[str, ast.Module]) -> Iterator[tuple[str, str, str]]:
    """Importing module, module that is imported from, name."""
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                yield from ((module, node.module, alias.name) for alias in node.names)


def test_every_public_function_of_usi_is_used_in_usi() -> None:
    shown, named = shown_to_users(), named_in_rules()
    assert len(shown) > 5
    assert len(named) > 1
    assert unused(ROOT / "usi") - INTERFACE - shown - named == set()


def test_a_function_that_nothing_uses_is_found(tmp_path: Path) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("from p.a import passed_on, dead\n")
    (package / "a.py").write_text(
        "def passed_on(): ...\ndef dead(): return dead()\ndef near(): ...\nfar = near()\n"
        "def called(): ...\nclass Unused: ...\n"
    )
    (package / "b.py").write_text("from p import passed_on, a\na.called()\npassed_on()\n")
    assert unused(package) == {"p.a.dead", "p.a.Unused"}
