"""`usi report`: a scorecard as people read it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.flags import flags, without
from usi.errors import UsageError
from usi.options import Delivery, ReportOptions

if TYPE_CHECKING:
    from usi.decisions.verdict import Verdict
    from usi.report.figures.model import Figure
    from usi.report.files import Writer
    from usi.report.report_data import Beside
    from usi.scoring.scorecard import Scorecard

FORMS = (".html", ".md", ".csv", ".svg", ".badge.json", ".summary.json")


@flags
def command(
    scorecard: Annotated[
        Path,
        typer.Argument(
            metavar="SCORECARD", help="From usi score -o card.json.", show_default=False
        ),
    ],
    own: ReportOptions,
    delivery: Annotated[Delivery, without("print", "exit_zero")],
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
    from usi.report.figures.model import FORMS as FIGURE_FORMS
    from usi.report.report_data import read_beside

    if not delivery.output and own.figures is None:
        raise UsageError("name an output: -o report.html (see: usi report --help)")
    if own.figure_form not in FIGURE_FORMS:
        raise UsageError(f"--figure-form is {own.figure_form!r}; it must be svg or png")
    inputs = [path for path in (scorecard, own.verdict) if path is not None]
    forms = files.claim(delivery.output, known=FORMS, force=delivery.force, inputs=inputs)
    card, found = _card_and_verdict(scorecard, own)
    beside = read_beside(scorecard, card, examples=own.examples)
    if own.simulator is not None and own.simulator not in [s.name for s in card.simulators]:
        from usi.errors import unknown_name

        raise unknown_name("simulator", own.simulator, [s.name for s in card.simulators])
    writers = {
        path: files.text(_text(form, card, found, beside, own.simulator))
        for path, form in forms.items()
    }
    if own.figures is not None:
        drawn = _chosen(card, found, beside, tuple(own.figure or ()))
        writers |= _figures(own.figures, own.figure_form, card, drawn, force=delivery.force)
    files.write_all(writers)
    for path in writers:
        note(f"written: {path}", quiet=delivery.quiet)


def _card_and_verdict(scorecard: Path, own: ReportOptions) -> tuple[Scorecard, Verdict | None]:
    """The scorecard, and the verdict that is asked for; both checked where there is one."""
    from usi.decisions.evidence import read_evidence
    from usi.scoring.scorecard import Scorecard

    if own.verdict is not None and own.gate is not None:
        raise UsageError("--verdict and --gate do not go together")
    if own.verdict is None and own.gate is None:
        return Scorecard.read(scorecard, trust_edited=own.trust_edited), None
    evidence = read_evidence(scorecard, trust_edited=own.trust_edited)
    card = evidence.card
    if own.gate is not None:
        from usi.cli.gate import gate_now
        from usi.decisions.criteria import load_criteria

        return card, gate_now(card, load_criteria(own.gate), doubts=evidence.doubts)
    from usi.decisions.derive import check_verdict, is_on
    from usi.decisions.verdict import Verdict
    from usi.errors import InputError

    found = Verdict.read(Path(own.verdict or ""))
    if not is_on(found, card):
        raise InputError("this verdict is on another scorecard", file=str(own.verdict))
    unsure = check_verdict(found, card, scorecard, file=str(own.verdict))
    doubts = tuple(dict.fromkeys((*found.unverified, *evidence.doubts, *unsure)))
    return card, found.model_copy(update={"unverified": doubts})


def _text(
    form: str, card: Scorecard, verdict: Verdict | None, beside: Beside, simulator: str | None
) -> str:
    if form == ".html":
        from usi.report.html import render

        return render(card, verdict=verdict, beside=beside)
    if form in (".md", ".csv"):
        from usi.report import files

        return files.FORMS[form](card, Path(form), verdict)
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
