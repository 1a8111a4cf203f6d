"""Words for nonsense: everyday English words, none of which stands in a word list of a profile."""

from __future__ import annotations

import re
from functools import cache

NONSENSE = tuple(
    (
        "anchor apple arrow autumn badger bakery balloon bamboo banana barley barrel basket beaver "
        "blanket blossom bottle branch bridge bronze bubble bucket butter button cactus camel "
        "candle canvas carpet carrot castle cedar cellar chalk cherry chimney circle citrus clay "
        "cliff clover cobalt coconut copper coral cotton cradle crayon cricket crystal curtain "
        "daisy dolphin donkey drawer eagle ember engine falcon feather fiddle flannel flute fossil "
        "fountain garlic ginger glacier granite guitar hammer harbor hazel helmet hollow honey "
        "igloo island ivory jacket jaguar jasmine jungle kettle kitten ladder lagoon lantern "
        "lemon lizard lobster magnet mango maple marble meadow melon mirror mitten monkey mosaic "
        "muffin mustard napkin needle nickel nutmeg oatmeal olive onion orchard otter oyster "
        "paddle panda parrot peanut pebble pencil pepper piano pigeon pillow planet plum pocket "
        "pollen potato prairie pumpkin puzzle quartz quilt rabbit raccoon radish raisin raven "
        "ribbon river rocket saddle salmon satin saucer shadow shovel silver spider spiral sponge "
        "squirrel stable statue stone summer sunset swallow tablet tiger timber tomato tractor "
        "trumpet tulip tunnel turnip turtle umbrella valley velvet violin walnut walrus whale "
        "wheat whistle willow window winter wizard wooden yellow zebra zipper"
    ).split()
)


@cache
def listed_words() -> frozenset[str]:
    """Every word that the word lists of the profile `robust` are made of."""
    from usi.features.robust_lexicon import load_word_lists

    found: set[str] = set()
    for stem in ("robust1", "style1", "context1"):
        lists = load_word_lists(stem)
        texts = [text for entry in lists.entries for text in (*entry.match, *entry.free)]
        for text in (*texts, *lists.macros.values()):
            found.update(re.findall(r"[a-z']+", re.sub(r"\\[a-z]", " ", text)))
    return frozenset(found)
