"""The page on the features of the profile robust is the one that its builder makes."""

from __future__ import annotations

import importlib.util

from helpers import ROOT

from usi.extraction.profile import get_specs


def test_the_page_is_as_its_builder_makes_it_and_names_every_feature() -> None:
    path = ROOT / "docs" / "build_metric_robust.py"
    spec = importlib.util.spec_from_file_location("build_metric_robust", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (ROOT / "docs" / "metric-robust.md").read_text(encoding="utf-8")
    assert page == module.render(), "run: python docs/build_metric_robust.py"
    for feature in get_specs("robust"):
        assert f"| {feature.name} |" in page
