"""Entry of the command line: a group that imports a verb only when it is called."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from usi.cli.verbs import VERBS, reflow

_HELP = """Does a simulated user behave like the people it stands for?

usi reads transcripts of people and of simulated users, and says how alike they are: the
User-Sim Index with every component, the ceiling that people reach among themselves, and what
was left out and why."""

_EPILOG = """Exit codes: 0 done or PASS, 1 FAIL, 2 bad input or usage (nothing scored),
3 INCONCLUSIVE, 4 stopped by a budget, 5 no episode worked, 70 internal error.

First steps: usi demo; then usi score SIM.json --human PEOPLE.json"""


class LazyGroup(TyperGroup):
    """Knows names and help of all verbs, and imports the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for verb in VERBS:
            stub = TyperCommand(
                name=verb.name, help=verb.help, short_help=verb.help, rich_help_panel=verb.panel
            )
            self.add_command(stub, verb.name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the real command in place of its stub."""
        name, stub, rest = super().resolve_command(ctx, args)
        for verb in VERBS:
            if verb.name == name:
                return name, verb.load(), rest
        return name, stub, rest


app = typer.Typer(
    cls=LazyGroup,
    name="usi",
    help=reflow(_HELP),
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        from usi._version import __version__

        typer.echo(f"usi {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of `usi` itself."""


def run(arguments: list[str] | None = None) -> None:
    """Run the command line; ends by `SystemExit` with the exit code of the documentation."""
    from usi.cli.guard import PIPE_CLOSED, guarded
    from usi.cli.interrupt import interruptible, interruption_code

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with interruptible():
        try:
            command = typer.main.get_command(app)
            guarded(command.main)(args=arguments, prog_name="usi")
        except SystemExit as end:
            came = interruption_code()
            if came is not None and end.code == 1:  # the option parser calls it 1
                raise SystemExit(came) from None
            if end.code == 1 and type(sys.stdout).__name__ == "PacifyFlushWrapper":  # of click
                raise SystemExit(PIPE_CLOSED) from None
            raise
