"""`usi simulate`: run candidates over the tasks of a domain; let a model judge, a person play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from usi.cli.call_options import with_calls
from usi.cli.guard import guarded
from usi.cli.options import Force, Quiet
from usi.cli.verbs import reflow

_RUN, _CALLS, _HOW = "Design", "Calls and money", "Episodes"
_DEFAULT = "run"

_HELP = """Run candidate simulators under a fixed protocol, so that only the user varies.

SIMULATOR is a TOML file, a name under simulators/, or a short form: scripted:terse,
model:openai/gpt-4o-mini, replay:people.jsonl, process:"python user.py", http://127.0.0.1:8000/user,
callable:module:function.

\b
Examples:
  usi simulate scripted:terse --domain service_desk --agent oracle --runs 3 -o runs
  usi simulate simulators/mine.toml --domain service_desk --agent agents/desk.toml --dry-run
  usi simulate judge people.jsonl --judge simulators/judge.toml -o judged
  usi simulate human --domain service_desk --agent oracle -o human_corpus/desk
"""


class RunByDefault(TyperGroup):
    """A group whose command `run` is taken where no other is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front unless a command or help is asked for."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=RunByDefault,
    help=reflow(_HELP),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)

Domain = Annotated[
    str,
    typer.Option("--domain", metavar="D", help="Name of a domain, or its folder."),
]
Agent = Annotated[
    str,
    typer.Option(
        "--agent", metavar="A", help="oracle, a TOML file, a name under agents/, or kind:rest."
    ),
]
Tasks = Annotated[
    str | None,
    typer.Option(
        "--tasks",
        metavar="T",
        show_default=False,
        help="Ids, a level, a mark of tasks, or the first n; default: all.",
    ),
]
NoPolicy = Annotated[
    bool, typer.Option("--no-policy", help="The agent works without its rule book.")
]
MaxTurns = Annotated[
    int, typer.Option("--max-turns", min=1, help="User turns of an episode.", rich_help_panel=_HOW)
]
Instrument = Annotated[
    Path | None,
    typer.Option(
        "--instrument",
        metavar="TOML",
        help="Another survey than the published one.",
        show_default=False,
    ),
]


@app.command(name=_DEFAULT)
@guarded
@with_calls()
def run(
    simulators: Annotated[
        list[str], typer.Argument(metavar="SIMULATOR...", show_default=False, help="Candidates.")
    ],
    domain: Domain,
    agent: Agent,
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of transcripts and logs.")
    ] = Path("runs"),
    tasks: Tasks = None,
    runs: Annotated[
        int, typer.Option("--runs", min=1, help="Passes over the tasks.", rich_help_panel=_RUN)
    ] = 1,
    user_seeds: Annotated[
        int | None,
        typer.Option(
            "--user-seeds",
            min=1,
            metavar="U",
            help="Cross U user seeds ...",
            rich_help_panel=_RUN,
            show_default=False,
        ),
    ] = None,
    agent_seeds: Annotated[
        int | None,
        typer.Option(
            "--agent-seeds",
            min=1,
            metavar="A",
            help="... with A agent seeds, for usi passk.",
            rich_help_panel=_RUN,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Smallest seed.", rich_help_panel=_RUN)
    ] = 1,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="LABEL", help="Label in place of the file's.", show_default=False
        ),
    ] = None,
    no_policy: NoPolicy = False,
    survey: Annotated[
        bool,
        typer.Option("--survey", help="The user fills in a survey afterwards."),
    ] = False,
    instrument: Instrument = None,
    max_turns: MaxTurns = 30,
    max_steps: Annotated[
        int,
        typer.Option(
            "--max-steps", min=1, help="Tool rounds of one agent turn.", rich_help_panel=_HOW
        ),
    ] = 20,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Episodes at once.", rich_help_panel=_CALLS)
    ] = 4,
    calls: Any = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Run episodes again that infrastructure ended.",
            rich_help_panel=_CALLS,
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print calls and a cost estimate; call nothing.",
            rich_help_panel=_CALLS,
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run candidates over tasks (also without the word run); what was broken off goes on.

    Example: usi simulate scripted:terse --domain service_desk --agent oracle --runs 3 -o runs
    """
    from usi.cli import simulating

    simulating.run(
        simulating.Request(
            simulators=tuple(simulators),
            domain=domain,
            agent=agent,
            folder=folder,
            tasks=tasks,
            runs=runs,
            user_seeds=user_seeds,
            agent_seeds=agent_seeds,
            seed=seed,
            name=name,
            policy=not no_policy,
            survey=survey or instrument is not None,
            instrument=instrument,
            max_turns=max_turns,
            max_steps=max_steps,
            concurrency=concurrency,
            retry_failed=retry_failed,
            calls=calls,
            dry_run=dry_run,
            quiet=quiet,
        )
    )


@app.command(name="judge")
@guarded
@with_calls()
def judge(
    transcripts: Annotated[
        list[str],
        typer.Argument(metavar="TRANSCRIPTS...", show_default=False, help="Of any known format."),
    ],
    judge: Annotated[
        str,
        typer.Option("--judge", metavar="M", help="A model: TOML file, name, or model:NAME."),
    ],
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="survey_data/ is made in it.")
    ] = Path("judged"),
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="L",
            help="Of the survey file; default: the judge's.",
            show_default=False,
        ),
    ] = None,
    instrument: Instrument = None,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Talks at once.")] = 4,
    calls: Any = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Let a model fill in the survey for given transcripts, of people too (paired design).

    What it can't answer validly after one repair is unanswered, never guessed.

    Example: usi simulate judge people.jsonl --judge model:openai/gpt-4o-mini -o judged
    """  # fmt: skip
    from usi.cli import simulating

    simulating.judge(
        transcripts,
        judge=judge,
        folder=folder,
        label=label,
        instrument=instrument,
        concurrency=concurrency,
        calls=calls,
        force=force,
        quiet=quiet,
    )


@app.command(name="human")
@guarded
@with_calls(without=("replay",))
def human(
    domain: Domain,
    agent: Agent,
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the human corpus.")
    ] = Path("human_corpus/own"),
    tasks: Tasks = None,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Round of people.")] = 1,
    participant: Annotated[
        str | None,
        typer.Option(
            "--participant", metavar="P", help="Pseudonym; never a name.", show_default=False
        ),
    ] = None,
    consent: Annotated[
        Path | None,
        typer.Option(
            "--consent", metavar="FILE", help="Consent text of your own.", show_default=False
        ),
    ] = None,
    no_policy: NoPolicy = False,
    instrument: Instrument = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the agent.")] = 1,
    max_turns: MaxTurns = 30,
    calls: Any = None,
) -> None:
    """Play the user in the terminal, against the same agent and tasks.

    Consent is asked for at the start, the survey is filled in at the end; without consent nothing
    is stored. The talks become a batch of a human corpus.

    Example: usi simulate human --domain service_desk --agent oracle -o human_corpus/desk --tasks 2
    """
    from usi.cli import simulating

    simulating.human(
        domain=domain,
        agent=agent,
        folder=folder,
        tasks=tasks,
        batch=batch,
        participant=participant,
        consent=consent,
        policy=not no_policy,
        instrument=instrument,
        seed=seed,
        max_turns=max_turns,
        calls=calls,
    )
