"""Removing agent markup from a user turn, in one pass and linear time.

The published definition is a lazy regular expression; on tags that are never closed it looks to
the end of the text again and again. This scanner finds exactly what that expression finds.
"""

from __future__ import annotations

_CALL = "<function="
_CLOSING = {"<|think|>": "<|/think|>", _CALL: "</function>", "<|tool|>": "<|/tool|>"}


def strip_markup(text: str) -> str:
    r"""Text without think, tool and function markup, whichever opens first, left to right.

    ``<|think|>...<|/think|>`` and ``<|tool|>...<|/tool|>`` go only where they are closed;
    ``<function=`` goes up to ``</function>``, else to the end of the text except one final
    newline (arXiv 2603.11245, public scorer).

    >>> strip_markup("a<|think|>b<|/think|>c<function=d\n")
    'ac\n'
    >>> strip_markup("<|think|>never closed")
    '<|think|>never closed'
    """
    # Next opening of each kind. A kind leaves when it has no opening left, or none that can
    # still be closed: what is not closed from here is not closed from further on either.
    following = {opening: text.find(opening) for opening in _CLOSING if opening in text}
    kept: list[str] = []
    position = 0  # all before it is dealt with
    while following:
        opening = min(following, key=following.__getitem__)
        start = following[opening]
        stop = _end(text, opening, start + len(opening))
        if stop < 0:
            del following[opening]
            continue
        kept.append(text[position:start])
        position = stop
        for kind in [kind for kind, place in following.items() if place < position]:
            place = text.find(kind, position)
            if place < 0:
                del following[kind]
            else:
                following[kind] = place
    kept.append(text[position:])
    return "".join(kept)


def _end(text: str, opening: str, start: int) -> int:
    """Where the markup ends whose opening ends at ``start``; -1 where it is not closed."""
    closing = _CLOSING[opening]
    found = text.find(closing, start)
    if found >= 0:
        return found + len(closing)
    if opening != _CALL:
        return -1
    return len(text) - text.endswith("\n")
