"""Signatures: what a number was really made from, in one line that reads back.

Long form ``USI|profile:tau-usi|corpus:NAME@ab12|terms:6|...|v:0.1.0``, short form
``USI|p:tau-usi|c:NAME@ab12|t:6|...``. Values of different signatures are not comparable.

The fields that a signature may have, in their order, with their words for people.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote_to_bytes

from usi.errors import UsageError, unknown_name

HEADS: dict[str, str] = {
    "USI": "the published User-Sim Index (arXiv 2603.11245)",
    "USI-R": "the mean of the five behavioural and outcome components of the profile robust",
    "USI-log": "the index over operational logs",
}
"""Index names and what they are."""


@dataclass(frozen=True)
class Field:
    """One field of a signature.

    Attributes
    ----------
    name, short
        Key in the long and in the short form.
    meaning
        What the value says, for people.
    values
        Words for values that are names themselves.
    """

    name: str
    short: str
    meaning: str
    values: Mapping[str, str] = field(default_factory=dict)

    def words(self, value: str) -> str:
        """The value with its meaning."""
        for part, text in self.values.items():
            if value == part or value.startswith(f"{part}@"):
                return f"{value} ({self.meaning}: {text})"
        return f"{value} ({self.meaning})"


_ALL = (
    Field("profile", "p", "scoring definition, with its version"),
    Field("corpus", "c", "reference, and the first digits of the hash of its content"),
    Field(
        "source",
        "s",
        "how the reference was cleaned",
        {"human": "as written by people", "simulated": "as simulator output; it is no human"},
    ),
    Field(
        "design",
        "ds",
        "how the sides are compared",
        {"paired": "the same tasks on both", "unpaired": "tasks differ or are unknown"},
    ),
    Field("cluster", "cl", "what is drawn again as a whole in the bootstrap"),
    Field(
        "terms",
        "t",
        "how many terms the index is the mean of",
        {"6": "with the survey", "5": "without the survey"},
    ),
    Field("components", "k", "components that the index is the mean of"),
    Field("batches", "b", "rounds of people, or trials of the reference"),
    Field("runs", "r", "passes of the simulator over the tasks"),
    Field("tasks", "n", "tasks on both sides"),
    Field("sessions", "ss", "sessions of the simulator that were scored"),
    Field("subset", "sb", "which batches and runs were taken"),
    Field(
        "ids",
        "i",
        "how ids were split into task and run",
        {"suffix": "always at the last underscore", "none": "never"},
    ),
    Field("features", "f", "features scored, and the first digits of the hash of their names"),
    Field("lex", "l", "term lists, with their version"),
    Field("sim", "id", "first digits of the hash of the simulator's identity"),
    Field("lang", "la", "languages other than English, of people (h) and simulator (s)"),
    Field(
        "bins",
        "d",
        "where task difficulties come from",
        {
            "frozen31": "the frozen map over 31 baselines",
            "self": "pooled over the simulators scored",
            "file": "a file, with the first digits of its hash",
            "none": "not used",
        },
    ),
    Field("reward", "rw", "threshold that makes a reward a success"),
    Field("survey", "sv", "how surveys were compared"),
    Field("surveys", "sh", "first digits of the hash of the survey files"),
    Field("boot", "bt", "bootstrap replicates and what they draw"),
    Field("level", "lv", "confidence level of the bounds"),
    Field("c2st", "c2", "two-sample classifier test"),
    Field("seed", "z", "seed of everything that is drawn at random"),
    Field("logs", "lg", "settings of the log reader"),
    Field("v", "v", "version of usi"),
)

FIELDS: dict[str, Field] = {item.name: item for item in _ALL}
"""Fields by name, in the order of every signature."""


MAX_LENGTH = 4096
_SAFE = "@._+,-"
_VALUE = re.compile(r"(?:[A-Za-z0-9@._+,\-]|%[0-9A-F]{2})+")
_BY_SHORT: dict[str, Field] = {field.short: field for field in FIELDS.values()}


@dataclass(frozen=True)
class Signature:
    """Name of an index and the settings behind it, in the order of `FIELDS`.

    Attributes
    ----------
    index
        ``"USI"``, ``"USI-R"`` or ``"USI-log"``.
    fields
        Field name -> value; values are plain text.
    """

    index: str
    fields: Mapping[str, str]

    def long(self) -> str:
        """The form that stands in scorecards."""
        return "|".join((self.index, *(f"{k}:{_encode(v)}" for k, v in self.fields.items())))

    def short(self) -> str:
        """The form for tables and badges."""
        parts = (f"{FIELDS[k].short}:{_encode(v)}" for k, v in self.fields.items())
        return "|".join((self.index, *parts))

    def __str__(self) -> str:
        return self.long()


def _encode(value: str) -> str:
    return quote(value, safe=_SAFE).replace("~", "%7E")


def _decode(value: str) -> str:
    if not _VALUE.fullmatch(value):
        raise UsageError(f"no usi signature: {value[:60]!r} is no value of a signature. {_HINT}")
    try:
        decoded = unquote_to_bytes(value).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"no usi signature: {value[:60]!r} is not UTF-8. {_HINT}") from error
    if _encode(decoded) != value:
        raise UsageError(f"no usi signature: {value[:60]!r} is written in an unusual way. {_HINT}")
    return decoded


_HINT = "Copy it from a scorecard, such as USI|profile:tau-usi|corpus:people@ab12|terms:6|v:0.1.0"


def build(index: str, values: Mapping[str, object]) -> Signature:
    """Build a signature from what was used; ``None`` values are left out.

    Parameters
    ----------
    index
        Name of the index.
    values
        Field name -> value (text or number).

    Raises
    ------
    UsageError
        For an unknown index or field, or an empty value.

    Examples
    --------
    >>> str(build("USI", {"terms": 5, "profile": "tau-usi", "seed": None, "v": "0.1.0"}))
    'USI|profile:tau-usi|terms:5|v:0.1.0'
    """
    if index not in HEADS:
        raise unknown_name("index", index, list(HEADS))
    for name in values:
        if name not in FIELDS:
            raise unknown_name("signature field", name, list(FIELDS))
    fields = {
        # A file name may hold bytes that are no UTF-8; they can't stand in a signature.
        name: str(values[name]).encode("utf-8", "replace").decode("utf-8")
        for name in FIELDS
        if values.get(name) is not None
    }
    for name, value in fields.items():
        if not value:
            raise UsageError(f"the signature field {name!r} is empty")
    return Signature(index, fields)


def parse(text: str) -> Signature:
    """Read a signature in long or short form back.

    Raises
    ------
    UsageError
        Where the text is no signature: unknown head, unknown or repeated field, a value with
        characters that no signature holds, or more than `MAX_LENGTH` characters.

    Examples
    --------
    >>> parse("USI|p:tau-usi|t:5").fields["terms"]
    '5'
    """
    if len(text) > MAX_LENGTH:
        raise UsageError(f"no usi signature: longer than {MAX_LENGTH} characters. {_HINT}")
    head, *parts = text.strip(" ").split("|")
    if head not in HEADS:
        raise UsageError(f"no usi signature: it begins with {head[:40]!r}. {_HINT}")
    found: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        field = FIELDS.get(key) or _BY_SHORT.get(key)
        if not colon or field is None:
            raise unknown_name("signature field", key[:40], list(FIELDS))
        if field.name in found:
            raise UsageError(f"no usi signature: the field {field.name!r} stands there twice.")
        found[field.name] = _decode(value)
    if not found:
        raise UsageError(f"no usi signature: it has no fields. {_HINT}")
    return Signature(head, {name: found[name] for name in FIELDS if name in found})


def explain(text: str | Signature) -> list[str]:
    """One line of words for the index and for each field of a signature.

    Examples
    --------
    >>> for line in explain("USI|profile:tau-usi|batches:3"):
    ...     print(line)
    USI: the published User-Sim Index (arXiv 2603.11245)
    profile: tau-usi (scoring definition, with its version)
    batches: 3 (rounds of people, or trials of the reference)
    """
    signature = parse(text) if isinstance(text, str) else text
    lines = [f"{signature.index}: {HEADS[signature.index]}"]
    for name, value in signature.fields.items():
        lines.append(f"{name}: {FIELDS[name].words(value)}")
    return lines


def differences(
    one: str | Signature, other: str | Signature, *, ignore: Collection[str] = ()
) -> list[str]:
    """What two signatures differ in, one line each; empty where numbers are comparable.

    Fields in `ignore` are not looked at.
    """
    a = parse(one) if isinstance(one, str) else one
    b = parse(other) if isinstance(other, str) else other
    lines = [] if a.index == b.index else [f"index: {a.index} against {b.index}"]
    for name in FIELDS:
        left, right = a.fields.get(name), b.fields.get(name)
        if left != right and name not in ignore:
            lines.append(f"{name}: {left or 'not given'} against {right or 'not given'}")
    return lines
