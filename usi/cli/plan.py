"""`usi plan`: how many tasks, batches and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.options import Force, Outputs, Print, Printed

if TYPE_CHECKING:
    from usi.decisions.plan import Pilot
    from usi.decisions.task_sample import Picked

_PICK = "Tasks to check first"


def command(
    tier: Annotated[
        str | None, typer.Option("--tier", metavar="A|B|C", help="Default: B.", show_default=False)
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option("--criteria", metavar="gate.toml", help="Criteria file.", show_default=False),
    ] = None,
    truth: Annotated[
        float, typer.Option("--truth", help="True score of the simulator in every part.")
    ] = 100.0,
    power: Annotated[float, typer.Option("--power", help="Wanted chance of PASS.")] = 0.8,
    batches: Annotated[int, typer.Option("--batches", min=1, help="Rounds of people.")] = 3,
    tasks: Annotated[
        int | None,
        typer.Option(
            "--tasks",
            min=2,
            help="Judge this design; without --runs: how many runs it needs.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=1, help="Runs of the simulator.", show_default=False),
    ] = None,
    pilot: Annotated[
        str | None,
        typer.Option(
            "--pilot",
            metavar="CARD|CORPUS",
            show_default=False,
            help="Take the noise from a scorecard (.json of usi score) or from sessions of people.",
        ),
    ] = None,
    simulator: Annotated[
        str | None,
        typer.Option("--simulator", metavar="NAME", help="Of the pilot.", show_default=False),
    ] = None,
    pick: Annotated[
        int | None,
        typer.Option(
            "--pick",
            min=1,
            metavar="N",
            help="List N tasks, stratified by difficulty.",
            rich_help_panel=_PICK,
            show_default=False,
        ),
    ] = None,
    difficulty: Annotated[
        str,
        typer.Option(
            "--difficulty",
            metavar="frozen|FILE",
            help="Success rate of every task.",
            rich_help_panel=_PICK,
        ),
    ] = "frozen",
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain",
            metavar="NAME",
            help="Only tasks that begin with NAME_.",
            rich_help_panel=_PICK,
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the choice.", rich_help_panel=_PICK)] = 7,
    output: Outputs = None,
    show: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Plan a study: tasks for a power, by number of runs, and what a given design can show.

    Example: usi plan --tier B --tasks 165 --runs 3
    """  # fmt: skip
    from usi.cli import success
    from usi.cli.gate import criteria_of
    from usi.decisions.plan import make_plan
    from usi.report.compared import plan_grids

    rules = criteria_of(criteria, tier if tier or criteria else "B")
    picked = _picked(pick, difficulty, domain, seed) if pick is not None else ()
    if pilot is None:
        found = make_plan(
            rules, truth=truth, power=power, batches=batches, tasks=tasks, runs=runs, picked=picked
        )
    else:
        noise = _pilot(pilot, simulator)
        found = make_plan(
            rules, truth=truth, power=power, batches=batches, tasks=tasks, runs=runs,
            noises=noise.noises, variance=noise.variance, source=noise.source, picked=picked,
        )  # fmt: skip
    success.deliver(found, plan_grids(found), outputs=output, show=show, force=force)


def _picked(number: int, difficulty: str, domain: str | None, seed: int) -> tuple[Picked, ...]:
    from usi.decisions.task_sample import pick_tasks
    from usi.errors import UsageError
    from usi.scoring.published.calibration import frozen, read_difficulty

    known = frozen() if difficulty == "frozen" else read_difficulty(difficulty)
    rates = {
        task: rate
        for task, rate in known.rates.items()
        if domain is None or task.startswith(f"{domain}_")
    }
    if not rates:
        raise UsageError(f"no task of the difficulty map begins with {domain}_")
    return pick_tasks(rates, number, seed=seed)


def _pilot(path: str, simulator: str | None) -> Pilot:
    from pathlib import Path

    from usi.decisions.evidence import pick_simulator
    from usi.decisions.plan import pilot_of_card, pilot_of_sessions
    from usi.scoring.scorecard import Scorecard

    file = Path(path)
    if file.is_file() and b'"schema_version"' in file.read_bytes()[:400]:
        card = Scorecard.read(file)
        return pilot_of_card(card, pick_simulator(card, simulator, path))
    from usi.cli.options import load_options, people_with_sessions
    from usi.scoring.people import read_people_of

    people = read_people_of(people_with_sessions(path), options=load_options())
    return pilot_of_sessions(people.tables[""].frame)
