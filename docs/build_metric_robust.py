"""Write docs/metric-robust.md from the registry and the word lists."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

from usi.extraction.profile import get_specs
from usi.extraction.spec import DIMENSIONS, FeatureSpec

PAGE = Path(__file__).with_name("metric-robust.md")
LISTS = ("robust1", "style1")

HEAD = """# The features of the profile robust

<!-- made by docs/build_metric_robust.py from the registry and the word lists; do not edit -->

The nineteen features of the published index (arXiv 2603.11245), mended where a reading of real
turns showed that they do not measure what their name says, one feature of its own (turns per
session), and style features that are reported and not scored. The word lists stand in
`usi/extraction/lexicons/robust1.toml` and `style1.toml`, each with its reason, examples that count
and examples that do not; the examples run as tests. `python benchmarks/run_all.py definitions`
prints what each change does to real text.

## Cleaning, before any feature

Markup entities are unescaped, Unicode is composed, quotes straightened, white space collapsed and
tokenised text joined again; stop marks (`###STOP###` and the like) are removed wherever they
stand; text of the harness, lone tool calls and `<think>` blocks are no turns. Every repair is
counted by kind on the scorecard. A session without a user turn is counted, never scored.

## Scope

Features marked *paired* follow the task, not the user: they are scored where both sides did the
same tasks, and printed otherwise. A feature that fewer than 10 human sessions of the corpus show,
or that people do not vary in, is not scored, whatever the simulator does. A dimension needs at
least two and at least half of its features; without one of the five components there is no USI-R.
A *tripwire* is a mark that people hardly ever make: where it is too rare to score, an exact test
looks at it beside the score.
"""


NOTES = {
    "user_latency": """\
**user_latency**: how fast a person types, or a harness calls its model. It tells a simulator at
once and says nothing about its words: no score, classifier, distance, tripwire or sign of gaming
looks at it. Of a session it is the geometric mean over turns, of a side that over sessions; sides
are compared as durations are, 1 - tanh(|difference of the mean logarithms| / 2). Without stamps
on one side it is not assessed (`no time stamps`). Which formats have them: [formats](formats.md).

- counts: agent 12:00:00, user 12:00:10 and agent 12:01:00, user 12:01:40: 20 seconds, the root
  of 10 x 40; two messages of the user after one of the agent each count from that one
- does not count: an opening of the user; a message without a stamp, or after one without; calls
  without words and stop marks; a user's turn at or before the agent's message, which is counted
  on the scorecard""",
}


def render() -> str:
    """The page."""
    entries = _entries()
    lines = [HEAD]
    specs = get_specs("robust")
    for dimension in (*DIMENSIONS, "style", "none"):
        own = [spec for spec in specs if spec.dimension == dimension]
        title = {"none": "Reported, in no dimension", "style": "style (reported, not in USI-R)"}
        lines += [f"## {title.get(dimension, dimension)}", ""]
        lines += ["| feature | counts | unit | marks |", "|---|---|---|---|"]
        lines += [f"| {s.name} | {_cell(s.description)} | {s.unit} | {_marks(s)} |" for s in own]
        lines.append("")
        for spec in own:
            entry = entries.get(spec.numerator) or entries.get(spec.name)
            if entry:
                lines += _entry(spec.name, entry)
            if spec.name in NOTES:
                lines += [NOTES[spec.name], ""]
    return "\n".join(lines).rstrip() + "\n"


def _entries() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for name in LISTS:
        text = files("usi.extraction").joinpath(f"lexicons/{name}.toml").read_text("utf-8")
        found |= {entry["name"]: entry for entry in tomllib.loads(text)["entry"]}
    return found


def _marks(spec: FeatureSpec) -> str:
    marks = ["paired"] if spec.scope == "paired" else []
    marks += ["tripwire"] if spec.tripwire else []
    marks += ["complement is counted"] if spec.pole == "complement" else []
    marks += ["never scored"] if spec.harness else []
    return ", ".join(marks)


def _entry(name: str, entry: dict[str, object]) -> list[str]:
    lines = [f"**{name}**: {entry['reason']}", ""]
    for word, key in (("counts", "positive"), ("does not count", "negative")):
        examples = entry.get(key) or []
        if isinstance(examples, list) and examples:
            lines.append(f"- {word}: " + ", ".join(f"`{_code(text)}`" for text in examples[:5]))
    return [*lines, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " / ").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
