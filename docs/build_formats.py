"""Write the table of docs/formats.md from the registry: ``python docs/build_formats.py``."""

from __future__ import annotations

import re
from pathlib import Path

from usi.loading.reader import CARRIED, Reader
from usi.loading.registry import OWN

PAGE = Path(__file__).with_name("formats.md")
EXAMPLES = Path(__file__).with_name("examples")
BEGIN = "<!-- made by docs/build_formats.py from the registry -->"
END = "<!-- end of formats -->"
COLUMNS = (
    "`--format`", "what a file holds", "recognised by", "where it comes from, version looked at",
    "kept of a session", "lost", "example",
)  # fmt: skip


def page(text: str) -> str:
    """The page with its table made anew."""
    head = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    rows = [*head, *(_row(reader) for reader in sorted(OWN, key=lambda reader: reader.NAME))]
    block = "\n".join([BEGIN, "", *rows, "", END])
    return re.sub(f"{BEGIN}.*?{END}", lambda _: block, text, flags=re.DOTALL)


def example_of(name: str) -> Path:
    """The smallest file of a format, which a test reads."""
    (found,) = (path for path in EXAMPLES.iterdir() if path.name.partition(".")[0] == name)
    return found


def _row(reader: Reader) -> str:
    about = reader.ABOUT
    kept = ", ".join(["user's words", *(part for part in CARRIED if part in about.carries)])
    shown = example_of(reader.NAME).name
    cells = [
        f"`{reader.NAME}`", about.holds, about.told_by, f"{about.follows}; {about.version}", kept,
        about.lacks, f"[{shown}](examples/{shown})",
    ]  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), encoding="utf-8")
