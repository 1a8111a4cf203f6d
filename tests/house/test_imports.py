"""Imports form no circle: neither modules nor the parts of any package."""

from __future__ import annotations

import graphlib
from collections.abc import Mapping

import grimp
import pytest


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("usi", exclude_type_checking_imports=True, cache_dir=None)


def circle(imports: Mapping[str, set[str]]) -> list[str]:
    """Names of one circle, or none."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def among_parts(graph: grimp.ImportGraph, package: str) -> dict[str, set[str]]:
    """Part of a package -> the other parts that anything in it imports."""
    parts = graph.find_children(package)
    part_of = {module: part for part in parts for module in (part, *graph.find_descendants(part))}
    found: dict[str, set[str]] = {part: set() for part in parts}
    for module, part in part_of.items():
        for other in graph.find_modules_directly_imported_by(module):
            if part_of.get(other, part) != part:
                found[part].add(part_of[other])
    return found


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}


def test_modules_import_in_no_circle(graph: grimp.ImportGraph) -> None:
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert circle(imports) == []


def test_parts_of_no_package_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    packages = [name for name in graph.modules if graph.find_children(name)]
    assert len(packages) > 10
    assert {name: circle(among_parts(graph, name)) for name in packages} == {
        name: [] for name in packages
    }
