"""Write docs/reasons.md from the codes of usi: ``python docs/build_reasons.py``."""

from __future__ import annotations

from pathlib import Path

from usi.reasons import CODES

PAGE = Path(__file__).with_name("reasons.md")
HEAD = """\
# Reasons

Whatever has no value, was left out or is open says why: with a code that programs decide by, a
text for people, and the parameters that the text was filled with. Texts may change with any
version, codes do not without an entry in the changelog. This page is made from `usi/reasons.py`
by `python docs/build_reasons.py`.

    usi score sim.json --human CORPUS -o card.json
    jq '.simulators[].components.survey.reason.code' card.json

| Code | Text | What mends it |
|---|---|---|
"""


def cell(text: str) -> str:
    """Text of a table cell: bars escaped, parameters as code."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("{", "`{").replace("}", "}`")


def page() -> str:
    """The page: one row a code, by name."""
    rows = (
        f"| `{code.name}` | {cell(code.text)} | {cell(code.way or '')} |"
        for code in sorted(CODES.values(), key=lambda code: code.name)
    )
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
