"""Content that is a list of parts: its text, and a count of what is none."""

from __future__ import annotations

from typing import Any

from usi.load.context import Context

JOINED = "message: text parts joined by a line end"
_TEXT = frozenset(("text", "input_text", "output_text"))
_KNOWN = frozenset(
    (
        "image", "image_url", "input_image", "audio", "input_audio", "output_audio", "video",
        "file", "input_file", "document", "data", "reasoning", "thinking", "tool_use",
        "tool_result", "tool_call", "tool_call_response", "blob", "uri",
    )
)  # fmt: skip


def text_of(content: Any, context: Context) -> Any:
    """Text of a list of parts; any other content as it is.

    Parts are joined by a line end. Images, audio, files and reasoning hold no words of the
    speaker: they are counted. ``None`` where no text is left.
    """
    if not isinstance(content, list):
        return content
    texts = []
    for part in content:
        text = _part_text(part)
        if text is None:
            context.leave_out(f"part: {_kind(part)}")
        else:
            texts.append(text)
    if len(texts) > 1:
        context.merge(JOINED)
    return "\n".join(texts) if texts else None


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("type", "text")
    if kind == "refusal":
        found = part.get("refusal")
    elif kind in _TEXT:
        found = part.get("text", part.get("content"))
    else:
        return None
    if isinstance(found, dict):  # the Assistants form {"value": ..., "annotations": []}
        found = found.get("value")
    return found if isinstance(found, str) else None


def _kind(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) and kind in _KNOWN else "another kind"
