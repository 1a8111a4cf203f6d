"""Pages in a real browser; absent ones skip the test only outside continuous integration."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--virtual-time-budget=2000",
)  # fmt: skip


def browser() -> str:
    """Path of a Chromium; skips where there is none, and fails where CI is set."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        reason = "no chromium is installed: pages were not read in a browser"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def run(page: Path, tmp_path: Path, *flags: str) -> str:
    """Open a page without a network and return what the browser prints."""
    profile = tmp_path / f"profile-{len(list(tmp_path.iterdir()))}"
    done = subprocess.run(
        [browser(), *_FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout
