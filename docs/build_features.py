"""Write docs/features.md from the registry."""

from __future__ import annotations

from pathlib import Path

from usi.extraction.profile import LOG_PROFILES, PROFILES, get_feature_profile
from usi.extraction.spec import FeatureSpec

PAGE = Path(__file__).with_name("features.md")

HEAD = """# All features

<!-- made by docs/build_features.py from the registry; do not edit -->

Every feature of every profile as the registry declares it. *Made of*: the counts of a session
that a value is computed from; `name / user_turns` is a rate, a count alone is one number a session.
*Scored*: whether it can enter its dimension. *Paired*: it follows the task, so it is compared only
where both sides did the same tasks. Reasons, examples and word lists of `robust` stand in
[the features of the profile robust](metric-robust.md), those of `tau-usi` in
[the published index](metric-tau-usi.md).
"""


def render() -> str:
    """The page."""
    lines = [HEAD]
    for name in (*PROFILES, *LOG_PROFILES):
        profile = get_feature_profile(name)
        lines += [f"## {name}@{profile.version}", ""]
        lines += ["| feature | dimension | counts | made of | unit | scored |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_row(spec) for spec in profile.specs]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _row(spec: FeatureSpec) -> str:
    made = spec.numerator + (f" / {spec.denominator}" if spec.denominator else "")
    scored = ["yes" if spec.scored else "no"]
    scored += ["paired"] if spec.scope == "paired" else []
    scored += ["complement"] if spec.pole == "complement" else []
    scored += ["tripwire"] if spec.tripwire else []
    scored += ["of the harness"] if spec.harness else []
    cells = (spec.name, spec.dimension, spec.description, f"`{made}`", spec.unit, ", ".join(scored))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
