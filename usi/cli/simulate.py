"""`usi simulate`: run candidates over the tasks of a domain; let a model judge, a person play."""

from __future__ import annotations

import json
import sys
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
STOPPED, UNUSABLE = 4, 5
"""Exit codes: a budget ended the run before it was done; infrastructure ended every episode."""

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
    from usi.cli.console import note, out
    from usi.simulate.cost import run_estimate
    from usi.simulate.preparation import plans_of, require_prices, runtime_of
    from usi.simulate.runner import Summary, run_plans

    def told(summary: Summary) -> None:
        for line in summary.lines():
            note(line, quiet=delivery.quiet)

    plans = plans_of(simulators, own, quiet=delivery.quiet)
    if own.dry_run:
        out(json.dumps(run_estimate(plans), indent=2) + "\n")
        return
    require_prices(calls, [*(plan.users for plan in plans), plans[0].setting.agent])
    summaries = run_plans(plans, lambda spent: runtime_of(calls, own.output, spent), told)
    if not sys.stdout.isatty():
        out(json.dumps([summary.to_dict() for summary in summaries], indent=2) + "\n")
    if any(summary.stopped for summary in summaries):
        raise SystemExit(STOPPED)
    if any(summary.unusable for summary in summaries):
        raise SystemExit(UNUSABLE)


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
    from usi.cli.console import note
    from usi.simulate.judge import judge_plan

    plan = judge_plan(own, calls, force=delivery.force)
    found = plan.run(transcripts, calls, own.output)
    if found.answers:
        note(f"written: {plan.path}", quiet=delivery.quiet)
    for line in found.lines(plan.instrument):
        note(line, quiet=delivery.quiet)
    if found.stopped:
        raise SystemExit(STOPPED)
    if found.unusable:
        raise SystemExit(UNUSABLE)


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
    from usi.cli.console import note
    from usi.errors import UsageError
    from usi.report.text import printable
    from usi.simulate.calls import Runtime
    from usi.simulate.human import HumanPlan, Left, play, read_consent
    from usi.simulate.preparation import runtime_of, setting_of
    from usi.simulate.runner import choose_tasks

    def read(prompt: str) -> str:
        try:
            return input(prompt)
        except EOFError:
            raise Left from None

    def show(line: str) -> None:  # what an agent says can't command the terminal
        print(printable(line, newlines=True), flush=True)

    opened: list[Runtime] = []

    def begin() -> Runtime:
        opened.append(runtime_of(calls, own.output))
        return opened[0]

    consent = read_consent(own.consent)
    setting = setting_of(own, survey=True)
    tasks = choose_tasks(setting.domain, own.tasks)
    plan = HumanPlan(own.output, tasks, setting, own.batch, own.participant, consent, own.seed)
    try:
        stored = play(plan, begin, read, show)
    except Left:
        raise UsageError("no consent was given: nothing is stored") from None
    finally:
        for runtime in opened:
            runtime.cache.close()
    note(f"{stored} talks stored in {own.output} (batch {own.batch})")
