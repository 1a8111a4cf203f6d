"""JSON over HTTP, for users and agents that are services of their own."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from usi.simulate.calls import Answer, Calls, Transient
from usi.simulate.faults import EpisodeFault, Refused, environment_secret, redact

TRY_AGAIN = (408, 409, 425, 429)
MOST_BYTES = 8 * 2**20


def post_json(
    url: str,
    payload: Mapping[str, Any],
    *,
    calls: Calls,
    key_env: str | None = None,
    timeout: float = 120.0,
    per_minute: float | None = None,
) -> Answer:
    """Send a JSON object and get one back.

    Parameters
    ----------
    url
        ``http`` or ``https``.
    payload
        What is sent.
    key_env
        Environment variable whose value is sent as bearer token.

    Raises
    ------
    EpisodeFault, Refused, RunStopped, ReplayMiss
        See `Calls.remembered`.
    """
    return calls.remembered(
        {"kind": "http", "url": url, "payload": payload},
        lambda: _post(url, payload, key_env, timeout),
        target=url,
        live=True,
        per_minute=per_minute,
    )


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: urllib would send the key to wherever it leads."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_Stay())


def _read(response: Any, end: float) -> bytes:
    """The body, up to `MOST_BYTES` and the time `end`, however slowly it drips."""
    body = bytearray()
    while len(body) < MOST_BYTES and (piece := response.read1(2**16)):
        body += piece
        if time.monotonic() > end:
            raise TimeoutError
    return bytes(body)


def _post(url: str, payload: Mapping[str, Any], key_env: str | None, timeout: float) -> Answer:
    secret = environment_secret(key_env)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    request = urllib.request.Request(url, json.dumps(payload).encode(), headers)
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            body = _read(response, time.monotonic() + timeout)
    except urllib.error.HTTPError as error:
        detail = redact(f"{url}: status {error.code}", [secret or ""])
        if 300 <= error.code < 400:
            detail += " (redirects are not followed: the key would go with them)"
        if error.code in (401, 403, 404):
            raise Refused(detail) from None
        if error.code in TRY_AGAIN or error.code >= 500:
            reason = "rate_limited" if error.code == 429 else "provider_error"
            raise Transient(reason, detail, _seconds(error.headers.get("Retry-After"))) from None
        raise EpisodeFault("provider_error", detail) from None
    except TimeoutError:
        raise Transient("timeout", f"{url}: no answer in {timeout:g} s") from None
    except (urllib.error.URLError, OSError) as error:
        late = isinstance(getattr(error, "reason", None), TimeoutError)
        raise Transient(
            "timeout" if late else "provider_error", redact(f"{url}: {error}", [secret or ""])
        ) from None
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Transient("malformed_response", f"{url}: the answer is no JSON") from None
    if not isinstance(answer, dict):
        raise Transient("malformed_response", f"{url}: the answer is no JSON object")
    return answer


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, min(600.0, float(text)))
    except ValueError:
        return None
