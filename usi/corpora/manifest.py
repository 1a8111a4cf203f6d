"""The manifest of a human corpus: where it is from, what may be done with it, what is in it.

``human_corpus/NAME/manifest.toml`` is data for people and for usi alike. Unknown keys are errors
with a suggestion, since a misspelt ``research_only`` would set data free.

New values in a manifest that people have written in: what they wrote stays.

``DATASHEET.md``: what a reader must know before trusting a corpus.

Sections follow the questions of "Datasheets for Datasets" (Gebru et al. 2018, arXiv 1803.09010),
cut to what matters for conversations of people with an agent.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from usi.corpora.licences import may_pass_on
from usi.errors import InputError, InputErrors, unknown_name
from usi.reading import read_toml

MANIFEST, DATASHEET = "manifest.toml", "DATASHEET.md"
SCHEMA = "1"
SurveyDesign = Literal["same-transcript", "same-task"]
Channel = Literal["chat", "phone", "e-mail", "ticket", "in person", "other", "unknown"]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Counts(_Table):
    """``[counts]``: what loading the files must give; ``usi corpus verify`` counts again."""

    sessions: int
    ok: int = Field(0, description="sessions that are conversations (not failed runs)")
    user_turns: int = 0
    tasks: int = 0
    batches: int = 0
    participants: int = 0
    surveys: int = 0
    rewards: int = 0


class LoadKeys(_Table):
    """``[load]``: how the files are read, as the options of the command line."""

    format: str | None = None
    domain: str | None = None
    user_role: str | None = None
    user_speaker: str | None = None
    map: dict[str, str] = Field(default_factory=dict)


class Frozen(_Table):
    """``[scorable]``: the features that are scored with this corpus, fixed once.

    Without it the people decide anew whenever sessions are added or left out.
    """

    profile: str = Field(description="such as robust@2")
    features: tuple[str, ...]


class SplitKeys(_Table):
    """``[split]``: which file says what belongs to which part (``usi corpus split``)."""

    by: Literal["task", "batch", "participant", "time"]
    seed: int
    file: str = "split.toml"


class Manifest(_Table):
    """Every key of a manifest; without a name the folder's stands for it."""

    schema_: str = Field(SCHEMA, alias="schema")
    name: str = ""
    title: str = ""
    version: str = "1"
    synthetic: bool = Field(False, strict=True)
    # Origin and terms.
    licence: str | None = Field(None, description="SPDX name, or words")
    terms: str | None = Field(None, description="what users agree to, or where it stands")
    redistribute: bool | None = Field(
        None, strict=True, description="whether texts may be passed on; default: by the licence"
    )
    research_only: bool = Field(False, strict=True)
    source: str | None = None
    citation: str | None = None
    # Collection.
    language: str | None = Field(None, description="code such as en or de")
    channel: Channel = "unknown"
    collected: str | None = None
    protocol: str | None = Field(None, description="who was asked to do what, and how")
    agent: str | None = Field(None, description="fingerprint of the agent that people talked to")
    task_set: str | None = None
    task_sample: str | None = Field(
        None, description="which of the tasks of the set people did, where they did a sample"
    )
    expires: date | None = Field(None, description="from this day on it stands for nobody")
    # Content.
    sessions: str | list[str] | None = Field(None, description="files to load; default: all")
    surveys: str | None = Field(None, description="folder of surveys")
    survey_design: SurveyDesign | None = Field(
        None, description="what the respondents of its survey files saw"
    )
    tasks: int | None = None
    batches: int | None = Field(None, ge=1)
    batch_by: str | None = Field(
        None, min_length=1, description="date, participant, or a field of the sessions"
    )
    seed: int | None = Field(None, description="of a generated corpus")
    counts: Counts | None = None
    load: LoadKeys = LoadKeys()
    scorable: Frozen | None = None
    split: SplitKeys | None = None
    sha256: dict[str, str] = Field(default_factory=dict)

    @property
    def passed_on(self) -> bool | None:
        """Whether its texts may be passed on (`usi.corpora.licences.may_pass_on`)."""
        return may_pass_on(self.redistribute, self.licence)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files to load, relative to the folder; empty where it names none."""
        if self.sessions is None:
            return ()
        return (self.sessions,) if isinstance(self.sessions, str) else tuple(self.sessions)

    def expired(self, as_of: str | date) -> bool:
        """Whether the corpus has expired on a day."""
        day = date.fromisoformat(as_of) if isinstance(as_of, str) else as_of
        return self.expires is not None and day >= self.expires


def read_manifest(path: str | Path) -> Manifest:
    """Read and check a manifest.

    Raises
    ------
    InputError
        Where it can't be read as TOML; `InputErrors` with every unknown key (and near matches)
        and every wrong value together.
    """
    path = Path(path)
    data = read_toml(path)
    return parse_manifest(data, file=str(path))


def parse_manifest(data: dict[str, Any], *, file: str) -> Manifest:
    """Check the tables of a manifest; errors as `read_manifest`."""
    try:
        found = Manifest.model_validate(data)
    except ValidationError as error:
        problems = [_explained(part, file) for part in error.errors(include_url=False)]
        raise problems[0] if len(problems) == 1 else InputErrors(problems) from None
    if found.schema_ != SCHEMA:
        text = f"has schema {found.schema_!r}; this usi reads {SCHEMA!r}"
        raise InputError(text, file=file, field="schema")
    for name in (*found.files, *found.sha256, found.surveys or "."):
        check_inside(name, file)
    return found


def check_inside(name: str, file: str, field: str = "sessions") -> None:
    """Refuse a name that leads out of the corpus folder."""
    if not name or "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise InputError(f"{name!r} leads out of the corpus folder", file=file, field=field)


_WORDS = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text",
    "missing": "is missing",
}


def _explained(problem: Any, file: str) -> InputError:
    place = [str(part) for part in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        model: type[BaseModel] = Manifest
        for part in place[:-1]:
            model = _inner(model, part)
        known = [field.alias or name for name, field in model.model_fields.items()]
        return InputError(str(unknown_name("key", place[-1], known)), file=file,
                          field=".".join(place))  # fmt: skip
    if place[0] == "sessions":
        text = "must be a file name or a list of them"
    else:
        text = _WORDS.get(problem["type"], problem["msg"])
    place = [part for part in place if not part.startswith(("str", "list["))]
    return InputError(text, file=file, field=".".join(place))


def _inner(model: type[BaseModel], part: str) -> type[BaseModel]:
    found = model.model_fields[part].annotation if part in model.model_fields else None
    options = [found, *getattr(found, "__args__", ())]
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), model)


def to_toml(manifest: Manifest) -> str:
    """TOML text of a manifest: plain keys first, then tables; keys that are not set are left out.

    >>> print(to_toml(Manifest(name="people", licence="MIT")), end="")
    schema = "1"
    name = "people"
    version = "1"
    synthetic = false
    licence = "MIT"
    research_only = false
    channel = "unknown"
    """
    data = manifest.model_dump(mode="python", by_alias=True, exclude_none=True)
    plain = {k: v for k, v in data.items() if not isinstance(v, dict) and v != ""}
    lines = [f"{key} = {toml_value(value)}" for key, value in plain.items()]
    for key, table in data.items():
        if isinstance(table, dict):
            lines += _table(key, table)
    return "\n".join(lines) + "\n"


def _table(name: str, table: dict[str, Any]) -> list[str]:
    own = {k: v for k, v in table.items() if not isinstance(v, dict)}
    inner = {k: v for k, v in table.items() if isinstance(v, dict) and v}
    lines = []
    if own:
        lines = ["", f"[{name}]", *(f"{toml_key(k)} = {toml_value(v)}" for k, v in own.items())]
    for key, value in inner.items():
        lines += _table(f"{name}.{toml_key(key)}", value)
    return lines


def toml_key(name: str) -> str:
    """A key in TOML, in quotes where it needs them."""
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if plain else toml_value(name)


def toml_value(value: Any) -> str:
    """One value in TOML; texts are basic strings with escapes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    out = []
    for char in str(value):
        if char in '"\\':
            out.append("\\" + char)
        elif char < " " or char == "\x7f":
            out.append({"\n": "\\n", "\t": "\\t"}.get(char, f"\\u{ord(char):04x}"))
        elif "\ud800" <= char <= "\udfff":
            out.append("\ufffd")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?")
_NUMBER_OR_TEXT = r"""(?:[0-9]+|"[^"\\]*"|'[^']*')"""


def with_values(text: str, manifest: Manifest) -> str:
    """The text with the counts and hashes of `manifest`; comments, order and spacing stay.

    Parameters
    ----------
    text
        TOML of a manifest that agrees with `manifest` in all but ``[counts]`` and ``[sha256]``.

    Returns
    -------
    str
        TOML of `manifest`. Where the tables are written in a way that this can't change line by
        line (in one line, with dotted keys), the whole text is written anew, without comments.
    """
    wanted = manifest.model_dump(mode="python", by_alias=True, exclude_none=True)
    lines = text.splitlines()
    for name in ("counts", "sha256"):
        lines = _set(lines, name, wanted.get(name, {}))
    edited = "\n".join(lines) + "\n"
    try:
        same = parse_manifest(tomllib.loads(edited), file="manifest") == manifest
    except (tomllib.TOMLDecodeError, InputError):
        same = False
    return edited if same else to_toml(manifest)


def _set(lines: list[str], table: str, values: Mapping[str, Any]) -> list[str]:
    """The lines with the table's values; keys that it lacks come after those that it has."""
    if not values:
        return lines
    headers = {n: found[1] for n, line in enumerate(lines) if (found := _HEADER.fullmatch(line))}
    start = next((n for n, name in headers.items() if name == table), None)
    if start is None:
        return [*lines, "", f"[{table}]", *(_line(k, v) for k, v in values.items())]
    end = min((n for n in headers if n > start), default=len(lines))
    body, last = lines[start + 1 : end], 0
    missing = []
    for key, value in values.items():
        forms = (toml_key(key), toml_value(key), f"'{key}'")
        names = f"(?:{'|'.join(map(re.escape, forms))})"
        pattern = re.compile(rf"(\s*{names}\s*=\s*){_NUMBER_OR_TEXT}(\s*(?:#.*)?)")
        for n, line in enumerate(body):
            if found := pattern.fullmatch(line):
                body[n] = f"{found[1]}{toml_value(value)}{found[2]}"
                last = max(last, n + 1)
                break
        else:
            missing.append(_line(key, value))
    body[last:last] = missing
    return [*lines[: start + 1], *body, *lines[end:]]


def _line(key: str, value: Any) -> str:
    return f"{toml_key(key)} = {toml_value(value)}"


TO_FILL = "_to fill in_"


def datasheet(manifest: Manifest) -> str:
    """Markdown text from the shipped template; what is not known is marked `TO_FILL`."""
    text = resources.files("usi.corpora").joinpath("templates/DATASHEET.md").read_text("utf-8")
    counts = manifest.counts
    known = {
        "name": manifest.name,
        "title": manifest.title,
        "version": manifest.version,
        "licence": manifest.licence,
        "terms": manifest.terms,
        "source": manifest.source,
        "citation": manifest.citation,
        "language": manifest.language,
        "channel": None if manifest.channel == "unknown" else manifest.channel,
        "collected": manifest.collected,
        "protocol": manifest.protocol,
        "agent": manifest.agent,
        "task_set": manifest.task_set,
        "task_sample": manifest.task_sample or "none: people did all of them",
        "expires": manifest.expires.isoformat() if manifest.expires else "not set",
        "redistribute": "yes" if manifest.passed_on else "no",
        "research_only": "yes" if manifest.research_only else "no",
        "synthetic": "yes: no people took part" if manifest.synthetic else "no",
    }
    if counts is not None:
        known |= {name: f"{value:,}" for name, value in counts.model_dump().items()}
    fields = {name: _one_line(value) if value else TO_FILL for name, value in known.items()}
    return Template(text).safe_substitute(fields)


def left_to_fill(text: str) -> int:
    """How many places of a datasheet nobody has filled in."""
    return text.count(TO_FILL)


def _one_line(text: str) -> str:
    """Text from outside inside Markdown: one line, its marks without effect."""
    plain = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>|" else char for char in plain)
