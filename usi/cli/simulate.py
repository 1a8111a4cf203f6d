"""`usi simulate`: run candidates over the tasks of a domain; let a model judge, a person play."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from usi.cli.flags import flags, only, without
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.options import (
    CallOptions,
    Delivery,
    SimulateHumanOptions,
    SimulateJudgeOptions,
    SimulateRunOptions,
)

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


@app.command(name=_DEFAULT)
@guarded
@flags
def run(
    simulators: Annotated[
        list[str], typer.Argument(metavar="SIMULATOR...", show_default=False, help="Candidates.")
    ],
    own: SimulateRunOptions,
    calls: CallOptions,
    delivery: Annotated[Delivery, only("quiet")],
) -> None:
    """Run candidates over tasks (also without the word run); what was broken off goes on.

    Example: usi simulate scripted:terse --domain service_desk --agent oracle --runs 3 -o runs
    """
    from usi.cli import simulating

    simulating.run(
        simulating.Request(
            simulators=tuple(simulators),
            domain=own.domain,
            agent=own.agent,
            folder=own.output,
            tasks=own.tasks,
            runs=own.runs,
            user_seeds=own.user_seeds,
            agent_seeds=own.agent_seeds,
            seed=own.seed,
            name=own.name,
            policy=not own.no_policy,
            survey=own.survey or own.instrument is not None,
            instrument=own.instrument,
            max_turns=own.max_turns,
            max_steps=own.max_steps,
            concurrency=own.concurrency,
            retry_failed=own.retry_failed,
            calls=calls,
            dry_run=own.dry_run,
            quiet=delivery.quiet,
        )
    )


@app.command(name="judge")
@guarded
@flags
def judge(
    transcripts: Annotated[
        list[str],
        typer.Argument(metavar="TRANSCRIPTS...", show_default=False, help="Of any known format."),
    ],
    own: SimulateJudgeOptions,
    calls: CallOptions,
    delivery: Annotated[Delivery, only("force", "quiet")],
) -> None:
    """Let a model fill in the survey for given transcripts, of people too (paired design).

    What it can't answer validly after one repair is unanswered, never guessed.

    Example: usi simulate judge people.jsonl --judge model:openai/gpt-4o-mini -o judged
    """  # fmt: skip
    from usi.cli import simulating

    simulating.judge(
        transcripts,
        judge=own.judge,
        folder=own.output,
        label=own.label,
        instrument=own.instrument,
        concurrency=own.concurrency,
        calls=calls,
        force=delivery.force,
        quiet=delivery.quiet,
    )


@app.command(name="human")
@guarded
@flags
def human(
    own: SimulateHumanOptions,
    calls: Annotated[CallOptions, without("replay")],
) -> None:
    """Play the user in the terminal, against the same agent and tasks.

    Consent is asked for at the start, the survey is filled in at the end; without consent nothing
    is stored. The talks become a batch of a human corpus.

    Example: usi simulate human --domain service_desk --agent oracle -o human_corpus/desk --tasks 2
    """
    from usi.cli import simulating

    simulating.human(
        domain=own.domain,
        agent=own.agent,
        folder=own.output,
        tasks=own.tasks,
        batch=own.batch,
        participant=own.participant,
        consent=own.consent,
        policy=not own.no_policy,
        instrument=own.instrument,
        seed=own.seed,
        max_turns=own.max_turns,
        calls=calls,
    )
