"""An audit of an event log: draws of its gauntlet (`usi.audit.log_gauntlet`), tabulated."""

from __future__ import annotations

from dataclasses import replace

from usi.audit.audit import Audit, Told
from usi.audit.gauntlet import OTHER_HALF, TIERS, admissions
from usi.audit.log_attacks import LOG_ATTACKS
from usi.audit.log_gauntlet import chosen_log_attacks, one_log_draw, read_material
from usi.errors import UsageError
from usi.logs.inputs import config_of
from usi.options import AuditOptions, LogOptions, ScoreOptions

REPLICATES = 1000
ABOUT = {OTHER_HALF: "real cases that are not in the reference"} | {
    attack.name: attack.about for attack in LOG_ATTACKS
}
NOTE = (
    "One half of the cases, drawn at random, is the reference. The other half ought to pass; logs "
    "alone can reach tier B at most. INCONCLUSIVE is not admitted: it may say that another "
    "period of the same log differs by as much."
)


def audit_log(
    path: str, own: AuditOptions, logs: LogOptions, *, told: Told = lambda text: None
) -> Audit:
    """Try the gate on the halves of a log and on attacks made from them.

    Parameters
    ----------
    path
        The log.
    own, logs
        Draws, tier, attacks, size; and how the log is read.
    told
        Called with a line of progress.

    Raises
    ------
    UsageError
        For options that logs do not have, an unknown tier or attack.
    InputError, NotScorable
        For a log that can't be read, or is too small.
    """
    letter = own.tier.upper()
    if letter not in TIERS:
        raise UsageError(f"a tier is one of {', '.join(TIERS)}, not {own.tier!r}")
    if own.design is not None or own.mix or own.resume is not None:
        raise UsageError("--design, --mix and --resume are for conversations, not for event logs")
    attacks = chosen_log_attacks(own.attack or ())
    material = read_material([path], config_of(logs), without_classes=logs.no_classes)
    trials = []
    for number in range(own.seed, own.seed + own.draws):
        told(f"draw {number - own.seed + 1} of {own.draws}: {len(attacks) + 1} logs ...")
        options = ScoreOptions(replicates=REPLICATES, c2st="fast")
        trials += one_log_draw(material, attacks, seed=number, options=options, most=own.cases)
    rows = tuple(replace(row, about=ABOUT[row.name]) for row in admissions(trials))
    return Audit(
        corpus=path,
        tier=letter,
        design=trials[0].design,
        draws=own.draws,
        seed=own.seed,
        sessions=material.cases,
        tasks=0,
        participants=0,
        left_out={},
        rows=rows,
        sizes=(),
        least=None,
        notes=(NOTE,),
        synthetic=material.synthetic,
        of_log=True,
    )
