"""Rankings and comparisons written by hand, so that pages are tested against known values."""

from __future__ import annotations

from dataclasses import replace

from report.cards import HOSTILE

from usi.decisions.admission import Admission
from usi.decisions.compare import judged
from usi.decisions.rank import Ranked, Ranking
from usi.decisions.tables import Comparison, Entry, Leaderboard, Rankings
from usi.estimate import Estimate
from usi.reasons import Reason


def share(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high, unit="share")


def admission(verdict: str = "PASS", *, expired: bool | None = False) -> Admission:
    return Admission(
        file="a.verdict.json",
        verdict=verdict,
        criteria="tier B",
        fingerprint="ab12cd34",
        decided="2026-11-01",
        scored="2026-10-31",
        expires="2027-01-30",
        reason=Reason("made_up", "the criteria let a scorecard be 90 days old"),
        expired=expired,
    )


def entry(file: str, value: float, *records: Admission) -> Entry:
    return Entry(
        file=file,
        signature="USI-R(5)|profile:robust@2|corpus:people@ab12",
        index=Estimate(value=value, low=value - 3.25, high=value + 4.5),
        ceiling=96.25,
        success_gap=share(0.0816, 0.01, 0.15),
        tasks=165,
        sessions=1495,
        runs=3,
        identity={"model": HOSTILE},
        admissions=records,
    )


PARTS = ("conversation", "information", "clarification", "reaction", "outcome")


def components(*values: float) -> dict[str, float]:
    return dict(zip(PARTS, values, strict=True))


def bounded(*values: float) -> dict[str, Estimate]:
    """Components with bounds 2.5 below and 1.25 above."""
    return {
        name: Estimate(value=value, low=max(0.0, value - 2.5), high=value + 1.25)
        for name, value in components(*values).items()
    }


def rankings(name: str = HOSTILE, *, expired: bool | None = False) -> Rankings:
    """Three simulators, the first two tied; one table."""
    rows = (
        Ranked(name, 91.24, 1, 2, 1),
        Ranked("b/two~", 90.13, 1, 2, 1),
        Ranked("third", 7.5, 3, 3, 2),
    )
    board = Leaderboard(
        signature="USI-R(5)|profile:robust@2|corpus:people@ab12",
        synthetic=True,
        human=Estimate(value=95.75, low=93.5, high=98.25),
        human_name="people",
        ranking=Ranking(rows, 2.34, 0.95, 0.44),
        components={
            name: bounded(90.5, 80.0, 70.0, 60.0, 88.0),
            "b/two~": bounded(9.5, 81.0, 71.0, 61.0, 89.0),
            "third": bounded(20.5, 10.0, 0.0, 1.0, 2.0),
        },
        human_components=components(91.0, 98.0, 90.0, 89.0, 93.75),
        entries={
            name: entry("a.json", 91.24, admission(expired=expired)),
            "b/two~": entry("b.json", 90.13, admission("INCONCLUSIVE", expired=expired)),
            "third": replace(entry("c.json", 7.5), doubts=(f"collapsed {HOSTILE}",)),
        },
    )
    return Rankings((board,), (("old.json", f"no bounds {HOSTILE}"),), ("a note",), "2026-12-01")


def comparison(a: str = "old", b: str = HOSTILE, *, se: float | None = 1.0) -> Comparison:
    """The index better by 5 points (bounds 3.4 to 6.6 at se 1), one feature worse, one noise."""
    return Comparison(
        a=a,
        b=b,
        paired=se is not None,
        synthetic=True,
        differences=(
            judged("index", "index", 80.0, 85.0, se),
            judged("conversation", "component", 70.0, 90.0, se),
            judged("outcome", "component", 90.0, 90.5, se),
            judged("short_turn", "conversation", 80.0, 60.0, se),
            judged("dash", "conversation", 80.0, 80.5, se),
        ),
        notes=(f"differs: {HOSTILE}",),
        files=("old.json", "new.json"),
        signatures=("USI-R(5)|a", "USI-R(5)|b"),
    )
