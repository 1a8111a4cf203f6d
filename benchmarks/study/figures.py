"""Figures of the page: SVG with a fixed salt and no date; equal numbers give equal bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

# Okabe and Ito: told apart by people with any colour vision; markers differ as well.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#8A8A8A"
STYLE = {
    "svg.hashsalt": "usi",
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
DESIGNS = ("50x1x1", "50x3x3", "165x1x1", "165x3x3", "495x1x1", "495x3x3")
PARTS = ("index", "conversation", "information", "clarification", "reaction", "outcome")


def title_of(part: str) -> str:
    """Name of a part on an axis."""
    return "USI-R" if part == "index" else part


def bias(r: dict[str, Any]) -> Figure:
    """Mean raw and corrected index, ceiling and truth, by design."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots(1, 3, sharey=False)
    for axis, name, words in zip(
        axes,
        ("copy", "easy-0.2", "easy-1"),
        ("people themselves", "a fifth of the way", "easy mode"),
        strict=True,
    ):
        designs = [d for d in DESIGNS if name in r["paired"][d]]
        parts = [r["paired"][d][name]["parts"]["index"] for d in designs]
        x = range(len(designs))
        axis.plot(x, [p["truth"] for p in parts], color="black", lw=1.2, label="true score")
        axis.plot(x, [p["ceiling"] for p in parts], "_", ms=13, mew=2, color=GREY, label="ceiling")
        axis.plot(x, [p["raw"] for p in parts], "o", color=BLUE, label="mean raw score")
        axis.plot(x, [p["corrected"] for p in parts], "^", color=ORANGE, label="mean corrected")
        axis.set_xticks(list(x), designs, rotation=60, ha="right", rotation_mode="anchor")
        axis.set_title(f"{name}: {words}", fontsize=9)
        axis.grid(axis="y", color="#DDDDDD", lw=0.6)
    axes[0].set_ylabel("USI-R, points")
    figure.supxlabel("design: tasks x batches x runs", fontsize=9)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def false_pass(r: dict[str, Any]) -> Figure:
    """P(L > true score) of every simulator, by part, in three designs."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for axis, design in zip(axes, ("50x3x3", "165x3x3", "495x3x3"), strict=True):
        for limit, style in ((5, "-"), (8, ":")):
            axis.axhline(limit, color=RED, lw=1, ls=style)
        for at, part in enumerate(PARTS):
            shown = [s["parts"][part]["false_pass"] for s in r["paired"][design].values()]
            axis.errorbar(
                [at + 0.7 * ((k + 0.5) / len(shown) - 0.5) for k in range(len(shown))],
                [found["percent"] for found in shown],
                yerr=[
                    [min(found["error"], found["percent"]) for found in shown],
                    [found["error"] for found in shown],
                ],
                fmt="s" if part == "index" else "o",
                ms=2.5,
                lw=0.8,
                color=BLUE if part == "index" else GREEN,
            )
        axis.set_xticks(
            range(len(PARTS)),
            [title_of(p) for p in PARTS],
            rotation=60,
            ha="right",
            rotation_mode="anchor",
        )
        axis.set_title(f"{design}, {r['paired'][design]['copy']['gap']['above']['n']} studies",
                       fontsize=9)  # fmt: skip
        axis.grid(axis="y", color="#DDDDDD", lw=0.6)
    axes[0].set_ylabel("false pass at the boundary, % of studies")
    axes[0].set_ylim(-0.4, None)
    axes[2].text(5.5, 5.1, "5 %", color=RED, ha="right", va="bottom", fontsize=8)
    axes[2].text(5.5, 8.1, "8 %", color=RED, ha="right", va="bottom", fontsize=8)
    return figure


def verdicts(r: dict[str, Any]) -> Figure:
    """Share of PASS, INCONCLUSIVE, FAIL at tiers B and C."""
    names = ("copy", "easy-0.2", "easy-0.5", "easy-1", "defect-outcome")
    rows = [(d, n) for d in DESIGNS for n in names if n in r["paired"][d]]
    figure = Figure(figsize=(7.2, 6.2), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, tier in zip(axes, ("B", "C"), strict=True):
        left = [0.0] * len(rows)
        for word, color, hatch in (
            ("PASS", BLUE, ""), ("INCONCLUSIVE", "#DDDDDD", ""), ("FAIL", ORANGE, "////"),
        ):  # fmt: skip
            width = [r["paired"][d][n]["verdicts"][tier][word]["percent"] for d, n in rows]
            axis.barh(range(len(rows)), width, left=left, color=color, hatch=hatch,
                      edgecolor="white", lw=0.5, label=word)  # fmt: skip
            left = [a + b for a, b in zip(left, width, strict=True)]
        axis.set_title(f"tier {tier}", fontsize=9)
        axis.set_xlabel("% of studies")
        axis.set_xlim(0, 100)
        for k in range(1, len(rows)):
            if rows[k][0] != rows[k - 1][0]:
                axis.axhline(k - 0.5, color="black", lw=0.6)
    axes[0].set_yticks(range(len(rows)), [f"{d}  {n}" for d, n in rows])
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def closing(r: dict[str, Any]) -> Figure:
    """Mean bounds of the index against the number of tasks (3 batches, 3 runs)."""
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots(1, 3)
    for axis, name in zip(axes, ("copy", "easy-0.2", "easy-1"), strict=True):
        designs = [d for d in ("50x3x3", "165x3x3", "495x3x3", "1500x3x3") if d in r["paired"]]
        parts = [r["paired"][d][name]["parts"]["index"] for d in designs]
        tasks = [int(d.split("x")[0]) for d in designs]
        axis.fill_between(tasks, [p["low"] for p in parts], [p["high"] for p in parts],
                          color=BLUE, alpha=0.25, lw=0, label="mean bounds")  # fmt: skip
        axis.plot(tasks, [p["raw"] for p in parts], "o-", ms=4, color=BLUE, label="mean raw score")
        axis.plot(tasks, [p["truth"] for p in parts], color="black", lw=1.2, label="true score")
        axis.set_xscale("log")
        axis.set_xticks(tasks, [str(n) for n in tasks])
        axis.minorticks_off()
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("tasks")
        axis.grid(axis="y", color="#DDDDDD", lw=0.6)
    axes[0].set_ylabel("USI-R, points")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


FIGURES = {
    "validation-bias": bias,
    "validation-false-pass": false_pass,
    "validation-verdicts": verdicts,
    "validation-closing": closing,
}


def write(results: dict[str, Any], folder: Path, kind: str = "svg") -> list[Path]:
    """Draw every figure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with rc_context(STYLE):
        for name, draw in FIGURES.items():
            path = folder / f"{name}.{kind}"
            meta = {"Date": None} if kind == "svg" else None
            draw(results).savefig(path, format=kind, metadata=meta, dpi=110)
            paths.append(path)
    return paths
