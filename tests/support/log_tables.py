"""Session tables of event logs that fit into memory, made in one call."""

from __future__ import annotations

from typing import Any

import polars as pl

from usi.extraction.table import SessionTable
from usi.logs.extract import run_log
from usi.logs.features import PROFILE
from usi.logs.notes import LogNotes


def extract_log_table(log: Any, config: Any, **choices: Any) -> tuple[SessionTable, LogNotes]:
    """The session table of a log and its notes; parameters as of `usi.logs.extract.run_log`."""
    run = run_log(log, config, **choices)
    frame = pl.concat(list(run.blocks()))
    table = SessionTable(frame, PROFILE.name, PROFILE.lexicon, run.notes.synthetic, run.settings)
    return table, run.notes
