"""Show me: turns that count for each feature, and sessions to read."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from usi.corpora.licences import texts_shown
from usi.diagnose.evidence_files import EvidenceTurn, Message, Transcript
from usi.report.html.document import Docs, codes_of, step
from usi.report.html.source import One
from usi.report.names import name_of
from usi.report.report_data import passed_on_by_side, why_withheld
from usi.report.text import printable


def context(one: One) -> dict[str, Any]:
    """What the template of this part needs."""
    evidence = one.source.beside.evidence
    if evidence is None:
        return {"why_not": one.source.beside.why_no_text, "turns": [], "sessions": []}
    asked = one.source.beside.asked or None
    withheld = [
        name
        for name, allowed in passed_on_by_side(one.source.card).items()
        if name in ("", one.card.name) and not texts_shown(allowed, asked)
    ]
    docs = one.source.docs
    own = one.card.name
    order = [item.name for item in one.part.lost]
    names = sorted(evidence.turns, key=lambda n: (order.index(n) if n in order else len(order), n))
    specs = one.source.specs
    turns = []
    for name in names:
        sides = evidence.turns[name]
        if not sides.get(own) and not sides.get(""):
            continue
        spec = specs.get(name)
        if spec is not None and spec.dimension == "style":
            continue
        base = f"e:/turns/{step(name)}"
        turns.append(
            {
                "name": name,
                "what": spec.description if spec else "",
                "human": [
                    _turn(docs, f"{base}//{k}", turn) for k, turn in enumerate(sides.get("", ()))
                ],
                "own": [
                    _turn(docs, f"{base}/{step(own)}/{k}", turn)
                    for k, turn in enumerate(sides.get(own, ()))
                ],
            }
        )
    sessions = [
        *(
            _session(docs, f"e:/sessions/{step(own)}/{k}", item, one)
            for k, item in enumerate(evidence.sessions.get(own, ()))
        ),
        *(
            _session(docs, f"e:/sessions//{k}", item, one, people=True)
            for k, item in enumerate(evidence.sessions.get("", ()))
        ),
    ]
    return {
        "why_not": None,
        "turns": turns,
        "sessions": sessions,
        "withheld": withheld,
        "why_withheld": why_withheld(one.source.card),
    }


def marked(docs: Docs, pointer: str, message: Message) -> Markup:
    """Text of a message with its spans highlighted; everything escaped."""
    text, at, pieces = message.text, 0, []
    for start, end in message.spans:
        if start < at or end > len(text) or (start == 0 and end == len(text)):
            continue
        pieces.append(escape(_safe(text[at:start])))
        pieces.append(Markup("<mark>{}</mark>").format(_safe(text[start:end])))
        at = end
    pieces.append(escape(_safe(text[at:])))
    inner = Markup("").join(pieces)
    body = Markup('<bdi data-p="s {}/text">{}</bdi>').format(pointer, inner)
    if message.cut:
        body += Markup(' <span class="soft">… {} more characters</span>').format(
            docs.show(f"{pointer}/cut", "i")
        )
    return body


def _safe(text: str) -> str:
    return printable(text, newlines=True)


def _turn(docs: Docs, pointer: str, turn: EvidenceTurn) -> dict[str, Any]:
    return {
        "p": pointer,
        "text": marked(docs, f"{pointer}/message", turn.message),
        "before": marked(docs, f"{pointer}/before", turn.before) if turn.before else None,
    }


def _session(
    docs: Docs, pointer: str, item: Transcript, one: One, *, people: bool = False
) -> dict[str, Any]:
    features = {**one.card.features, **one.card.style}
    far = []
    for k, deviation in enumerate(item.far):
        part = features.get(deviation.feature)
        code = codes_of(part.unit)[0] if part else "2"
        far.append((deviation.feature, f"{pointer}/far/{k}", code))
    return {
        "p": pointer,
        "people": people,
        "kind": item.kind,
        "far": far,
        "left_out": item.left_out,
        "messages": [
            {
                "role": message.role,
                "turn": f"{pointer}/messages/{k}/turn" if message.turn else None,
                "marks": [name_of(mark) for mark in message.marks],
                "note": message.note,
                "text": marked(docs, f"{pointer}/messages/{k}", message)
                if message.text.strip()
                else None,
            }
            for k, message in enumerate(item.messages)
        ],
    }
