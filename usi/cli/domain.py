"""`usi domain`: domains of tasks, their checks, and what runs over them came to."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli import success
from usi.cli.guard import guarded
from usi.cli.options import Files, Force, Format, Name, Outputs, Print, Printed
from usi.cli.verbs import reflow

FAILED = 1
_HELP = """List, show and check domains; say what runs over them came to.

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
def list_(show: Print = Printed.AUTO) -> None:
    """List the embedded domains.

    \b
    Example:
      usi domain list
    """
    from usi.report.success import Grid
    from usi.simulate.domains import domain_names, load_domain

    found = [load_domain(name) for name in domain_names()]
    rows = tuple(
        (d.name, d.title, str(len(d.tasks)), str(len(d.tools)), d.fingerprint) for d in found
    )
    head = ("domain", "title", "tasks", "tools", "fingerprint")
    listed = [dict(zip(head, row, strict=True)) for row in rows]
    success.deliver(
        {"domains": listed}, (Grid("Domains", head, rows),), outputs=None, show=show, force=False
    )


@app.command()
@guarded
def show(
    domain: Domain,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="TASK", help="One task whole.", show_default=False),
    ] = None,
    policy: Annotated[bool, typer.Option("--policy", help="Print the rule book only.")] = False,
    show_: Print = Printed.AUTO,
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
    from usi.simulate.domains.report import domain_data, domain_grids, task_data, task_grids

    found = load_domain(domain)
    if policy:
        from usi.report.text import printable

        say.out(printable(found.policy, newlines=True))
        return
    if task is not None:
        one = found.task(task)
        data, grids = task_data(found, one), task_grids(found, one)
    else:
        data, grids = domain_data(found), domain_grids(found)
    success.deliver(data, grids, outputs=None, show=show_, force=False)


@app.command()
@guarded
def difficulty(
    domain: Domain, output: Outputs = None, show_: Print = Printed.AUTO, force: Force = False
) -> None:
    """Write the a-priori success rate of each task, for usi score --difficulty FILE.

    Levels stand for guesses made before any run: easy 0.9, medium 0.65, hard 0.35.

    \b
    Example:
      usi domain difficulty service_desk -o difficulty.json
    """
    from usi.report.success import Grid
    from usi.simulate.domains import load_domain
    from usi.simulate.protocol import EXPECTED_SUCCESS

    found = load_domain(domain)
    rates = {f"{found.name}_{t.id}": EXPECTED_SUCCESS[t.difficulty] for t in found.tasks}
    data = {
        "source": f"a-priori levels of {found.name}@{found.fingerprint}",
        "n_tasks": len(rates),
        "difficulty": rates,
    }
    rows = tuple((task, f"{rate:g}") for task, rate in rates.items())
    grid = Grid("A-priori success", ("task", "rate"), rows)
    success.deliver(data, (grid,), outputs=output, show=show_, force=force)


@app.command()
@guarded
def check(
    domain: Domain,
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--runs",
            metavar="FILE",
            show_default=False,
            help="Recorded runs (files or folders); lists tasks that always or never succeed.",
        ),
    ] = None,
    output: Outputs = None,
    show_: Print = Printed.AUTO,
    force: Force = False,
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
    from usi.simulate.report import check_grids
    from usi.simulate.results import task_runs

    found = load_domain(domain)
    tasks = without = None
    if runs:
        tasks = task_runs(runs, found)
        tried = {task.task.removeprefix(f"{found.name}_") for task in tasks}
        without = [task.id for task in found.tasks if task.id not in tried]
    checked = check_domain(found)
    data = {"ok": checked.ok, "check": checked, "runs": tasks, "tasks_without_runs": without}
    grids = check_grids(checked, tasks, without or ())
    success.deliver(data, grids, outputs=output, show=show_, force=force)
    if not checked.ok:
        raise typer.Exit(FAILED)


@app.command()
@guarded
def results(
    files: Files,
    k: Annotated[
        str, typer.Option("-k", metavar="K,K,...", help="Values of k, separated by commas.")
    ] = "1,2,4",
    regrade: Annotated[
        str | None,
        typer.Option(
            "--regrade",
            metavar="DOMAIN",
            show_default=False,
            help="Grade recorded conversations anew by this domain (their tool calls run again).",
        ),
    ] = None,
    success_at: success.Threshold = 1.0,
    replicates: success.Replicates = 2000,
    seed: success.Seed = 7,
    name: Name = None,
    format: Format = None,  # noqa: A002  (the option's name is the interface)
    output: Outputs = None,
    show_: Print = Printed.AUTO,
    force: Force = False,
) -> None:
    """Say what runs came to, for each simulator.

    Reward, pass^k (with the share of the user's noise where user and agent seeds are crossed),
    success by difficulty, rules broken on the way, also by sessions with reward 1, why sessions
    failed, cost, and tasks that always or never succeed.

    \b
    Examples:
      usi domain results runs/ -k 1,2,3 -o results.md
      usi domain results runs/terse.jsonl --regrade service_desk
    """
    from usi.cli.passk import parse_ks
    from usi.loading import LoadOptions
    from usi.simulate.domains import load_domain
    from usi.simulate.report import results_grids
    from usi.simulate.results import read_results

    ks = parse_ks(k)
    found = read_results(
        files,
        ks=ks,
        options=LoadOptions(format=format, name=name),
        regrade=None if regrade is None else load_domain(regrade),
        threshold=success_at,
        replicates=replicates,
        seed=seed,
    )
    success.deliver(
        {"simulators": found}, results_grids(found), outputs=output, show=show_, force=force
    )
