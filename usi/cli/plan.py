"""`usi plan`: how many tasks, batches and runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from usi.cli.flags import flags, without
from usi.options import Delivery, LoadOptions, PlanOptions

if TYPE_CHECKING:
    from usi.decisions.plan import Pilot
    from usi.decisions.task_sample import Picked


@flags
def command(
    own: PlanOptions,
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Plan a study: tasks for a power, by number of runs, and what a given design can show.

    Example: usi plan --tier B --tasks 165 --runs 3
    """  # fmt: skip
    from usi.cli.deliver import deliver
    from usi.cli.gate import criteria_of
    from usi.decisions.plan import make_plan
    from usi.report.comparison_tables import plan_tables

    rules = criteria_of(own.criteria, own.tier if own.tier or own.criteria else "B")
    picked = _picked(own.pick, own.difficulty, own.domain, own.seed) if own.pick is not None else ()
    found = make_plan(
        rules,
        truth=own.truth,
        power=own.power,
        batches=own.batches,
        tasks=own.tasks,
        runs=own.runs,
        pilot=_pilot(own),
        picked=picked,
    )
    settings = tuple(path for path in delivery.output if path.suffix == ".toml")
    if settings:
        from usi.report import files
        from usi.study.new import design_of

        forms = files.claim(settings, known=(".toml",), force=delivery.force)
        text = design_of(found, each=own.tasks_per_person)
        files.write_all({path: files.text(text) for path in forms})
        rest = tuple(path for path in delivery.output if path not in settings)
        delivery = replace(delivery, output=rest)
    deliver(found, plan_tables(found), delivery=delivery)


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


def _pilot(own: PlanOptions) -> Pilot | None:
    from pathlib import Path

    from usi.cli.console import working
    from usi.decisions.plan import pilot_of_card, pilot_of_sessions
    from usi.decisions.simulator_terms import pick_simulator
    from usi.scoring.scorecard import Scorecard

    if own.pilot is None:
        return None
    path = own.pilot
    file = Path(path)
    if file.is_file() and b'"schema_version"' in file.read_bytes()[:400]:
        card = Scorecard.read(file, trust_edited=own.trust_edited)
        return pilot_of_card(card, pick_simulator(card, own.simulator, path))
    from usi.cli.inputs import people_with_sessions
    from usi.cli.settings import filled
    from usi.scoring.people import read_people_of

    people = read_people_of(people_with_sessions(path), options=filled(LoadOptions, {}))
    batches = None if own.tasks is None else own.batches
    frame = people.tables[""].frame
    with working("drawing studies from the pilot ..."):
        return pilot_of_sessions(frame, tasks=own.tasks, batches=batches, runs=own.runs)
