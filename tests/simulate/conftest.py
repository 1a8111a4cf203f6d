"""Fixtures of the simulate room."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest
from simulate.server import Server, serve


@pytest.fixture
def server() -> Iterator[Server]:
    if importlib.util.find_spec("litellm") is None:
        pytest.skip("litellm is not installed (pip install 'usi[sim]')")
    with serve() as running:
        yield running
