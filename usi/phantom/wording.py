"""The words of the phantom, and what each fragment counts for in both profiles.

All of it is our own, obviously synthetic service talk. Filler words hit no lexicon; short ones
have at most three letters, long ones six or more. Every mark has wordings of equal effect, and no
word of four or more letters is shared with an agent message, so that echo is zero by design.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_WORDS = (
    "red", "bag", "two", "six", "ten", "box", "new", "old", "big", "cup", "hat", "pen", "car",
    "bus", "day", "sea", "sun", "map", "key", "pad", "mat", "jar", "toy", "bed", "cap", "fan",
    "gas", "ham", "ink", "jet", "kit", "leg", "mug", "net", "oil", "pie", "rug", "tea", "van",
    "wax", "zip",
)  # fmt: skip
"""First filler word of a turn: distinct for the turns of one session, so none is a repetition."""

SHORT_WORDS = (
    "the", "a", "my", "red", "bag", "two", "six", "ten", "box", "for", "on", "at", "by", "and",
    "new", "old", "big", "cup", "hat", "pen", "car", "bus", "day", "sea", "sun", "map", "key",
    "pad", "mat", "jar", "toy", "bed", "cap", "fan", "tea", "van",
)  # fmt: skip
LONG_WORDS = (
    "luggage", "ticket", "jacket", "summer", "yellow", "window", "garden", "camera", "bottle",
    "kitchen", "blanket", "pillow", "winter", "orange", "silver", "purple", "backpack", "monday",
    "sunday", "chicago", "january", "october", "leather", "medium", "wooden", "basket",
)  # fmt: skip

SHORT_TURNS = (
    ("red", "two", "blue", "ten", "six", "none", "both", "today", "small", "black"),
    ("red box", "two bags", "the bus", "six cups", "old hat", "big pen", "a map", "ten keys"),
    ("the red box", "two big bags", "my old hat", "a new car", "six tea cups", "the bus map"),
)
"""Short turns of one, two and three words that say nothing the lexicons look for."""
ACKS = ("yes", "ok", "sure", "right", "great", "yeah", "fine")
STOCK = "it is as the form says"
"""A sentence that some people send more than once, word for word."""
LOOP = " ".join(["la"] * 13)
"""Thirteen times one syllable: its trigram occurs eleven times."""

AGENT_GREETING = "Hello! This is a synthetic service desk."
AGENT_MESSAGES = (
    "Let us take one more step.",
    "Noted. Anything more?",
    "One moment. Next, pick an item.",
    "Done. Shall we go on?",
    "We are able to update this now.",
)


@dataclass(frozen=True)
class Fragment:
    """A mark's wordings, and its constant effects.

    Attributes
    ----------
    wordings
        Texts of equal effect.
    words
        White-space separated words that it adds to the turn.
    long_tokens
        Runs of six or more letters or digits: identifiers of the published definition.
    """

    wordings: tuple[str, ...]
    words: int
    long_tokens: int = 0


FRAGMENTS: dict[str, Fragment] = {
    "politeness": Fragment(("thank you", "so sorry"), 2),
    "uncertainty": Fragment(("i think", "i guess"), 2),
    "lack": Fragment(("i don't have the id",), 5),
    "certainty": Fragment(("for sure", "no doubt"), 2),
    "pushback": Fragment(("that's not right",), 3),
    "clarify": Fragment(("what do you mean", "what does that mean"), 4),
    "info": Fragment(("how much is it?", "how long is it?"), 4),
    "request": Fragment(("can you check it?", "can you find it?"), 4),
    "emotion": Fragment(("upset", "angry"), 1),
    "accusation": Fragment(("your fault",), 2),
    "pivot": Fragment(("let's try the other", "let's try that other"), 4),
    "role": Fragment(("i'll check your order",), 4),
    "identifier": Fragment(("W",), 1, 1),
    "dash": Fragment(("—",), 0),
    "several": Fragment((".",), 0),
    "comma": Fragment((",",), 0),
}
"""Mark -> fragment; ``identifier`` gets seven digits, the last three are glued to a word."""
