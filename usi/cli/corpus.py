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
from usi.cli.guard import guarded
from usi.cli.options import Domain, Force, Format, Map, Print, Printed, Quiet, UserRole, UserSpeaker
from usi.cli.robust_options import SurveyDesignName
from usi.cli.verbs import reflow
from usi.errors import InputError, UsageError, unknown_name
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
    "redistribute": "May it be passed on?",
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
                found[key] = typer.confirm(YES_NO[key], default=key == "research_only")
    # Without a licence nobody may pass it on.
    found.setdefault("redistribute", bool(found.get("licence")))
    found.setdefault("research_only", False)
    return found


def added(
    files: Sequence[str],
    name: str,
    facts: Mapping[str, Any],
    reading: Mapping[str, Any],
    *,
    surveys: str | None,
    freeze: bool,
) -> Added:
    """Make the corpus in the workspace."""
    from usi.cli.options import who_and_where
    from usi.cli.settings import find_workspace
    from usi.corpora.manifest import parse_manifest
    from usi.curation.add import add_corpus, load_keys

    who = who_and_where(
        user_role=reading["user_role"],
        user_speaker=reading["user_speaker"],
        map_=reading["map_"],
    )
    keys = load_keys(
        format_=reading["format_"],
        domain=reading["domain"],
        user_role=who["user_role"],
        user_speaker=who["user_speaker"],
        map_=dict(who["map"]),
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


def listing(as_of: str | None, show: Printed) -> None:
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
    if show is Printed.JSON:
        out(json.dumps({"corpora": rows}, indent=2, ensure_ascii=False) + "\n")
    elif show is Printed.TABLE:
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
    if not data.redistribute:
        found.append("not to be passed on")
    if data.expires is not None:
        gone = as_of is not None and data.expired(as_of)
        found.append(f"expired on {data.expires}" if gone else f"expires {data.expires}")
    return found


def _day(as_of: str | None) -> None:
    from usi.decisions.checks import parse_date

    if as_of is not None:
        parse_date(as_of, "--as-of")


def shown(corpus: str, as_of: str | None, show: Printed) -> None:
    """The manifest, as JSON or as its own text."""
    from usi.corpora.manifest import to_toml

    _day(as_of)
    home = home_of(corpus)
    data = manifest_of(home)
    if show is Printed.JSON:
        values = data.model_dump(mode="json", by_alias=True)
        values["restrictions"] = restricted(data, as_of)
        out(json.dumps(values, indent=2, ensure_ascii=False) + "\n")
    elif show is Printed.TABLE:
        out(printable(to_toml(data), newlines=True))
        for line in restricted(data, as_of):
            out(f"# {line}\n")


def verified(corpus: str, as_of: str | None, show: Printed) -> bool:
    """Print what was looked at; whether nothing is wrong."""
    from usi.curation.verify import verify

    _day(as_of)
    findings = verify(home_of(corpus), as_of=as_of)
    good = all(item.state != "wrong" for item in findings)
    if show is Printed.JSON:
        data = {"ok": good, "findings": [item.to_dict() for item in findings]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif show is Printed.TABLE:
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


def judged(corpus: str, show: Printed) -> str:
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
    if show is Printed.JSON:
        data = found.to_dict() | {"power_of_a_simulator_at_95": power}
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    if show is Printed.NONE:
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
    reading: Mapping[str, Any],
    force: bool,
    show: Printed,
) -> str:
    """Write redacted sessions; the report of what was replaced, and what it changes."""
    from usi.cli.options import load_options, sources
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
    given = load_options(**reading)
    compared = Compared(files_, given, redactor)
    files.write_all({output: lambda path: _written(write_usi_jsonl(compared.sessions(), path))})
    report = compared.report()
    if show is Printed.JSON:
        return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    return printable(report_text(report), newlines=True) if show is Printed.TABLE else ""


def _written(_count: int) -> None:
    """Writers return nothing."""


_FACTS = "What usi can't know"


def _text(flag: str, what: str, panel: str = _FACTS) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(
        flag, metavar="TEXT", help=what, rich_help_panel=panel, show_default=False
    )
    return found


def add(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES...", help="Transcript files or folders.")
    ],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the corpus.")],
    surveys: Annotated[
        str | None,
        typer.Option("--surveys", metavar="DIR", help="Folder of surveys.", show_default=False),
    ] = None,
    survey_design: Annotated[
        SurveyDesignName | None,
        typer.Option(
            "--survey-design",
            help="What the respondents of the survey files saw: the people's own transcripts, or "
            "other talks about the same tasks (assumed where nothing is said).",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str | None, _text("--title", "One line on what it is.")] = None,
    licence: Annotated[str | None, _text("--licence", "SPDX name, or words.")] = None,
    terms: Annotated[str | None, _text("--terms", "What users agree to.")] = None,
    source: Annotated[str | None, _text("--source", "Where it is from.")] = None,
    language: Annotated[str | None, _text("--language", "Code such as en or de.")] = None,
    channel: Annotated[str | None, _text("--channel", "chat, phone, e-mail, ticket, ...")] = None,
    protocol: Annotated[str | None, _text("--protocol", "Who was asked to do what.")] = None,
    agent: Annotated[str | None, _text("--agent", "Fingerprint of the agent.")] = None,
    task_set: Annotated[str | None, _text("--task-set", "Which tasks people did.")] = None,
    collected: Annotated[str | None, _text("--collected", "When.")] = None,
    expires: Annotated[str | None, _text("--expires", "Day such as 2027-01-31.")] = None,
    redistribute: Annotated[
        bool | None,
        typer.Option(
            "--redistribute/--no-redistribute",
            help="Whether it may be passed on; not without a licence.",
            rich_help_panel=_FACTS,
            show_default=False,
        ),
    ] = None,
    research_only: Annotated[
        bool | None,
        typer.Option(
            "--research-only/--any-use",
            help="Whether it is for research alone.",
            rich_help_panel=_FACTS,
            show_default=False,
        ),
    ] = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Fix the set of scored features now.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing; what no option says stays unknown.")
    ] = False,
    quiet: Quiet = False,
    domain: Domain = None,
    format_: Format = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    map_: Map = None,
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
            "title": title,
            "licence": licence,
            "terms": terms,
            "source": source,
            "language": language,
            "channel": channel,
            "protocol": protocol,
            "agent": agent,
            "task_set": task_set,
            "collected": collected,
            "expires": expires,
            "redistribute": redistribute,
            "research_only": research_only,
            "survey_design": survey_design.value if survey_design else None,
        },
        ask=not yes,
        terminal=sys.stdin.isatty(),
    )
    reading = {"format_": format_, "domain": domain, "user_role": user_role,
               "user_speaker": user_speaker, "map_": map_}  # fmt: skip
    with working("reading ...", quiet=quiet):
        done = added(files, name, facts, reading, surveys=surveys, freeze=freeze)
    for remark in done.remarks:
        note(remark, quiet=quiet)
    counts = done.manifest.counts
    if counts is not None:
        words = ", ".join(f"{v:,} {k.replace('_', ' ')}" for k, v in counts.model_dump().items())
        note(f"{done.folder}: {words}", quiet=quiet)
    note(f"Next: fill in {done.folder}/DATASHEET.md; usi corpus quality {name}", quiet=quiet)


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

_PARTS = "Parts"

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
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="Day that expiry counts to.", show_default=False),
]


def list_(as_of: AsOf = None, print_: Print = Printed.AUTO) -> None:
    """List the human references of the workspace with licence, restrictions and sizes.

    \b
    Example:
      usi corpus list
    """

    listing(as_of, printed(print_))


def show(corpus: Corpus, as_of: AsOf = None, print_: Print = Printed.AUTO) -> None:
    """Show what the manifest of a corpus says.

    \b
    Example:
      usi corpus show support
    """

    shown(corpus, as_of, printed(print_))


def verify(corpus: Corpus, as_of: AsOf = None, print_: Print = Printed.AUTO) -> None:
    """Check hashes, counts and schema; exit code 2 where something is wrong.

    \b
    Example:
      usi corpus verify support --as-of 2026-06-30
    """

    if not verified(corpus, as_of, printed(print_)):
        raise SystemExit(BAD_INPUT)


def split(
    corpus: Corpus,
    by: Annotated[
        str, typer.Option("--by", metavar="UNIT", help="task, batch, participant or time.")
    ] = "task",
    held_out: Annotated[
        float,
        typer.Option("--held-out", metavar="SHARE", help="Share that only decisions read."),
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 7,
    quiet: Quiet = False,
) -> None:
    """Divide a corpus into two halves, and a held-out part for decisions.

    usi score --human NAME then leaves the part held-out out, NAME@half-1 is a half, and
    NAME@held-out is read only where the card is gated: usi score ... --gate.

    \b
    Example:
      usi corpus split support --by task --held-out 0.3
    """

    for line in divided(corpus, by, seed, held_out):
        note(line, quiet=quiet)


def freeze(corpus: Corpus, quiet: Quiet = False) -> None:
    """Fix the set of features that are scored with this corpus, in its manifest.

    \b
    Example:
      usi corpus freeze support
    """

    note(frozen(corpus), quiet=quiet)


def quality(
    corpus: Corpus,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
) -> None:
    """Judge a corpus: duplicates, copied openings, straight lines, agreement, ICC, power.

    \b
    Example:
      usi corpus quality support
    """

    with working("reading ...", quiet=quiet):
        text = judged(corpus, printed(print_))
    out(text)


def fetch(
    corpus: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A name of: usi corpus fetch --list.")
    ] = "",
    list_known: Annotated[bool, typer.Option("--list", help="List what can be fetched.")] = False,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="Files already at hand.", show_default=False),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the corpus.", show_default=False),
    ] = None,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="The terms were read and are accepted.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Fetch a public corpus into human_corpus/, with its licence and terms.

    Downloads resume, and a file of another hash than expected is refused. A corpus with terms of
    its own shows them and needs --accept-terms. With --from nothing is downloaded.

    \b
    Example:
      usi corpus fetch star
    """

    if list_known or not corpus:
        out(known_sources())
        return
    for line in fetched(corpus, name=name, at_hand=from_, accepted=accept_terms, quiet=quiet):
        note(line, quiet=quiet)


def aggregate(
    corpus: Corpus,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Such as aggregate.parquet.")
    ],
    min_cell: Annotated[
        int, typer.Option("--min-cell", min=2, help="Fewest sessions a task may have.")
    ] = 3,
    drop_small: Annotated[
        bool, typer.Option("--drop-small", help="Leave tasks with fewer sessions out.")
    ] = False,
    one_batch: Annotated[
        bool, typer.Option("--one-batch", help="Forget which batch a session is of.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Add a corpus up by task: a reference without any text or session.

    usi score SIM --human aggregate.parquet gives the same numbers as the corpus itself for
    everything that needs no session, and says what is then not assessed.

    \b
    Example:
      usi corpus aggregate support -o aggregate.parquet
    """

    with working("adding up ...", quiet=quiet):
        lines = aggregated(
            corpus, output, min_cell=min_cell, drop_small=drop_small, one_batch=one_batch,
            force=force,
        )  # fmt: skip
    for line in lines:
        note(line, quiet=quiet)


def redact(
    files: Annotated[
        list[str],
        typer.Argument(metavar="NAME|FILES...", help="A corpus, or transcript files."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="usi JSONL to write.")
    ],
    names: Annotated[
        Path | None,
        typer.Option(
            "--names", metavar="FILE", help="Names to replace, one a line.", show_default=False
        ),
    ] = None,
    entities: Annotated[
        str | None,
        typer.Option(
            "--entities",
            metavar="MODEL",
            help="Entities of an installed spaCy model, such as en_core_web_sm (extra nlp).",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
    domain: Domain = None,
    format_: Format = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    map_: Map = None,
) -> None:
    """Replace e-mail addresses, numbers and names by typed markers such as [EMAIL].

    What was replaced is counted, and the features stand before and after, since redaction
    changes what is measured. Read the result: no rule finds every name.

    \b
    Example:
      usi corpus redact people.jsonl --names names.txt -o people.redacted.jsonl
    """

    reading = {"format_": format_, "domain": domain, "user_role": user_role,
               "user_speaker": user_speaker, "map_": map_}  # fmt: skip
    with working("reading ...", quiet=quiet):
        text = redacted(
            files, output, names=names, entities=entities, reading=reading, force=force,
            show=printed(print_),
        )  # fmt: skip
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
