"""The site of a blind check."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from usi.study.blind import raters
from usi.study.blind.raters import Blind, Rater
from usi.study.database import Connection, study_name
from usi.study.links import Signer
from usi.study.web.app import Cached, errors_of
from usi.study.web.base import PersonSite, number, option
from usi.study.web.blind_owner import BlindOwnerSite
from usi.study.web.guard import Guard
from usi.study.web.pages import marked_up, static_folder

_NOTHING_GIVEN = ("consent", "declined", "withdrawn", "closed")
"""Steps at which there is nothing to withdraw."""


class RaterSite(PersonSite):
    """Routes of raters."""

    def __init__(self, blind: Blind, signer: Signer) -> None:
        super().__init__(blind.place.study, blind.database, blind.texts, signer)
        self.blind = blind

    @property
    def trial(self) -> bool:
        """Whether only scripts and testers take part."""
        return self.blind.trial

    def routes(self) -> list[Route]:
        """All addresses of raters."""
        return [
            *self.arrival_routes(),
            Route("/p/{token}", self.step),
            Route("/p/{token}/consent", self.consent, methods=["POST"]),
            Route("/p/{token}/background", self.background, methods=["POST"]),
            Route("/p/{token}/rate", self.rate, methods=["POST"]),
            Route("/p/{token}/withdraw", self.withdraw_page),
            Route("/p/{token}/withdraw", self.withdraw, methods=["POST"]),
        ]

    def arrive(
        self,
        db: Connection,
        *,
        invitation: int | None = None,
        key: str | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> int | None:
        """Number of the rater who comes."""
        return raters.arrive(db, self.blind, invitation=invitation, key=key, parameters=parameters)

    def standing(self, request: Request) -> Rater | None:
        """Where the rater of a link stands."""
        person = self.number_of(request)
        return None if person is None else raters.where(self.database.read(), self.blind, person)

    async def step(self, request: Request) -> Response:
        """The page of the step that a rater is at."""
        rater = self.standing(request)
        if rater is None:
            return self.plain(request, "not_found", status=404)
        return self.page(request, rater)

    def page(
        self, request: Request, rater: Rater, *, notice: str = "", status: int = 200
    ) -> Response:
        """A step's page."""
        t = self.t
        match rater.step:
            case "consent":
                return self.show(
                    request, rater, "consent.html.j2", t("step_consent"), part=0, notice=notice,
                    consent=marked_up(self.blind.place.consent), status=status,
                )  # fmt: skip
            case "background":
                own = self.study.experience
                question = {"id": "experience", "question": own.question, "options": own.options}
                return self.show(
                    request, rater, "background.html.j2", t("step_background"), part=5,
                    questions=[question], notice=notice, status=status,
                )  # fmt: skip
            case "rate":
                assert rater.item is not None
                heading = t("rate_title", number=rater.done + 1, total=rater.total)
                return self.show(
                    request, rater, "rate.html.j2", heading, notice=notice, status=status,
                    part=10 + round(85 * rater.done / max(1, rater.total)), item=rater.item,
                    messages=self.blind.items[rater.item].messages,
                )  # fmt: skip
            case "debrief":
                code = self.code_of(rater.code)
                return self.show(
                    request, rater, "debrief.html.j2", t("step_end"), part=100, code=code,
                    debrief=t("blind_debrief"), leave=self.leave_of(code),
                )  # fmt: skip
            case _:
                return self.plain(request, rater.step)

    async def consent(self, request: Request) -> Response:
        """Agree, or not."""
        person, form = await self.form_of(request)
        rater = None if person is None else self.standing(request)
        if rater is None:
            return self.plain(request, "refused", status=403)
        agreed = form.get("answer") == "yes"
        if agreed and form.get("agree") != "yes" and rater.step == "consent":
            return self.page(request, rater, notice=self.t("consent_missing"), status=422)
        await self.database.commit(
            lambda db: raters.consent(db, self.blind, rater.id, agreed=agreed)
        )
        return self.to(request, rater.id)

    async def background(self, request: Request) -> Response:
        """The rater's experience; they get their sessions."""
        person, form = await self.form_of(request)
        rater = None if person is None else self.standing(request)
        if rater is None:
            return self.plain(request, "refused", status=403)
        answer = option(form.get("experience"), self.study.experience.options) or ""
        whole = await self.database.commit(
            lambda db: raters.begin(db, self.blind, rater.id, answer)
        )
        if not whole:
            return self.page(request, rater, notice=self.t("choose_one"), status=422)
        return self.to(request, rater.id)

    async def rate(self, request: Request) -> Response:
        """A rating."""
        person, form = await self.form_of(request)
        rater = None if person is None else self.standing(request)
        if rater is None:
            return self.plain(request, "refused", status=403)
        turn = number(form.get("turn"), 0)
        whole = await self.database.commit(
            lambda db: raters.rate(
                db,
                self.blind,
                rater.id,
                str(form.get("item") or ""),
                verdict=str(form.get("verdict") or ""),
                sure=number(form.get("sure"), 0) or 0,
                realism=number(form.get("realism"), 0) or 0,
                turn=turn - 1 if turn else None,
            )
        )
        if not whole:
            return self.page(request, rater, notice=self.t("rate_missing"), status=422)
        return self.to(request, rater.id)

    async def withdraw_page(self, request: Request) -> Response:
        """Ask whether somebody means it."""
        rater = self.standing(request)
        if rater is None:
            return self.plain(request, "not_found", status=404)
        if rater.step in _NOTHING_GIVEN:
            return self.to(request, rater.id)
        return self.show(request, rater, "withdraw.html.j2", self.t("withdraw_title"), part=0)

    async def withdraw(self, request: Request) -> Response:
        """Delete what a rater answered."""
        person, _ = await self.form_of(request)
        if person is None:
            return self.plain(request, "refused", status=403)
        await self.database.commit(lambda db: raters.withdraw(db, person))
        await asyncio.to_thread(self.database.forget_log)
        return self.to(request, person)

    def show(
        self,
        request: Request,
        rater: Rater,
        template: str,
        heading: str,
        *,
        part: int,
        status: int = 200,
        **values: Any,
    ) -> Response:
        """A page of a rater."""
        return self.personal(
            request, rater.id, template, heading, part=part, status=status,
            may_withdraw=rater.step not in _NOTHING_GIVEN, **values,
        )  # fmt: skip


def blind_app(blind: Blind, *, secret: str, password: str, root_path: str = "") -> Any:
    """Build the site of a blind check; parameters as of the site of a study."""
    signer = Signer(secret, study_name(blind.database))
    site, owner = RaterSite(blind, signer), BlindOwnerSite(blind, signer, password)
    handlers, refuse = errors_of(site)

    app = Starlette(
        routes=[
            *site.routes(),
            *owner.routes(),
            Mount("/static", Cached(directory=static_folder())),
        ],
        exception_handlers=handlers,
    )
    return Guard(app, root_path=root_path, refuse=refuse)
