"""Serving a site: checks first, one line that says where it is, then uvicorn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from usi.errors import UsageError
from usi.options import BlindServeOptions, SiteOptions, StudyServeOptions

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


def serve_study(folder: Path, own: StudyServeOptions, say: Callable[[str], None]) -> None:
    """Serve the site of a study until somebody ends it.

    Parameters
    ----------
    folder
        Holds ``study.toml``.
    own
        Where it is served, and whether only testers take part.
    say
        Told where the site is, once it answers.

    Raises
    ------
    InputError, UsageError
        Where settings, secrets, prices or the installation do not allow it.
    """
    from usi.simulate.cost import unpriced
    from usi.study.database import only_server
    from usi.study.links import OWNER, SECRET, from_environment
    from usi.study.study import begin, opened_study

    check_installed()
    secret, password = from_environment(SECRET), from_environment(OWNER)
    path = root_of(own.root_path)
    with opened_study(folder, served=False) as running, only_server(folder):
        begin(running, trial=own.trial)
        limits = running.place.study.limits
        if limits.budget and (unknown := unpriced([running.agent])):
            raise UsageError(
                f"limits.budget can't be held: the price of {', '.join(unknown)} is not known; "
                "give price_in and price_out in the agent's file, or limits.budget_tokens"
            )
        from usi.study.web.app import study_app

        app = study_app(running, secret=secret, password=password, root_path=path)

        def ready(address: str) -> None:
            say(f"{running.place.study.title}: {address}{path}/ (owner's page: {path}/owner)")
            if own.trial:
                say("trial: everything that comes of it is marked synthetic")

        serve(app, own, own.port, ready)


def serve_blind(folder: Path, own: BlindServeOptions, say: Callable[[str], None]) -> None:
    """Serve the site of a blind check until somebody ends it; as `serve_study`.

    Raises
    ------
    InputError, UsageError
        Where settings, the secret or the installation do not allow it.
    """
    from usi.study.blind.raters import opened_blind, set_trial
    from usi.study.database import only_server
    from usi.study.links import OWNER, SECRET, from_environment
    from usi.study.settings import check_filled_in

    check_installed()
    secret, password = from_environment(SECRET), from_environment(OWNER)
    path = root_of(own.root_path)
    with opened_blind(folder) as blind, only_server(folder):
        if not own.trial:
            check_filled_in(blind.place.consent, blind.place.folder / "consent.md")
        set_trial(blind, trial=own.trial)
        from usi.study.web.blind import blind_app

        app = blind_app(blind, secret=secret, password=password, root_path=path)
        title = blind.place.study.title

        def ready(address: str) -> None:
            say(f"{title}: {address}{path}/ (owner's page: {path}/owner)")
            if own.trial:
                say("trial: everything that comes of it is marked synthetic")

        serve(app, own, own.port, ready)


def serve(app: Any, own: SiteOptions, port: int, ready: Callable[[str], None]) -> None:
    """Run until somebody ends it.

    Parameters
    ----------
    app
        ASGI application.
    own, port
        Where to listen (port 0 takes a free one), and the addresses whose ``X-Forwarded-For`` and
        ``-Proto`` are believed.
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
        proxy_headers=own.trusted_proxy is not None,
        forwarded_allow_ips=own.trusted_proxy or "",
        access_log=False,
        server_header=False,
        log_level="warning",
        timeout_graceful_shutdown=3,
        timeout_keep_alive=30,
        lifespan="on",
    )
    host = own.host
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
