"""``usi study new``: a folder with settings and a consent text to fill in."""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path
from string import Template

from usi.decisions.plan import Plan
from usi.errors import UsageError
from usi.study.settings import STUDY

_RUNS, _SPARE = 3, 1.2
"""Runs of the simulator that a study is planned for, and people for each that is needed."""
_IGNORED = "study.sqlite*\n.server.lock\n"


def new_study(
    folder: Path,
    *,
    domain: str,
    agent: str,
    people: int,
    each: int,
    subset: int | None,
) -> list[Path]:
    """Write ``study.toml`` and ``consent.md`` into a new folder; what was written.

    Raises
    ------
    UsageError
        Where there is a study already.
    """
    if (folder / STUDY).exists():
        raise UsageError(f"{folder / STUDY} exists; a new study needs a folder of its own")
    shipped = resources.files("usi.study").joinpath("files")
    settings = Template(shipped.joinpath("study.toml").read_text("utf-8")).substitute(
        domain=_quoted(domain),
        agent=_quoted(agent),
        people=people,
        each=each,
        subset=""
        if subset is None
        else f"subset = {subset}                      "
        "# so many of them, in proportion to their difficulty\n",
        name=_name(folder),
    )
    made = {
        STUDY: settings,
        "consent.md": shipped.joinpath("consent.md").read_text("utf-8"),
        ".gitignore": _IGNORED,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        if not (folder / name).exists():
            (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in made]


def next_steps(folder: Path, agent: str) -> str:
    """What its owner does next with a new study, in one line."""
    fill = f"fill in {folder / 'consent.md'} and {folder / STUDY}"
    if agent.endswith(".toml") and not any(p.is_file() for p in (folder / agent, Path(agent))):
        return f"write {agent}, which is not there yet (kind, model), and {fill}"
    return fill


def design_of(plan: Plan, *, each: int) -> str:
    """The tables ``[design]`` and ``[limits]`` of a ``study.toml`` for a plan.

    Tasks are those of the plan's own design, else those that all parts of its criteria need with
    three runs of the simulator, or the next number of runs for which there are any.

    Parameters
    ----------
    plan
        Of ``usi plan``.
    each
        Tasks that one person does.

    Raises
    ------
    UsageError
        Where no number of tasks does.
    """
    runs, tasks = plan.runs or 0, plan.tasks
    if tasks is None:
        lines = [line for line in plan.trade if line.all_parts is not None]
        found = next((line for line in lines if line.runs >= _RUNS), lines[-1] if lines else None)
        if found is None or found.all_parts is None:
            raise UsageError(
                f"no number of tasks reaches {plan.criteria} with {plan.batches} batches"
            )
        runs, tasks = found.runs, found.all_parts
    people = math.ceil(tasks * plan.batches / each)
    return (
        f"# written by usi plan: {plan.criteria}, power {plan.wanted:g} at a true score of "
        f"{plan.truth:g},\n# with {runs} runs of the simulator. Put the numbers into study.toml.\n"
        f"[design]\nsubset = {tasks}\npeople_per_task = {plan.batches}\n"
        f"tasks_per_person = {each}\n\n"
        f"[limits]\nparticipants = {math.ceil(people * _SPARE)}"
        f"              # {people} fill all cells; a fifth more for those who leave\n"
    )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _name(folder: Path) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in folder.name)
    return plain.strip("-._")[:80] or "people"
