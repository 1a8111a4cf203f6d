"""The owner's page, behind a password: progress, cost, flags, exclusion, the corpus.

Entering, the cookie, forms and plain pages are shared with the owner's page of a blind check.
"""

from __future__ import annotations

import asyncio
import hmac
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from usi.errors import UsiError
from usi.study import people, status
from usi.study.database import Connection, Database
from usi.study.links import Signer
from usi.study.study import Running
from usi.study.web.base import address, root
from usi.study.web.guard import Pace
from usi.study.web.pages import render, static_version


class OwnerPages:
    """What the owners of a study and of a blind check share.

    Parameters
    ----------
    study
        Settings with title and institution.
    database, signer
        File, and what signs cookies.
    password
        Of the environment.
    """

    def __init__(self, study: Any, database: Database, signer: Signer, password: str) -> None:
        self.study, self.database, self.signer, self._password = study, database, signer, password
        self.cookie = f"usi_owner_{signer.study[:8]}"
        self.tries = Pace(a_second=1 / 12, at_once=5)

    @property
    def trial(self) -> bool:
        """Whether the pages say that this is a trial."""
        raise NotImplementedError

    def gather(self) -> dict[str, Any]:
        """Values of the first page, whose template is ``template``."""
        raise NotImplementedError

    def archive(self) -> tuple[str, bytes]:
        """Name and content of what can be downloaded, a zip archive."""
        raise NotImplementedError

    def set_closed(self, db: Connection, closed: bool) -> None:
        """Begin nothing new, or begin again."""
        raise NotImplementedError

    def common_routes(self) -> list[Route]:
        """Addresses of the first page, entering, leaving, closing and downloading."""
        return [
            Route("/owner", self.overview),
            Route("/owner/enter", self.enter, methods=["POST"]),
            Route("/owner/leave", self.leave, methods=["POST"]),
            Route("/owner/close", self.close, methods=["POST"]),
            Route("/owner/export", self.export, methods=["POST"]),
        ]

    async def overview(self, request: Request) -> Response:
        """Progress, and everything that can be looked at."""
        if not self.is_owner(request):
            return self.show(request, "owner_enter.html.j2", "Owner's page", wrong=False)
        found = await asyncio.to_thread(self.gather)
        return self.show(request, found.pop("template"), "Owner's page", **found)

    async def enter(self, request: Request) -> Response:
        """Check the password; a few tries a minute."""
        if not self.tries.allows(address(request)):
            return HTMLResponse("Too many tries. Wait a minute.", status_code=429)
        form = await request.form(max_files=0, max_fields=5)
        given = str(form.get("password") or "")
        right = hmac.compare_digest(given.encode(), self._password.encode())
        if not right or self.signer.read("enter", str(form.get("csrf") or "")) != 1:
            return self.show(request, "owner_enter.html.j2", "Owner's page", wrong=True, code=403)
        response = RedirectResponse(f"{root(request)}/owner", status_code=303)
        response.set_cookie(
            self.cookie, self.signer.owner_cookie(), httponly=True, samesite="strict",
            secure=request.url.scheme == "https", path=f"{root(request)}/owner",
        )  # fmt: skip
        return response

    async def leave(self, request: Request) -> Response:
        """Forget the cookie."""
        if await self.sent(request) is None:
            return self.refused(request)
        response = RedirectResponse(f"{root(request)}/owner", status_code=303)
        response.delete_cookie(self.cookie, path=f"{root(request)}/owner")
        return response

    async def close(self, request: Request) -> Response:
        """Begin nothing new, or begin again."""
        form = await self.sent(request)
        if form is None:
            return self.refused(request)
        closed = form.get("closed") == "yes"
        await self.database.commit(lambda db: self.set_closed(db, closed))
        return RedirectResponse(f"{root(request)}/owner", status_code=303)

    async def export(self, request: Request) -> Response:
        """What came of it until now, in an archive."""
        if await self.sent(request) is None:
            return self.refused(request)
        try:
            name, content = await asyncio.to_thread(self.archive)
        except UsiError as error:
            return self.show(
                request, "owner_none.html.j2", "Nothing was exported", code=422, words=str(error)
            )
        return Response(
            content,
            media_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{name}.zip"'},
        )

    def is_owner(self, request: Request) -> bool:
        """Whether the cookie is one that was given for the password."""
        return self.signer.is_owner(request.cookies.get(self.cookie, ""))

    async def sent(self, request: Request) -> Mapping[str, Any] | None:
        """Fields of a form of the owner's page; ``None`` where it is not one."""
        form = await request.form(max_files=0, max_fields=10)
        token = self.signer.read("owner-form", str(form.get("csrf") or ""))
        cookie = request.cookies.get(self.cookie, "")
        return form if self.is_owner(request) and token == self.signer.hashed(cookie) else None

    def back(self, request: Request, place: str, done: bool, words: str) -> Response:
        """To a page below the owner's, or why nothing changed."""
        if done:
            place_ = f"{root(request)}/owner/{place}".rstrip("/")
            return RedirectResponse(place_, status_code=303)
        return self.show(request, "owner_none.html.j2", "Nothing changed", code=422, words=words)

    def refused(self, request: Request) -> Response:
        """Not the owner, or not the owner's form."""
        return self.show(
            request, "owner_none.html.j2", "Refused", code=403,
            words="Enter the password on the owner's page first.",
        )  # fmt: skip

    def show(
        self, request: Request, template: str, heading: str, *, code: int = 200, **values: Any
    ) -> Response:
        """A page of the owner; it is in English whatever the study's language."""
        cookie = request.cookies.get(self.cookie, "")
        return HTMLResponse(
            render(
                template,
                site=self.study,
                trial=self.trial,
                root=root(request),
                version=static_version(),
                heading=heading,
                csrf=self.signer.sign("owner-form", self.signer.hashed(cookie)),
                enter=self.signer.sign("enter", 1),
                **{"words": "", **values},
            ),
            status_code=code,
        )


class OwnerSite(OwnerPages):
    """The owner's page of a study."""

    def __init__(self, running: Running, signer: Signer, password: str) -> None:
        super().__init__(running.place.study, running.database, signer, password)
        self.running = running

    @property
    def trial(self) -> bool:
        """Whether only scripts and testers take part."""
        return self.running.trial

    def routes(self) -> list[Route]:
        """All addresses of the owner."""
        return [
            *self.common_routes(),
            Route("/owner/talk/{talk:int}", self.talk),
            Route("/owner/talk/{talk:int}/exclude", self.exclude, methods=["POST"]),
            Route("/owner/talk/{talk:int}/include", self.include, methods=["POST"]),
        ]

    def gather(self) -> dict[str, Any]:
        """Progress and all talks."""
        db = self.database.read()
        return {
            "template": "owner.html.j2",
            "status": status.status_of(db, self.running),
            "grid": status.grid_of(db, self.running),
            "rows": status.talk_rows(db, self.running),
        }

    def set_closed(self, db: Connection, closed: bool) -> None:
        """Begin no new talks, or begin them again."""
        status.set_closed(db, self.running, closed)

    async def talk(self, request: Request) -> Response:
        """One talk to read."""
        if not self.is_owner(request):
            return self.refused(request)
        db, number = self.running.database.read(), request.path_params["talk"]
        found = people.talk_of(db, number)
        if found is None or found.practice:
            return self.show(request, "owner_none.html.j2", "There is no such talk", code=404)
        row = next(r for r in status.talk_rows(db, self.running) if r.id == number)
        task = self.running.by_id.get(found.task)
        return self.show(
            request, "owner_talk.html.j2", f"Talk {number}", row=row,
            instruction=task.instruction if task else "",
            messages=[m.body for m in people.messages_of(db, number)],
        )  # fmt: skip

    async def exclude(self, request: Request) -> Response:
        """Leave a talk out, with a reason."""
        form = await self.sent(request)
        if form is None:
            return self.refused(request)
        number, reason = request.path_params["talk"], str(form.get("reason") or "")
        done = await self.database.commit(
            lambda db: status.exclude(db, self.running, number, reason)
        )
        return self.back(request, f"talk/{number}", done, "Leaving a talk out needs a reason.")

    async def include(self, request: Request) -> Response:
        """Take an exclusion back."""
        if await self.sent(request) is None:
            return self.refused(request)
        number = request.path_params["talk"]
        done = await self.database.commit(lambda db: status.include(db, self.running, number))
        words = "The talk's place was filled again meanwhile, so it stays left out."
        return self.back(request, f"talk/{number}", done, words)

    def archive(self) -> tuple[str, bytes]:
        """The corpus as it is now."""
        from usi.study.export import export_corpus

        name = self.running.place.study.corpus.name
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / name
            export_corpus(self.running, home)
            packed = Path(folder) / "corpus.zip"
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted(home.rglob("*")):
                    archive.write(path, f"{home.name}/{path.relative_to(home).as_posix()}")
            return name, packed.read_bytes()
