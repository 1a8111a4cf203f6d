"""Reading what comes from outside: whatever a reader or a library raises becomes one message.

The one place where exceptions about data are turned into an `InputError` with file, row and
field, and where configuration and files that are given back are decoded (TOML and JSON).
"""

from __future__ import annotations

import json
import re
import tomllib
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from usi.errors import InputError, InputErrors, UsageError, UsiError, quoted

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

MAX_TEXT = 200
"""Characters of a library's message that are told."""
_ADDRESS = re.compile(r"\s*(?:https?://\S+|0x[0-9a-fA-F]+|<[^<>]* object[^<>]*>)")
_WHOLE = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(?:[0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,6})?", re.ASCII
)


@contextmanager
def reading(file: str | None, row: Callable[[], int | None] = lambda: None) -> Iterator[None]:
    """Turn whatever is raised inside about data into an `InputError` that names file and place.

    Errors of usi pass through, as do a closed pipe and an interruption.

    Parameters
    ----------
    file
        As the user named it.
    row
        Asked for the row once something was raised.

    Raises
    ------
    InputError
        For every exception of a reader or of a library below it.
    """
    try:
        yield
    except Exception as error:
        raise as_input_error(error, file, row()) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of libraries in Rust, as polars
            raise
        raise InputError(f"a value can't be read: {first_line(error)}", file=file) from error


@contextmanager
def naming(file: str) -> Iterator[None]:
    """`reading`, and messages about names and choices inside say which file they are about."""
    try:
        with reading(file):
            yield
    except UsageError as error:
        raise UsageError(str(error) if file in str(error) else f"{file}: {error}") from None


Item = TypeVar("Item")


def each(
    items: Iterable[Item], file: str | None, row: Callable[[], int | None] = lambda: None
) -> Iterator[Item]:
    """The items one by one, each taken under `reading`."""
    with reading(file, row):
        left = iter(items)
    end = object()
    while True:
        with reading(file, row):
            item = next(left, end)
        if item is end:
            return
        yield item  # type: ignore[misc]


def as_input_error(error: Exception, file: str | None, row: int | None) -> InputError:
    """What was raised about a record, as the user's error.

    Raises
    ------
    UsiError, BrokenPipeError
        The error itself, where it is one of these.
    """
    if isinstance(error, UsiError | BrokenPipeError):
        raise error
    if isinstance(error, RecursionError):
        return InputError(reason_of(error), file=file, row=row)
    return InputError(reason_of(error), file=file, row=row, field=field_of(error))


_RECORDS = ("value", "record", "entry", "found")
_MOST_NODES = 100_000


def field_of(error: BaseException) -> str | None:
    """Dotted path of the part of a record that was being looked at; ``None`` where none is known.

    It is told from the traceback: the record is a variable of an outer call, and of the lists and
    objects in variables of the innermost calls the deepest that stands in the record is named.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in frames:
        roots = [frame.f_locals.get(name) for name in _RECORDS]
        root = next((found for found in roots if isinstance(found, dict | list) and found), None)
        if root is not None:
            break
    else:
        return None
    places = _places(root)
    for frame in reversed(frames):
        inner = [
            places[id(value)]
            for value in frame.f_locals.values()
            if isinstance(value, dict | list) and places.get(id(value))
        ]
        if inner:
            return max(inner, key=len)
    return None


def _places(root: Any) -> dict[int, str]:
    """Dotted path of every list and object below a value, by identity."""
    found = {id(root): ""}
    left = [(root, "")]
    while left and len(found) < _MOST_NODES:
        value, path = left.pop()
        items: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            if isinstance(part, dict | list) and id(part) not in found:
                step = f"[{key}]" if isinstance(value, list) else f".{str(key)[:MAX_TEXT]}"
                found[id(part)] = f"{path}{step}".removeprefix(".")
                left.append((part, found[id(part)]))
    return found


def reason_of(error: BaseException) -> str:
    """What an exception says about data, in one plain sentence.

    >>> reason_of(RecursionError("maximum recursion depth exceeded"))
    'is nested too deeply to be read'
    """
    module = type(error).__module__.partition(".")[0]
    if isinstance(error, RecursionError):
        return "is nested too deeply to be read"
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    if isinstance(error, UnicodeError):
        return f"is not text of the encoding that it should have ({first_line(error)})"
    if isinstance(error, OSError) and error.strerror and module == "builtins":
        return f"can't be read: {error.strerror}"
    if module in ("zipfile", "tarfile", "zlib", "lzma", "gzip") or isinstance(error, EOFError):
        return f"is damaged or truncated: {first_line(error)}"
    if isinstance(error, NotImplementedError):
        return f"needs what is not read: {first_line(error)}"
    if module == "pyarrow":
        return f"is damaged, or not the table that it should be: {first_line(error)}"
    if isinstance(error, OverflowError) or "limit (4300" in str(error):
        return "holds a number that is too large"
    if isinstance(error, LookupError) and "encoding" in str(error):
        return f"names an encoding that is not known: {first_line(error)}"
    if isinstance(error, TypeError | AttributeError | LookupError):
        return "a value is of another kind than this format has there (text, number, list, object)"
    return f"a value can't be read: {first_line(error)}"


def first_line(error: BaseException) -> str:
    """The beginning of an exception's message, without addresses and printouts."""
    line = str(error).strip().partition("\n")[0]
    return _ADDRESS.sub("", line)[:MAX_TEXT].rstrip(" .:") or type(error).__name__


def whole_number(text: str) -> int | None:
    """A whole number in ASCII digits, as every loader reads it; ``None`` for any other text.

    >>> whole_number("12"), whole_number("1_000"), whole_number("１２")
    (12, None, None)
    """
    stripped = text.strip(" \t")
    return int(stripped) if _WHOLE.fullmatch(stripped) else None


def decimal_number(text: str) -> float | None:
    """A number in ASCII digits, maybe with a point and an exponent; ``None`` for any other text.

    >>> decimal_number("1.5"), decimal_number("1_0.5"), decimal_number("nan")
    (1.5, None, None)
    """
    stripped = text.strip(" \t")
    return float(stripped) if _DECIMAL.fullmatch(stripped) else None


def read_text(path: str | Path, *, shown: str | None = None) -> str:
    """Text of a file in UTF-8; a byte order mark is dropped.

    Raises
    ------
    InputError
        Where the file can't be opened, is not UTF-8, or holds a NUL character.
    """
    name = shown or str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 at byte {error.start}; save the file as UTF-8", file=name
        ) from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or first_line(error)
        raise InputError(f"can't be opened: {said}", file=name) from None
    if "\0" in text:
        raise InputError("holds a NUL character and is not a text file", file=name)
    return text


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """A TOML document.

    Raises
    ------
    InputError
        Where it is not TOML, or nested or numbered beyond what can be read.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"can't be read as TOML: {first_line(error)}", file=file) from None
    except (RecursionError, ValueError, TypeError, LookupError) as error:
        raise InputError(f"can't be read as TOML: it {reason_of(error)}", file=file) from None


def read_toml(path: str | Path, *, shown: str | None = None) -> dict[str, Any]:
    """A TOML file; errors as `read_text` and `parse_toml`."""
    return parse_toml(read_text(path, shown=shown), shown or str(path))


def table_at(data: Any, *keys: str) -> Any:
    """What stands below some keys of a document; ``None`` where one of them is not there."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def parse_json(text: str | bytes, file: str, *, row: int | None = None) -> Any:
    """A JSON value in the strict sense: no key twice, no NaN, no Infinity.

    Raises
    ------
    InputError
        Where it is not that, or nested or numbered beyond what can be read.
    """
    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=_not_finite)
    except json.JSONDecodeError as error:
        raise InputError(
            f"can't be read as JSON: {error.msg} (line {error.lineno}, column {error.colno})",
            file=file,
            row=row,
        ) from None
    except UnicodeError:
        raise InputError("can't be read as JSON: it is not UTF-8", file=file, row=row) from None
    except RepeatedKey as error:
        raise InputError(str(error), file=file, row=row) from None
    except NotFinite as error:
        raise InputError(f"can't be read as JSON: it {error}", file=file, row=row) from None
    except (RecursionError, ValueError) as error:
        raise InputError(
            f"can't be read as JSON: it {reason_of(error)}", file=file, row=row
        ) from None


def read_json(path: str | Path, *, shown: str | None = None) -> Any:
    """A JSON file; errors as `read_text` and `parse_json`."""
    return parse_json(read_text(path, shown=shown), shown or str(path))


class NotFinite(ValueError):
    """NaN or Infinity, which strict JSON does not have."""


class RepeatedKey(ValueError):
    """An object of JSON that has a key twice: which of the values is meant is not known."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {quoted(key)} occurs twice in one object; which value is meant?")


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once each, for ``object_pairs_hook``.

    Raises
    ------
    RepeatedKey
        For a key that stands twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKey(key)
            seen.add(key)
    return found


def _not_finite(name: str) -> NoReturn:
    raise NotFinite(f"holds {name}, which is not a finite number")


Model = TypeVar("Model", bound="BaseModel")


def held_to(model: type[Model], data: Any, file: str, *, strict: bool = False) -> Model:
    """Data as a model, every mistake one plain sentence with its field.

    Parameters
    ----------
    strict
        No text stands for a number and no boolean for a whole number; lists stand for tuples, as
        JSON has no other.

    Raises
    ------
    InputErrors
        All mistakes together.
    """
    from pydantic import ValidationError

    try:
        if strict:
            text = json.dumps(data, ensure_ascii=True, allow_nan=True)
            return model.model_validate_json(text, strict=True)
        return model.model_validate(data)
    except ValidationError as error:
        raise InputErrors(mistakes(error, file)) from None
    except (RecursionError, ValueError, TypeError) as error:
        raise InputError(reason_of(error), file=file) from None


def mistakes(
    error: ValidationError, file: str | None, *, row: int | None = None
) -> list[InputError]:
    """What pydantic complains of: one `InputError` for each, without its printout."""
    found = []
    for problem in error.errors(include_url=False, include_input=False):
        field = ".".join(map(str, problem["loc"])) or None
        found.append(InputError(words_of(problem), file=file, row=row, field=field))
    return found


_WORDS = {
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}


def words_of(problem: Mapping[str, Any]) -> str:
    """One complaint of pydantic in plain words."""
    known = _WORDS.get(str(problem["type"]))
    if known is not None:
        return known
    said = str(problem["msg"]).removeprefix("Value error, ").partition("\n")[0]
    return said.replace("Input should be", "must be", 1)
