"""Many studies, in blocks, on one or several processes; the result depends on neither."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from study import classifier, paired, unpaired, versions
from study.cells import CLASSIFIER, PAIRED, UNPAIRED, VERSIONS, Cell
from study.truth import Truth, truth_of

KINDS: dict[str, tuple[Callable[..., list[Any]], tuple[Cell, ...]]] = {
    "paired": (paired.one_study, PAIRED),
    "unpaired": (unpaired.one_study, UNPAIRED),
    "versions": (versions.one_study, VERSIONS),
    "classifier": (classifier.one_study, (CLASSIFIER,)),
}
BLOCK = 10


@dataclass(frozen=True)
class Block:
    """Some studies of one cell."""

    kind: str
    cell: Cell
    first: int
    last: int
    truths: dict[str, Truth]


def run_block(block: Block) -> list[Any]:
    """Rows of all studies of a block."""
    one = KINDS[block.kind][0]
    return [
        row
        for number in range(block.first, block.last)
        for row in one(block.cell, number, block.truths)
    ]


def blocks(kind: str, cell: Cell, studies: int) -> list[Block]:
    """The blocks of a cell, with the true values of its simulators."""
    truths = {} if kind == "classifier" else {name: truth_of(name) for name in cell.simulators}
    return [
        Block(kind, cell, first, min(first + BLOCK, studies), truths)
        for first in range(0, studies, BLOCK)
    ]


def run(
    kind: str,
    studies: int,
    *,
    cells: tuple[Cell, ...] | None = None,
    processes: int = 1,
    told: Callable[[str], None] = lambda text: None,
) -> list[tuple[Cell, list[Any]]]:
    """Rows of every cell of a kind.

    Parameters
    ----------
    kind
        A key of `KINDS`.
    studies
        Studies in a cell of share 1.
    cells
        Instead of the cells of that kind.
    processes
        Worker processes (spawned); 1 = in this one.
    told
        Called with a line of progress after each cell.
    """
    found = []
    for cell in cells or KINDS[kind][1]:
        todo = blocks(kind, cell, cell.studies(studies))
        if processes == 1:
            done = [run_block(block) for block in todo]
        else:
            with multiprocessing.get_context("spawn").Pool(processes) as pool:
                done = pool.map(run_block, todo, chunksize=1)
        found.append((cell, [row for rows in done for row in rows]))
        told(f"{kind} {cell.name}: {cell.studies(studies)} studies")
    return found


def one_thread() -> None:
    """Keep libraries to one thread in this process and its children; call before importing."""
    for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
