"""``usi doctor``: what is installed, found and wrong."""

from __future__ import annotations

from usi.cli.console import out, printed
from usi.cli.options import Print, Printed
from usi.report.text import printable

BAD = 2


def command(print_: Print = Printed.AUTO) -> None:
    """Say what is installed, found and wrong, with what to do about it.

    Exit code 0 where nothing is wrong, else 2. An extra that is not installed is not wrong.

    \b
    Example:
      usi doctor
    """
    import json

    from usi.cli.diagnosis import diagnose

    findings = diagnose()
    bad = any(item.state == "wrong" for item in findings)
    choice = printed(print_)
    if choice is Printed.JSON:
        data = {"ok": not bad, "findings": [item.to_dict() for item in findings]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif choice is Printed.TABLE:
        for item in findings:
            out(printable(f"{item.state:8} {item.what}: {item.detail}") + "\n")
            if item.hint:
                out(printable(f"{'':8} -> {item.hint}") + "\n")
    if bad:
        raise SystemExit(BAD)
