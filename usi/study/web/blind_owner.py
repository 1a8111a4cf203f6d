"""The owner's page of a blind check: raters, sessions read, flags, exclusion, the result."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from usi.study.blind import raters, status
from usi.study.blind.raters import Blind
from usi.study.blind.text import markdown_of, result_of
from usi.study.database import Connection
from usi.study.links import Signer
from usi.study.web.owner import OwnerPages


class BlindOwnerSite(OwnerPages):
    """Routes of the owner."""

    def __init__(self, blind: Blind, signer: Signer, password: str) -> None:
        super().__init__(blind.place.study, blind.database, signer, password)
        self.blind = blind

    @property
    def trial(self) -> bool:
        """Whether only scripts and testers take part."""
        return self.blind.trial

    def routes(self) -> list[Route]:
        """All addresses of the owner."""
        return [
            *self.common_routes(),
            Route("/owner/rater/{rater:int}/exclude", self.exclude, methods=["POST"]),
            Route("/owner/rater/{rater:int}/include", self.include, methods=["POST"]),
        ]

    def gather(self) -> dict[str, Any]:
        """Progress and all raters."""
        db = self.database.read()
        return {
            "template": "blind_owner.html.j2",
            "status": status.status_of(db, self.blind),
            "rows": status.rater_rows(db),
        }

    def set_closed(self, db: Connection, closed: bool) -> None:
        """Take no more raters, or take them again."""
        raters.set_closed(db, closed_=closed)

    async def exclude(self, request: Request) -> Response:
        """Leave a rater out, with a reason."""
        form = await self.sent(request)
        if form is None:
            return self.refused(request)
        rater, reason = request.path_params["rater"], str(form.get("reason") or "")
        done = await self.database.commit(lambda db: status.exclude(db, rater, reason))
        return self.back(request, "", done, "Leaving a rater out needs a reason.")

    async def include(self, request: Request) -> Response:
        """Take an exclusion back."""
        if await self.sent(request) is None:
            return self.refused(request)
        rater = request.path_params["rater"]
        done = await self.database.commit(lambda db: status.include(db, rater))
        return self.back(request, "", done, "There is no such rater.")

    def archive(self) -> tuple[str, bytes]:
        """The result as it is now, as JSON and as Markdown."""
        card = result_of(self.blind)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("blind.json", card.to_json())
            archive.writestr("blind.md", markdown_of(card))
        return "blind", packed.getvalue()
