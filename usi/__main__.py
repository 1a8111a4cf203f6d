"""``python -m usi`` is the command ``usi``."""

from __future__ import annotations

from collections.abc import Callable

from usi.cli.interrupt import process


def _run() -> Callable[[], None]:
    from usi.cli.main import run

    return run


def main() -> None:
    """Entry of the process: Ctrl-C is answered before anything heavy is imported."""
    process(_run)


if __name__ == "__main__":
    main()
