"""The ASGI application of a study."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from usi.study import people
from usi.study.agents import Agents
from usi.study.database import study_name
from usi.study.links import Signer
from usi.study.study import Running
from usi.study.web.base import PersonSite
from usi.study.web.guard import Guard, TooFast, TooLarge
from usi.study.web.hub import Hub
from usi.study.web.owner import OwnerSite
from usi.study.web.pages import static_folder
from usi.study.web.site import ParticipantSite

SWEEP_SECONDS = 5.0
_LOG = logging.getLogger("usi.study")
_PAGES = {403: "refused", 404: "not_found", 413: "refused", 429: "busy", 500: "failed"}


class Cached(StaticFiles):
    """Files that may be kept: their address changes when they do."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file with a long life."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "public, max-age=604800"
        return response


def study_app(running: Running, *, secret: str, password: str, root_path: str = "") -> Any:
    """Build the site of a study.

    Parameters
    ----------
    running
        The study, its file open.
    secret, password
        What signs links, and the password of the owner's page; of the environment.
    root_path
        Path under which a reverse proxy serves it.
    """
    hub = Hub()
    agents = Agents(running, hub.tell)
    signer = Signer(secret, study_name(running.database))
    site = ParticipantSite(running, agents, signer, hub)
    owner = OwnerSite(running, signer, password)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        hub.start()
        await asyncio.to_thread(agents.resume)
        sweeper = asyncio.create_task(_sweep(running, hub))
        try:
            yield
        finally:
            sweeper.cancel()
            hub.close()
            agents.close()

    handlers, refuse = errors_of(site)
    app = Starlette(
        routes=[
            *site.routes(),
            *owner.routes(),
            Mount("/static", Cached(directory=static_folder())),
        ],
        lifespan=lifespan,
        exception_handlers=handlers,
    )

    return Guard(app, root_path=root_path, refuse=refuse)


def errors_of(site: PersonSite) -> tuple[dict[Any, Any], Any]:
    """Pages for what goes wrong: handlers of exceptions, and what answers with a status."""

    async def failed(request: Request, error: Exception) -> Response:
        _LOG.error("%s %s", request.method, type(error).__name__, exc_info=error)
        return site.plain(request, "failed", status=500)

    async def too_large(request: Request, error: Exception) -> Response:
        return site.plain(request, "refused", status=413)

    async def too_fast(request: Request, error: Exception) -> Response:
        return site.short(request, "too_fast", 429)

    async def page(request: Request, error: Any) -> Response:
        status = getattr(error, "status_code", 404)
        return site.plain(request, _PAGES.get(status, "not_found"), status=status)

    def refuse(status: int) -> Any:
        async def answer(scope: Any, receive: Any, send: Any) -> None:
            response = site.plain(Request(scope), _PAGES[status], status=status)
            await response(scope, receive, send)

        return answer

    handlers = {
        TooLarge: too_large, TooFast: too_fast,
        400: page, 403: page, 404: page, 405: page, 500: failed,
    }  # fmt: skip
    return handlers, refuse


async def _sweep(running: Running, hub: Hub) -> None:
    """Give idle places back, for as long as the server runs."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            for talk in await running.database.commit(lambda db: people.return_idle(db, running)):
                hub.tell(talk)
        except Exception:  # noqa: BLE001  (the next sweep tries again)
            _LOG.exception("returning idle places")
