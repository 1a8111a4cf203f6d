"""Words of the site: one TOML file a language, any of which a study may replace."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from usi.errors import InputError, unknown_name

DEFAULT = "en"


class Texts:
    """Texts of one study, by name.

    Attributes
    ----------
    language, direction
        Code of the language, and ``ltr`` or ``rtl``.
    """

    def __init__(self, language: str, words: Mapping[str, str]) -> None:
        self.language, self._words = language, words
        self.direction = words["direction"]

    def __call__(self, name: str, **values: object) -> str:
        """A text with its values filled in; marks that have no value stay as they are."""
        text = self._words[name]
        for mark, value in values.items():
            text = text.replace("{" + mark + "}", str(value))
        return text


def languages() -> tuple[str, ...]:
    """Codes of the languages that usi has texts for, sorted."""
    folder = resources.files("usi.study").joinpath("texts")
    names = (path.name for path in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


@cache
def shipped(language: str) -> Mapping[str, str]:
    """The texts of a language as they ship."""
    text = resources.files("usi.study").joinpath(f"texts/{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def texts_of(language: str, own: Mapping[str, str], *, file: str) -> Texts:
    """Texts for a language: the shipped ones, or English, with the study's own in their place.

    Parameters
    ----------
    language
        Code such as ``de`` or ``pt-BR``; the part before the dash chooses the file.
    own
        Texts of the study by name.
    file
        Named in errors.

    Raises
    ------
    InputError
        Where a text has a name that usi does not know, or the language is not shipped and the
        study does not bring all texts.
    """
    known = shipped(DEFAULT)
    for name in own:
        if name not in known:
            raise InputError(str(unknown_name("text", name, list(known))), file=file, field="texts")
    base = language.partition("-")[0].lower()
    if base in languages():
        return Texts(language, {**known, **shipped(base), **own})
    missing = [name for name in known if name not in own]
    if missing:
        raise InputError(
            f"usi has no texts in {language!r} (it has {', '.join(languages())}); give all of them "
            f"under [texts]: {len(missing)} are missing, {missing[0]} first",
            file=file,
            field="language",
        )
    return Texts(language, own)
