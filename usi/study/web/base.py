"""What the sites of a study and of a blind check share: arriving, addresses, plain pages, forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from usi.study.database import Connection, Database
from usi.study.links import Signer
from usi.study.texts import Texts
from usi.study.web.guard import Pace, TooFast
from usi.study.web.pages import render, static_version

MOST_PARAMETER = 200
"""Characters of a recruiting service's parameter that are kept."""
_MOST_DIGITS = 9


class PersonSite:
    """Pages of people who come by a link, each under an address of their own.

    Parameters
    ----------
    study
        Settings with title, institution, contact, url and recruiting.
    database, texts, signer
        File, words, and what signs links.
    """

    def __init__(self, study: Any, database: Database, texts: Texts, signer: Signer) -> None:
        self.study, self.database, self.t, self.signer = study, database, texts, signer
        self.arrivals_pace = Pace(a_second=1.0, at_once=300)
        self.forms_pace = Pace(a_second=2.0, at_once=30)

    @property
    def trial(self) -> bool:
        """Whether the pages say that this is a trial."""
        raise NotImplementedError

    def arrive(
        self,
        db: Connection,
        *,
        invitation: int | None = None,
        key: str | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> int | None:
        """Number of whoever comes; ``None`` where they bring other parameters than before."""
        raise NotImplementedError

    def arrival_routes(self) -> list[Route]:
        """Addresses of arriving."""
        return [
            Route("/", self.front),
            Route("/start", self.start, methods=["POST"]),
            Route("/i/{token}", self.invitation),
        ]

    async def front(self, request: Request) -> Response:
        """The first page: for a recruiting service's parameters, or for everybody."""
        recruiting = self.study.recruiting
        given = {
            name: request.query_params[name][:MOST_PARAMETER]
            for name in recruiting.parameters
            if request.query_params.get(name)
        }
        if recruiting.parameters and recruiting.id in given:
            if not self.arrivals_pace.allows(address(request)):
                return self.plain(request, "busy", status=429)
            key = self.signer.hashed(given[recruiting.id])
            return self.arrived(
                request,
                await self.database.commit(lambda db: self.arrive(db, key=key, parameters=given)),
            )
        if recruiting.open:
            return self.plain(request, "start", start=self.signer.sign("start", 1))
        return self.plain(request, "not_found", status=404)

    async def start(self, request: Request) -> Response:
        """Begin where anybody may."""
        form = await request.form(max_files=0, max_fields=5)
        if not self.study.recruiting.open:
            return self.plain(request, "not_found", status=404)
        if self.signer.read("start", str(form.get("csrf"))) != 1:
            return self.plain(request, "refused", status=403)
        if not self.arrivals_pace.allows(address(request)):
            return self.plain(request, "busy", status=429)
        return self.arrived(request, await self.database.commit(self.arrive))

    async def invitation(self, request: Request) -> Response:
        """A signed link: the same person each time."""
        number_ = self.signer.read("invitation", request.path_params["token"])
        if not isinstance(number_, int):
            return self.plain(request, "not_found", status=404)
        found = await self.database.commit(lambda db: self.arrive(db, invitation=number_))
        return self.arrived(request, found)

    def arrived(self, request: Request, person: int | None) -> Response:
        """To the page of whoever came."""
        if person is None:
            return self.plain(request, "refused", status=403)
        return self.to(request, person)

    def number_of(self, request: Request) -> int | None:
        """Whose address it is; ``None`` where it was not signed here."""
        found = self.signer.read("participant", request.path_params["token"])
        return found if isinstance(found, int) else None

    async def form_of(self, request: Request) -> tuple[int | None, Mapping[str, Any]]:
        """Who sent a form, and its fields; ``None`` without the form's own token.

        Raises
        ------
        TooFast
            Where a person sends more than people do.
        """
        form = await request.form(max_files=0, max_fields=100)
        person = self.number_of(request)
        if person is not None and not self.forms_pace.allows(str(person)):
            raise TooFast
        token = self.signer.read("form", str(form.get("csrf") or ""))
        return (person if person is not None and token == person else None), form

    def link(self, person: int) -> str:
        """Path of somebody's page."""
        return f"/p/{self.signer.sign('participant', person)}"

    def to(self, request: Request, person: int) -> Response:
        """Go to somebody's page."""
        return RedirectResponse(root(request) + self.link(person), status_code=303)

    def code_of(self, code: str) -> str:
        """What shows that somebody finished."""
        own = self.study.completion.code
        return str(own) if own else self.signer.hashed(f"completion|{code}")[:10].upper()

    def leave_of(self, code: str) -> str | None:
        """Where somebody goes who finished."""
        leave = self.study.completion.redirect
        return str(leave).replace("{code}", code) if leave else None

    def personal(
        self,
        request: Request,
        person: int,
        template: str,
        heading: str,
        *,
        part: int,
        may_withdraw: bool,
        status: int = 200,
        **values: Any,
    ) -> Response:
        """A page of somebody.

        Parameters
        ----------
        part
            How far they are, of 100.
        """
        own_link = (self.study.url or str(request.base_url)).rstrip("/")
        return self.html(
            request, template, heading, status=status, part=part,
            here=root(request) + self.link(person), csrf=self.signer.sign("form", person),
            may_withdraw=may_withdraw, own_link=own_link + self.link(person), **values,
        )  # fmt: skip

    def plain(
        self, request: Request, name: str, *, status: int = 200, start: str | None = None
    ) -> Response:
        """A page of a heading and a sentence."""
        heading = self.study.title if name == "start" else self.t(f"{name}_title")
        words = self.t("start_text") if name == "start" else self.t(f"{name}_text")
        return self.html(request, "plain.html.j2", heading, status=status, words=words, start=start)

    def short(self, request: Request, name: str, status: int) -> Response:
        """A sentence for the page's script, or a page where there is none."""
        if is_htmx(request) or request.method == "GET":
            return PlainTextResponse(self.t(name), status_code=status)
        return self.plain(request, "busy" if status == 429 else "refused", status=status)

    def html(
        self, request: Request, template: str, heading: str, *, status: int, **values: Any
    ) -> Response:
        """A page."""
        return HTMLResponse(
            render(
                template, t=self.t, site=self.study, trial=self.trial, root=root(request),
                version=static_version(), heading=heading, **values,
            ),
            status_code=status,
        )  # fmt: skip


def root(request: Request) -> str:
    """Path under which the site stands."""
    path: str = request.scope.get("root_path", "")
    return path.rstrip("/")


def address(request: Request) -> str:
    """Of whoever asks, as the trusted proxy says."""
    return request.client.host if request.client else ""


def is_htmx(request: Request) -> bool:
    """Whether the page's script asks."""
    return request.headers.get("hx-request") == "true"


def number(value: Any, default: int | None) -> int | None:
    """A whole number of 0 or more in a field; `default` where it is none."""
    text = str(value or "")
    if not text.isdecimal() or not text.isascii() or len(text) > _MOST_DIGITS:
        return default
    return int(text)


def option(value: Any, options: tuple[str, ...]) -> str | None:
    """The option that a field chooses by its number, counted from 1."""
    chosen = number(value, 0) or 0
    return options[chosen - 1] if 1 <= chosen <= len(options) else None
