"""Secrets: which ones usi knows of, and text, addresses and answers without them.

A secret is a value that a variable of the environment holds under the name of a key, token or
password, the login, fragment and secret parameters of an address, or text with the look of an
access key. Whatever comes from an endpoint passes `without_known` (`usi.simulate.calls`); the
message of every error passes `hidden` (`usi.errors`, `usi.simulate.faults`); names made from
addresses and commands are made from `public_address` and `hidden`.
"""

from __future__ import annotations

import base64
import os
import re
from typing import Any
from urllib.parse import quote, unquote, urlsplit

HIDDEN = "***"
SHORTEST = 6
"""Characters of a secret that is looked for in text: shorter ones occur by chance."""
_NAME = r"api[-_]?key|[-_]key|token|secret|passw(?:or)?d|passwd|pwd|credentials?|signature"
_ENVIRONMENT = re.compile(rf"(?i)(?:{_NAME}|^key|[-_]auth|[-_]pass|_owner)$")
_PARAMETER = re.compile(
    r"(?i)(?:key|token|secret|passwd|password|passphrase|signature|credentials?)s?$"
    r"|(?:^|[-_.])(?:key|pass|pwd|pw|auth|authorization|sig|session|jwt|bearer|code|sid|access"
    r"|private|cookie|login|creds?)(?:$|[-_.0-9])|^[akpst]$"
)
_LOOK = re.compile(
    r"(?i:\b(?:sk|pk|rk|hf|gh[pousr]|github_pat|glpat|gsk|xai|xox[abp])[-_][A-Za-z0-9_\-]{12,})"
    r"|\bAIza[A-Za-z0-9_\-]{12,}|\bAKIA[0-9A-Z]{12,}"
    r"|\beyJ[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]*)*"
    r"|(?i:\bbearer)\s+[-._~+/=A-Za-z0-9]{8,}"
)
_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.\-]{1,20}:/{1,3}")
"""One slash: what is left where an address was taken for the path of a file."""
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.\-]{1,20}:/{1,3}[^\s\"'<>|\\]+", re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"(?i)((?:{_NAME})(?:=|[\"']\s*[:=]\s*)(?:(?:bearer|basic)\s+)?[\"']?)[^\s\"'&,;{{}}]{{4,}}"
)
_HEADER = re.compile(
    r"(?i)(\b(?:(?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:key|token))[\"']?\s*[:=]\s*)"
    r"[\"']?(?:(?:bearer|basic|digest|token)\s+)?[^\s\"',}]{4,}"
)
_FLAG = re.compile(rf"(?i)((?:^|\s)--?[a-z-]*(?:{_NAME}|key)\s+)[^\s\-]\S*")
_known: set[str] = set()


def remember(*values: str | None) -> None:
    """Take values for secrets from now on; short and empty ones are not looked for."""
    for value in values:
        if value and len(value) >= SHORTEST:
            _known.update((value, quote(value, safe=""), unquote(value), value.strip()))


def remember_environment() -> None:
    """Take for secrets what the environment holds under the name of one, and logins of proxies."""
    for name, value in os.environ.items():
        if _ENVIRONMENT.search(name) and not value.isalpha():  # a plain word occurs in any talk
            remember(value)
        elif name.lower().endswith("_proxy"):
            remember_address(value if "://" in value else f"http://{value}")


def login_of(address: str) -> str | None:
    """User and password of an address, decoded; ``None`` where it has none."""
    _, start, end = _login(address)
    return unquote(address[start : end - 1]) if end > start else None


def remember_address(address: str) -> None:
    """Take login, fragment and secret parameters of an address for secrets."""
    login = login_of(address)
    if login:
        user, colon, password = login.partition(":")
        remember(password if colon else user, base64.b64encode(login.encode()).decode())
    rest, _, fragment = address.partition("#")
    remember(fragment)
    for part in rest.partition("?")[2].split("&"):
        name, _, value = part.partition("=")
        if _is_secret(name, value):
            remember(value or name)


def public_address(address: str) -> str:
    """An address without login, fragment and the values of secret parameters.

    A parameter is secret where its name speaks of a key, token, password and the like, or its
    value has the look of one. An address without secrets is returned as it is.

    >>> public_address("https://me:pw@host/user?api_key=abc&model=m#x")
    'https://***@host/user?api_key=***&model=m#***'
    """
    scheme, start, end = _login(address)
    shown = f"{address[:start]}{HIDDEN}@{address[end:]}" if end > start else address
    if not scheme:
        return shown
    shown, mark, fragment = shown.partition("#")
    tail = f"#{HIDDEN}" if fragment else mark
    path, question, query = shown.partition("?")
    parts = []
    for part in query.split("&"):
        name, equal, value = part.partition("=")
        if _is_secret(name, value):
            parts.append(f"{name}={HIDDEN}" if equal else HIDDEN)
        else:
            parts.append(part)
    return f"{_LOOK.sub(HIDDEN, path)}{question}{'&'.join(parts)}{tail}"


def without_login(address: str) -> str:
    """An address without user and password."""
    _, start, end = _login(address)
    return address[:start] + address[end:]


def name_of_address(address: str) -> str:
    """What of an address may stand in a name: host, path and parameters that are not secret.

    >>> name_of_address("https://me:pw@host:80/user?api_key=abc&model=m#x")
    'host:80/user?model=m'
    """
    shown = public_address(without_login(address)).partition("://")[2].partition("#")[0]
    path, question, query = shown.partition("?")
    parts = [part for part in query.split("&") if part and HIDDEN not in part]
    return f"{path}{question if parts else ''}{'&'.join(parts)}".replace(HIDDEN, "")


def hidden(text: str) -> str:
    """Text without known secrets, secrets in addresses, and whatever has the look of one.

    >>> hidden("key sk-abcdefghijklmnop rejected by http://me:pw@host/?token=1")
    'key *** rejected by http://***@host/?token=***'
    """
    text = _ADDRESS.sub(lambda found: public_address(found[0]), _replaced(text))
    text = _HEADER.sub(rf"\g<1>{HIDDEN}", _LOOK.sub(HIDDEN, text))
    return _FLAG.sub(rf"\g<1>{HIDDEN}", _ASSIGNED.sub(rf"\g<1>{HIDDEN}", text))


def without_known(value: Any) -> Any:
    """A JSON value, in all of whose texts known secrets are hidden; nothing else is changed."""
    if isinstance(value, str):
        return _replaced(value)
    if isinstance(value, list):
        return [without_known(part) for part in value]
    if isinstance(value, dict):
        return {_replaced(name): without_known(part) for name, part in value.items()}
    return value


def _replaced(text: str) -> str:
    for secret in sorted(_known, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, HIDDEN)
    return text


def _login(address: str) -> tuple[bool, int, int]:
    """Whether there is a scheme, where the login begins, and what follows its ``@``."""
    found = _SCHEME.match(address)
    start = found.end() if found else 0
    stop = min((at for mark in "/?#" if (at := address.find(mark, start)) >= 0), default=-1)
    place = address[start:] if stop < 0 else address[start:stop]
    end = start + place.rfind("@") + 1
    if found and end == start and ":" in place:
        try:
            _ = urlsplit(address).port
        except ValueError:  # a password with a mark that should have been escaped
            end = address.rfind("@") + 1
    return bool(found), start, max(start, end)


def _is_secret(name: str, value: str) -> bool:
    if not value:
        return _looks_random(name)
    return bool(_PARAMETER.search(name)) or _looks_random(value) or bool(_LOOK.search(value))


def _looks_random(value: str) -> bool:
    """At least 16 characters without a space, letters and digits among them."""
    return (
        len(value) >= 16
        and not re.search(r"\s|%20|\+", value)
        and bool(re.search(r"[A-Za-z]", value))
        and bool(re.search(r"[0-9]", value))
    )
