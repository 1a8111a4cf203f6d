"""Where tests find the shared golden values and data; absent ones skip, saying so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("USI_SHARED", ROOT.parent / "shared"))


def shared(relative: str) -> Path:
    """Path below the shared folder; skips the test where it is absent."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"shared/{relative} is absent: this test needs it", allow_module_level=True)
    return path
