"""``usi explain``: a signature in plain words."""

from __future__ import annotations

from typing import Annotated

import typer

from usi.cli.console import out, printed
from usi.cli.flags import flags, only
from usi.options import Delivery


@flags
def command(
    signature: Annotated[
        str, typer.Argument(metavar="SIGNATURE", help="Long or short form; quote it for the shell.")
    ],
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Read a signature back in plain words.

    Every scorecard carries the signature of how its numbers were made. Numbers of different
    signatures are not comparable.

    \b
    Example:
      usi explain 'USI|profile:tau-usi|corpus:people@ab12|terms:6|v:0.1.0'
    """
    import json

    from usi.provenance import explain, parse

    parsed = parse(signature)
    choice = printed(delivery.print)
    if choice == "json":
        fields = {"index": parsed.index, **parsed.fields}
        out(json.dumps(fields, indent=2, ensure_ascii=False) + "\n")
    elif choice == "table":
        out("".join(f"{line}\n" for line in explain(parsed)))
