"""``usi corpus``: human references with their origin, terms, integrity and quality.

The work behind ``usi corpus``: from options to results, and from results to text.

``usi corpus fetch``, ``aggregate`` and ``redact``: files that are made.

``usi corpus add``: copy transcripts into the workspace with what is known of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from usi.cli.console import note, out, printed, working
from usi.cli.flags import flags, only, without
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.errors import InputError, UsageError, unknown_name
from usi.options import (
    AsOfOption,
    CorpusAddOptions,
    CorpusAggregateOptions,
    CorpusFetchOptions,
    CorpusRedactOptions,
    CorpusSplitOptions,
    Delivery,
    LoadOptions,
)
from usi.reasons import by_text
from usi.report.text import printable

if TYPE_CHECKING:
    from usi.corpora.manifest import Manifest
    from usi.curation.add import Added


QUESTIONS: dict[str, str] = {
    "licence": "Licence (SPDX name, or words; empty: none known)",
    "source": "Where is it from?",
    "language": "Language (code such as en)",
    "channel": "Channel (chat, phone, e-mail, ticket, in person, other, unknown)",
    "protocol": "Who was asked to do what, and how?",
    "agent": "Fingerprint of the agent that people talked to (model, prompt, date)",
    "task_set": "Which tasks did they do?",
    "collected": "When was it collected?",
}
YES_NO = {
    "redistribute": "May its texts be passed on?",
    "research_only": "Is it for research alone?",
}


def asked(facts: dict[str, Any], *, ask: bool, terminal: bool) -> dict[str, Any]:
    """Facts about a corpus: from options, else asked for, else unknown (and then cautious).

    Raises
    ------
    UsageError
        Where something is to be asked and nobody is there to answer.
    """
    import typer

    from usi.corpora.licences import may_pass_on

    missing = [key for key in (*QUESTIONS, *YES_NO) if facts.get(key) is None]
    found = {key: value for key, value in facts.items() if value is not None}
    if ask and missing:
        if not terminal:
            flags = ", ".join("--" + key.replace("_", "-") for key in missing)
            raise UsageError(
                f"there is nobody to ask: give {flags}, or --yes to leave them unknown"
            )
        for key in missing:
            if key in QUESTIONS:
                answer = typer.prompt(QUESTIONS[key], default="", show_default=False).strip()
                if answer:
                    found[key] = answer
            else:
                allowed = may_pass_on(None, found.get("licence"))
                default = allowed if key == "redistribute" else True
                found[key] = typer.confirm(YES_NO[key], default=default)
    found.setdefault("research_only", False)
    return found


def added(
    files: Sequence[str],
    name: str,
    facts: Mapping[str, Any],
    reading: LoadOptions,
    *,
    surveys: str | None,
    freeze: bool,
) -> Added:
    """Make the corpus in the workspace."""
    from usi.cli.settings import find_workspace
    from usi.corpora.manifest import parse_manifest
    from usi.curation.add import add_corpus, load_keys

    keys = load_keys(
        format_=reading.format,
        domain=reading.domain,
        user_role=reading.user_role,
        user_speaker=reading.user_speaker,
        map_=dict(reading.map),
    )
    data = {"name": name, **facts, "load": keys.model_dump(exclude_none=True)}
    manifest = parse_manifest(data, file="the options")
    return add_corpus(files, manifest, root=find_workspace().root, surveys=surveys, freeze=freeze)


def home_of(corpus: str) -> Path:
    """Folder of a corpus by name or path."""
    from usi.corpora.resolve import corpus_folder

    return corpus_folder(corpus)


def manifest_of(home: Path) -> Manifest:
    """Manifest of a folder, with the folder's name where it has none."""
    from usi.corpora.manifest import MANIFEST, Manifest, read_manifest

    path = home / MANIFEST
    if not path.is_file():
        return Manifest(name=home.resolve().name)
    found = read_manifest(path)
    return found if found.name else found.model_copy(update={"name": home.resolve().name})


def listing(as_of: str | None, show: str) -> None:
    """Every corpus of the workspace, one line each."""
    from usi.corpora.resolve import corpus_names

    _day(as_of)
    rows: list[dict[str, Any]] = []
    for name in corpus_names():
        home = home_of(name)
        try:
            data = manifest_of(home)
        except InputError as error:
            rows.append({"name": name, "problem": str(error)})
            continue
        counts = data.counts
        rows.append(
            {
                "name": name,
                "version": data.version,
                "sessions": counts.sessions if counts else None,
                "tasks": counts.tasks if counts else data.tasks,
                "batches": counts.batches if counts else data.batches,
                "language": data.language,
                "licence": data.licence,
                "restrictions": restricted(data, as_of),
            }
        )
    if show == "json":
        out(json.dumps({"corpora": rows}, indent=2, ensure_ascii=False) + "\n")
    elif show == "table":
        if not rows:
            out("no human references here; make one with: usi corpus add FILES --name NAME\n")
        for row in rows:
            out(printable(_line(row)) + "\n")


def _line(row: Mapping[str, Any]) -> str:
    if "problem" in row:
        return f"{row['name']}: PROBLEM {row['problem']}"
    sizes = [f"{row[k]:,} {k}" for k in ("sessions", "tasks", "batches") if row[k] is not None]
    more = [str(row["language"] or ""), str(row["licence"] or "no licence"), *row["restrictions"]]
    return f"{row['name']} {row['version']}: " + ", ".join([*sizes, *(m for m in more if m)])


def restricted(data: Manifest, as_of: str | None) -> list[str]:
    """Restrictions of a corpus in words."""
    found = []
    if data.synthetic:
        found.append("SYNTHETIC")
    if data.research_only:
        found.append("research only")
    if not data.passed_on:
        found.append("not to be passed on")
    if data.expires is not None:
        gone = as_of is not None and data.expired(as_of)
        found.append(f"expired on {data.expires}" if gone else f"expires {data.expires}")
    return found


def _day(as_of: str | None) -> None:
    from usi.decisions.checks import parse_date

    if as_of is not None:
        parse_date(as_of, "--as-of")


def shown(corpus: str, as_of: str | None, show: str) -> None:
    """The manifest, as JSON or as its own text."""
    from usi.corpora.manifest import to_toml

    _day(as_of)
    home = home_of(corpus)
    data = manifest_of(home)
    if show == "json":
        values = data.model_dump(mode="json", by_alias=True)
        values["restrictions"] = restricted(data, as_of)
        out(json.dumps(values, indent=2, ensure_ascii=False) + "\n")
    elif show == "table":
        out(printable(to_toml(data), newlines=True))
        for line in restricted(data, as_of):
            out(f"# {line}\n")


def verified(corpus: str, as_of: str | None, show: str) -> bool:
    """Print what was looked at; whether nothing is wrong."""
    from usi.curation.verify import verify

    _day(as_of)
    findings = verify(home_of(corpus), as_of=as_of)
    good = all(item.state != "wrong" for item in findings)
    if show == "json":
        data = {"ok": good, "findings": [item.to_dict() for item in findings]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif show == "table":
        for item in findings:
            out(printable(f"{item.state:6} {item.what}: {item.detail}") + "\n")
    return good


def divided(corpus: str, by: str, seed: int, held_out: float) -> list[str]:
    """Split a corpus; what to say of it."""
    from usi.corpora.parts import HELD_OUT, By
    from usi.curation.split import split_corpus

    if by not in get_args(By):
        raise unknown_name("--by", by, get_args(By))
    home = home_of(corpus)
    found = split_corpus(home, by=by, seed=seed, held_out=held_out)  # type: ignore[arg-type]
    lines = [f"{name}: {len(units)} by {by}" for name, units in found.parts.items()]
    if HELD_OUT in found.parts:
        lines.append(f"--human {corpus} leaves {HELD_OUT} out from now on; only --gate reads it")
    return lines


def frozen(corpus: str) -> str:
    """Fix the set of scored features; what to say of it."""
    from dataclasses import replace

    from usi.corpora.manifest import MANIFEST, read_manifest
    from usi.corpora.resolve import resolve
    from usi.curation.add import frozen_set, write_manifest
    from usi.scoring.people import read_people_of

    home = home_of(corpus)
    manifest = read_manifest(home / MANIFEST)
    table = read_people_of(replace(resolve(home), part=None)).tables[""]
    found = frozen_set(table)
    write_manifest(home, manifest.model_copy(update={"scorable": found}))
    return (
        f"{len(found.features)} features of {found.profile} are fixed: {', '.join(found.features)}"
    )


def judged(corpus: str, show: str) -> str:
    """Quality of a corpus with the power of a study at its size, as text or JSON."""
    from usi.corpora.resolve import resolve
    from usi.curation.quality import quality
    from usi.decisions.criteria import TIERS, tier
    from usi.decisions.plan import CLOSED_FORMS, joint_power, part_powers

    found = quality(resolve(corpus))
    tasks, batches = found.counts["tasks"], max(1, found.counts["batches"])
    power: dict[str, dict[str, float]] = {}
    for name in TIERS if tasks else ():
        power[name] = {
            str(runs): round(
                joint_power(
                    part_powers(
                        tier(name),
                        CLOSED_FORMS,
                        truth=95.0,
                        tasks=tasks,
                        batches=batches,
                        runs=runs,
                    )
                ),
                3,
            )
            for runs in (1, 3, 10)
        }
    if show == "json":
        data = found.to_dict() | {"power_of_a_simulator_at_95": power}
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if show == "none":
        return ""
    lines = [f"{found.name}: " + ", ".join(f"{v:,} {k}" for k, v in found.counts.items())]
    lines.append("people against people (half the batches against the other half):")
    lines += [
        f"  {name:14} " + (f"{e.value:.1f}" if e.value is not None else f"not assessed: {e.reason}")
        for name, e in found.agreement.items()
    ]
    lines.append("how much of a feature belongs to the task (ICC):")
    lines += [f"  {name:18} {e.value:+.2f}" for name, e in found.icc.items() if e.value is not None]
    if power:
        lines.append("chance that a simulator of true score 95 passes, by tier and runs:")
        lines += [
            f"  tier {name}: " + ", ".join(f"{p:.0%} at {runs} runs" for runs, p in own.items())
            for name, own in power.items()
        ]
    lines += [f"warning: {text}" for text in found.warnings]
    return "".join(printable(line) + "\n" for line in lines)


def known_sources() -> str:
    """What can be fetched, one line each."""
    from usi.corpora import fetch as sources

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
    from usi.corpora.fetch import check_terms, fetch_files, get_source
    from usi.corpora.manifest import parse_manifest
    from usi.corpora.resolve import FOLDER
    from usi.curation.add import add_corpus, check_name

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
    from usi.corpora.resolve import resolve
    from usi.report import files
    from usi.scoring.aggregate import build_aggregate, write_aggregate

    files.claim([output], known=(".parquet",), force=force)
    reference = resolve(corpus)
    found = build_aggregate(
        reference, min_cell=min_cell, drop_small=drop_small, one_batch=one_batch
    )
    files.write_all({output: lambda path: write_aggregate(found, path)})
    rows = found.rows
    total = int(rows["sessions"].sum())
    lines = [f"written: {output}: {rows.height:,} tasks, {total:,} sessions"]
    lines += [f"left out: {count:,} x {reason}" for reason, count in by_text(found.left_out)]
    if not reference.redistribute or reference.research_only:
        lines.append("the aggregate carries the same terms as the corpus")
    return lines


def redacted(
    files_: Sequence[str],
    output: Path,
    *,
    names: Path | None,
    entities: str | None,
    reading: LoadOptions,
    force: bool,
    show: str,
) -> str:
    """Write redacted sessions; the report of what was replaced, and what it changes."""
    from usi.cli.inputs import sources
    from usi.corpora.redact import Redactor, entity_finder, name_finder
    from usi.curation.redaction import Compared, report_text
    from usi.loading import write_usi_jsonl
    from usi.report import files

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
    compared = Compared(files_, reading, redactor)
    files.write_all({output: lambda path: _written(write_usi_jsonl(compared.sessions(), path))})
    report = compared.report()
    if show == "json":
        return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    return printable(report_text(report), newlines=True) if show == "table" else ""


def _written(_count: int) -> None:
    """Writers return nothing."""


@flags
def add(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES...", help="Transcript files or folders.")
    ],
    own: CorpusAddOptions,
    reading: Annotated[LoadOptions, without("name", "max_record", "flip")],
    delivery: Annotated[Delivery, only("quiet")],
) -> None:
    """Copy transcripts into human_corpus/NAME/ with a manifest and a datasheet.

    Counts and hashes are made here; origin and terms are asked for, or given as options. How the
    files are read (column map, who is the user) is kept in the manifest.

    \b
    Example:
      usi corpus add chats.csv --name support --map session=chat,role=who,text=said --yes
    """

    facts = asked(
        {
            "title": own.title,
            "licence": own.licence,
            "terms": own.terms,
            "source": own.source,
            "language": own.language,
            "channel": own.channel,
            "protocol": own.protocol,
            "agent": own.agent,
            "task_set": own.task_set,
            "collected": own.collected,
            "expires": own.expires,
            "redistribute": own.redistribute,
            "research_only": own.research_only,
            "survey_design": own.survey_design,
            "batch_by": own.batch_by,
            "batches": own.batches,
        },
        ask=not own.yes,
        terminal=sys.stdin.isatty(),
    )
    with working("reading ...", quiet=delivery.quiet):
        done = added(files, own.name, facts, reading, surveys=own.surveys, freeze=own.freeze)
    for remark in done.remarks:
        note(remark, quiet=delivery.quiet)
    counts = done.manifest.counts
    if counts is not None:
        words = ", ".join(f"{v:,} {k.replace('_', ' ')}" for k, v in counts.model_dump().items())
        note(f"{done.folder}: {words}", quiet=delivery.quiet)
    note(
        f"Next: fill in {done.folder}/DATASHEET.md; usi corpus quality {own.name}",
        quiet=delivery.quiet,
    )


BAD_INPUT = 2
_HELP = """Keep human references: add, list, show, verify, fetch, split, quality, aggregate, redact.

A corpus is a folder human_corpus/NAME/ with its files, a manifest.toml and a DATASHEET.md. What
its terms forbid travels with every number made from it.

\b
Examples:
  usi corpus add chats.csv --name support --map session=chat,role=who,text=said
  usi corpus verify support
  usi corpus quality support
  usi corpus split support --by task --held-out 0.3"""


app = typer.Typer(
    name="corpus",
    help=reflow(_HELP),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)

Corpus = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A name under human_corpus/, or its folder."),
]


@flags
def list_(
    own: AsOfOption,
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """List the human references of the workspace with licence, restrictions and sizes.

    \b
    Example:
      usi corpus list
    """

    listing(own.as_of, printed(delivery.print))


@flags
def show(
    corpus: Corpus,
    own: AsOfOption,
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Show what the manifest of a corpus says.

    \b
    Example:
      usi corpus show support
    """

    shown(corpus, own.as_of, printed(delivery.print))


@flags
def verify(
    corpus: Corpus,
    own: AsOfOption,
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Check hashes, counts and schema; exit code 2 where something is wrong.

    \b
    Example:
      usi corpus verify support --as-of 2026-06-30
    """

    if not verified(corpus, own.as_of, printed(delivery.print)):
        raise SystemExit(BAD_INPUT)


@flags
def split(
    corpus: Corpus,
    own: CorpusSplitOptions,
    delivery: Annotated[Delivery, only("quiet")],
) -> None:
    """Divide a corpus into two halves, and a held-out part for decisions.

    usi score --human NAME then leaves the part held-out out, NAME@half-1 is a half, and
    NAME@held-out is read only where the card is gated: usi score ... --gate.

    \b
    Example:
      usi corpus split support --by task --held-out 0.3
    """

    for line in divided(corpus, own.by, own.seed, own.held_out):
        note(line, quiet=delivery.quiet)


@flags
def freeze(
    corpus: Corpus,
    delivery: Annotated[Delivery, only("quiet")],
) -> None:
    """Fix the set of features that are scored with this corpus, in its manifest.

    \b
    Example:
      usi corpus freeze support
    """

    note(frozen(corpus), quiet=delivery.quiet)


@flags
def quality(
    corpus: Corpus,
    delivery: Annotated[Delivery, only("print", "quiet")],
) -> None:
    """Judge a corpus: duplicates, copied openings, straight lines, agreement, ICC, power.

    \b
    Example:
      usi corpus quality support
    """

    with working("reading ...", quiet=delivery.quiet):
        text = judged(corpus, printed(delivery.print))
    out(text)


@flags
def fetch(
    own: CorpusFetchOptions,
    delivery: Annotated[Delivery, only("quiet")],
    corpus: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A name of: usi corpus fetch --list.")
    ] = "",
) -> None:
    """Fetch a public corpus into human_corpus/, with its licence and terms.

    Downloads resume, and a file of another hash than expected is refused. A corpus with terms of
    its own shows them and needs --accept-terms. With --from nothing is downloaded.

    \b
    Example:
      usi corpus fetch star
    """

    if own.list_ or not corpus:
        out(known_sources())
        return
    for line in fetched(
        corpus, name=own.name, at_hand=own.from_, accepted=own.accept_terms, quiet=delivery.quiet
    ):
        note(line, quiet=delivery.quiet)


@flags
def aggregate(
    corpus: Corpus,
    own: CorpusAggregateOptions,
    delivery: Annotated[Delivery, only("force", "quiet")],
) -> None:
    """Add a corpus up by task: a reference without any text or session.

    usi score SIM --human aggregate.parquet gives the same numbers as the corpus itself for
    everything that needs no session, and says what is then not assessed.

    \b
    Example:
      usi corpus aggregate support -o aggregate.parquet
    """

    with working("adding up ...", quiet=delivery.quiet):
        lines = aggregated(
            corpus,
            own.output,
            min_cell=own.min_cell,
            drop_small=own.drop_small,
            one_batch=own.one_batch,
            force=delivery.force,
        )
    for line in lines:
        note(line, quiet=delivery.quiet)


@flags
def redact(
    files: Annotated[
        list[str],
        typer.Argument(metavar="NAME|FILES...", help="A corpus, or transcript files."),
    ],
    own: CorpusRedactOptions,
    reading: Annotated[LoadOptions, without("name", "max_record", "flip")],
    delivery: Annotated[Delivery, without("output", "exit_zero")],
) -> None:
    """Replace e-mail addresses, numbers and names by typed markers such as [EMAIL].

    What was replaced is counted, and the features stand before and after, since redaction
    changes what is measured. Read the result: no rule finds every name.

    \b
    Example:
      usi corpus redact people.jsonl --names names.txt -o people.redacted.jsonl
    """

    with working("reading ...", quiet=delivery.quiet):
        text = redacted(
            files,
            own.output,
            names=own.names,
            entities=own.entities,
            reading=reading,
            force=delivery.force,
            show=printed(delivery.print),
        )
    out(text)


for _name, _function in (
    ("add", add),
    ("list", list_),
    ("show", show),
    ("verify", verify),
    ("fetch", fetch),
    ("split", split),
    ("freeze", freeze),
    ("quality", quality),
    ("aggregate", aggregate),
    ("redact", redact),
):
    app.command(name=_name, help=reflow(_function.__doc__))(guarded(_function))
