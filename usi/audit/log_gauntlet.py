"""The gauntlet on a log: the other half of the real log, and every attack, scored and gated.

A draw halves the cases at random. One half is the reference; the other half stands in the
simulator's place as it is (it ought to pass) and as every attack of `usi.audit.log_attacks`
makes it (none ought to).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from usi.audit.gauntlet import OTHER_HALF, TIERS, Trial
from usi.audit.log_attacks import LOG_ATTACKS, LogAttack, renumbered
from usi.decisions import gate_scorecard, tier
from usi.errors import NotScorable, UsageError, unknown_name
from usi.extraction.table import SessionTable
from usi.logs import CaseStore, LogConfig, open_log
from usi.logs.diagnostics import diagnose_logs
from usi.logs.distances import Traces, TraceSample
from usi.logs.events import Paths
from usi.logs.extract import LogShape, count_cases, identified
from usi.logs.feature_options import ClassMap, classes_of, options_of
from usi.logs.scoring import study_tables
from usi.options import ScoreOptions
from usi.records import Side
from usi.scoring.context import ScoreContext
from usi.scoring.inputs import with_keys
from usi.scoring.scorecard import Scorecard

LEAST = 200
"""Cases below which a log is not audited."""


@dataclass(frozen=True)
class LogMaterial:
    """A log as it is audited.

    Attributes
    ----------
    events
        Whole cases in order, with the class of every activity where the configuration has one.
    shape, classes, config
        How the cases are counted.
    synthetic
        Whether the log says that it is generated.
    """

    events: pl.DataFrame
    shape: LogShape
    classes: ClassMap | None
    config: LogConfig
    synthetic: bool = False

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return self.events["case"].n_unique()


def read_material(paths: Paths, config: LogConfig, *, without_classes: bool = False) -> LogMaterial:
    """Read a log whole, for an audit.

    Parameters
    ----------
    paths, config
        The log, and how it is read.
    without_classes
        Go on without a class map: waiting, reopenings and the outcome stay undefined.

    Raises
    ------
    InputError
        As for every log.
    UsageError
        For a configuration without a class map.
    NotScorable
        For one of fewer than `LEAST` cases.
    """
    classes = None if without_classes else classes_of(config)
    if classes is None and not without_classes:
        raise UsageError(
            "the configuration has no [classes]; --no-classes goes on without waiting, reopenings "
            "and outcome"
        )
    stream = open_log(paths, config.layout_of("human"))
    check = None if classes is None else classes.check
    with CaseStore(stream, check=check) as store:
        events = pl.concat(list(store.frames()))
        layout = store.layout
        shape = LogShape(
            roles=frozenset(store.roles),
            fields=store.fields,
            required=layout.required,
            tracked=layout.tracked,
            zone=layout.timezone,
            rows=layout.rows,
        )
        synthetic = bool(store.notes.synthetic)
    if classes is not None:
        known = dict(classes.classes)
        events = events.with_columns(
            pl.col("activity").replace_strict(known, return_dtype=pl.String).alias("class")
        )
    found = LogMaterial(renumbered(events), shape, classes, config, synthetic)
    if found.cases < LEAST:
        raise NotScorable(f"{found.cases} cases are too few to be halved: at least {LEAST}")
    return found


def halves(
    material: LogMaterial, seed: int, most: int | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two random halves of the cases, `most` each at most."""
    order = np.random.default_rng([seed, 0x1A1F]).permutation(material.cases)
    size = min(material.cases // 2, most or material.cases)
    parts = order[:size], order[size : 2 * size]
    first, second = (
        material.events.filter(pl.col("case").is_in(np.sort(part).tolist())) for part in parts
    )
    own = renumbered(first)
    return own.with_columns(("R" + pl.col("case_id")).alias("case_id")), renumbered(second)


def side_of(
    material: LogMaterial, events: pl.DataFrame, side: Side, label: str
) -> tuple[SessionTable, Traces]:
    """Session table and traces of one side, as files of these events would give them."""
    frame = events.drop("class", strict=False)
    sample = TraceSample(zone=material.shape.zone)
    sample.see(frame)
    options = options_of(material.config)
    cases = count_cases(frame, material.shape, material.classes, options)
    rows = identified(cases, side=side, label=label)
    table = SessionTable(rows, "log@1", "none", False, material.config.tag)
    return with_keys(table, side=side, run_ids="none"), sample.traces()


def chosen_log_attacks(names: Sequence[str] = ()) -> tuple[LogAttack, ...]:
    """The attacks of these names, or all.

    Raises
    ------
    UsageError
        For a name that is no attack, with near matches.
    """
    known = {attack.name: attack for attack in LOG_ATTACKS}
    for name in names:
        if name not in known:
            raise unknown_name("attack", name, list(known))
    return tuple(known[name] for name in names) or LOG_ATTACKS


def one_log_draw(
    material: LogMaterial,
    attacks: Sequence[LogAttack],
    *,
    seed: int,
    options: ScoreOptions | None = None,
    most: int | None = None,
    told: Callable[[str], None] = lambda text: None,
) -> list[Trial]:
    """The other half and every attack of one draw, scored against the first half and gated.

    Parameters
    ----------
    material, attacks
        The log, and what to make of it.
    seed
        Of the draw.
    options
        Choices of the scores.
    most
        Cases of a half at most.
    told
        Called with a line of progress.
    """
    options = options or ScoreOptions()
    reference, other = halves(material, seed, most)
    design = f"{reference['case'].n_unique()} cases a side"
    human, own = side_of(material, reference, "human", "")
    made = {OTHER_HALF: other}
    unmade: dict[str, str] = {}
    for attack in attacks:
        events = attack.applied(reference, other, seed)
        if events is None:
            unmade[attack.name] = f"the log has no column {attack.needs!r}"
        else:
            made[attack.name] = events
    tables: dict[str, SessionTable] = {}
    traces = {"": own}
    for name, events in made.items():
        tables[name], traces[name] = side_of(material, events, "simulated", name)
    told(f"{len(tables)} logs against {design} ...")
    card = _card(human, tables, traces, options)
    trials = []
    for name in (OTHER_HALF, *(attack.name for attack in attacks)):
        if name in unmade:
            nothing = dict.fromkeys(TIERS, "")
            trials.append(Trial(seed, design, name, nothing, {}, {}, unmade[name]))
        else:
            trials.append(_trial(name, card, seed, design))
    return trials


def _card(
    human: SessionTable,
    tables: dict[str, SessionTable],
    traces: dict[str, Traces],
    options: ScoreOptions,
) -> Scorecard:
    studies = study_tables(human, tables, surveys=None, options=options)
    return studies.card(ScoreContext(), diagnose_logs(human, tables, traces, options))


def _trial(name: str, card: Scorecard, seed: int, design: str) -> Trial:
    one = next(side for side in card.simulators if side.name == name)
    numbers = {
        part: (found.value, found.low, found.high)
        for part, found in {"index": one.index, **one.components}.items()
    }
    verdicts: dict[str, str] = {}
    against: dict[str, tuple[tuple[str, str], ...]] = {}
    for letter in TIERS:
        decided = gate_scorecard(card, tier(letter), simulator=name)
        verdicts[letter] = decided.verdict
        checks = decided.simulators[0].checks
        against[letter] = tuple(
            (check.id, check.state) for check in checks if check.state in ("fail", "inconclusive")
        )
        for check in checks:
            if check.value is not None:
                numbers.setdefault(check.id, (check.value, check.low, check.high))
    return Trial(seed, design, name, verdicts, against, numbers)
