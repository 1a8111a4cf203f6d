"""JSON Schemas of criteria and verdict, as published in ``usi/gate/schemas``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from usi.gate.criteria import Criteria
from usi.gate.verdict import Verdict

FOLDER = Path(__file__).parent / "schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> JSON Schema, made from the models."""
    return {
        "criteria.schema.json": _schema(Criteria, "validation"),
        "verdict.schema.json": _schema(Verdict, "serialization"),
    }


def _schema(model: Any, mode: str) -> dict[str, Any]:
    schema: dict[str, Any] = model.model_json_schema(mode=mode)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    if model is Criteria:
        # A number is short for a minimum of the index.
        minimum = schema["$defs"]["Subgroup"]["properties"]["minimum"]
        schema["$defs"]["Subgroup"]["properties"]["minimum"] = {
            "anyOf": [minimum, {"type": "number", "minimum": 0, "maximum": 100}]
        }
    return schema


def text(schema: dict[str, Any]) -> str:
    """Text of a schema file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write() -> None:
    """Write the files anew, after a change of the models."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / name).write_text(text(schema), encoding="utf-8")
