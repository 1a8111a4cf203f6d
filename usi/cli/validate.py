"""``usi validate``: what was recognised, counts and problems; nothing is scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from usi.cli.console import out, printed, working
from usi.cli.options import Domain, ExitZero, Files, Format, MaxRecord, Print, Printed, Quiet
from usi.report.text import printable

if TYPE_CHECKING:
    from usi.cli.inspection import Found

BAD_INPUT = 2


def command(
    files: Files,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
    exit_zero: ExitZero = False,
    domain: Domain = None,
    format_: Format = None,
    max_record: MaxRecord = None,
) -> None:
    """Say what files hold and what is wrong with them; score nothing.

    Every bad row is named with file, row and field. Exit code 2 where there is one. Failed runs
    are no problem of the file: they are counted by reason.

    \b
    Example:
      usi validate results/*.json
    """
    from usi.cli.inspection import inspect
    from usi.cli.reading import load_options

    options = load_options(format_=format_, domain=domain, max_record=max_record)
    found = []
    for path in files:
        with working(f"reading {path} ...", quiet=quiet):
            found.append(inspect(path, options))
    bad = any(item.problem_count for item in found)
    choice = printed(print_)
    if choice is Printed.JSON:
        data = {"ok": not bad, "inputs": [item.to_dict() for item in found]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif choice is Printed.TABLE:
        out("\n".join(_text(item) for item in found))
    if bad and not exit_zero:
        raise SystemExit(BAD_INPUT)


def _text(item: Found) -> str:
    lines = [f"{item.input}: {item.format or 'not recognised'}, {item.sessions:,} sessions"]
    if item.sessions:
        tasks = f"{item.tasks:,}" + (
            f" (and {item.without_task:,} sessions without a task id)" if item.without_task else ""
        )
        trials = f"{item.trials:,}" if item.trials else "no trial field"
        lines += [
            f"  label      {item.simulator}",
            f"  status     {_counts(item.statuses)}",
            *(f"             {count:,} x {reason}" for reason, count in item.reasons.items()),
            f"  domain     {_counts(item.domains)}",
            f"  tasks      {tasks}",
            f"  trials     {trials}",
            f"  messages   {item.messages:,}, of these {item.user_turns:,} user turns and "
            f"{item.user_actions:,} user actions",
            f"  reward     {_counts(item.rewards)}",
            f"  surveys    {item.surveys:,}",
        ]
    lines += [f"  left out   {count:,} x {reason}" for reason, count in item.left_out.items()]
    lines += [f"  note       {remark}" for remark in item.remarks]
    for problem in item.problems:
        where = ", ".join(
            f"{name} {problem[name]}" for name in ("row", "field") if problem[name] is not None
        )
        lines.append(f"  PROBLEM    {where + ': ' if where else ''}{problem['message']}")
    if item.problem_count > len(item.problems):
        lines.append(f"  PROBLEM    ... and {item.problem_count - len(item.problems):,} more")
    return "".join(f"{printable(line)}\n" for line in lines)


def _counts(counts: Mapping[str, int]) -> str:
    shown = [f"{name} {count:,}" for name, count in list(counts.items())[:8]]
    return ", ".join(shown) + (f" and {len(counts) - 8} other values" if len(counts) > 8 else "")
