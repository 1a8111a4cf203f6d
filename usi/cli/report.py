"""`usi report`: a scorecard as people read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.options import Force, Outputs, Quiet
from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.decisions.verdict import Verdict
    from usi.report.data import Beside
    from usi.report.figures.model import Figure
    from usi.report.files import Writer
    from usi.scoring.scorecard import Scorecard

FORMS = (".html", ".md", ".csv", ".svg", ".badge.json", ".summary.json")


def command(
    scorecard: Annotated[
        Path,
        typer.Argument(
            metavar="SCORECARD", help="From usi score -o card.json.", show_default=False
        ),
    ],
    verdict: Annotated[
        Path | None,
        typer.Option(
            "--verdict", metavar="VERDICT.json", help="From usi gate.", show_default=False
        ),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="A|B|C|gate.toml",
            help="Gate the scorecard for the report.",
            show_default=False,
        ),
    ] = None,
    outputs: Outputs = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            "--figures", metavar="DIR", help="Write every figure there.", show_default=False
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="NAME",
            show_default=False,
            help="Only this figure, such as index or SIM.outcome (several times; default: all).",
        ),
    ] = None,
    figure_form: Annotated[
        str, typer.Option("--figure-form", metavar="svg|png", help="Form of the figures.")
    ] = "svg",
    simulator: Annotated[
        str | None,
        typer.Option("--simulator", metavar="NAME", help="Whose badge it is.", show_default=False),
    ] = None,
    examples: Annotated[
        bool,
        typer.Option("--examples/--no-examples", help="Show texts, where they may be shown."),
    ] = True,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a report of a scorecard: a page, Markdown, a table, figures, a badge.

    -o takes .html (one file that opens offline), .md, .csv, .svg (a badge), .badge.json (for a
    shields endpoint) and .summary.json. Distributions and texts come from the files that usi
    score wrote beside the scorecard.

    \b
    Examples:
      usi report card.json -o report.html
      usi report card.json --gate B -o report.html -o badge.svg --figures figures/
    """  # fmt: skip
    from usi.cli.console import note
    from usi.report import files
    from usi.report.data import read_beside
    from usi.report.figures.model import FORMS as FIGURE_FORMS
    from usi.scoring.scorecard import Scorecard

    if not outputs and figures is None:
        raise UsageError("name an output: -o report.html (see: usi report --help)")
    if figure_form not in FIGURE_FORMS:
        raise UsageError(f"--figure-form is {figure_form!r}; it must be svg or png")
    inputs = [path for path in (scorecard, verdict) if path is not None]
    forms = files.claim(outputs or (), known=FORMS, force=force, inputs=inputs)
    card = Scorecard.read(scorecard)
    found = _verdict(card, verdict, gate)
    beside = read_beside(scorecard, card, examples=examples)
    if simulator is not None and simulator not in [s.name for s in card.simulators]:
        from usi.errors import unknown_name

        raise unknown_name("simulator", simulator, [s.name for s in card.simulators])
    writers = {
        path: files.text(_text(form, card, found, beside, simulator))
        for path, form in forms.items()
    }
    if figures is not None:
        drawn = _chosen(card, found, beside, tuple(only or ()))
        writers |= _figures(figures, figure_form, card, drawn, force=force)
    files.write_all(writers)
    for path in writers:
        note(f"written: {path}", quiet=quiet)


def _verdict(card: Scorecard, path: Path | None, gate: str | None) -> Verdict | None:
    if path is not None and gate is not None:
        raise UsageError("--verdict and --gate do not go together")
    if gate is not None:
        from usi.cli.gate import gate_now
        from usi.decisions.criteria import load_criteria

        return gate_now(card, load_criteria(gate))
    if path is None:
        return None
    from usi.decisions.verdict import Verdict
    from usi.errors import InputError

    found = Verdict.read(path)
    names = {part.name for part in card.simulators}
    if found.signature != card.signature or not {p.name for p in found.simulators} <= names:
        raise InputError("this verdict is on another scorecard", file=str(path))
    return found


def _text(
    form: str, card: Scorecard, verdict: Verdict | None, beside: Beside, simulator: str | None
) -> str:
    if form == ".html":
        from usi.report.html import render

        return render(card, verdict=verdict, beside=beside)
    if form == ".md":
        from usi.report import report_markdown

        return report_markdown.render(card, verdict)
    if form == ".csv":
        from usi.report import csv_out

        return csv_out.render(card, verdict)
    if form == ".summary.json":
        from usi.report.html.summary import summarise, to_json

        return to_json(summarise(card))
    from usi.report import badge

    found = badge.badge(card, verdict, simulator)
    return badge.svg(found, card.usi_version) if form == ".svg" else badge.endpoint(found)


def _chosen(
    card: Scorecard, verdict: Verdict | None, beside: Beside, only: tuple[str, ...]
) -> dict[str, Figure]:
    from usi.errors import unknown_name
    from usi.report.figures.model import named

    drawn = named(card, verdict, beside)
    for name in only:
        if name not in drawn:
            raise unknown_name("figure", name, list(drawn))
    return {name: figure for name, figure in drawn.items() if not only or name in only}


def _figures(
    folder: Path, form: str, card: Scorecard, drawn: dict[str, Figure], *, force: bool
) -> dict[Path, Writer]:
    from usi.report import files
    from usi.report.figures.files import render

    paths = {name: folder / f"{name}.{form}" for name in drawn}
    files.claim(tuple(paths.values()), known=(f".{form}",), force=force)
    footer = _footer(card)
    return {
        paths[name]: files.raw(render(figure, form, footer=footer))
        for name, figure in drawn.items()
    }


def _footer(card: Scorecard) -> str:
    """Where the numbers of a figure come from, in a line that fits below it."""
    wanted = ("profile:", "corpus:", "tasks:", "batches:", "runs:", "v:")
    fields = [part for part in card.signature.split("|") if part.startswith(wanted)]
    people = f"n:{card.human.n.sessions:,} of the reference"
    return ("SYNTHETIC  " if card.synthetic else "") + "  ".join([*fields, people])
