"""MultiDoGO: conversations of people with people playing a service agent, tab-separated.

Dataset of awslabs (CDLA-Permissive-1.0; EMNLP 2019, "Multi-Domain Goal-Oriented Dialogues"). The
annotated files hold the customers' turns alone; the unannotated ones have both sides. Quotation
marks are text: the files know no quoting.
"""

from __future__ import annotations

from collections.abc import Iterator

from usi.errors import InputError, quoted
from usi.loading.context import Context
from usi.loading.fields import BadField
from usi.loading.jsonstream import not_utf8
from usi.loading.reader import About, carries
from usi.loading.sample import Sample
from usi.loading.source import Stream
from usi.reading import whole_number
from usi.records import Session, Turn

NAME = "multidogo"
ABOUT = About(
    holds="MultiDoGO tables (tab-separated, no quoting): one turn a row",
    carries=carries("agent"),
    lacks="what the agent says (annotated files), outcome, survey, tasks, who took part",
    follows="awslabs/multi-domain-goal-oriented-dialogues-dataset README",
    version="commit baa3063",
    told_by="the header",
)
CUT = "message: a text that was cut by a line end"
_HEADER = ("conversationId", "turnNumber", "utteranceId", "utterance")


def recognise(sample: Sample) -> bool:
    """Whether a file begins with the header of this format."""
    return tuple(sample.first_line.split("\t")[:4]) == _HEADER


def read(context: Context) -> Iterator[Session]:
    """Sessions in the order of their first row; turns by their number."""
    rows: dict[str, list[tuple[int, int, str, str]]] = {}
    name = context.source.name
    sides: set[str] = set()
    with context.open() as stream:
        lines = _rows(stream, context)
        columns = next(lines)[1]
        if tuple(columns[:4]) != _HEADER:
            raise InputError(f"the header must begin with {', '.join(_HEADER)}", file=name)
        for number, cells in lines:
            if len(cells) != len(columns):
                message = f"has {len(cells)} cells, the header has {len(columns)}"
                context.notes.add_problem(InputError(message, file=name, row=number))
                continue
            try:
                turn = _turn(dict(zip(columns, cells, strict=True)), number)
            except BadField as bad:
                context.notes.add_problem(bad.at(name, number))
                continue
            rows.setdefault(cells[0], []).append(turn)
            sides.add(turn[2])
    if sides == {"user"}:
        context.notes.remark(
            "customer turns only: what the agent said is not in the file, so features that look "
            "at it (echo, turns per session) can't be compared with data that have both sides"
        )
    if "slot-labels" in columns or "intent" in columns:
        context.leave_out("field: slot labels and intents", sum(map(len, rows.values())))
    cut = context.notes.merged[CUT]
    if cut:
        context.notes.remark(
            f"{cut} lines carry on the text of the line before; read as rows of their own, as "
            "tools without this rule do, they would look like conversations of one turn"
        )
    domain = context.source.filename.split("_")[0].split(".")[0].lower()
    for row, (own, turns) in enumerate(rows.items(), start=1):
        if not context.is_new(("id", own), "session: duplicate id"):
            continue
        yield Session(
            session_id=own,
            turns=tuple(Turn(role, text) for _, _, role, text in sorted(turns)),
            simulator=context.label,
            domain=context.options.domain or domain,
            layout=NAME,
            row=row,
        )


def _rows(stream: Stream, context: Context) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every row; a line end inside a cell cuts its row in two."""
    name = context.source.name
    number = offset = width = 0
    begun: list[str] = []
    first = 0
    while line := stream.readline(context.options.max_record):
        number += 1
        try:
            text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise not_utf8(offset + error.start, file=name, row=number) from None
        offset += len(line)
        cells = text.split("\t")
        if begun and len(begun) + len(cells) - 1 <= width:
            context.merge(CUT)
            cells = [*begun[:-1], f"{begun[-1]}\n{cells[0]}", *cells[1:]]
        elif begun:
            yield first, begun
            first = number
        else:
            first = number
        width = width or len(cells)
        begun = cells if len(cells) < width and cells != [""] else []
        if not begun and cells != [""]:
            yield first, cells
    if begun:
        yield first, begun


def _turn(cells: dict[str, str], number: int) -> tuple[int, int, str, str]:
    if not cells["conversationId"]:
        raise BadField("conversationId", "is empty")
    turn = whole_number(cells["turnNumber"])
    if turn is None:
        raise BadField("turnNumber", f"must be a whole number, not {quoted(cells['turnNumber'])}")
    author = cells.get("authorRole", "customer").strip().lower()
    if author not in ("customer", "agent"):
        raise BadField("authorRole", f"must be customer or agent, not {quoted(author)}")
    role = "user" if author == "customer" else "assistant"
    return turn, number, role, cells["utterance"]
