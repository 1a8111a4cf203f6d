"""AB-ReDial: recommendation dialogues that several people rated for satisfaction (CSV).

Dataset of Clemencia Siro and others (MIT; arXiv 2204.12186). One row is one person's rating of
one dialogue; the k-th rating of a dialogue becomes batch k of the task that is the dialogue, so
that ratings of the same transcript can be compared.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from usi.errors import InputError, quoted
from usi.loading.context import Context
from usi.loading.fields import BadField
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.reading import decimal_number
from usi.records import Session, SurveyAnswer, Turn

NAME = "abredial"
ABOUT = About(
    holds="AB-ReDial annotated_dialogues.csv: one person's rating of a dialogue a row",
    carries=carries("agent", "task", "survey"),
    lacks="reward, tool calls, who took part",
    follows="arXiv 2204.12186, Clemenciah/AB-ReDial",
    version="commit ad8912c",
    told_by="the header",
)
DOMAIN = "movies"
ITEMS = ("understanding", "task-completion", "interest-arousal", "efficiency", "dialogue-overall")
"""Rated items, each a small whole number; empty where a person gave none."""
_FIRST = b"ConvId,utterance0,"
_SPEAKER = re.compile(r"(USER|SYSTEM)\s*")
_ROLES = {"USER": "user", "SYSTEM": "assistant"}


def recognise(sample: Sample) -> bool:
    """Whether a file begins with the header of this format."""
    return sample.head.startswith(_FIRST)


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of the rows."""
    name = context.source.name
    with context.open() as stream:
        lines = io.TextIOWrapper(stream.buffered, encoding="utf-8-sig", newline="")
        rows = csv.DictReader(lines, strict=True)
        texts: defaultdict[str, list[tuple[Turn, ...]]] = defaultdict(list)
        ratings: defaultdict[str, int] = defaultdict(int)
        try:
            _check_header(rows.fieldnames or (), name)
            for number, row in enumerate(rows, start=1):
                found = context.build(
                    lambda r=row, n=number: _session(r, n, context, texts, ratings),  # type: ignore[misc]
                    number,
                )
                if found is not None:
                    yield found
        except UnicodeDecodeError as error:
            raise InputError(
                f"is not UTF-8 (near byte {error.start} of a block)", file=name
            ) from None
        except csv.Error as error:
            raise InputError(f"is no well-formed CSV: {error}", file=name) from None
        finally:
            lines.detach()


def _check_header(names: Any, file: str) -> None:
    missing = [item for item in ITEMS if item not in names]
    if missing:
        raise InputError(
            f"has no column {missing[0]!r}. Ratings of whole dialogues are in "
            "annotated_dialogues.csv; ratings of turns are not read",
            file=file,
        )


def _session(
    row: Mapping[Any, Any],
    number: int,
    context: Context,
    texts: dict[str, list[tuple[Turn, ...]]],
    ratings: dict[str, int],
) -> Session:
    if None in row:
        raise BadField("", "has more cells than the header")
    own = row["ConvId"]
    if not own:
        raise BadField("ConvId", "is empty")
    turns = tuple(_turns(row))
    # Some ids stand for two dialogues: the second one gets a number.
    seen = texts[own]
    if turns not in seen:
        seen.append(turns)
    place = seen.index(turns) + 1
    task = own if place == 1 else f"{own}-{place}"
    ratings[task] += 1
    return Session(
        session_id=f"{task}_rating{ratings[task]}",
        turns=turns,
        simulator=context.label,
        domain=context.domain(DOMAIN),
        task_id=task,
        batch=ratings[task],
        layout=NAME,
        survey=tuple(SurveyAnswer(item, _answer(row[item], item)) for item in ITEMS),
        row=number,
        meta={"justification": row.get("justification-text") or None},
    )


def _turns(row: Mapping[Any, Any]) -> Iterator[Turn]:
    """Utterances, written ``USER`` or ``SYSTEM``, white space, text."""
    for name, cell in row.items():
        if not str(name).startswith("utterance") or not cell:
            continue
        speaker = _SPEAKER.match(cell)
        if speaker is None:
            raise BadField(name, "must begin with USER or SYSTEM")
        yield Turn(_ROLES[speaker[1]], cell[speaker.end() :])


def _answer(cell: str | None, item: str) -> str | None:
    """A rating as whole number (``3.0`` is ``3``), or ``None``."""
    if cell is None or not cell.strip():
        return None
    value = decimal_number(cell)
    if value is None:
        raise BadField(item, f"must be a number, not {quoted(cell)}")
    if not value.is_integer():
        raise BadField(item, f"must be a whole number, not {quoted(cell)}")
    return str(int(value))
