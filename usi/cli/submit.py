"""``usi submit``: score, gate and record a candidate.

The work of ``usi submit``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from usi._version import __version__
from usi.cli.flags import flags, without
from usi.errors import InputError, InputErrors, UsageError, unknown_name
from usi.options import Delivery, ScoreChoices, SubmitOptions
from usi.provenance.digest import with_digest

if TYPE_CHECKING:
    from usi.cli.score import Scored
    from usi.corpora.candidate import Candidate
    from usi.decisions.verdict import Verdict
    from usi.reasons import Reason


RECORD_VERSION = "2"


def submitted(
    name: str,
    *,
    human: str | None,
    gate: str,
    as_of: str | None,
    reports: Path,
    force: bool,
    show: str,
    quiet: bool,
) -> None:
    """Score, gate, write the record, and end with the verdict's exit code."""
    from usi.cli.gate import after_scoring
    from usi.cli.score import Request, deliver, scored
    from usi.decisions.checks import parse_date
    from usi.provenance.record import now, sha256_file
    from usi.report import files

    candidate = checked(name)
    today = now()[:10]
    if as_of is not None and parse_date(as_of, "--as-of").isoformat() < today:
        raise UsageError(
            f"--as-of {as_of} lies before the day of scoring, which is today ({today}): an "
            "admission can't be dated back"
        )
    stem = candidate.name.replace("/", "_")
    card_path, verdict_path = reports / f"{stem}.json", reports / f"{stem}.verdict.json"
    record_path = reports / f"{stem}.admission.json"
    decision = after_scoring(gate, (card_path, verdict_path), force=force)
    files.claim([record_path], known=(".json",), force=force)
    request = Request(
        simulators=(str(candidate.file),),
        choices={"profile": "robust"} | ({} if human is None else {"human": human}),
        by=decision.subgroups,
        held_out=True,
        outputs=decision.scorecards,
        force=force,
    )
    doubts = intact(human, as_of)
    done = scored(request, quiet=quiet)
    verdict = decision.verdict(done.card, done.started, as_of, doubts)
    if verdict is None:
        raise UsageError("a submission needs criteria: --gate A, B, C or a file")
    deliver(replace(done, verdict=verdict), request, show="none", quiet=quiet)
    record = admission(candidate, done, verdict, card_path, sha256_file(card_path))
    files.write_all({record_path: files.text(record)})
    decision.deliver(verdict, show=show, quiet=quiet, exit_zero=False)


def checked(name: str) -> Candidate:
    """The candidate, with everything that a submission needs.

    Raises
    ------
    UsageError, InputError
        Where there is none of this name, or its file lacks something.
    """
    from usi.corpora.candidate import FOLDER, find_candidate

    found = find_candidate(name)
    if found is None:
        known = sorted(path.stem for path in Path(FOLDER).glob("*.toml"))
        problem = unknown_name("recorded candidate", name, known)
        raise UsageError(f'{problem}. Such a one is {FOLDER}/NAME.toml with kind = "recorded"')
    missing = found.missing()
    if missing:
        raise InputError(
            f"a submission needs {', '.join(missing)}: say what the simulator is, so that its "
            "verdict belongs to it alone",
            file=str(found.file),
        )
    return found


def intact(human: str | None, as_of: str | None) -> tuple[Reason, ...]:
    """Refuse people whose corpus is not what its manifest says; say where there is none.

    Raises
    ------
    InputErrors
        With everything that ``usi corpus verify`` calls wrong.
    """
    from usi.cli.settings import find_workspace
    from usi.curation.verify import verify
    from usi.decisions.admission import corpus_home
    from usi.reasons import CORPUS_WITHOUT_MANIFEST

    name = human
    if name is None:
        name = find_workspace().values(ScoreChoices, "score").get("human")
    if name is None:
        return ()  # scoring says what to name
    home = corpus_home(name)
    if home is None:
        return (CORPUS_WITHOUT_MANIFEST(),)
    wrong = [one for one in verify(home, as_of=as_of) if one.state == "wrong"]
    if wrong:
        raise InputErrors(
            [InputError(f"{one.what}: {one.detail}", file=str(home)) for one in wrong]
        )
    return ()


def admission(
    candidate: Candidate, done: Scored, verdict: Verdict, scorecard: Path, card_sha256: str
) -> str:
    """The admission record as JSON: who was admitted (or not), on what evidence, until when."""
    card = done.card
    human = card.human
    data = {
        "usi_version": __version__,
        "record_version": RECORD_VERSION,
        "name": candidate.name,
        "verdict": verdict.verdict,
        "admitted": verdict.verdict == "PASS",
        "scored": verdict.scored,
        "expires": verdict.expires,
        "identity": dict(candidate.identity),
        "identity_sha256": candidate.fingerprint,
        "licence": candidate.licence,
        "criteria": verdict.criteria_label,
        "criteria_fingerprint": verdict.criteria_fingerprint,
        "decided_by": list(verdict.decided_by),
        "reasons": [asdict(reason) for reason in verdict.reasons],
        "signature": card.simulators[0].signature or card.signature,
        "scorecard": scorecard.name,
        "scorecard_sha256": card_sha256,
        "tasks_sha256": card.tasks_sha256,
        "inputs": [
            {"role": f.card.role, "name": f.card.name, "sha256": f.sha256}
            for f in done.result.files
        ],
        "reference": {
            "corpus": done.human,
            "name": human.name,
            "licence": human.licence,
            "terms": human.terms,
            "research_only": human.research_only,
            "redistribute": human.redistribute,
            "expires": human.expires,
        },
        "synthetic": card.synthetic,
        "as_of": verdict.as_of,
        "expires_when": (
            "on the day that expires says, and at once when the simulator, the corpus, the "
            "profile or the major version of usi changes"
        ),
        "decision": verdict.to_dict(),
    }
    return json.dumps(with_digest(data), indent=2, ensure_ascii=False) + "\n"


@flags
def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A recorded candidate: simulators/NAME.toml.")
    ],
    own: SubmitOptions,
    delivery: Annotated[Delivery, without("output", "exit_zero")],
) -> None:
    """Check a recorded candidate, score and gate it, and write its admission record.

    Its identity, licence and runs must be there. reports/ gets NAME.json (the scorecard),
    NAME.verdict.json and NAME.admission.json, which names all hashes. Exit codes as usi gate.

    \b
    Example:
      usi submit mine --human support@held-out --gate B --as-of 2026-06-30
    """  # fmt: skip

    submitted(
        name,
        human=own.human,
        gate=own.gate,
        as_of=own.as_of,
        reports=own.reports,
        force=delivery.force,
        show=delivery.print,
        quiet=delivery.quiet,
    )
