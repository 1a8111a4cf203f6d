"""Survey files of the tau-usi layout: ``survey_data/survey_comparable_<label>.json``."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Any

from usi.errors import InputError
from usi.loading.fields import BadField, kind, survey_of
from usi.loading.jsonstream import Cursor
from usi.loading.sample import LOOKED_AT, Sample
from usi.loading.source import Source, file_source
from usi.options import MAX_RECORD
from usi.reading import reading
from usi.records import SurveyAnswer

Surveys = dict[str, tuple[SurveyAnswer, ...] | None]
_NAME = re.compile(r"survey_comparable_(?P<label>.+?)\.json(\.(gz|xz|zst))?")


def recognise(sample: Sample) -> bool:
    """An object among whose first members is a survey; a session would have its messages before."""
    for member in islice(sample.outline, LOOKED_AT):
        if member.key == "messages":
            return False
        if "survey" in member.fields:
            return True
    return False


def read_surveys(directory: str | Path) -> dict[str, Surveys]:
    """Surveys of every label of a folder.

    Parameters
    ----------
    directory
        Holds ``survey_comparable_<label>.json`` files: ``{id: {"survey": {item: ...}}}``.

    Returns
    -------
    dict
        Label to id to answers, ids in file order (the published imputation depends on it); a
        survey that is null or absent is ``None``.

    Raises
    ------
    InputError
        The folder is missing or holds no such file, or a survey does not hold what it should.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError("there is no such folder of surveys", file=str(directory))
    found = {}
    for path in sorted(folder.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match:
            found[match["label"]] = read_survey_file(path, f"{directory}/{path.name}")
    if not found:
        raise InputError(
            "holds no survey_comparable_<label>.json; pass --surveys none to score without",
            file=str(directory),
        )
    return found


def read_survey_file(path: Path, name: str | None = None) -> Surveys:
    """Surveys of one file, ids in file order; of a repeated id the last survey counts."""
    source = file_source(path, name or str(path))
    source.check_not_empty()
    with reading(source.name):
        return _surveys(source)


def _surveys(source: Source) -> Surveys:
    surveys: Surveys = {}
    with source.open() as stream:
        cursor = Cursor(stream, file=source.name, max_record=MAX_RECORD)
        if cursor.peek() != b"{":
            cursor.fail("a survey file is an object of id to {survey}")
        for row, key in enumerate(cursor.members(), start=1):
            entry = cursor.value()
            try:
                surveys[key] = survey_of(_survey(entry))
            except BadField as bad:
                raise InputError(
                    bad.message, file=source.name, row=row, field=f"{key}.{bad.field}"
                ) from None
        cursor.end()
    return surveys


def _survey(entry: Any) -> Any:
    """The survey of an entry, which may be wrapped (``{"survey": ...}``), bare, or null."""
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise BadField("survey", f"an entry must be an object, not {kind(entry)}")
    return entry.get("survey", entry)
