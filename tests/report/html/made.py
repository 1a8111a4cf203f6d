"""Reports made through the command line from a small synthetic population, once for all tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from command import usi

from usi.phantom import PhantomFiles, build_phantom


@dataclass(frozen=True)
class Made:
    """A scored workspace: ``card.json`` and what stands beside it, ``report.html``."""

    folder: Path
    files: PhantomFiles

    @property
    def page(self) -> Path:
        return self.folder / "report.html"

    @property
    def card(self) -> Path:
        return self.folder / "card.json"

    def html(self) -> str:
        return self.page.read_text(encoding="utf-8")


def make(
    folder: Path,
    *,
    tasks: int = 30,
    simulators: tuple[str, ...] = ("copy", "polite"),
    repeats: int = 2,
) -> Made:
    """Score a phantom with a gate; the exit code is that of its verdict."""
    files = build_phantom(folder / "ph", seed=7, tasks=tasks, batches=repeats, runs=repeats,
                          simulators=simulators)  # fmt: skip
    done = usi(
        "score", *files.simulators.values(), "--human", files.human, "--profile", "robust",
        "--gate", "B", "-o", folder / "card.json", "-o", folder / "report.html",
        "-o", folder / "report.md", "-o", folder / "report.csv",
        "-o", folder / "card.verdict.json", "--replicates", "200", "--print", "none",
    )  # fmt: skip
    assert done.code in (0, 1, 3), done.err
    return Made(folder, files)
