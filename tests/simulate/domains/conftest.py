"""The small domain and the service desk, loaded once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lockers import build

from usi.simulate.domains import FolderDomain, load_domain


@pytest.fixture(scope="session")
def lockers(tmp_path_factory: pytest.TempPathFactory) -> FolderDomain:
    return load_domain(build(tmp_path_factory.mktemp("domains") / "lockers"))


@pytest.fixture(scope="session")
def desk() -> FolderDomain:
    return load_domain("service_desk")
