"""Results as JSON text."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from usi._version import __version__
from usi.estimate import Estimate
from usi.rounding import rounded


def plain(value: Any) -> Any:
    """Nested dataclasses and estimates as JSON values (keys as text)."""
    if isinstance(value, Estimate):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return rounded(value) if isinstance(value, float) else value


def to_json(value: Any) -> str:
    """Deterministic JSON text with the version that wrote it."""
    return json.dumps(
        {"usi_version": __version__, **plain(value)}, indent=2, ensure_ascii=False
    ) + ("\n")
