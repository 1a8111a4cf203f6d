"""The verbs of the command line. A new verb is one line here and one module of its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from inspect import cleandoc
from typing import Any

START, MEASURE, DATA, WORKSPACE = "Start here", "Measure", "Transcripts", "Workspace"
DECIDE = "Decide"


def reflow(text: str | None) -> str:
    """Help text with each paragraph on one line, except those that begin with a backspace mark."""
    paragraphs = cleandoc(text or "").split("\n\n")
    return "\n\n".join(
        part if part.startswith("\b") else part.replace("\n", " ") for part in paragraphs
    ).replace("[", r"\[")


@dataclass(frozen=True)
class Verb:
    """One verb: its module is ``usi.cli.<name>``, which holds ``command`` (or a Typer ``app``)."""

    name: str
    help: str
    panel: str

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Function of each command by its words: ``gate``, or ``corpus add``, ``corpus list``."""
        module = import_module(f"usi.cli.{self.name.replace('-', '_')}")
        app = getattr(module, "app", None)
        if app is None:
            return {self.name: module.command}
        return {
            f"{self.name} {one.name or one.callback.__name__}": one.callback
            for one in app.registered_commands
        }

    def load(self) -> Any:
        """Import the verb's module and build its command."""
        import typer
        from typer.main import get_command

        from usi.cli.guard import guarded

        module = import_module(f"usi.cli.{self.name.replace('-', '_')}")
        app = getattr(module, "app", None)
        if app is None:
            app = typer.Typer(add_completion=False, rich_markup_mode="rich")
            function = module.command
            app.command(name=self.name, help=reflow(function.__doc__))(guarded(function))
        command = get_command(app)
        command.name = self.name
        return command


VERBS: tuple[Verb, ...] = (
    Verb("demo", "Build a synthetic population, score its simulators, write a report.", START),
    Verb("init", "Make a workspace: human_corpus/, simulators/, reports/, usi.toml.", START),
    Verb("doctor", "Say what is installed, found and wrong.", START),
    Verb("score", "Score simulators against a human reference.", MEASURE),
    Verb("features", "Compute the behavioural features, one row a session.", MEASURE),
    Verb("report", "A scorecard as a page, Markdown, figures, a badge.", MEASURE),
    Verb("explain", "Read a signature back in plain words.", MEASURE),
    Verb("submit", "Score and gate a recorded candidate; write its admission record.", DECIDE),
    Verb("admission", "Check an admission record and everything that it rests on.", DECIDE),
    Verb("gate", "Block or admit a simulator: PASS, FAIL or INCONCLUSIVE.", DECIDE),
    Verb("compare", "What changed between two scorecards: better, worse, or noise.", DECIDE),
    Verb("rank", "Which simulators can be told apart, with rank intervals.", DECIDE),
    Verb("plan", "How many tasks, batches and runs a study needs.", DECIDE),
    Verb("audit", "Try the gate on known-bad simulators made from a corpus's people.", DECIDE),
    Verb("passk", "Unbiased pass^k, and how much of its fall is the user's noise.", DECIDE),
    Verb("correct", "Agent success as people would have seen it.", DECIDE),
    Verb("agents", "Whether the simulator changes which agent wins.", DECIDE),
    Verb("simulate", "Run candidate simulators over a domain's tasks; judge talks; play.", DATA),
    Verb("study", "Collect talks of people with an agent on a site of your own.", DATA),
    Verb("blind", "Ask practitioners whether they can tell a simulator from people.", DATA),
    Verb("domain", "Domains of tasks: list, show, check; what runs over them came to.", DATA),
    Verb("validate", "Say what files hold and what is wrong with them; score nothing.", DATA),
    Verb("corpus", "Keep human references: origin, terms, integrity, quality.", DATA),
    Verb("convert", "Rewrite transcripts as usi JSONL.", DATA),
    Verb("logs", "Read operational logs: draft a configuration, validate, compute features.", DATA),
    Verb("formats", "List the transcript formats that usi reads.", DATA),
)
