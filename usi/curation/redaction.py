"""Redaction of files or a corpus, with the features before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from usi.corpora.redact import Redactor
from usi.corpora.resolve import resolve
from usi.extraction.extract import extract_table
from usi.extraction.profile import get_feature_profile
from usi.loading import open_sessions
from usi.options import LoadOptions
from usi.records import Session
from usi.scoring.people import PROFILE

BLOCK = 512
"""Sessions held at once."""


class Compared:
    """Passes redacted sessions on and adds up features before and after.

    Parameters
    ----------
    files
        Paths; a single one may be the name of a corpus.
    options
        How they are read.
    redactor
        Counts what it replaces.
    """

    def __init__(self, files: Sequence[str], options: LoadOptions, redactor: Redactor) -> None:
        self.redactor, self.read = redactor, 0
        self._options, self._paths = options, [Path(file) for file in files]
        if len(files) == 1 and files[0] != "-" and not Path(files[0]).is_file():
            found = resolve(files[0])
            self._paths, self._options = list(found.paths), found.load_options(options)
        self._sums: list[dict[str, list[float]]] = [{}, {}]

    def sessions(self) -> Iterator[Session]:
        """Redacted sessions in the order of the files."""
        block: list[Session] = []
        for session in open_sessions(self._paths, options=self._options):
            block.append(session)
            if len(block) == BLOCK:
                yield from self._redacted(block)
                block = []
        if block:
            yield from self._redacted(block)

    def _redacted(self, block: list[Session]) -> list[Session]:
        done = [self.redactor.session(session) for session in block]
        self.read += len(block)
        for sums, sessions in zip(self._sums, (block, done), strict=True):
            values = extract_table(sessions, profile=PROFILE, side="human").values()
            for spec in get_feature_profile(PROFILE).specs:
                column = values[spec.name].drop_nulls()
                own = sums.setdefault(spec.name, [0.0, 0.0])
                own[0] += float(column.sum() or 0.0)
                own[1] += len(column)
        return done

    def report(self) -> dict[str, Any]:
        """Counts by kind, and the mean of every feature before and after."""
        before, after = ({k: _mean(v) for k, v in sums.items()} for sums in self._sums)
        return {
            "sessions": self.read,
            "sessions_changed": self.redactor.sessions,
            "replaced": dict(sorted(self.redactor.counts.items())),
            "fields_too_deep": self.redactor.dropped,
            "features": {name: {"before": before[name], "after": after[name]} for name in before},
        }


def _mean(pair: list[float]) -> float | None:
    total, n = pair
    return total / n if n else None


def report_text(report: dict[str, Any]) -> str:
    """The report for people: features that changed only."""
    replaced = ", ".join(f"{count:,} x [{kind}]" for kind, count in report["replaced"].items())
    lines = [
        f"{report['sessions_changed']:,} of {report['sessions']:,} sessions changed: "
        + (replaced or "nothing was found"),
    ]
    changed = {k: v for k, v in report["features"].items() if v["before"] != v["after"]}
    if changed:
        lines.append("mean of the features that redaction changes (before -> after):")
    lines += [
        f"  {name:18} {_shown(v['before'])} -> {_shown(v['after'])}" for name, v in changed.items()
    ]
    if report["fields_too_deep"]:
        lines.append(f"{report['fields_too_deep']:,} fields were too deep and were dropped")
    lines.append("Read the result before you pass it on: no rule finds every name.")
    return "\n".join(lines) + "\n"


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
