"""``usi corpus add``: copy transcripts into the workspace with what is known of them."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from usi.cli.comparing import SurveyDesignName
from usi.cli.console import note, working
from usi.cli.options import Domain, Format, Map, Quiet, UserRole, UserSpeaker

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
    from usi.cli.corpora import added, asked

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
