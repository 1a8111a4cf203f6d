"""When a scorecard was made: from the run record beside it, if that record is of this file."""

from __future__ import annotations

from pathlib import Path

from usi.errors import InputError
from usi.run.manifest import sha256_file
from usi.run.record import RunRecord, record_path


def scored_on(scorecard: str | Path) -> str | None:
    """Day of scoring (``YYYY-MM-DD``), or ``None`` where no record vouches for this very file.

    Raises
    ------
    InputError
        Where there is a record that can't be read.
    """
    path = record_path(scorecard)
    if not path.is_file():
        return None
    try:
        record = RunRecord.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"not a run record of usi ({error})", file=str(path)) from error
    digest = sha256_file(scorecard)
    if digest not in {part.sha256 for part in record.outputs}:
        return None
    return record.finished[:10]
