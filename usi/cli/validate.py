"""``usi validate``: what was recognised, counts and problems; nothing is scored."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from usi.cli.console import note, out, printed, working
from usi.cli.flags import Files, flags, without
from usi.options import Delivery, LoadOptions
from usi.report.text import printable
from usi.secrets import hidden

if TYPE_CHECKING:
    from usi.loading import Validation

BAD_INPUT = 2


@flags
def command(
    files: Files,
    reading: Annotated[LoadOptions, without("name")],
    delivery: Annotated[Delivery, without("output", "force")],
) -> None:
    """Say what files hold and what is wrong with them; score nothing.

    Every bad row is named with file, row and field. Exit code 2 where there is one. Failed runs
    are no problem of the file: they are counted by reason. What was dropped, guessed and merged
    in reading is counted, too.

    \b
    Examples:
      usi validate results/*.json
      usi validate chats.csv --map session=conv_id,role=speaker,text=utterance
    """
    from usi.loading import validate
    from usi.loading.role_names import unknown_roles

    found = []
    for path in files:
        with working(f"reading {path} ...", quiet=delivery.quiet):
            found.append((path, validate(path, reading)))
    bad = not all(item.ok for _, item in found)
    choice = printed(delivery.print)
    if choice == "json":
        data = {"ok": not bad, "inputs": [{"input": hidden(p), **v.to_dict()} for p, v in found]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif choice == "table":
        out("\n".join(_text(path, item) for path, item in found))
    for _, item in found:
        if item.unknown_roles and choice != "table":
            text = unknown_roles(Counter(item.unknown_roles))
            note(f"note: {text}", quiet=delivery.quiet)
    if bad and not delivery.exit_zero:
        raise SystemExit(BAD_INPUT)


def _text(path: str, item: Validation) -> str:
    lines = [f"{hidden(path)}: {item.layout or 'not recognised'}, {item.sessions:,} sessions"]
    if item.sessions:
        tasks = f"{item.tasks:,}"
        if item.sessions_without_task:
            tasks += f" (and {item.sessions_without_task:,} sessions without a task id)"
        lines += [
            f"  simulator  {', '.join(item.simulators[:8]) or 'none named'}",
            f"  status     {_counts(item.statuses)}",
            *(
                f"             {count:,} x {reason}"
                for reason, count in item.status_reasons.items()
            ),
            f"  domain     {_counts(item.domains)}",
            f"  tasks      {tasks}",
            f"  trials     {_counts(item.trials) or 'no trial field'}",
            *([f"  batches    {_counts(item.batches)}"] if item.batches else []),
            f"  messages   {item.messages:,}, of these {item.user_turns:,} user turns and "
            f"{item.actions:,} user actions",
            f"  rewards    {item.rewards:,} ({item.rewards_missing:,} missing, "
            f"{item.rewards_not_binary:,} neither 0 nor 1)",
            f"  surveys    {item.surveys:,}",
        ]
        if item.error_tags:
            lines.append(f"  user error {_counts(item.error_tags)}")
    losses = (("left out", item.left_out), ("guessed", item.guessed), ("merged", item.merged))
    lines += [
        f"  {what:<9}  {count:,} x {reason}"
        for what, counts in losses
        for reason, count in counts.items()
    ]
    lines += [f"  note       {remark}" for remark in item.remarks]
    lines += [f"  PROBLEM    {problem}" for problem in item.problems]
    return "".join(f"{printable(line)}\n" for line in lines)


def _counts(counts: Mapping[str, int]) -> str:
    shown = [f"{name}: {count:,}" for name, count in list(counts.items())[:8]]
    return ", ".join(shown) + (f" and {len(counts) - 8} others" if len(counts) > 8 else "")
