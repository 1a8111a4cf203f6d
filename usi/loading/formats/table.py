"""Tables with one message a row: CSV, Parquet, and frames of pandas and polars.

From rows of messages to sessions, whatever table they stand in.

Which column of a table means what: as the caller says, else by usual names.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import Any

from usi.csv_cells import safe_cell
from usi.errors import InputError, quoted, told_columns, unknown_name
from usi.loading.context import Context
from usi.loading.fields import BadField, kind, number, survey_of
from usi.loading.formats import wildchat
from usi.loading.formats.cells import (
    BINARY,
    CSV_COLUMNS,
    delimiter_of,
    is_nested,
    names_and_rows,
    one_a_message,
    records_of,
    talk_columns,
)
from usi.loading.formats.openai_chat import ACTION, OTHER_ROLE, TALK
from usi.loading.formats.usi_jsonl import session_of
from usi.loading.messages import JOINED
from usi.loading.notes import InputFile, LoadNotes
from usi.loading.reader import About, Target, carries
from usi.loading.role_names import SYNONYMS
from usi.loading.sample import LOOKED_AT, Sample
from usi.loading.times import moment, stamp_of
from usi.options import MEANINGS, check_map
from usi.reading import decimal_number, parse_json, whole_number
from usi.records import MISSING, Session, Turn

USUAL: dict[str, tuple[str, ...]] = {
    "session": (
        "session_id", "session", "conversation_id", "conversationid", "conv_id", "convid",
        "dialogue_id", "dialogueid", "dialog_id", "dialogid", "chat_id", "thread_id",
        "ticket_id", "conversation", "dialogue",
    ),
    "role": ("role", "speaker", "author", "sender", "participant_role", "from", "speaker_role",
             "author_role", "authorrole"),
    "text": ("text", "content", "utterance", "message", "value", "body", "message_text"),
    "order": ("turn", "turn_number", "turnnumber", "turn_idx", "turn_id", "utt_idx",
              "message_index", "position"),
    "time": ("timestamp", "created_at", "time", "sent_at"),
    "name": ("name", "speaker_name"),
    "task": ("task_id", "task"),
    "trial": ("trial", "run", "epoch"),
    "batch": ("batch",),
    "domain": ("domain",),
    "simulator": ("simulator",),
    "participant": ("participant", "user_id", "customer_id"),
    "agent": ("agent", "agent_id"),
    "reward": ("reward", "success"),
    "outcome": ("outcome",),
    "termination": ("termination", "termination_reason"),
    "status": ("status",),
    "status_reason": ("status_reason",),
    "survey": ("survey",),
    "layout": ("layout",),
    "keep": ("keep",),
    "error_tags": ("error_tags",),
}  # fmt: skip
"""What is meant -> names that columns of that meaning usually have, in small letters."""
NEEDED: tuple[str, ...] = ("session", "role", "text")
_OPTIONAL = tuple(meaning for meaning in MEANINGS if meaning not in NEEDED)


@dataclass(frozen=True)
class Columns:
    """Meaning -> column, and which meanings were guessed from names."""

    of: Mapping[str, str]
    guessed: tuple[str, ...] = ()


def plain(name: str) -> str:
    """Name of a column in the spelling of `USUAL`."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def columns_of(
    names: Sequence[str], given: Mapping[str, str], needed: Sequence[str] = NEEDED
) -> Columns | None:
    """Columns of a table, or ``None`` where one that is needed is neither given nor told.

    Raises
    ------
    UsageError
        A named column is not in the table (with near matches).
    """
    check_map(given)
    for column in given.values():
        if column not in names:
            raise unknown_name("column", column, list(names))
    of = dict(given)
    guessed = []
    small: dict[str, str] = {}
    for name in names:
        small.setdefault(plain(name), name)
    for meaning in (*NEEDED, *_OPTIONAL):
        if meaning in of:
            continue
        taken = set(of.values())
        found = next(
            (
                small[usual]
                for usual in USUAL[meaning]
                if usual in small and small[usual] not in taken
            ),
            None,
        )
        if found is not None:
            of[meaning] = found
            guessed.append(meaning)
    if any(meaning not in of for meaning in needed):
        return None
    order = of.get("order", "")
    if "time" not in of and plain(order) in USUAL["time"]:
        of["time"] = order  # a moment says in which order, and how long after
    return Columns(of, tuple(guessed))


Row = Mapping[str, Any]
_TEXT_FIELDS = {
    "domain": "domain", "simulator": "simulator", "outcome": "outcome",
    "termination": "termination", "status": "status", "status_reason": "status_reason",
    "participant": "participant", "agent": "agent", "layout": "layout",
}  # fmt: skip
_APART = ("trial", "batch", "simulator")
_VARIES = "field: differs within a session, the first value counts"


def sessions_of_rows(
    rows: Iterable[tuple[int, Row]], columns: Columns, context: Context
) -> Iterator[Session]:
    """Sessions in the order of their first rows; messages in the order of the table or column.

    Rows of a session need not lie together. A row with neither role nor text is a session in
    which nothing was said.
    """
    of = columns.of
    groups: dict[tuple[str, ...], list[tuple[int, Row]]] = {}
    latest: dict[str, tuple[str, ...]] = {}
    for place, row in rows:
        named = context.made(partial(_names, row, of), place)
        if named is None:
            continue
        own, told = named
        # Identity may stand in the first row of a session alone.
        key = latest[own] if own in latest and not any(told) else (own, *told)
        latest[own] = key
        groups.setdefault(key, []).append((place, row))
    for group in groups.values():
        session = context.build(lambda g=group: _session(g, of, context), group[0][0])  # type: ignore[misc]
        if session is not None:
            yield session


def _names(row: Row, of: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Session of a row, and what tells sessions of one name apart."""
    own = text_cell(row, of["session"])
    if own is None:
        raise BadField(of["session"], "is empty: no session is named")
    return own, tuple(text_cell(row, of[k]) or "" for k in _APART if k in of)


def text_cell(row: Row, column: str) -> str | None:
    """A cell as text; an empty one, null and NaN are ``None``; 3.0 is ``3``.

    Raises
    ------
    BadField
        The cell holds bytes that are not UTF-8, or a list or structure.
    """
    text = _text(row, column)
    return None if text is None or not text.strip() else text


def _text(row: Row, column: str) -> str | None:
    value = row.get(column)
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            raise BadField(column, "holds bytes that are not UTF-8 text") from None
    if isinstance(value, float) and math.isnan(value):
        return None
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, Mapping | list | tuple | set) or hasattr(value, "tolist"):
        plain = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(plain, Mapping | list | tuple | set):
            raise BadField(column, f"must be text, not {kind(plain)}; a cell is one text here")
        value = plain
    return str(value)


def _session(
    group: list[tuple[int, Row]], of: Mapping[str, str], context: Context
) -> Session | None:
    place, first = group[0]
    ordered = _ordered(group, of, context)
    record: dict[str, Any] = {
        "id": text_cell(first, of["session"]),
        "layout": "table",
        "messages": [m for _, row in ordered if (m := _message(row, of, context)) is not None],
    }
    for meaning in of:
        if meaning in ("session", "role", "text", "name", "order", "time"):
            continue
        values = {text_cell(row, of[meaning]) for _, row in group} - {None}
        if len(values) > 1:
            context.guess(_VARIES)
        cell = next(
            (found for _, row in group if (found := text_cell(row, of[meaning])) is not None),
            None,
        )
        if cell is not None:
            _put(record, meaning, cell, of[meaning])
    return session_of(record, place, context)


def _ordered(
    group: list[tuple[int, Row]], of: Mapping[str, str], context: Context
) -> list[tuple[int, Row]]:
    """Rows by the column of the order, else of the time, where every row has it; else as they
    stand."""
    column = of.get("order", of.get("time"))
    if column is None:
        return group
    cells = [text_cell(row, column) for _, row in group]
    if any(cell is None for cell in cells):
        return group
    numbers = [_as_number(str(cell)) for cell in cells]
    keys: list[Any] = cells if any(found is None for found in numbers) else numbers
    if column == of.get("time") and keys is cells:
        keys = _moments([row.get(column) for _, row in group]) or cells
    order = sorted(range(len(group)), key=lambda i: keys[i])
    if order != list(range(len(group))):
        context.guess("session: rows were put in the order of their column")
    return [group[i] for i in order]


def _moments(cells: list[Any]) -> list[datetime] | None:
    """Cells as moments, where all are and they can be compared."""
    found = [moment(cell) for cell in cells]
    known = [when for when in found if when is not None]
    alike = len({when.tzinfo is None for when in known}) == 1
    return known if len(known) == len(found) and alike else None


def _as_number(text: str) -> float | None:
    found = decimal_number(text)
    return found if found is not None and math.isfinite(found) else None


def _message(row: Row, of: Mapping[str, str], context: Context) -> dict[str, Any] | None:
    found = text_cell(row, of["role"])
    content = _text(row, of["text"])
    if found is None and (content is None or not content.strip()):
        return None
    name = text_cell(row, of["name"]) if "name" in of else None
    if found is None:
        context.leave_out("message: names no role")
        return None
    if context.is_chosen(found, name):
        role: str | None = found
    else:
        role = SYNONYMS.get(found.strip().lower())
    if role in ("system", "tool"):
        context.leave_out(
            {"system": "message: system prompt", "tool": "message: tool result"}[role]
        )
        return None
    if role is None:
        if context.options.user_role is None and context.options.user_speaker is None:
            raise BadField(
                of["role"],
                f"{quoted(found)} is neither a user nor an agent by its name; say who the user is "
                "with --user-role",
            )
        role = "assistant"
    message: dict[str, Any] = {"role": role, "content": content}
    if name is not None:
        message["name"] = name
    if "time" in of:
        message["time"] = stamp_of(row.get(of["time"]), context)
    return message


def _put(record: dict[str, Any], meaning: str, cell: str, column: str) -> None:
    if meaning in _TEXT_FIELDS:
        record[_TEXT_FIELDS[meaning]] = cell
    elif meaning in ("task", "trial"):
        record["task_id" if meaning == "task" else "trial"] = cell
    elif meaning == "batch":
        batch = whole_number(cell)
        if batch is None:
            raise BadField(column, f"a batch must be a whole number from 1, not {quoted(cell)}")
        record["batch"] = batch
    elif meaning == "reward":
        record["reward"] = _reward(cell, column)
    elif meaning == "survey":
        record["survey"] = _json(cell, column)
        survey_of(record["survey"])
    elif meaning == "keep":
        record["keep"] = _truth(cell, column)
    elif meaning == "error_tags":
        record["error_tags"] = [] if cell == "none" else cell.split(",")


def _truth(cell: str, column: str) -> Any:
    words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
    if cell.strip().lower() not in words:
        raise BadField(column, f"must be true or false, not {quoted(cell)}")
    return words[cell.strip().lower()]


def _reward(cell: str, column: str) -> float | None:
    words = {"true": 1.0, "yes": 1.0, "success": 1.0, "false": 0.0, "no": 0.0, "failure": 0.0}
    if cell.strip().lower() in words:
        return words[cell.strip().lower()]
    found = decimal_number(cell)
    if found is None:
        raise BadField(column, f"a reward must be a number, true or false, not {quoted(cell)}")
    return number(found, column)


def _json(cell: str, column: str) -> Any:
    try:
        return parse_json(cell, column)
    except InputError:
        raise BadField(column, "a survey must be a JSON object {item: answer}") from None


NAME = "table"
FILE = "file"
"""Column that stands for the session where every file is one."""
ABOUT = About(
    holds="CSV, Parquet, Arrow or JSON Lines, one message a row, with columns for session, role "
    "and text (--map); or one conversation a row, in any layout of JSON Lines; or one a file",
    carries=carries("agent", "task", "run", "outcome", "survey", "person"),
    lacks="tool calls, null content and metadata: a cell is text",
    follows="RFC 4180 (CSV), Apache Parquet",
    version="as pyarrow reads them",
    told_by="columns, or the first bytes of Parquet and Arrow",
)


def recognise(sample: Sample) -> bool:
    """Parquet or Arrow; columns for session, role and text, or cells that hold conversations."""
    if sample.head.startswith(BINARY):
        return True
    given = sample.options.map
    if looks_like_table(sample):
        return columns_of(header_of(sample), given) is not None or any(
            is_nested(cell) for row in first_rows(sample) for cell in row
        )
    rows = [row for row in sample.records if isinstance(row, dict)]
    if not rows or len(rows) < len(sample.records):
        return False
    talk = talk_columns(rows)
    if not given:
        return not talk and columns_of(_keys(rows), {}) is not None
    return bool(given.keys() & set(NEEDED)) and (
        _mapped_inside(rows, given) != "" or columns_of(_keys(rows), given) is not None
    )


def _keys(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _mapped_inside(rows: Sequence[Row], given: Mapping[str, str]) -> str:
    """Column of lists whose objects hold the columns that were named for role and text."""
    wanted = {given[meaning] for meaning in ("role", "text") if meaning in given}
    for row in rows:
        for name, cell in row.items():
            talk = cell if isinstance(cell, list) else None
            if wanted and talk and isinstance(talk[0], Mapping) and wanted <= talk[0].keys():
                return name
    return ""


def first_rows(sample: Sample) -> list[list[str]]:
    """Cells of the first rows below the header, as far as they stand in the head of the file."""
    text = sample.head.decode("utf-8", "replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(sample.first_line))
    try:
        return list(islice(rows, 1, LOOKED_AT))
    except csv.Error:
        return []


def is_one_conversation(sample: Sample) -> bool:
    """Whether a table has columns for role and text and none for the session."""
    if not looks_like_table(sample) or columns_of(header_of(sample), sample.options.map):
        return False
    return columns_of(header_of(sample), sample.options.map, ("role", "text")) is not None


def looks_like_table(sample: Sample) -> bool:
    """Whether the first line is a header of several columns."""
    if sample.first in (b"", b"{", b"[") or b"\x00" in sample.head[:4096]:
        return False
    header = header_of(sample)
    # Frames written with their index have a first column without a name.
    return len(header) > 1 and all(name.strip() for name in header[1:])


def header_of(sample: Sample) -> list[str]:
    """Names of the columns in the first line."""
    return _split(sample.first_line)


def _split(line: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter_of(line)), [])
    except csv.Error:
        return []


def unnamed_columns(sample: Sample) -> InputError:
    """The refusal of a table whose columns are not told by their names."""
    return _unnamed(header_of(sample), sample.source.name)


def _unnamed(names: Iterable[str], file: str) -> InputError:
    shown = told_columns(names, MOST_NAMED)[:400]
    return InputError(
        "a table in which no columns for session, role and text are told by their names "
        f"(columns: {shown}). If it holds transcripts with one message a row, name them: "
        "--map session=COLUMN,role=COLUMN,text=COLUMN; if every file is one conversation, give "
        "the folder. Operational logs (case, activity, time) are no transcripts: usi logs",
        file=file,
    )


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of their first rows; all rows of a file are held in memory."""
    if context.source.layout == NAME:
        yield from _one_a_file(context)
        return
    names, rows = names_and_rows(context)
    first = list(islice(rows, LOOKED_AT))
    rows = chain(first, rows)
    if wildchat.has_columns(names) and not any(
        isinstance(row["conversation"], str) for _, row in first
    ):
        yield from wildchat.sessions_of_rows(rows, context)
        return
    shown = [row for _, row in first]
    given = context.options.map
    column = _mapped_inside(shown, given)
    if column:
        inside = _keys(message for row in shown for message in row.get(column) or ())
        own = given.get("session") or next((n for n in names if plain(n) in USUAL["session"]), None)
        own, rows = one_a_message(rows, column, own)
        names = list(dict.fromkeys([own, *(n for n in names if n != column), *inside]))
        columns = columns_of(names, {**given, "session": own})
        if columns is not None:
            yield from sessions_of_rows(rows, columns, context)
            return
    told = columns_of(names, given) is not None
    nested = any(is_nested(cell) for row in shown for cell in row.values())
    if nested and (talk_columns(shown) or not told) and not given:
        yield from context.read_records(records_of(rows, context))
        return
    yield from sessions_of_rows(rows, chosen(names, context), context)


def _one_a_file(context: Context) -> Iterator[Session]:
    """Tables without a column for the session, one conversation each, named by their files."""
    for part in (context.source, *context.source.parts):
        inner = replace(context, source=part, file=InputFile(part.name, NAME))
        with context.open(None if part is context.source else part):
            names, rows = names_and_rows(inner)
            columns = columns_of([FILE, *names], {**context.options.map, "session": FILE})
            if columns is None:
                raise _unnamed(names, part.name)
            own = part.filename.rpartition(".")[0] or part.filename
            listed = ((number, {FILE: own, **row}) for number, row in rows)
            yield from sessions_of_rows(listed, columns, inner)
        context.guess("session: has no column for it; one file is taken for one session")


def chosen(names: list[str], context: Context) -> Columns:
    """Columns of a table; what was told by a name is noted as guessed.

    Raises
    ------
    InputError
        Session, role or text are not told.
    """
    columns = columns_of(names, context.options.map)
    if columns is None:
        raise _unnamed(names, context.source.name)
    for meaning in columns.guessed:
        if columns.of[meaning] != USUAL[meaning][0]:
            context.guess(f"field: column {quoted(columns.of[meaning])} taken for {meaning}")
    rest = [name for name in names if name not in columns.of.values()]
    if rest:
        context.leave_out("field: column without a meaning here", len(rest))
        more = f" and {len(rest) - MOST_NAMED} more" if len(rest) > MOST_NAMED else ""
        context.notes.remark(
            f"columns without a meaning here: {told_columns(rest, MOST_NAMED)}{more}; --map "
            "MEANING=COLUMN gives one a meaning (task, reward, domain, trial, ...)"
        )
    return columns


MOST_NAMED = 20
"""Columns that a message names."""
NO_ERRORS = "none"
"""Cell of sessions that were reviewed and found without an error."""


def _lines(sessions: Iterable[Session], notes: LoadNotes) -> Iterator[str]:
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, CSV_COLUMNS, lineterminator="\r\n")

    def taken() -> str:
        text = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return text

    writer.writeheader()
    yield taken()
    for session in sessions:
        shared = _cells(session, notes)
        talk = [(i, turn) for i, turn in enumerate(session.turns) if turn.role in TALK]
        if len(talk) < len(session.turns):
            notes.left_out[OTHER_ROLE] += len(session.turns) - len(talk)
        actions = sum(turn.is_action for _, turn in talk)
        if actions:  # without its calls one would be read as an empty utterance
            notes.left_out[ACTION] += actions
            talk = [(i, turn) for i, turn in talk if not turn.is_action]
        if not talk:
            writer.writerow(_row(shared))
        for i, turn in talk:
            own = {
                "turn": i,
                "timestamp": None if turn.time is None else turn.time.isoformat(),
                "role": turn.role,
                "name": turn.name,
                "text": _text_cell(turn, notes),
            }
            writer.writerow(_row({**shared, **own}))
        yield taken()


def _row(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: safe_cell(cell) for name, cell in cells.items()}


def _text_cell(turn: Turn, notes: LoadNotes) -> str:
    if turn.tool_calls:
        notes.left_out["field: tool calls"] += 1
    content = turn.content
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        notes.merged[JOINED] += 1
        return "\n".join(text for text in texts if isinstance(text, str))
    if content is None or content is MISSING:
        notes.merged["message: null or missing content, written as an empty text"] += 1
        return ""
    if not isinstance(content, str):
        notes.merged["message: content that is no text, written as text"] += 1
    return str(content)


def _cells(session: Session, notes: LoadNotes) -> dict[str, Any]:
    if session.meta:
        notes.left_out["field: metadata of a session"] += 1
    if session.keep is not MISSING and not isinstance(session.keep, bool):
        notes.merged["field: keep mark, written as true or false"] += 1
    outcome = session.outcome
    tags = session.error_tags
    survey = session.survey
    cells: dict[str, Any] = {
        "session_id": session.session_id,
        "task_id": session.task_id,
        "trial": session.trial,
        "batch": session.batch,
        "domain": session.domain,
        "simulator": session.simulator,
        "participant": session.participant,
        "agent": session.agent,
        "reward": None if outcome.reward is None else repr(outcome.reward),
        "outcome": outcome.label,
        "termination": outcome.termination,
        "status": session.status,
        "status_reason": session.status_reason,
        "survey": None if survey is None else json.dumps({a.item: a.answer for a in survey}),
        "layout": session.layout,
        "keep": None if session.keep is MISSING else bool(session.keep),
        "error_tags": None if tags is None else ",".join(tags) or NO_ERRORS,
    }
    return cells


TARGET = Target(
    "csv",
    (".csv", ".csv.gz"),
    _lines,
    "messages of other roles, tool calls, actions, metadata; null content, parts",
)
