"""The tables of an audit, for terminals and Markdown."""

from __future__ import annotations

from usi.audit.audit import POWER, Audit, blockers
from usi.audit.gauntlet import REFUSED, TIERS, Admission
from usi.report.tables import Column, Entry, Table

_SYNTHETIC = "The corpus is synthetic: this says nothing about people."


def headline(found: Audit) -> str:
    """The answer in one sentence."""
    people = found.rows[0]
    who = "the other half of the log passes" if found.of_log else "people pass"
    passed = f"{who} tier {found.tier} in {people.admitted(found.tier)} of {people.draws}"
    admitted = found.admitted
    if not admitted:
        return f"No attack passes tier {found.tier}; {passed} draws."
    names = ", ".join(f"{row.name} ({row.admitted(found.tier)} of {row.draws})" for row in admitted)
    return f"Admitted at tier {found.tier}: {names}; {passed} draws."


def size_line(found: Audit) -> str:
    """The least size in one sentence."""
    if found.least is not None:
        return f"Least size at which people pass tier {found.tier} in {POWER:.0%}: {found.least}."
    return (
        f"At no size that this corpus allows do people pass tier {found.tier} in {POWER:.0%} of "
        "the draws: a verdict there is INCONCLUSIVE, whatever the simulator."
    )


def verdict_cell(row: Admission, letter: str) -> str:
    """Draws that passed, were inconclusive, failed, such as ``0 / 1 / 4``."""
    if not row.draws:
        return "-"
    counts = row.verdicts[letter]
    if counts.get(REFUSED, 0) == row.draws:
        return "refused"
    cell = " / ".join(str(counts.get(word, 0)) for word in ("PASS", "INCONCLUSIVE", "FAIL"))
    refused = counts.get(REFUSED, 0)
    return f"{cell}, {refused} refused" if refused else cell


def audit_tables(found: Audit) -> tuple[Table, ...]:
    """Admissions, then people by size."""
    rows = tuple(
        (
            row.name,
            row.about,
            *(verdict_cell(row, letter) for letter in TIERS),
            row.numbers.get("index"),
            row.reason if row.reason else blockers(row, found.tier),
        )
        for row in found.rows
    )
    head: tuple[Column | str, ...] = (
        "simulator",
        "what it does",
        *(f"tier {t}" for t in TIERS),
        Column("USI-log" if found.of_log else "USI-R", "1"),
    )
    head += ("stopped by",)
    notes = [headline(found), *([] if found.of_log else [size_line(found)]), *found.notes]
    if found.synthetic:
        notes.insert(0, _SYNTHETIC)
    notes.append("Cells of a tier: draws that PASS / are INCONCLUSIVE / FAIL.")
    sizes: tuple[tuple[Entry, ...], ...] = tuple(
        (size.design, size.draws, *(size.passes[letter] for letter in TIERS))
        for size in found.sizes
    )
    title = f"Gauntlet on {found.corpus}: {found.design}, {found.draws} draws"
    main = Table(title, head, rows, tuple(notes))
    if found.of_log:
        return (main,)
    return (
        main,
        Table(
            "Real people by size of the study",
            (
                "tasks x batches x runs",
                Column("draws", "i"),
                *(Column(f"pass tier {letter}", "i") for letter in TIERS),
            ),
            sizes,
        ),
    )
