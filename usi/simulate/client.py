"""Talking to models: the only place that knows litellm, which is imported at the first call.

JSON over HTTP, for users and agents that are services of their own.
"""

from __future__ import annotations

import base64
import http.client
import json
import logging
import os
import socket
import threading
import urllib.error
import urllib.request
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from usi.errors import UsageError
from usi.secrets import hidden, login_of, public_address, remember_address, without_login
from usi.simulate.calls import Answer, Calls, Transient
from usi.simulate.deadline import within
from usi.simulate.faults import EpisodeFault, Refused, RunStopped, environment_secret
from usi.simulate.protocol import Message

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
        {"kind": "http", "url": public_address(url), "payload": payload},
        lambda: _post(url, payload, key_env, timeout, calls.runtime.interrupted),
        target=public_address(url),
        live=True,
        per_minute=per_minute,
    )


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: urllib would send the key to wherever it leads."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Line:
    """The connections of one call, so that they can be cut from outside."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self.opener = urllib.request.build_opener(_Stay(), *self._handlers())

    def _handlers(self) -> tuple[urllib.request.BaseHandler, ...]:
        kept = self._sockets

        class Plain(http.client.HTTPConnection):
            def connect(self) -> None:
                super().connect()
                kept.append(self.sock)

        class Secure(http.client.HTTPSConnection):
            def connect(self) -> None:
                super().connect()
                kept.append(self.sock)

        class PlainHandler(urllib.request.HTTPHandler):
            def http_open(self, request: urllib.request.Request) -> Any:
                return self.do_open(Plain, request)

        class SecureHandler(urllib.request.HTTPSHandler):
            def https_open(self, request: urllib.request.Request) -> Any:
                return self.do_open(Secure, request)

        return PlainHandler(), SecureHandler()

    def cut(self) -> None:
        """End every connection, so that whoever reads from it wakes up."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _body(response: Any) -> bytes:
    """The body.

    Raises
    ------
    Transient
        Where it is larger than `MOST_BYTES`.
    """
    body: bytes = response.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        raise Transient("malformed_response", f"an answer of more than {MOST_BYTES // 2**20} MB")
    return body


def _post(
    url: str,
    payload: Mapping[str, Any],
    key_env: str | None,
    timeout: float,
    interrupted: threading.Event,
) -> Answer:
    remember_address(url)
    secret, login, shown = environment_secret(key_env), login_of(url), public_address(url)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    elif login:
        headers["Authorization"] = f"Basic {base64.b64encode(login.encode()).decode()}"
    line = _Line()

    def talk() -> bytes:
        request = urllib.request.Request(
            without_login(url), json.dumps(payload).encode(), headers, method="POST"
        )
        with line.opener.open(request, timeout=timeout) as response:
            return _body(response)

    try:
        body = within(timeout, talk, interrupted, give_up=line.cut)
    except urllib.error.HTTPError as error:
        error.close()
        detail = f"{shown}: status {error.code}"
        if 300 <= error.code < 400:
            detail += " (redirects are not followed: the key would go with them)"
        if error.code in (401, 403, 404):
            raise Refused(detail) from None
        if error.code in TRY_AGAIN or error.code >= 500:
            reason = "rate_limited" if error.code == 429 else "provider_error"
            raise Transient(reason, detail, _seconds(error.headers.get("Retry-After"))) from None
        raise EpisodeFault("provider_error", detail) from None
    except TimeoutError:
        raise Transient("timeout", f"{shown}: no answer in {timeout:g} s") from None
    except (http.client.HTTPException, ValueError, LookupError) as error:
        detail = f"{shown}: the answer is not HTTP as it should be ({type(error).__name__})"
        raise Transient("malformed_response", detail) from None
    except OSError as error:
        late = isinstance(getattr(error, "reason", None), TimeoutError)
        raise Transient("timeout" if late else "provider_error", f"{shown}: {error}") from None
    except Transient as fault:
        raise Transient(fault.reason, f"{shown}: {fault.detail}") from None
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Transient("malformed_response", f"{shown}: the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise Transient("malformed_response", f"{shown}: the answer is not a JSON object")
    return answer


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, min(600.0, float(text)))
    except ValueError:
        return None


CHARACTERS_A_TOKEN = 3
"""For estimates before a call; low, so that an estimate is rather too high."""


class ModelSettings(BaseModel):
    """A model and how it is asked. Keys are named by their environment variable, never stored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(description="litellm's name, such as openai/gpt-4o-mini")
    api_base: str | None = Field(None, description="endpoint of a server of one's own")
    key_env: str | None = Field(None, description="environment variable that holds the key")
    temperature: float | None = Field(None, ge=0)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int = Field(
        8192, ge=1, description="of a reply, thoughts included; less where the model has less"
    )
    timeout: float = Field(120.0, gt=0, description="seconds a call may take")
    per_minute: float | None = Field(None, gt=0, description="calls a minute")
    price_in: float | None = Field(None, ge=0, description="US dollars a million tokens")
    price_out: float | None = Field(None, ge=0, description="US dollars a million tokens")
    extra: dict[str, Any] = Field(default_factory=dict, description="passed on to litellm")

    def identity(self) -> dict[str, Any]:
        """What the answers depend on; no endpoint, price or pace."""
        names = ("model", "temperature", "top_p", "max_tokens", "extra")
        return {name: getattr(self, name) for name in names}


@cache
def _litellm() -> Any:
    """Import litellm once, quiet and without fetching anything.

    Raises
    ------
    UsageError
        Where it is not installed.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    try:
        import litellm
    except ImportError:
        raise UsageError("models need litellm: pip install 'usi[sim]'") from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def ready() -> None:
    """Import what calls need now, so that the first answer does not wait for it (seconds)."""
    _litellm()


def prices(settings: ModelSettings) -> tuple[float, float] | None:
    """US dollars a token, in and out; ``None`` where neither settings nor litellm know them."""
    if settings.price_in is not None and settings.price_out is not None:
        return settings.price_in / 1e6, settings.price_out / 1e6
    if settings.api_base is not None:
        return None  # a name in the price list says nothing about another server's price
    found = _listed(settings)
    if not found or found.get("output_cost_per_token") is None:
        return None
    return float(found.get("input_cost_per_token") or 0.0), float(found["output_cost_per_token"])


def _listed(settings: ModelSettings) -> Mapping[str, Any] | None:
    """What litellm's list says of a model."""
    entry = _litellm().model_cost
    names = (settings.model, settings.model.partition("/")[2])
    return next((entry[name] for name in names if name in entry), None)


def most_tokens(settings: ModelSettings) -> int:
    """Tokens that a reply may have: as given, else the default or what the model can give."""
    if "max_tokens" in settings.model_fields_set or settings.api_base is not None:
        return settings.max_tokens
    known = (_listed(settings) or {}).get("max_output_tokens")
    return min(settings.max_tokens, known) if isinstance(known, int) else settings.max_tokens


def complete(
    settings: ModelSettings,
    messages: Sequence[Message],
    *,
    calls: Calls,
    tools: Sequence[Mapping[str, Any]] = (),
    seed: int | None = None,
    nonce: int = 0,
    json_object: bool = False,
) -> Answer:
    """Ask a model once; ``content``, ``tool_calls``, ``finish``, tokens and cost.

    Parameters
    ----------
    settings, messages, tools, seed
        As the model gets them.
    calls
        Of the episode.
    nonce
        Tells repeated questions of one episode apart in the cache.
    json_object
        Ask for a JSON object, where the provider can.

    Raises
    ------
    EpisodeFault, Refused, RunStopped, ReplayMiss
        See `Calls.remembered`.
    """
    limit = most_tokens(settings)
    asked: dict[str, Any] = {
        "messages": list(messages),
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": limit,
        "seed": seed,
        "tools": list(tools) or None,
        "response_format": {"type": "json_object"} if json_object else None,
        **settings.extra,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    base = settings.api_base and public_address(settings.api_base)
    request = {"kind": "chat", "model": settings.model, "api_base": base, **asked}
    if nonce:
        request["nonce"] = nonce
    length = sum(len(str(m.get("content") or "")) for m in messages) + len(str(list(tools)))
    runtime, sent = calls.runtime, length // CHARACTERS_A_TOKEN
    tokens_in, tokens_out = runtime.expected(settings.model, sent, limit)
    zero = runtime.replay or runtime.ledger.budget.money in (None, 0)
    price = None if zero else prices(settings)
    money = 0.0
    if price is not None:
        money = tokens_in * price[0] + tokens_out * price[1]

    def call() -> Answer:
        answer = _call(settings, asked, runtime.interrupted)
        runtime.learn(settings.model, sent, answer)
        return answer

    return calls.remembered(
        request,
        call,
        target=settings.model,
        most=(money, tokens_in + tokens_out),
        per_minute=settings.per_minute,
    )


def _call(
    settings: ModelSettings, asked: Mapping[str, Any], interrupted: threading.Event
) -> Answer:
    litellm = _litellm()
    secret = environment_secret(settings.key_env)
    remember_address(settings.api_base or "")
    # A server of one's own never gets the key that the environment holds for somebody else.
    key = secret or ("unused" if settings.api_base else None)

    def talk() -> Answer:
        return _answer(
            litellm.completion(
                model=settings.model,
                api_base=settings.api_base,
                api_key=key,
                timeout=settings.timeout,
                num_retries=0,
                max_retries=0,
                **asked,
            )
        )

    try:
        answer = within(settings.timeout, talk, interrupted)
    except RunStopped:
        raise
    except TimeoutError:
        detail = f"{settings.model}: no answer in {settings.timeout:g} s"
        raise Transient("timeout", detail) from None
    except Exception as error:  # noqa: BLE001  (a malformed answer makes litellm raise anything)
        raise _fault(litellm, error, settings) from None
    price = prices(settings)
    answer["cost"] = (
        0.0 if price is None else answer["tokens_in"] * price[0] + answer["tokens_out"] * price[1]
    )
    return answer


def _answer(response: Any) -> Answer:
    choice = response.choices[0]
    message, usage = choice.message, getattr(response, "usage", None)
    made = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in message.tool_calls or ()
    ]
    content = message.content
    if content is not None and (not isinstance(content, str) or len(content) > MOST_BYTES):
        raise ValueError("Invalid response: the content is not a text of a possible length")
    return {
        "content": content,
        "tool_calls": made,
        "finish": choice.finish_reason,
        "tokens_in": int(getattr(usage, "prompt_tokens", 0) or 0),
        "tokens_out": int(getattr(usage, "completion_tokens", 0) or 0),
    }


def _fault(litellm: Any, error: Exception, settings: ModelSettings) -> Exception:
    detail = hidden(f"{settings.model}: {error}".replace("\n", " "))[:400]
    kinds = litellm.exceptions
    status = getattr(error, "status_code", None)
    if status in (401, 403):
        return Refused(f"the provider refuses the key of {detail}")
    if status == 404:
        return Refused(f"the provider does not know {detail}")
    if isinstance(error, kinds.ContextWindowExceededError):
        return EpisodeFault("context_window_exceeded", detail)
    if isinstance(error, kinds.RateLimitError):
        return Transient("rate_limited", detail, _retry_after(error))
    if isinstance(error, kinds.Timeout):
        return Transient("timeout", detail)
    if isinstance(error, kinds.BadRequestError):
        return EpisodeFault("provider_error", detail)
    malformed = any(word in detail for word in ("JSON", "Expecting", "Invalid response", "choices"))
    passing = (
        kinds.APIError,
        kinds.APIConnectionError,
        kinds.InternalServerError,
        kinds.ServiceUnavailableError,
        kinds.BadGatewayError,
    )
    if malformed or not isinstance(error, passing):
        return Transient("malformed_response", detail)
    return Transient("provider_error", detail)


def _retry_after(error: Any) -> float | None:
    sources = (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    )
    for headers in sources:
        try:
            value = (headers or {}).get("retry-after")
            if value is not None:
                return max(0.0, min(600.0, float(value)))
        except (AttributeError, TypeError, ValueError):
            continue
    return None
