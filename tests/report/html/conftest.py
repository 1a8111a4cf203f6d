"""One scored population for all tests of pages."""

from __future__ import annotations

import pytest
from report.html.made import Made, make


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("report"))
