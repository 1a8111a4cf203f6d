"""``usi corpus fetch``, ``aggregate`` and ``redact``: files that are made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from usi.cli.corpora import restricted
from usi.cli.options import Printed
from usi.errors import InputError, UsageError
from usi.report.text import printable


def known_sources() -> str:
    """What can be fetched, one line each."""
    from usi.corpus import sources

    return "".join(
        printable(f"{source.name}: {source.about['title']} ({source.about['licence']})") + "\n"
        for source in sources.known_sources().values()
    )


def fetched(
    corpus: str, *, name: str | None, at_hand: Path | None, accepted: bool, quiet: bool
) -> list[str]:
    """Fetch a public corpus (or take its files at hand) and add it; what to say of it."""
    from usi.cli.console import working
    from usi.cli.settings import find_workspace
    from usi.corpus.fetch import check_terms, fetch_files
    from usi.corpus.manifest import parse_manifest
    from usi.corpus.resolve import FOLDER
    from usi.corpus.sources import get_source
    from usi.score.people.add import add_corpus, check_name

    source = get_source(corpus)
    name = name or source.name
    check_name(name)
    root = find_workspace().root
    if (root / FOLDER / name).exists():
        raise UsageError(f"{FOLDER}/{name} exists; take another --name, or remove the folder")
    check_terms(source, accepted)
    cache = root / FOLDER / f".fetch-{name}"
    if at_hand is not None:
        files: list[Path] = [at_hand]
    else:
        with working(f"fetching {source.name} ...", quiet=quiet):
            files = fetch_files(source, cache, accepted=accepted)
    manifest = parse_manifest({"name": name, **source.about}, file=f"source {source.name}")
    done = add_corpus(files, manifest, root=root)
    if at_hand is None:
        import shutil

        shutil.rmtree(cache, ignore_errors=True)
    counts = done.manifest.counts
    lines = [f"{done.folder}: {counts.sessions if counts else 0:,} sessions"]
    return [*lines, *restricted(done.manifest, None)]


def aggregated(
    corpus: str,
    output: Path,
    *,
    min_cell: int,
    drop_small: bool,
    one_batch: bool,
    force: bool,
) -> list[str]:
    """Write the aggregate of a corpus; what to say of it."""
    from usi.corpus.resolve import resolve
    from usi.report import files
    from usi.score.people.aggregate import build_aggregate, write_aggregate

    files.claim([output], known=(".parquet",), force=force)
    reference = resolve(corpus)
    found = build_aggregate(
        reference, min_cell=min_cell, drop_small=drop_small, one_batch=one_batch
    )
    files.write_all({output: lambda path: write_aggregate(found, path)})
    rows = found.rows
    total = int(rows["sessions"].sum())
    lines = [f"written: {output}: {rows.height:,} tasks, {total:,} sessions"]
    lines += [
        f"left out: {count:,} x {reason}" for reason, count in found.about["left_out"].items()
    ]
    if not reference.redistribute or reference.research_only:
        lines.append("the aggregate carries the same terms as the corpus")
    return lines


def redacted(
    files_: Sequence[str],
    output: Path,
    *,
    names: Path | None,
    entities: str | None,
    reading: Mapping[str, Any],
    force: bool,
    show: Printed,
) -> str:
    """Write redacted sessions; the report of what was replaced, and what it changes."""
    from usi.cli.reading import load_options, sources
    from usi.corpus.redact import Redactor, entity_finder, name_finder
    from usi.load import write_usi_jsonl
    from usi.report import files
    from usi.score.people.redaction import Compared, report_text

    files.claim([output], known=(".jsonl", ".jsonl.gz"), force=force, inputs=sources(files_))
    finders = []
    if names is not None:
        try:
            lines = names.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"can't be read ({error})", file=str(names)) from error
        finders.append(name_finder(line.strip() for line in lines if line.strip()))
    if entities is not None:
        finders.append(entity_finder(entities))
    redactor = Redactor(finders)
    given = load_options(**reading)
    compared = Compared(files_, given, redactor)
    files.write_all({output: lambda path: _written(write_usi_jsonl(compared.sessions(), path))})
    report = compared.report()
    if show is Printed.JSON:
        return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    return printable(report_text(report), newlines=True) if show is Printed.TABLE else ""


def _written(_count: int) -> None:
    """Writers return nothing."""
