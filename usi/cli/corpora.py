"""The work behind ``usi corpus``: from options to results, and from results to text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from usi.cli.console import out
from usi.cli.options import Printed
from usi.errors import InputError, UsageError, unknown_name
from usi.report.text import printable

if TYPE_CHECKING:
    from usi.corpus.manifest import Manifest
    from usi.score.people.add import Added

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
    from usi.cli.reading import who_and_where
    from usi.cli.settings import find_workspace
    from usi.corpus.manifest import parse_manifest
    from usi.score.people.add import add_corpus, load_keys

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
    from usi.corpus.resolve import corpus_folder

    return corpus_folder(corpus)


def manifest_of(home: Path) -> Manifest:
    """Manifest of a folder, with the folder's name where it has none."""
    from usi.corpus.manifest import MANIFEST, Manifest, read_manifest

    path = home / MANIFEST
    if not path.is_file():
        return Manifest(name=home.resolve().name)
    found = read_manifest(path)
    return found if found.name else found.model_copy(update={"name": home.resolve().name})


def listing(as_of: str | None, show: Printed) -> None:
    """Every corpus of the workspace, one line each."""
    from usi.corpus.resolve import corpus_names

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
    from usi.gate.design import parse_date

    if as_of is not None:
        parse_date(as_of, "--as-of")


def shown(corpus: str, as_of: str | None, show: Printed) -> None:
    """The manifest, as JSON or as its own text."""
    from usi.corpus.manifest import to_toml

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
    from usi.score.people.verify import verify

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
    from usi.corpus.parts import HELD_OUT, By
    from usi.score.people.split import split_corpus

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

    from usi.corpus.manifest import MANIFEST, read_manifest
    from usi.corpus.resolve import resolve
    from usi.score.people.add import frozen_set, write_manifest
    from usi.score.people.read import read_people_of

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
    from usi.corpus.resolve import resolve
    from usi.gate.criteria import TIERS, tier
    from usi.gate.power import CLOSED_FORMS, joint_power, part_powers
    from usi.score.people.quality import quality

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
