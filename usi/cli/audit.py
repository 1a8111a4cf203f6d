"""`usi audit`: what the gate admits on a corpus of people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi.cli.flags import flags, only, without
from usi.options import AuditOptions, Delivery, LoadOptions, LogOptions

if TYPE_CHECKING:
    from usi.records import Session


@flags
def command(
    corpus: Annotated[
        str, typer.Argument(help="Corpus: a name, folder or file; or an event log (see Logs).")
    ],
    own: AuditOptions,
    reading: Annotated[LoadOptions, only("format")],
    logs: Annotated[LogOptions, without("horizon", "standardise")],
    delivery: Annotated[Delivery, without("exit_zero")],
) -> None:
    """Try the gate on known-bad simulators made from a corpus's own people.

    Draws studies from the corpus, puts other sessions of its people and a series of attacks in
    the simulator's place (nonsense, the wrong task, replays, shuffled turns, copies, ...), scores
    and gates each, and says which a tier admits, how often real people pass, and the least size
    of a study at which they do. Some minutes a draw at 165x3x3.

    Of an event log one half of the cases is the reference, the other half stands in the
    simulator's place, as it is and attacked (copies, times swapped, waits of zero, a moved clock,
    squeezed arrivals, stretched tails, cases left out, ...).

    \b
    Examples:
      usi audit star --tier B -o audit.html
      usi audit people.jsonl --mix runs/gpt.jsonl --draws 20 --resume audit.jsonl
      usi audit tickets.csv --preset servicenow --cases 3000
    """  # fmt: skip
    from usi.audit.audit import read_corpus, run_audit
    from usi.audit.draws import Design
    from usi.audit.page import render
    from usi.audit.tables import audit_tables
    from usi.cli.console import working
    from usi.cli.deliver import FORMS, deliver
    from usi.cli.inputs import people_with_sessions, sources
    from usi.errors import UsageError
    from usi.report import files

    files.claim(delivery.output, known=FORMS, force=delivery.force)
    if logs.of_logs:
        from usi.audit.log_audit import audit_log

        with working("reading the log ...", quiet=delivery.quiet) as told:
            of_log = audit_log(corpus, own, logs, told=told)
        deliver(
            of_log,
            audit_tables(of_log),
            delivery=delivery,
            page=lambda: render(of_log),
            inputs=sources([corpus]),
        )
        return
    if own.cases is not None:
        raise UsageError("--cases is the size of the halves of an event log: name its --preset")
    reference = people_with_sessions(corpus)
    with working("reading the corpus ...", quiet=delivery.quiet) as told:
        found = run_audit(
            read_corpus(reference, reading, group=own.group),
            corpus=reference.name,
            tier=own.tier.upper(),
            design=None if own.design is None else Design.parse(own.design),
            draws=own.draws,
            seed=own.seed,
            attacks=own.attack or (),
            models=_models(own.mix or []),
            kept=own.resume,
            told=told,
            synthetic=reference.synthetic,
        )
    inputs = sources([*map(str, reference.paths), *map(str, own.mix or [])])
    deliver(
        found,
        audit_tables(found),
        delivery=delivery,
        page=lambda: render(found),
        inputs=inputs,
    )


def _models(paths: Sequence[Path]) -> tuple[Session, ...]:
    """Sessions of the model users, those with an utterance alone."""
    from usi.audit.material import positions
    from usi.errors import InputError
    from usi.pipeline import load

    if not paths:
        return ()
    sessions = tuple(s for s in load(paths).sessions if s.status == "ok" and positions(s))
    if not sessions:
        raise InputError("--mix: no session in these files has an utterance of the user")
    return sessions
