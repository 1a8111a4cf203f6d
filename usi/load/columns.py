"""Which column of a table means what: as the caller says, else by usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from usi.errors import UsageError, unknown_name

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
MEANINGS: tuple[str, ...] = tuple(USUAL)
NEEDED: tuple[str, ...] = ("session", "role", "text")
_OPTIONAL = tuple(meaning for meaning in MEANINGS if meaning not in NEEDED)


@dataclass(frozen=True)
class Columns:
    """Meaning -> column, and which meanings were guessed from names."""

    of: Mapping[str, str]
    guessed: tuple[str, ...] = ()


def parse_map(text: str) -> dict[str, str]:
    """Read ``session=conv_id,role=speaker,text=utterance``.

    >>> parse_map("session=conv_id, role=who")
    {'session': 'conv_id', 'role': 'who'}

    Raises
    ------
    UsageError
        For a part without ``=``, an unknown meaning (with near matches) or one given twice.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        meaning, equals, column = part.partition("=")
        meaning, column = meaning.strip(), column.strip()
        if not equals or not column:
            raise UsageError(
                f"--map: {part.strip()!r} is no MEANING=COLUMN; write for instance "
                "--map session=conv_id,role=speaker,text=utterance"
            )
        if meaning in found:
            raise UsageError(f"--map: {meaning} is given twice")
        found[meaning] = column
    check_map(found)
    return found


def check_map(given: Mapping[str, str]) -> None:
    """Refuse an unknown meaning.

    Raises
    ------
    UsageError
        With near matches and the whole list.
    """
    for meaning in given:
        if meaning not in MEANINGS:
            raise unknown_name("meaning of a column", meaning, MEANINGS)


def plain(name: str) -> str:
    """Name of a column in the spelling of `USUAL`."""
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def columns_of(names: Sequence[str], given: Mapping[str, str]) -> Columns | None:
    """Columns of a table, or ``None`` where session, role or text are neither given nor told.

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
    if any(meaning not in of for meaning in NEEDED):
        return None
    order = of.get("order", "")
    if "time" not in of and plain(order) in USUAL["time"]:
        of["time"] = order  # a moment says in which order, and how long after
    return Columns(of, tuple(guessed))
