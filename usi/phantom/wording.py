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

_EVERYDAY = (
    "anchor apple arrow autumn badger bakery balloon bamboo banana barley barrel basket beaver "
    "blanket blossom bottle branch bridge bronze bubble bucket butter button cactus camel "
    "candle canvas carpet carrot castle cedar cellar chalk cherry chimney circle citrus clay "
    "cliff clover cobalt coconut copper coral cotton cradle crayon cricket crystal curtain "
    "daisy dolphin donkey drawer eagle ember engine falcon feather fiddle flannel flute fossil "
    "fountain garlic ginger glacier granite guitar hammer harbor hazel helmet hollow honey "
    "igloo island ivory jacket jaguar jasmine jungle kettle kitten ladder lagoon lantern lemon "
    "lizard lobster magnet mango maple marble meadow melon mirror mitten monkey mosaic muffin "
    "mustard napkin needle nickel nutmeg oatmeal olive onion orchard otter oyster paddle panda "
    "parrot peanut pebble pencil pepper piano pigeon pillow planet plum pocket pollen potato "
    "prairie pumpkin puzzle quartz quilt rabbit raccoon radish raisin raven ribbon river rocket "
    "saddle salmon satin saucer shadow shovel silver spider spiral sponge squirrel stable "
    "statue stone summer sunset swallow tablet tiger timber tomato tractor trumpet tulip tunnel "
    "turnip turtle umbrella valley velvet violin walnut walrus whale wheat whistle willow "
    "window winter wizard wooden yellow zebra zipper"
)
EVERYDAY_WORDS = tuple(_EVERYDAY.split())
"""English words that no word list of a profile knows."""
TOPIC_WORDS = tuple(word for word in EVERYDAY_WORDS if len(word) >= 6 and word not in LONG_WORDS)
"""What tasks may be about; every task has `TASK_WORDS` of them."""
TASK_WORDS = 8

QUESTIONS = (
    ("Is it so?", "Would it do?"),
    ("How many, all in all?", "Of which size?"),
    ("Who is it for?", "By whom?"),
    ("Any wish left?", "Want an extra?"),
)
"""Kind of reply (yes or no, a number, a name, a refusal) -> how the agent asks for it."""
REPLY_WORDS = (
    (("yes", "yep", "aye"), ("indeed", "likely")),
    (("one", "six", "ten"), ("twelve", "twenty")),
    (("ann", "bob", "eve"), ("martin", "helena")),
    (("nil", "nix", "nor"), ("nothing", "neither")),
)
"""Kind of reply -> its words of up to three letters, and of six or more."""
YES_OR_NO = 0
REPLIES = (
    (("aye", "nay", "so"), ("it is", "not so"), ("so it is", "it is not")),
    (("one", "six", "ten"), ("six of", "ten or"), ("one or six", "six or ten")),
    (("ann", "bob", "eve"), ("for ann", "by bob"), ("for eve too", "ann and bob")),
    (("nix", "nil", "nor"), ("nix now", "nor me"), ("nil for now", "nix for me")),
)
"""Kind of reply -> short turns of one, two and three words, none with a word of four letters."""

ACKS = ("yes", "ok", "sure", "right", "great", "yeah", "fine")
"""Short turns of one word that all lists count as acks: they answer yes or no."""
STOCK = "it is as the form says"
"""A sentence that some people send more than once, word for word."""
LOOP = " ".join(["la"] * 13)
"""Thirteen times one syllable: its trigram occurs eleven times."""

AGENT_NAME = "Synthetic service desk:"
"""How every message of the agent begins: an opening of its own would tell the first turn."""
AGENT_MESSAGES = (
    "Let us take another step.",
    "Noted.",
    "Just a moment.",
    "Done.",
    "We are able to update this now.",
)
"""What the agent says before it asks (`QUESTIONS`)."""


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
