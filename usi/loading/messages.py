"""Message lists of harnesses: which messages are conversation, and what is set aside.

Content that is a list of parts: its text, and a count of what is none.

Who the user is: by rule, by what the caller says, and when the data say the opposite.

Logs of simulators are often written from the simulator's view: it is the model, so its words
stand under ``assistant`` and the agent's under ``user``. Scoring such a log would score the agent.
"""

from __future__ import annotations

import heapq
import re
import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec.structs import replace

from usi.errors import InputError
from usi.loading.context import Context
from usi.loading.fields import Parts, messages_of, turn_of
from usi.loading.role_names import DATA, OTHER_ROLE, USUAL
from usi.loading.times import one_clock, time_of
from usi.options import LoadOptions
from usi.records import Session, Turn

JOINED = "message: text parts joined by a line end"
SPEECH = frozenset(("text", "input_text", "output_text"))
"""Types of parts that hold words of the speaker, beside refusals; all others are counted."""
_KNOWN = frozenset(
    (
        "image", "image_url", "input_image", "audio", "input_audio", "output_audio", "video",
        "file", "input_file", "document", "data", "reasoning", "thinking", "redacted_thinking",
        "tool_use", "tool_result", "tool_call", "tool_call_response", "tool-call", "tool-result",
        "dynamic-tool", "server_tool_use", "web_search_tool_result", "mcp_tool_use",
        "mcp_tool_result", "search_result", "code_execution_tool_result", "step-start",
        "source-url", "source-document", "blob", "uri", "thought", "functionCall",
        "functionResponse", "function_call", "function_response", "inlineData", "inline_data",
        "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult",
        "code_execution_result", "toolUse", "toolResult", "reasoningContent",
    )
)  # fmt: skip
_RESULTS = frozenset(
    (
        "tool_result", "tool-result", "tool_call_response", "functionResponse",
        "function_response", "toolResult", "web_search_tool_result", "mcp_tool_result",
        "code_execution_tool_result",
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


def spoken(session: Session, context: Context) -> Session:
    """The session with the text alone of its messages, where some of their parts are not text.

    Whatever the format: parts that are known to hold no words of the speaker (results of tools,
    reasoning, images) are counted, and so are the messages of the user of which no text is left.
    A session whose messages are text, or parts of text alone, stays as found.
    """
    if not any(_holds_more(turn.content) for turn in session.turns):
        return session
    turns = []
    for turn in session.turns:
        if not isinstance(turn.content, list):
            turns.append(turn)
            continue
        content = text_of(list(turn.content), context)
        if content is None and turn.role == "user":
            results = all(_kind(part) in _RESULTS for part in turn.content)
            what = "tool result" if results else "no text among its parts"
            context.leave_out(f"message: {what}")
        else:
            turns.append(replace(turn, content=content))
    return replace(session, turns=tuple(turns))


def _holds_more(content: Any) -> bool:
    if isinstance(content, Parts):
        return True
    return isinstance(content, list) and any(
        isinstance(part, dict) and (_is_aside(part) or part.get("thought") is True)
        for part in content
    )


def _is_aside(part: dict[str, Any]) -> bool:
    """Whether a part is of a type that is not known to hold words of the speaker."""
    kind = part.get("type")
    return _kind(part) in _KNOWN or (isinstance(kind, str) and kind not in {*SPEECH, "refusal"})


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or part.get("thought") is True:
        return None
    kind = part.get("type")
    if kind is None and not {"text", "content"} & part.keys():
        return None
    if kind == "refusal":
        found = part.get("refusal")
    elif kind is None or kind in SPEECH:
        found = part.get("text", part.get("content"))
    else:
        return None
    if isinstance(found, dict):  # the Assistants form {"value": ..., "annotations": []}
        found = found.get("value")
    return found if isinstance(found, str) else None


def _kind(part: Any) -> str:
    if not isinstance(part, dict):
        return "another kind"
    kind = part.get("type")
    if kind is None:  # Gemini and Bedrock name the kind by the key that holds it
        kind = next((key for key in part if key in _KNOWN), None)
    if isinstance(kind, str) and kind.startswith("tool-") and kind not in _KNOWN:
        kind = "tool-call"  # tool-NAME, of the Vercel AI SDK
    return kind if isinstance(kind, str) and kind in _KNOWN else "another kind"


def _speaks_like(who: str) -> re.Pattern[str]:
    data = DATA[who]
    tokens = [re.escape(token) for token in data.get("tokens", ())]
    return re.compile("|".join([*(rf"\b{part}" for part in data["patterns"]), *tokens]))


AGENT, USER = _speaks_like("agent"), _speaks_like("user")
MIN_SESSIONS = 3
MIN_SHARE = 0.3
LOOKED_AT = 500
"""Sessions with both sides that are looked at; shares of more would tell the same, slower.
Which they are is drawn by lot from what they hold, so that their order decides nothing."""


def named_usually(turn: Turn, context: Context) -> Turn:
    """A turn whose role has its usual name; one that the caller chose stays as it is."""
    role = context.role(turn.role, turn.name)
    return turn if role is turn.role else replace(turn, role=role)


def in_usual_roles(session: Session, context: Context) -> Session:
    """A session whose roles have their usual names; roles that are not known are noted."""
    if all(turn.role in USUAL for turn in session.turns):
        return session
    turns = tuple(named_usually(turn, context) for turn in session.turns)
    for turn in turns:
        if turn.role not in USUAL and not context.is_chosen(turn.role, turn.name):
            context.note_role(turn.role)
    return replace(session, turns=turns)


def choose_user(session: Session, options: LoadOptions, context: Context) -> Session:
    """The session with the user that the caller named; as it is where nothing was said."""
    if options.flip:
        return replace(session, turns=tuple(_flipped(turn) for turn in session.turns))
    if options.user_role is not None:
        wanted, field = options.user_role, "role"
    elif options.user_speaker is not None:
        wanted, field = options.user_speaker, "speaker"
    else:
        speakers = {turn.name for turn in session.turns if turn.role == "user" and turn.name}
        if len(speakers) > 1:
            context.guess("session: several named speakers under role user, all taken for the user")
        return session
    mine = [(turn.role if field == "role" else turn.name) == wanted for turn in session.turns]
    if not any(mine):
        if session.turns:
            context.guess(f"session: has no {field} of the name that was asked for; read by rule")
        return session
    turns = tuple(
        replace(turn, role="user") if own else _no_user(turn)
        for turn, own in zip(session.turns, mine, strict=True)
    )
    return replace(session, turns=turns)


def _no_user(turn: Turn) -> Turn:
    return replace(turn, role="assistant") if turn.role == "user" else turn


def _flipped(turn: Turn) -> Turn:
    if turn.role == "user":
        return replace(turn, role="assistant")
    return replace(turn, role="user") if turn.role == "assistant" else turn


@dataclass
class FlipDetector:
    """Counts, over the sessions of a file, who speaks like an agent and who like a user.

    A log is refused where agent formulae stand in user turns in at least 30 % of the sessions
    (and at least 3), at most half as often in assistant turns, and the wishes of a user are the
    other way round. A simulator that falls out of its role does not trip it: its agent speaks
    like an agent, too.
    """

    _held: list[tuple[int, tuple[bool, bool, bool, bool]]] = field(default_factory=list)

    def add(self, session: Session) -> None:
        """Look at one session where both sides speak, unless `LOOKED_AT` have smaller lots."""
        lot = -_lot(session)
        full = len(self._held) >= LOOKED_AT
        if full and lot < self._held[0][0]:
            return
        user = _words(session, "user")
        assistant = _words(session, "assistant")
        if not user or not assistant:
            return
        found = (*_speaks(user), *_speaks(assistant))
        if full:
            heapq.heappushpop(self._held, (lot, found))
        else:
            heapq.heappush(self._held, (lot, found))

    def _count(self, place: int) -> int:
        return sum(found[place] for _, found in self._held)

    @property
    def sessions(self) -> int:
        """Sessions that were looked at."""
        return len(self._held)

    @property
    def agent_in_user(self) -> int:
        """Of them, those where the role user speaks like an agent."""
        return self._count(0)

    @property
    def user_in_user(self) -> int:
        """Of them, those where the role user asks like a user."""
        return self._count(1)

    @property
    def agent_in_assistant(self) -> int:
        """Of them, those where the role assistant speaks like an agent."""
        return self._count(2)

    @property
    def user_in_assistant(self) -> int:
        """Of them, those where the role assistant asks like a user."""
        return self._count(3)

    @property
    def flipped(self) -> bool:
        """Whether the roles are the wrong way round."""
        return (
            self.agent_in_user >= MIN_SESSIONS
            and self.agent_in_user >= MIN_SHARE * self.sessions
            and 2 * self.agent_in_assistant <= self.agent_in_user
            and self.user_in_assistant >= MIN_SHARE * self.sessions
            and self.user_in_assistant > self.user_in_user
        )

    def problem(self, file: str) -> InputError:
        """The refusal, with its reasons and the way out."""
        return InputError(
            "the roles are the wrong way round: the role user speaks like an agent in "
            f"{self.agent_in_user} of {self.sessions} sessions (role assistant: "
            f"{self.agent_in_assistant}), and the role assistant asks like a user in "
            f"{self.user_in_assistant} (role user: {self.user_in_user}). Where the simulator was "
            "stored as assistant, pass --flip (people: usi convert --flip first); where this is "
            "meant, --user-role user",
            file=file,
        )


_LABELLED = re.compile(
    r"^[ \t>*\[]*(user|human|customer|client|caller|assistant|agent|bot|ai|system|support)"
    r"[\]* \t]*:[ \t*]*\S",
    re.IGNORECASE | re.MULTILINE,
)
_USERS = frozenset(("user", "human", "customer", "client", "caller"))


@dataclass
class TranscriptDetector:
    """Counts the sessions in which one message holds a whole talk, as in a judge's prompt.

    Attributes
    ----------
    sessions, found
        Sessions with a message of the user, and those of them in which the one message of the
        user has labelled lines of both sides, at least four in all.
    """

    sessions: int = 0
    found: int = 0

    def add(self, session: Session) -> None:
        """Look at one session."""
        own = [turn.content for turn in session.turns if turn.role == "user"]
        if not own:
            return
        self.sessions += 1
        if len(own) == 1 and type(own[0]) is str:
            who = [name.lower() for name in _LABELLED.findall(own[0][:LONGEST_LOOKED_AT])]
            users = sum(name in _USERS for name in who)
            self.found += len(who) >= 4 and 0 < users < len(who)

    @property
    def inside(self) -> bool:
        """Whether the file holds talks inside messages and not as messages."""
        return self.found >= MIN_SESSIONS and 2 * self.found > self.sessions

    def problem(self, file: str) -> InputError:
        """The refusal, with its reason and the way out."""
        return InputError(
            f"{self.found:,} of {self.sessions:,} sessions hold a whole transcript inside one "
            "message: that is what a judge was given, not a conversation. Give the file with the "
            "conversations that were judged",
            file=file,
        )


LONGEST_LOOKED_AT = 20_000
"""Characters of a message in which labelled lines are looked for."""


def _speaks(words: str) -> tuple[bool, bool]:
    """Whether words are like an agent's, and like a user's."""
    return AGENT.search(words) is not None, USER.search(words) is not None


def _lot(session: Session) -> int:
    """A number that depends on what a session holds: its first text, its turns and their lengths.

    Sessions that agree in these get the same lot; of equal lots what was found breaks the tie.
    """
    texts = [turn.content for turn in session.turns if type(turn.content) is str]
    mark = f"{session.session_id}|{len(texts)}|{sum(map(len, texts))}|{texts[0] if texts else ''}"
    return zlib.crc32(mark.encode("utf-8", "surrogatepass"))


def _words(session: Session, role: str) -> str:
    texts = [
        turn.content for turn in session.turns if turn.role == role and type(turn.content) is str
    ]
    return "\n".join(texts).lower().replace("\u2019", "'")


API_OUTPUT = "API output: "
"""How text-only agents of tau-bench write a tool result, under the role ``user``."""


def conversation(messages: Any, field: str, context: Context) -> tuple[Turn, ...]:
    """User and assistant messages, content as found; everything else is counted by what it is.

    Raises
    ------
    BadField
        The messages are no list, or one of them is no object.
    """
    turns = []
    time = partial(time_of, context=context)
    for i, message in enumerate(messages_of(messages, field)):
        turn = named_usually(turn_of(message, f"{field}[{i}]", time), context)
        chosen = context.is_chosen(turn.role, turn.name)
        aside = None if chosen and turn.role != "user" else _set_aside(turn, message)
        if aside is None:
            turns.append(turn)
        else:
            if aside == OTHER_ROLE:
                context.note_role(turn.role)
            nested = message.get("tool_messages")
            context.leave_out(aside, len(nested) if isinstance(nested, list) and nested else 1)
    return one_clock(tuple(turns), context)


def _set_aside(turn: Turn, message: dict[str, Any]) -> str | None:
    """Why a message is no part of the conversation, or ``None``."""
    if turn.role in ("user", "assistant"):
        if message.get("is_audio") is True:
            return "message: audio, no text"
        content = turn.content
        if turn.role == "user" and isinstance(content, str) and content.startswith(API_OUTPUT):
            return "message: tool result under role user"
        return None
    if turn.role in ("tool", "function"):
        return "message: tool result"
    if turn.role in ("system", "developer"):
        return "message: system prompt"
    return OTHER_ROLE
