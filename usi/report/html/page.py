"""The page put together: one file, no request, nothing but its own style and script by hash."""

from __future__ import annotations

import base64
import hashlib
from functools import cache, partial
from importlib import resources
from typing import Any

from markupsafe import Markup

from usi.decisions.verdict import Verdict
from usi.report import card_text
from usi.report.html.document import Docs, shortened, step
from usi.report.html.sections import components, examples, gaps, limits, overview, verdict
from usi.report.html.source import One, Source, every
from usi.report.html.summary import Summary, summarise, to_dict
from usi.report.names import name_of
from usi.report.report_data import Beside
from usi.report.text import printable
from usi.scoring.profiles import Wording, wording_of
from usi.scoring.scorecard import Scorecard

NO_FILES = Beside(why_no_text="this page was made from the scorecard alone")


def documents(
    card: Scorecard, verdict: Verdict | None, beside: Beside, summary: Summary
) -> dict[str, Any]:
    """The JSON documents behind a page by letter (see `Docs`)."""
    import msgspec

    return {
        "c": card.to_dict(),
        "v": verdict.to_dict() if verdict else None,
        "d": msgspec.to_builtins(beside.data) if beside.data else None,
        "e": msgspec.to_builtins(beside.evidence) if beside.evidence else None,
        "s": to_dict(summary),
    }


def render(card: Scorecard, *, verdict: Verdict | None = None, beside: Beside | None = None) -> str:
    """HTML text of a report; identical inputs give identical bytes.

    Parameters
    ----------
    card
        The scorecard.
    verdict
        Of the gate on this scorecard, where there is one.
    beside
        Distributions and texts; texts are left out where the corpus forbids to show them,
        whatever is given.

    Notes
    -----
    The content security policy allows the page's own style sheet and script, by hash, and
    nothing else: whatever stood in a transcript or a name could neither run nor load anything.
    """
    beside = (beside or NO_FILES).permitted(card)
    summary = summarise(card)
    docs = Docs(documents(card, verdict, beside, summary))
    source = Source(card, verdict, beside, summary, docs)
    ones = every(source)
    common: dict[str, Any] = {
        "version": card.usi_version,
        "synthetic": card.synthetic,
        "confidential": [name or card.human.name for name in beside.confidential(card)],
        "card": card,
        "docs": docs,
        "show": docs.show,
        "say": docs.text,
        "est": docs.estimate,
        "overview": overview.context(source, ones),
        "doubt": limits.context(source),
        "many": len(ones) > 1,
        "title": partial(card_text.component_title, card),
        **_words(wording_of(card.profile)),
    }
    parts = [_part(one) for one in ones]
    section = _environment().get_template("one.html.j2")
    sections = [_section(section, part, common) for part in parts]
    return fill("page.html.j2", **common, parts=parts, sections=sections)


def fill(template: str, **context: Any) -> str:
    """A page from a template, with the style, the script and the hashes that its policy names."""
    style, script = asset("page.css"), asset("page.js")
    html: str = (
        _environment()
        .get_template(template)
        .render(
            **context,
            style=Markup(style),
            script=Markup(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
    return html


def _words(wording: Wording) -> dict[str, str]:
    """What the profile calls its subject."""
    names = ("kind", "question", "session", "sessions")
    return {name: getattr(wording, name) for name in names}


def _section(template: Any, part: dict[str, Any], common: dict[str, Any]) -> Markup:
    """One simulator, its places shortened; the section says what the signs stand for."""
    one: One = part["one"]
    roots = {"~": one.c, "^": one.s, "!": one.v or "v:/none"}
    said = " ".join(f"{sign}={root}" for sign, root in roots.items())
    return Markup(shortened(template.render(**common, p=part, roots=said), roots))


def _part(one: One) -> dict[str, Any]:
    return {
        "one": one,
        "top": verdict.context(one),
        "why": components.context(one),
        "show": examples.context(one),
        "mend": gaps.context(one),
    }


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("usi.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters |= {"spaced": name_of, "step": step}
    return environment


def asset(name: str) -> str:
    """Text of a file that becomes part of the page."""
    return resources.files("usi.report.html").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
