"""`usi domain`: domains of tasks, their checks, and a summary of runs over them."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli.deliver import deliver
from usi.cli.flags import Files, flags, only, without
from usi.cli.guard import guarded
from usi.cli.verbs import reflow
from usi.options import (
    BootstrapOptions,
    Delivery,
    DomainCheckOptions,
    DomainResultsOptions,
    DomainShowOptions,
    LoadOptions,
)

FAILED = 1
_HELP = """List, show and check domains; summarise the results of runs over them.

A domain is a folder: tables, tools, a rule book for the agent, tasks with their goals. DOMAIN is
the name of an embedded one, or the path of a folder of your own (its tools.py is then run: name
only folders that you trust).

\b
Examples:
  usi domain list
  usi domain show service_desk --task reopen
  usi domain check service_desk --runs runs/
  usi domain difficulty service_desk -o difficulty.json
  usi domain results runs/terse.jsonl runs/polite.jsonl -k 1,2,3
"""

app = typer.Typer(
    add_completion=False, help=reflow(_HELP), no_args_is_help=True, rich_markup_mode="rich"
)

Domain = Annotated[
    str, typer.Argument(metavar="DOMAIN", help="Name, or path of a folder.", show_default=False)
]


@app.command(name="list")
@guarded
@flags
def list_(
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """List the embedded domains.

    \b
    Example:
      usi domain list
    """
    from usi.report.tables import Column, Table
    from usi.simulate.domains import domain_names, load_domain

    found = [load_domain(name) for name in domain_names()]
    rows = tuple((d.name, d.title, len(d.tasks), len(d.tools), d.fingerprint) for d in found)
    head = ("domain", "title", Column("tasks", "i"), Column("tools", "i"), "fingerprint")
    names = ("domain", "title", "tasks", "tools", "fingerprint")
    listed = [dict(zip(names, row, strict=True)) for row in rows]
    deliver({"domains": listed}, (Table("Domains", head, rows),), delivery=delivery)


@app.command()
@guarded
@flags
def show(
    domain: Domain,
    own: DomainShowOptions,
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Show a domain: tasks, tools, rules; one task with its goal; or the rule book.

    \b
    Examples:
      usi domain show service_desk
      usi domain show service_desk --task reopen
      usi domain show service_desk --policy
    """
    from usi.cli import console as say
    from usi.simulate.domains import load_domain
    from usi.simulate.domains.report import domain_data, domain_tables, task_data, task_tables

    found = load_domain(domain)
    if own.policy:
        from usi.report.text import printable

        say.out(printable(found.policy, newlines=True))
        return
    if own.task is not None:
        one = found.task(own.task)
        data, tables = task_data(found, one), task_tables(found, one)
    else:
        data, tables = domain_data(found), domain_tables(found)
    deliver(data, tables, delivery=delivery)


@app.command()
@guarded
@flags
def difficulty(
    domain: Domain,
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Write the a-priori success rate of each task, for usi score --difficulty FILE.

    Levels stand for guesses made before any run: easy 0.9, medium 0.65, hard 0.35.

    \b
    Example:
      usi domain difficulty service_desk -o difficulty.json
    """
    from usi.report.tables import Column, Table
    from usi.simulate.domains import load_domain
    from usi.simulate.protocol import EXPECTED_SUCCESS

    found = load_domain(domain)
    rates = {f"{found.name}_{t.id}": EXPECTED_SUCCESS[t.difficulty] for t in found.tasks}
    data = {
        "source": f"a-priori levels of {found.name}@{found.fingerprint}",
        "n_tasks": len(rates),
        "difficulty": rates,
    }
    table = Table("A-priori success", ("task", Column("rate", "2")), tuple(rates.items()))
    deliver(data, (table,), delivery=delivery)


@app.command()
@guarded
@flags
def check(
    domain: Domain,
    own: DomainCheckOptions,
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Check that a domain grades what it should.

    The oracle has to reach every goal without breaking a rule; every single omission, addition
    and changed argument of its writes has to be graded 0. Exit code 1 where a task fails that.

    \b
    Examples:
      usi domain check service_desk
      usi domain check ./my_domain --runs runs/ -o check.md
    """
    from usi.simulate.domains import load_domain
    from usi.simulate.domains.check import check_domain
    from usi.simulate.report import check_tables
    from usi.simulate.results import task_runs

    found = load_domain(domain)
    tasks = without = None
    if own.runs:
        tasks = task_runs(own.runs, found)
        tried = {task.task.removeprefix(f"{found.name}_") for task in tasks}
        without = [task.id for task in found.tasks if task.id not in tried]
    checked = check_domain(found)
    data = {"ok": checked.ok, "check": checked, "runs": tasks, "tasks_without_runs": without}
    tables = check_tables(checked, tasks, without or ())
    deliver(data, tables, delivery=delivery)
    if not checked.ok:
        raise typer.Exit(FAILED)


@app.command()
@guarded
@flags
def results(
    files: Files,
    own: DomainResultsOptions,
    bootstrap: BootstrapOptions,
    reading: Annotated[LoadOptions, only("name", "format")],
    delivery: Annotated[Delivery, without("quiet", "exit_zero")],
) -> None:
    """Summarise the results of runs, for each simulator.

    Reward, pass^k (with the share of the user's noise where user and agent seeds are crossed),
    success by difficulty, rules broken on the way, also by sessions with reward 1, why sessions
    failed, cost, and tasks that always or never succeed.

    \b
    Examples:
      usi domain results runs/ -k 1,2,3 -o results.md
      usi domain results runs/terse.jsonl --regrade service_desk
    """
    from usi.cli.passk import parse_ks
    from usi.simulate.domains import load_domain
    from usi.simulate.report import results_tables
    from usi.simulate.results import read_results

    ks = parse_ks(own.k)
    found = read_results(
        files,
        ks=ks,
        options=reading,
        regrade=None if own.regrade is None else load_domain(own.regrade),
        threshold=bootstrap.success_at,
        replicates=bootstrap.replicates,
        seed=bootstrap.seed,
    )
    deliver({"simulators": found}, results_tables(found), delivery=delivery)
