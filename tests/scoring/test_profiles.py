"""Profiles by name; what stands in where the preferred one is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scoring.small import people, put

import usi
from usi.errors import UsageError
from usi.scoring import profiles


@pytest.fixture
def only_tau_usi(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(profiles, "_MODULES", {"tau-usi": "usi.scoring.published.profile"})
    profiles._installed.cache_clear()
    yield
    profiles._installed.cache_clear()


def test_the_published_profile_is_registered_by_its_name() -> None:
    profile = profiles.get_profile("tau-usi")
    assert (profile.name, profile.index) == ("tau-usi", "USI")
    assert "tau-usi" in profiles.profile_names()
    with pytest.raises(UsageError, match="did you mean 'robust"):
        profiles.get_profile("robus")


@pytest.mark.usefixtures("only_tau_usi")
def test_without_the_preferred_profile_the_published_one_is_taken_and_said(tmp_path: Path) -> None:
    assert profiles.default_profile() == "tau-usi"
    path = put(tmp_path / "people.json", people("retail_0"))
    card = usi.score(path, path)
    assert card.profile == "tau-usi"
    assert "default_profile" in [warning.code for warning in card.warnings]
    card = usi.score(path, path, profile="tau-usi")
    assert "default_profile" not in [warning.code for warning in card.warnings]
    with pytest.raises(UsageError, match="Known: tau-usi"):
        profiles.get_profile("robust")
