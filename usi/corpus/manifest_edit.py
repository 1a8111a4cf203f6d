"""New values in a manifest that people have written in: what they wrote stays."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from usi.corpus.manifest import Manifest, parse_manifest, to_toml, toml_key, toml_value
from usi.errors import InputError

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
