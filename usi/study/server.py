"""Serving a site: checks first, one line that says where it is, then uvicorn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from usi.errors import UsageError

_NEEDED = ("starlette", "uvicorn", "jinja2", "itsdangerous", "python_multipart")


def check_installed() -> None:
    """Refuse where the extra is missing.

    Raises
    ------
    UsageError
        With what to install.
    """
    from importlib.util import find_spec

    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the site needs {', '.join(missing)}, not installed here: pip install 'usi[study]'"
        )


def root_of(root_path: str) -> str:
    """A path such as ``/study``.

    Raises
    ------
    UsageError
        Where it is none.
    """
    path = root_path.rstrip("/")
    if path and (not path.startswith("/") or "//" in path or ".." in path or "?" in path):
        raise UsageError(f"--root-path {root_path!r}: write it as /study")
    return path


def serve(
    app: Any, *, host: str, port: int, trusted_proxy: str | None, ready: Callable[[str], None]
) -> None:
    """Run until somebody ends it.

    Parameters
    ----------
    app
        ASGI application.
    host, port
        To listen on; port 0 takes a free one.
    trusted_proxy
        Addresses (with commas) whose ``X-Forwarded-For`` and ``-Proto`` are believed.
    ready
        Told the address once the site answers.

    Raises
    ------
    UsageError
        Where the address can't be had.
    """
    import asyncio
    import socket

    import uvicorn

    config = uvicorn.Config(
        app,
        proxy_headers=trusted_proxy is not None,
        forwarded_allow_ips=trusted_proxy or "",
        access_log=False,
        server_header=False,
        log_level="warning",
        timeout_graceful_shutdown=3,
        timeout_keep_alive=30,
        lifespan="on",
    )
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(found[0], found[1])
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(found[4])
    except OSError as error:
        raise UsageError(f"can't listen on {host} port {port}: {error.strerror or error}") from None
    with listening:
        listening.listen(1024)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}"

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                if self.started:
                    ready(address)

        asyncio.run(Server(config).serve(sockets=[listening]))
