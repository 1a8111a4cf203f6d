"""What every request passes: size, pace, origin; and what every response carries."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

Scope = dict[str, Any]
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"x-robots-tag", b"noindex, nofollow"),
)
MOST_BYTES = 128 * 1024
"""Of a request's body: a message of 20,000 characters, each escaped, and some fields."""
_SAFE = ("GET", "HEAD")


class Pace:
    """A token bucket for each key: so many at once, then so many a second.

    The least recently used keys are forgotten beyond `most`, so memory is bounded.
    """

    def __init__(
        self,
        a_second: float,
        at_once: int,
        *,
        most: int = 20_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate, self._size, self._most, self._clock = a_second, float(at_once), most, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str) -> bool:
        """Take a token; ``False`` where none is left."""
        now = self._clock()
        left, then = self._buckets.pop(key, (self._size, now))
        left = min(self._size, left + (now - then) * self._rate)
        allowed = left >= 1.0
        self._buckets[key] = (left - 1.0 if allowed else left, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return allowed


class Guard:
    """ASGI middleware around the whole site.

    Parameters
    ----------
    app
        What it guards.
    root_path
        Path under which a reverse proxy serves the site; it may strip it or not.
    refuse
        Gives the ASGI application that answers with a status, such as 413.
    an_address
        Requests of one address. Generous: a lecture hall may share one, and 200 people who begin in
        the same minute ask for some 2,000 pages and files at once, then for 60 a second.
    """

    def __init__(
        self,
        app: Any,
        *,
        root_path: str,
        refuse: Callable[[int], Any],
        an_address: Pace | None = None,
    ) -> None:
        self.app, self.root_path, self.refuse = app, root_path.rstrip("/"), refuse
        self.an_address = an_address or Pace(a_second=150.0, at_once=2500)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = self._rooted(scope)
        status = self._refusal(scope)

        async def send_with_headers(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                own = [*HEADERS]
                if b"cache-control" not in names:
                    own.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *own]
            await send(message)

        if status is not None:
            await self.refuse(status)(scope, receive, send_with_headers)
            return
        await self.app(scope, _Limited(receive), send_with_headers)

    def _rooted(self, scope: Scope) -> Scope:
        """With `root_path` in front of the path once, whether or not the proxy strips it."""
        path: str = scope["path"]
        if self.root_path and not (path == self.root_path or path.startswith(f"{self.root_path}/")):
            path = self.root_path + path
        return {**scope, "root_path": self.root_path, "path": path}

    def _refusal(self, scope: Scope) -> int | None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413
        client = scope.get("client")
        if not self.an_address.allows(client[0] if client else ""):
            return 429
        if scope["method"] not in _SAFE and not _same_origin(headers):
            return 403
        return None


def _same_origin(headers: dict[bytes, bytes]) -> bool:
    """Whether a browser says that a form was sent from this site; other programs say nothing.

    The token in each form is the proof; this keeps other sites out before it is looked at.
    """
    site = headers.get(b"sec-fetch-site")
    if site is not None and site not in (b"same-origin", b"none"):
        return False
    origin = headers.get(b"origin")
    if origin is None or site == b"same-origin":
        return True
    return urlsplit(origin.decode("latin-1")).netloc == headers.get(b"host", b"").decode("latin-1")


class TooFast(Exception):
    """A person sends more than people do."""


class TooLarge(Exception):
    """A body is longer than it said, or says."""


class _Limited:
    """Reads a body up to `MOST_BYTES`."""

    def __init__(self, receive: Any) -> None:
        self._receive, self._read = receive, 0

    async def __call__(self) -> Any:
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > MOST_BYTES:
                raise TooLarge
        return message
