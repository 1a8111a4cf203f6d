"""The published 19 features, written a second time for clarity: the check on the kernel.

Plain Python `re`, one conversation, one turn and one pattern after another, and nothing of usi
inside. The definition is the published one (arXiv 2603.11245) as its public scorer computes it,
oddities included. Slow on purpose; on hostile text it may be quadratic or worse.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

FEATURES = (
    "politeness_rate",
    "short_msg_rate",
    "formality_rate",
    "ack_only_rate",
    "verbosity_cv",
    "repeat_rate",
    "id_confuse_rate",
    "info_frontload",
    "id_density",
    "user_words_per_turn",
    "opening_words",
    "uncertainty_rate",
    "certainty_rate",
    "pushback_q_rate",
    "clarify_q_rate",
    "info_q_rate",
    "emotion_rate",
    "accusation_rate",
    "pivot_rate",
)


def bounded(*alternatives: str) -> re.Pattern[str]:
    """Search for any alternative with a word boundary at both of its ends."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


POLITE = bounded(
    "please",
    "thank you",
    "thanks",
    "sorry",
    "excuse me",
    "appreciate",
    "grateful",
    "kind of you",
    "wonderful",
    "courteous",
    "considerate",
    "i understand",
    "no worries",
    "my apologies",
    "pardon",
)

ACK_PHRASES = [
    "yes",
    "yeah",
    "yea",
    "yep",
    "yup",
    "ok",
    "okay",
    "okey",
    "sure",
    "right",
    "fine",
    "great",
    "perfect",
    "awesome",
    "cool",
    "agree",
    "agreed",
    "correct",
    "absolutely",
    "indeed",
    "alright",
    "proceed",
    "confirm",
    "thanks",
    "please",
    "mhm",
    "uh-huh",
    "aight",
    "got it",
    "go ahead",
    "sounds good",
    "that works",
    "do it",
    "no problem",
    "thank you",
]
ACK = re.compile(rf"(?:{'|'.join(map(re.escape, ACK_PHRASES))})[\s!.\-,]*")

IDENTIFIER = re.compile(
    r"\b[A-Za-z0-9]{6,}\b"
    r"|#?\w*\d{5,}\w*"
    r"|\w+_\w+_\d{3,}"
    r"|(?:gift_card|credit_card|paypal)_\w+"
    r"|\w+@\w+\.\w+"
)

UNCERTAINTY = bounded(
    "i think",
    "not sure",
    "i don'?t remember",
    "i don'?t recall",
    "i believe",
    "probably",
    "maybe",
    "i forgot",
    "don'?t know",
    "i guess",
    "i'?m not sure",
    "if i recall",
    "i don'?t have",
    "can'?t recall",
    "can'?t find",
    "i'?m unsure",
    "i might",
    "perhaps",
    "apparently",
    "sort of",
    "kind of",
    "somewhat",
    "partly",
    "possibly",
    "vaguely",
    "roughly",
    "hesitant",
    "doubtful",
    "confused",
    "uncertain",
    "dunno",
)

CERTAINTY = bounded(
    "definitely",
    "absolutely",
    "certainly",
    "exactly",
    "precisely",
    "clearly",
    "always",
    "never",
    "completely",
    "entirely",
    "fully",
    "obvious",
    "obviously",
    "undoubtedly",
    "without a doubt",
    "for sure",
    "of course",
    "guaranteed",
    "no doubt",
)

PUSHBACK = bounded(
    "are you sure",
    "that'?s (?:not right|wrong|incorrect|not what)",
    "i already (?:told|said|gave|provided|mentioned)",
    "you already (?:asked|have)",
    "try again",
    "check again",
    "that can'?t be (?:right|correct)",
    "that'?s (?:crazy|nonsense|ridiculous|absurd)",
    "this is (?:not fair|nonsense)",
    "why (?:can'?t|won'?t|didn'?t|isn'?t|aren'?t|would)",
    "doesn'?t (?:seem|sound|look|make sense)",
    "not what i (?:asked|said|meant|wanted)",
    "(?:don'?t|do not) ask me .* again",
    "i would never",
)

CLARIFY = bounded(
    "what do you mean",
    "what does that mean",
    "what did you mean",
    "could you (?:clarify|elaborate|specify)",
    "can you (?:explain|clarify|elaborate)",
    "i don'?t understand",
    "what'?s the difference",
    "what exactly",
    "what specifically",
    "which (?:one|reservation|order|flight|option|plan|account|item|product) "
    "(?:is|was|do|should|did|would)",
    "i'?m not sure which",
    "which is which",
    r"you (?:said|mentioned|told me|wrote|indicated) .{0,30}\?",
    "that mean",
    "what does that (?:involve|include|entail|look like)",
    "(?:sorry|wait),? (?:what|which|how|i don'?t)",
    "can you (?:be more specific|give me more detail|break that down|walk me through)",
    "i'?m (?:confused|lost)",
    "(?:how|what) (?:exactly|specifically) (?:does|do|is|are|would|will|should)",
    "(?:could|can) you (?:repeat|say) that",
    "what (?:is|are) the (?:options|choices|alternatives|details)",
    "i need (?:more|some) (?:info|information|details|clarification)",
    "(?:so|wait),? (?:you'?re saying|does that mean|is that)",
    "meaning",
    "how so",
    "in what (?:way|sense)",
)

INFO = bounded(
    "what is (?:the|my)",
    "what'?s (?:the|my)",
    "how much",
    "how many",
    "when (?:will|does|is|can|did)",
    "where (?:is|are|was|can)",
    "how (?:do|can|would|should) i",
    "what are (?:the|my)",
    "can you (?:check|tell|find|look|see|show|help|list)",
    "do you (?:have|know|see)",
    "is (?:there|it|that) (?:a |any )?",
    "what options",
    "how long",
    "what.s the (?:status|price|cost|total|balance)",
)

EMOTION = bounded(
    "frustrated",
    "upset",
    "angry",
    "confused",
    "worried",
    "annoyed",
    "furious",
    "ridiculous",
    "terrible",
    "horrible",
    "awful",
    "ugh",
    "stressed",
    "anxious",
    "nervous",
    "uncomfortable",
    "panic",
    "disappointed",
    "disappointing",
    "irritated",
    "irritating",
    "aggravated",
    "outraged",
    "outrageous",
    "exasperated",
    "bothered",
    "disgusted",
    "miserable",
    "devastated",
    "heartbroken",
    "desperate",
)

ACCUSATION = bounded(
    "blame",
    "fault",
    "ridiculous",
    "wrong",
    "useless",
    "incompetent",
    "failure",
    "misleading",
    "irresponsible",
    "unacceptable",
    "disgrace",
    "insult",
    "scam",
    "shame",
    "stupid",
    "trouble",
    "disappointing",
    "ruined",
)

PIVOT = bounded(
    "(?:wait|actually) (?:can|let|could|would)",
    "(?:i'?d|i would) (?:like|prefer|rather)",
    "(?:can you|can we|could you) just",
    "instead",
    "rather than",
    "how about",
    "what about",
    "what if",
    "on second thought",
    "is there (?:a |any |another )?way to",
    "(?:let'?s|can we) (?:try|do|go with|switch|change)",
    "maybe (?:we|i|you) (?:should|could|can)",
    "(?:change|switch|try) (?:it |that )?(?:to|something|a different)",
)

ID_CONFUSE = bounded(
    "(?:how can i|how may i) (?:help|assist)",
    "what can i (?:do|help|assist) (?:for|with)",
    "do you (?:want|require|wish|prefer)",
    "would you (?:like|prefer)",
    "let me (?:check|look|verify|find|pull up|search|assist|help)",
    "(?:i'?ll|i will) (?:check|look into|verify|process|handle|assist|help)",
    "(?:i'?m|i am) (?:happy|glad|here) to (?:help|assist)",
    "is there anything else i can",
    "thank you for (?:calling|contacting|reaching|choosing|your patience)",
    "for (?:security|verification) (?:purposes|reasons)",
    "(?:may|could) i verify",
    "allow me to",
    "permit me to",
    "your (?:order|account|reservation|booking|request|ticket|case|inquiry)",
    "i (?:see|understand) (?:that|your)",
    "according to (?:our|the) (?:records|system|policy)",
    "(?:our|the) (?:policy|system|records) (?:shows?|indicates?)",
    "i (?:can|could) (?:offer|suggest|recommend)",
    "(?:have you|did you) (?:trie|tried|considere|considered)",
    "i apologize for (?:the|any) (?:inconvenience|confusion|delay|trouble)",
)

MARKUP = re.compile(
    r"<\|think\|>.*?<\|/think\|>|<function=.*?(?:</function>|$)|<\|tool\|>.*?<\|/tool\|>",
    re.DOTALL,
)


def text_of(message: Message) -> str:
    """Text of a message: a missing content is empty, a null one the word None."""
    return str(message.get("content", ""))


def is_action(message: Message) -> bool:
    """A user message that only calls tools is no message at all."""
    content = message.get("content")
    silent = content is None or content == [] or (isinstance(content, str) and not content.strip())
    return message.get("role") == "user" and bool(message.get("tool_calls")) and silent


def is_dropped(text: str, source: str) -> bool:
    """Whether cleaning drops the message; ``source`` is ``"human"`` or ``"llm"``."""
    if source == "human":
        return (
            text.startswith("\\tau ")
            or text.startswith("\\reward")
            or any(mark in text for mark in ("<|canvas|>", "<|highlight|>", "<|survey|>"))
            or text.strip() == "/stop"
        )
    return text.strip() == "###STOP###"


def features(conversation: Sequence[Message], source: str) -> dict[str, float] | None:
    """All 19 features and ``n_turns`` of one conversation; ``None`` without a user turn."""
    kept = [
        (message.get("role"), text_of(message))
        for message in conversation
        if not is_action(message)
    ]
    kept = [(role, text) for role, text in kept if not is_dropped(text, source)]
    turns = [MARKUP.sub("", text) for role, text in kept if role == "user"]
    if not turns:
        return None
    lowers = [turn.lower() for turn in turns]
    n = len(turns)
    words = [len(turn.split()) for turn in turns]
    total = sum(words)

    def rate(pattern: re.Pattern[str]) -> float:
        return sum(1.0 for lower in lowers if pattern.search(lower)) / n

    mean = total / n
    spread = (sum((count - mean) ** 2 for count in words) / n) ** 0.5
    trigrams: Counter[tuple[str, ...]] = Counter()
    for lower in lowers:
        tokens = lower.split()
        trigrams.update(tuple(tokens[i : i + 3]) for i in range(len(tokens) - 2))
    pushback = clarify = info = 0
    for lower in lowers:
        if PUSHBACK.search(lower):
            pushback += 1
        elif CLARIFY.search(lower):
            clarify += 1
        elif INFO.search(lower):
            info += 1
    return {
        "n_turns": float(len(kept)),
        "politeness_rate": rate(POLITE),
        "short_msg_rate": sum(1.0 for count in words if count <= 3) / n,
        "formality_rate": sum(1.0 for turn in turns if "\u2014" in turn or "\u2013" in turn) / n,
        "ack_only_rate": sum(1.0 for lower in lowers if ACK.fullmatch(lower.strip())) / n,
        "verbosity_cv": spread / mean if n > 1 and total else 0.0,
        "repeat_rate": 1.0 if any(count > 10 for count in trigrams.values()) else 0.0,
        "id_confuse_rate": 1.0 if any(ID_CONFUSE.search(lower) for lower in lowers) else 0.0,
        "info_frontload": sum(words[:2]) / total if total else 0.0,
        "id_density": sum(len(IDENTIFIER.findall(lower)) for lower in lowers) / n,
        "user_words_per_turn": mean,
        "opening_words": float(words[0]),
        "uncertainty_rate": rate(UNCERTAINTY),
        "certainty_rate": rate(CERTAINTY),
        "pushback_q_rate": pushback / n,
        "clarify_q_rate": clarify / n,
        "info_q_rate": info / n,
        "emotion_rate": rate(EMOTION),
        "accusation_rate": rate(ACCUSATION),
        "pivot_rate": rate(PIVOT),
    }
