"""The published JSON Schema of the scorecard, made from its models."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from usi.score.scorecard import SCHEMA_VERSION, Scorecard

FILE = "schemas/scorecard.schema.json"


def scorecard_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of what `Scorecard.to_json` writes."""
    schema = Scorecard.model_json_schema(mode="serialization")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "usi scorecard",
        "version": SCHEMA_VERSION,
        **{key: value for key, value in schema.items() if key != "title"},
    }


def schema_text() -> str:
    """The text of the published file."""
    return json.dumps(scorecard_schema(), indent=2, ensure_ascii=False) + "\n"


def published_schema() -> dict[str, Any]:
    """The schema file that is shipped."""
    text = resources.files("usi.score").joinpath(FILE).read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def main() -> None:
    """Write the shipped file anew: ``python -m usi.score.schema``."""
    from pathlib import Path

    path = Path(str(resources.files("usi.score").joinpath(FILE)))
    path.parent.mkdir(exist_ok=True)
    path.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
