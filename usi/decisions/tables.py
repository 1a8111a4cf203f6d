"""Ranking and comparison of scorecard files: what may stand in one table, and what it says.

What stands beside a simulator's place on a leaderboard: bounds, doubts, admissions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from usi.decisions.admission import Admission, Found, admissions, find_records
from usi.decisions.common_runs import at_common_runs
from usi.decisions.compare import Difference, judged, paired_differences
from usi.decisions.rank import Ranking, rank_scores
from usi.decisions.rules import rules_of
from usi.decisions.simulator_terms import (
    SimulatorTerms,
    load_terms,
    pick_simulator,
    require_comparable,
    sidecar_path,
)
from usi.decisions.sums_check import Mismatch
from usi.errors import InputError, UsageError, UsiError
from usi.estimate import Estimate
from usi.reasons import CARD_EDITED, NOT_ASSESSED, SUMS_ABSENT, SUMS_NOT_NAMED, Reason
from usi.scoring.robust.terms import PARTS
from usi.scoring.scorecard import COMPONENTS, Component, Scorecard, SimulatorCard

CHANCE = 0.5
"""AUC of a classifier that can't tell two sides apart."""


@dataclass(frozen=True)
class Entry:
    """What stands beside a simulator's place.

    Attributes
    ----------
    file
        Name of its scorecard.
    index, ceiling
        The score with the bounds that a gate decides by; what a perfect simulator would score.
    success_gap
        Simulator success minus human success; ``None`` where it is not assessed.
    identity
        What the simulator is (model, prompt, harness, ...), as far as the data say.
    admissions
        What gates said on these very numbers.
    doubts
        What the index does not show and the scorecard does: no variety, signs of gaming, a test
        that tells the simulator from people.
    unverified
        What could not be checked about the scorecard.
    """

    file: str
    signature: str
    index: Estimate
    ceiling: float | None
    success_gap: Estimate | None
    tasks: int
    sessions: int
    runs: int | None
    identity: dict[str, str]
    admissions: tuple[Admission, ...] = ()
    doubts: tuple[str, ...] = ()
    unverified: tuple[Reason, ...] = ()


def entry_of(
    found: SimulatorTerms,
    records: Found,
    as_of: str | None,
) -> Entry:
    """Collect what stands beside the place of one simulator.

    Parameters
    ----------
    found
        The simulator's evidence.
    records
        What may be about it, from `usi.decisions.admission.find_records`.
    as_of
        Day that expiry counts to; without it nothing is called expired.
    """
    card = found.simulator
    unsure = _unsure(found.card)
    return Entry(
        file=Path(found.path).name,
        signature=found.signature,
        index=plain_estimate(card.index),
        ceiling=card.index.ceiling_at_n,
        success_gap=card.success_gap,
        tasks=card.n.tasks,
        sessions=card.n.sessions,
        runs=card.n.runs,
        identity=dict(card.identity),
        admissions=admissions(found.path, found.card, card, records, as_of=as_of, doubts=unsure),
        doubts=(*(f"unverified: {why.text}" for why in unsure), *doubts_of(card)),
        unverified=unsure,
    )


def _unsure(card: Scorecard) -> tuple[Reason, ...]:
    """What could not be checked about a scorecard whose sums were read."""
    edited = tuple(why for why in card.warnings if why.is_a(CARD_EDITED))
    return edited if card.tasks_sha256 is not None else (*edited, SUMS_NOT_NAMED())


def doubts_of(card: SimulatorCard) -> list[str]:
    """What a high index can hide."""
    found = []
    if card.collapsed:
        found.append("collapsed: its variety is gone, which a comparison of means can't see")
    if card.gaming_suspected:
        found.append("gaming suspected: words stand in the wrong places")
    tells = [test.auc for test in card.two_sample if test.auc.low is not None]
    surest = max(tells, key=lambda auc: auc.low or 0.0, default=None)
    if surest is not None and surest.low is not None and surest.low > CHANCE:
        found.append(f"a classifier tells it from people (AUC {surest.value:.2f})")
    return found


def plain_estimate(part: Component) -> Estimate:
    """A component without what only components have."""
    return Estimate(**part.model_dump(include=set(Estimate.model_fields)))


@dataclass(frozen=True)
class Leaderboard:
    """Simulators whose numbers may stand in one table.

    Attributes
    ----------
    signature
        Of the first simulator in it.
    synthetic
        Whether the reference is synthetic.
    human
        How people score among themselves, if the scorecards say so: shown first, not ranked.
    ranking
        Rank intervals and tie groups.
    components
        Name -> component -> score with the bounds that a gate decides by.
    human_components
        Component -> value of people among themselves.
    entries
        Name -> what stands beside its place.
    notes
        What was made equal before ranking.
    """

    signature: str
    synthetic: bool
    human: Estimate
    human_name: str
    ranking: Ranking
    components: dict[str, dict[str, Estimate]]
    human_components: dict[str, float | None]
    entries: dict[str, Entry]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rankings:
    """All tables of a folder, and the files that are in none, with the reason."""

    tables: tuple[Leaderboard, ...]
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    as_of: str | None = None


def find_scorecards(paths: Sequence[str | Path]) -> list[Path]:
    """Scorecard files of folders (not below them) and files, sorted by name.

    Files of a folder that are no scorecards (run records, verdicts) are passed over.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        for file in sorted(path.glob("*.json")):
            start = file.read_bytes()[:400]
            own = b'"schema_version"' in start and b'"profile"' in start
            if own and b'"verdict"' not in start:
                found.append(file)
    if not found:
        raise UsageError(
            "no scorecards there; make some with usi score SIM --human CORPUS -o DIR/NAME.json"
        )
    return found


def rank_files(
    paths: Sequence[str | Path],
    *,
    alpha: float = 0.05,
    as_of: str | None = None,
    trust_edited: bool = False,
) -> Rankings:
    """Rank the simulators of scorecards; one table for what may be compared.

    Parameters
    ----------
    paths
        Scorecards, or folders that hold them.
    alpha
        Probability that some rank of a table lies outside its interval.
    as_of
        Day that expiry of admissions counts to, ``YYYY-MM-DD``; without it, it is only told.
    trust_edited
        Take scorecards that were changed after scoring.
    """
    records = find_records(paths)
    groups: list[list[SimulatorTerms]] = []
    left_out: list[tuple[str, str]] = []
    for file in find_scorecards(paths):
        card = Scorecard.read(file, trust_edited=trust_edited)
        if not_ranked := rules_of(card).not_ranked:
            left_out.append((file.name, not_ranked))
            continue
        if not card.profile.startswith("robust"):
            left_out.append(
                (file.name, f"profile {card.profile} has no bounds; score with --profile robust")
            )
            continue
        for simulator in card.simulators:
            label = f"{file.name}: {simulator.name}"
            if not simulator.index.ok:
                left_out.append((label, str(simulator.index.reason or NOT_ASSESSED())))
                continue
            try:
                found = load_terms(file, simulator.name, card=card)
            except Mismatch:
                raise
            except InputError as error:
                left_out.append((label, error.message))
                continue
            _into(groups, found)
    groups.sort(key=lambda group: (-len(group), group[0].signature))
    notes = []
    if len(groups) > 1:
        notes.append(
            f"{len(groups)} tables: their numbers rest on different people, tasks or settings and "
            "are not comparable"
        )
    boards = tuple(_board(g, alpha, records, as_of) for g in groups)
    return Rankings(boards, tuple(left_out), tuple(notes), as_of)


def _into(groups: list[list[SimulatorTerms]], found: SimulatorTerms) -> None:
    for group in groups:
        try:
            require_comparable(group[0], found, runs=False)
            if group[0].units != found.units:
                continue
        except UsiError:
            continue
        if group[0].terms.keys() == found.terms.keys():
            group.append(found)
            return
    groups.append([found])


def _names(group: Sequence[SimulatorTerms]) -> list[str]:
    """Simulator names, with the file where a name stands twice."""
    plain = [found.simulator.name for found in group]
    return [
        f"{name} ({Path(found.path).stem})" if plain.count(name) > 1 else name
        for name, found in zip(plain, group, strict=True)
    ]


def _board(
    group: Sequence[SimulatorTerms],
    alpha: float,
    records: Found,
    as_of: str | None,
) -> Leaderboard:
    group = sorted(group, key=lambda found: (found.signature, Path(found.path).name))
    names = _names(group)
    common = at_common_runs(group)
    if not common.even:  # then a place would rest on how many sessions there are
        raise UsageError(
            "; ".join(common.notes) + ": rank scorecards with the same number of sessions a task"
        )
    scores = [[own[p] for p in PARTS if p in own] for own in common.terms]
    values = np.array([np.mean([t.raw for t in own]) for own in scores])
    draws = np.stack([np.mean([t.replicated() for t in own], axis=0) for own in scores], axis=1)
    human = group[0].card.human
    return Leaderboard(
        signature=group[0].signature,
        synthetic=group[0].card.synthetic,
        human=plain_estimate(human.index),
        human_name=human.name,
        ranking=rank_scores(names, values, draws, alpha=alpha),
        components={
            name: {part: plain_estimate(found.simulator.components[part]) for part in found.terms}
            for name, found in zip(names, group, strict=True)
        },
        human_components={
            name: human.components[name].value for name in PARTS if name in human.components
        },
        notes=common.notes,
        entries={
            name: entry_of(found, records, as_of) for name, found in zip(names, group, strict=True)
        },
    )


@dataclass(frozen=True)
class Comparison:
    """Two simulators against the same people.

    Attributes
    ----------
    a, b
        Their names.
    paired
        Whether the differences rest on per-task sums (shared draws); else on the printed
        standard errors alone, as if independent, which is wider.
    differences
        B - A: index, components, then features by size.
    notes
        What a reader must know.
    files, signatures
        Of A and B.
    unverified
        What could not be checked about the scorecards.
    """

    a: str
    b: str
    paired: bool
    synthetic: bool
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    files: tuple[str, str] = ("", "")
    signatures: tuple[str, str] = ("", "")
    unverified: tuple[Reason, ...] = ()


def compare_files(
    a: str | Path,
    b: str | Path,
    *,
    simulator_a: str | None = None,
    simulator_b: str | None = None,
    trust_edited: bool = False,
) -> Comparison:
    """Compare a simulator of scorecard A with one of scorecard B.

    Raises
    ------
    UsageError
        Where the two rest on other people, tasks or settings.
    """
    card_a, card_b = (Scorecard.read(path, trust_edited=trust_edited) for path in (a, b))
    one = pick_simulator(card_a, simulator_a, str(a))
    two = pick_simulator(card_b, simulator_b, str(b))
    names = (one.name, two.name) if one.name != two.name else (f"{one.name} (A)", f"{two.name} (B)")
    files = (Path(a).name, Path(b).name)
    signatures = (one.signature or card_a.signature, two.signature or card_b.signature)
    notes: list[str] = []
    synthetic = card_a.synthetic or card_b.synthetic
    robust = all(card.profile.startswith("robust") for card in (card_a, card_b))
    if robust and all(sidecar_path(p).is_file() for p in (a, b)):
        first = load_terms(a, one.name, card=card_a)
        second = load_terms(b, two.name, card=card_b)
        notes += [f"differs: {line}" for line in require_comparable(first, second, runs=False)]
        common = at_common_runs((first, second))
        notes += common.notes
        rows = list(paired_differences(*common.terms, even=common.even))
        rows += [row for row in _unpaired(one, two) if row.name == "survey"]
        odd = common.terms[0].keys() ^ common.terms[1].keys()
        if odd:
            notes.append(f"only one of the two assesses: {', '.join(sorted(odd))}")
        unsure = tuple(dict.fromkeys((*_unsure(card_a), *_unsure(card_b))))
        return Comparison(
            *names, True, synthetic, tuple(rows), tuple(notes), files, signatures, unsure
        )
    _same_definition(card_a, card_b, str(a), str(b))
    if robust:
        notes.append(
            "per-task sums are missing beside a scorecard: the bounds take the two as independent, "
            "which is wider than need be"
        )
    else:
        notes.append("this profile has no bounds, so nothing is told from noise")
    rows = _unpaired(one, two)
    absent = [sidecar_path(p) for p in (a, b) if not sidecar_path(p).is_file()] if robust else []
    unsure = (*_edited(card_a, card_b), *(SUMS_ABSENT(file=path.name) for path in absent))
    return Comparison(
        *names, False, synthetic, tuple(rows), tuple(notes), files, signatures, unsure
    )


def _edited(*cards: Scorecard) -> tuple[Reason, ...]:
    return tuple(why for card in cards for why in card.warnings if why.is_a(CARD_EDITED))[:1]


def _same_definition(a: Scorecard, b: Scorecard, file_a: str, file_b: str) -> None:
    from usi.provenance.signature import differences

    odd = differences(a.signature, b.signature, ignore=("v", "survey", "runs", "sim"))
    if odd:
        raise UsageError(
            f"{file_a} and {file_b} can't be compared ({'; '.join(odd)}): score both against the "
            "same people and tasks, with the same settings"
        )


def _unpaired(a: SimulatorCard, b: SimulatorCard) -> list[Difference]:
    pairs: list[tuple[str, str, Component, Component]] = [("index", "index", a.index, b.index)]
    pairs += [
        (name, "component", a.components[name], b.components[name])
        for name in COMPONENTS
        if name in a.components and name in b.components
    ]
    rows = []
    for name, part, one, two in pairs:
        if one.value is None or two.value is None:
            continue
        if part == "index" and getattr(one, "terms", 0) != getattr(two, "terms", 0):
            continue
        known = one.se is not None and two.se is not None
        se = float(np.hypot(one.se or 0.0, two.se or 0.0)) if known else None
        rows.append(judged(name, part, one.value, two.value, se))
    features = []
    for name, mine in a.features.items():
        other = b.features.get(name)
        if other is None or mine.score.value is None or other.score.value is None:
            continue
        scale = 1.0 if mine.score.unit == "points" else 100.0
        left, right = scale * mine.score.value, scale * other.score.value
        features.append(judged(name, mine.dimension, left, right, None))
    features.sort(key=lambda row: (-abs(row.difference.value or 0.0), row.name))
    return rows + features
