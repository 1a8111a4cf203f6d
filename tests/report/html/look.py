"""A page in a real browser, through the driver of look.mjs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import browser
import pytest

HERE = Path(__file__).parent


def look(page: Path, **job: Any) -> dict[str, Any]:
    """What a browser saw; skips where node or its modules are absent, but not in CI."""
    chromium = browser.browser()
    node = shutil.which("node")
    if node is None or not (HERE / "node_modules" / "playwright-core").is_dir():
        reason = "npm modules of tests/report/html are not installed (make npm)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [node, str(HERE / "look.mjs")],
        input=json.dumps({"page": page.as_uri(), "browser": chromium, **job}),
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
