"""``usi admission``: admission records, walked from end to end.

The work behind ``usi admission verify``: every file that an admission rests on, in the order in
which one was made from the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.console import out, printed
from usi.cli.flags import flags, only
from usi.cli.guard import BAD_INPUT, guarded
from usi.cli.verbs import reflow
from usi.errors import UsiError
from usi.options import AdmissionVerifyOptions, Delivery
from usi.report.text import printable

if TYPE_CHECKING:
    from usi.curation.verify import CorpusCheck
    from usi.decisions.admission import Submission

ENDED = 3
"""Exit code of a record that is whole and counts no more, or can't be checked."""


def walked(record: Path, *, scorecard: Path | None, as_of: str | None) -> list[CorpusCheck]:
    """Look at everything that an admission rests on.

    Parameters
    ----------
    record
        ``NAME.admission.json``.
    scorecard
        Its scorecard; by default the file that it names, in the same folder.
    as_of
        Day that the end counts to; without it the end is only told.

    Returns
    -------
    list of CorpusCheck
        In the order of the walk. ``wrong``: two files contradict each other, or one was changed;
        ``note``: what could not be checked, or why the record counts no more.
    """
    from usi.curation.verify import CorpusCheck
    from usi.decisions.admission import read_submission

    try:
        own = read_submission(record)
    except UsiError as error:
        return [CorpusCheck("wrong", "record", str(error))]
    text = f"{own.name}: {own.decision.headline}, {own.decision.criteria_label}"
    found = [CorpusCheck("ok", "record", text)]
    card = record.with_name(str(own.data.get("scorecard"))) if scorecard is None else scorecard
    for step in (_evidence, _end, _corpus):
        try:
            found += step(own, record, card, as_of)
        except UsiError as error:
            found.append(CorpusCheck("wrong", step.__name__.removeprefix("_"), str(error)))
        if found[-1].state == "wrong":  # what follows would rest on it
            break
    return found


def _evidence(
    own: Submission, record: Path, scorecard: Path, as_of: str | None
) -> Iterator[CorpusCheck]:
    """The scorecard, its sums, the simulator, and the decision made again."""
    from usi.curation.verify import CorpusCheck
    from usi.decisions.admission import held_against
    from usi.decisions.derive import check_verdict
    from usi.decisions.evidence import read_evidence
    from usi.provenance.record import sha256_file

    if sha256_file(scorecard) != own.scorecard_sha256:
        yield CorpusCheck("wrong", "scorecard", f"{scorecard.name} is not the one that was decided")
        return
    evidence = read_evidence(scorecard)
    yield CorpusCheck("ok", "scorecard", f"sha256 {own.scorecard_sha256[:12]}, digest intact")
    if not evidence.doubts:
        yield CorpusCheck("ok", "per-task sums", "give the numbers of the scorecard")
    held_against(own, evidence.card, record.name)
    yield CorpusCheck("ok", "simulator", f"{own.name}, identity {own.data['identity_sha256']}")
    unsure = check_verdict(own.decision, evidence.card, scorecard, file=record.name)
    word = own.decision.verdict
    if not unsure:
        yield CorpusCheck("ok", "decision", f"decided again from scorecard and criteria: {word}")
    for why in (*evidence.doubts, *own.decision.unverified, *unsure):
        yield CorpusCheck("note", "unverified", why.text)


def _end(
    own: Submission, record: Path, scorecard: Path, as_of: str | None
) -> Iterator[CorpusCheck]:
    """Until when the record counts, and what ended it already."""
    from usi.curation.verify import CorpusCheck
    from usi.decisions.admission import Found, admissions
    from usi.scoring.scorecard import Scorecard

    card = Scorecard.read(scorecard)
    part = next(one for one in card.simulators if one.name == own.name)
    records = Found(submissions=((record.name, own),))
    for found in admissions(scorecard, card, part, records, as_of=as_of):
        told = f"counts until {found.expires}, {found.reason.text}"
        if found.expired:
            yield CorpusCheck("note", "ended", found.reason.text)
        elif found.expires is None:
            yield CorpusCheck("note", "end", found.reason.text)
        else:
            yield CorpusCheck("ok", "end", told)


def _corpus(
    own: Submission, record: Path, scorecard: Path, as_of: str | None
) -> Iterator[CorpusCheck]:
    """The corpus, where it is one of this workspace."""
    from usi.curation.verify import CorpusCheck, verify
    from usi.decisions.admission import corpus_home

    name = str(own.reference.get("corpus"))
    home = corpus_home(name)
    if home is None:
        yield CorpusCheck(
            "note", "corpus", f"{name} is not a corpus of this workspace: not looked at"
        )
        return
    wrong = [one for one in verify(home, as_of=as_of) if one.state == "wrong"]
    for one in wrong:
        yield CorpusCheck("wrong", f"corpus {name}", f"{one.what}: {one.detail}")
    if not wrong:
        yield CorpusCheck("ok", "corpus", f"{name} is what its manifest says")


_HELP = """Check admission records that usi submit wrote.

\b
Example:
  usi admission verify reports/mine.admission.json --as-of 2026-06-30
"""

app = typer.Typer(
    add_completion=False, help=reflow(_HELP), no_args_is_help=True, rich_markup_mode="rich"
)


app.callback()(lambda: None)  # so that verify stays a word of its own


@flags
def verify(
    record: Annotated[
        Path,
        typer.Argument(metavar="RECORD", help="NAME.admission.json.", show_default=False),
    ],
    own: AdmissionVerifyOptions,
    delivery: Annotated[Delivery, only("print")],
) -> None:
    """Walk an admission from end to end: record, scorecard, sums, decision, end, corpus.

    Exit codes: 0 everything holds; 2 something was changed or does not belong together; 3 whole,
    but it counts no more or something could not be checked.

    \b
    Example:
      usi admission verify reports/mine.admission.json --as-of 2026-06-30
    """
    found = walked(record, scorecard=own.scorecard, as_of=own.as_of)
    good = all(item.state != "wrong" for item in found)
    show = printed(delivery.print)
    if show == "json":
        data = {"ok": good, "findings": [item.to_dict() for item in found]}
        out(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif show == "table":
        for item in found:
            out(printable(f"{item.state:6} {item.what}: {item.detail}") + "\n")
    if not good:
        raise SystemExit(BAD_INPUT)
    if any(item.what in ("unverified", "ended", "end") and item.state == "note" for item in found):
        raise SystemExit(ENDED)


app.command(name="verify", help=reflow(verify.__doc__))(guarded(verify))
