"""``DATASHEET.md``: what a reader must know before trusting a corpus.

Sections follow the questions of "Datasheets for Datasets" (Gebru et al. 2018, arXiv 1803.09010),
cut to what matters for conversations of people with an agent.
"""

from __future__ import annotations

from importlib import resources
from string import Template

from usi.corpus.manifest import Manifest

TO_FILL = "_to fill in_"


def datasheet(manifest: Manifest) -> str:
    """Markdown text from the shipped template; what is not known is marked `TO_FILL`."""
    text = resources.files("usi.corpus").joinpath("templates/DATASHEET.md").read_text("utf-8")
    counts = manifest.counts
    known = {
        "name": manifest.name,
        "title": manifest.title,
        "version": manifest.version,
        "licence": manifest.licence,
        "terms": manifest.terms,
        "source": manifest.source,
        "citation": manifest.citation,
        "language": manifest.language,
        "channel": None if manifest.channel == "unknown" else manifest.channel,
        "collected": manifest.collected,
        "protocol": manifest.protocol,
        "agent": manifest.agent,
        "task_set": manifest.task_set,
        "expires": manifest.expires.isoformat() if manifest.expires else "not set",
        "redistribute": "yes" if manifest.redistribute else "no",
        "research_only": "yes" if manifest.research_only else "no",
        "synthetic": "yes: no people took part" if manifest.synthetic else "no",
    }
    if counts is not None:
        known |= {name: f"{value:,}" for name, value in counts.model_dump().items()}
    fields = {name: _one_line(value) if value else TO_FILL for name, value in known.items()}
    return Template(text).safe_substitute(fields)


def left_to_fill(text: str) -> int:
    """How many places of a datasheet nobody has filled in."""
    return text.count(TO_FILL)


def _one_line(text: str) -> str:
    """Text from outside inside Markdown: one line, its marks without effect."""
    plain = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>|" else char for char in plain)
