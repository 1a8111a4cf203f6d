"""Write docs/gallery.md from docs/published.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

DATA = Path(__file__).with_name("published.toml")
PAGE = Path(__file__).with_name("gallery.md")

HEAD = """# Gallery of published values

<!-- made by docs/build_gallery.py from docs/published.toml; do not edit -->

What others have published with the User-Sim Index and definitions near it, to get a feeling for
the scale.

**Caution: these are values of other protocols.** usi did not measure them. Do not set a value of
your own beside one of them unless people, tasks, agent, number of terms and version of the
definition are the same: the index moves with each of these. USI with six terms (with a survey),
USI with five, and USI-R are different quantities. Simulators of the name OSim-8B stand below with
71.5, 75.6 and 80.4 points, under three protocols. A ± is the spread over batches of people against
the same transcripts: it says nothing about the choice of tasks or about another run, and two runs
of one model have differed by 3.8 points where ± said 1.

D1 to D4 are conversation, information, clarification and reaction in points; Eval is the survey in
points; ECE is the gap in outcomes from 0 to 1 (lower is nearer to people); the index is in points.
Definitions: [the published index](metric-tau-usi.md). An empty cell was not found in the source.
"""


def render() -> str:
    """The page."""
    lines = [HEAD]
    for source in tomllib.loads(DATA.read_text(encoding="utf-8"))["source"]:
        columns = source["columns"]
        lines += [f"## {source['title']}", "", f"Protocol: {source['protocol']}.", ""]
        lines.append(f"|  | {' | '.join(columns)} |")
        lines.append("|---" * (len(columns) + 1) + "|")
        lines += [f"| {' | '.join(row)} |" for row in source["rows"]]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
