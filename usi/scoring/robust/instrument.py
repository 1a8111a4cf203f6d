"""What the answers of a survey mean: levels of every item, and what kind of scale it is."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal, get_args

from usi.errors import UsageError

Scale = Literal["ordinal", "nominal", "unordered-middle"]
MAX_INFERRED_LEVELS = 11


@dataclass(frozen=True)
class Item:
    """One survey item.

    Attributes
    ----------
    name
        Field id.
    levels
        Option text (trimmed, case folded) -> level, 0 to `size` - 1.
    texts
        One option text for each level.
    scale
        ``"unordered-middle"``: too much / about right / too little, on three levels; its sign
        says nothing about liking.
    success, refusal
        Levels that mean that the person got what they came for, or a refusal well explained.
    """

    name: str
    levels: Mapping[str, int]
    texts: tuple[str, ...]
    scale: Scale = "ordinal"
    success: tuple[int, ...] = ()
    refusal: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.texts)

    def level(self, answer: object) -> int | None:
        """Level of an answer; ``None`` where it is no listed option."""
        if isinstance(answer, bool) or not isinstance(answer, str | int | float):
            return None
        return self.levels.get(_plain(str(answer)))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _item(data: Mapping[str, object]) -> Item:
    options = [(str(text), int(ordinal)) for text, ordinal in data["options"]]  # type: ignore[attr-defined]
    own = data.get("levels")
    order = [int(v) for v in own] if isinstance(own, list) else [o for _, o in options]
    ranks = {value: rank for rank, value in enumerate(sorted(set(order)))}
    levels = {_plain(text): ranks[v] for (text, _), v in zip(options, order, strict=True)}
    texts = [""] * len(ranks)
    for (text, _), value in zip(options, order, strict=True):
        texts[ranks[value]] = texts[ranks[value]] or text
    scale = str(data.get("scale", "ordinal"))
    if scale not in get_args(Scale):
        raise UsageError(f"survey item {data['id']}: unknown scale {scale!r}")

    def level_set(key: str) -> tuple[int, ...]:
        return tuple(levels[_plain(str(text))] for text in data.get(key, []))  # type: ignore[attr-defined]

    return Item(
        str(data["id"]),
        levels,
        tuple(texts),
        scale,  # type: ignore[arg-type]
        level_set("success"),
        level_set("refusal"),
    )


@cache
def tau_survey() -> tuple[Item, ...]:
    """The eight items of the published instrument, with the scales of the profile `robust`."""
    text = resources.files("usi.scoring").joinpath("data/survey.toml").read_text("utf-8")
    return tuple(_item(item) for item in tomllib.loads(text)["item"])


def answers_of(survey: str | None) -> dict[str, object]:
    """Answers in the survey column of the session table (JSON object), empty where there is none.

    Both ``{item: answer}`` and ``{item: {"question": ..., "answer": ...}}`` are read.
    """
    if survey is None:
        return {}
    data = json.loads(survey)
    if not isinstance(data, dict):
        return {}
    return {str(k): v.get("answer") if isinstance(v, dict) else v for k, v in data.items()}


def items_for(answers: Iterable[Mapping[str, object]]) -> tuple[Item, ...]:
    """Items of the published instrument that people answered, and numeric items beside them.

    An item that the instrument does not know is taken as ordinal where every answer is a whole
    number and there are 2 to 11 different ones; other items (free text) are left alone.
    """
    seen: dict[str, set[str]] = {}
    for own in answers:
        for name, answer in own.items():
            if answer is not None:
                seen.setdefault(name, set()).add(_plain(str(answer)))
    # an item of the same name with other options is another item
    result = [item for item in tau_survey() if seen.get(item.name, set()) & set(item.levels)]
    for name in sorted(set(seen) - {item.name for item in result}):
        try:
            numbers = sorted({int(text) for text in seen[name]})
        except ValueError:
            continue
        span = list(range(numbers[0], numbers[-1] + 1)) if numbers else []
        if 2 <= len(span) <= MAX_INFERRED_LEVELS:
            texts = tuple(str(v) for v in span)
            result.append(Item(name, {text: k for k, text in enumerate(texts)}, texts))
    return tuple(result)
