"""The participant's way: one address each, whose page is always the step that they are at."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from usi.study import people
from usi.study.agents import Agents
from usi.study.database import Connection
from usi.study.links import Signer
from usi.study.people import Person, Standing, Stored, Talk
from usi.study.study import Running
from usi.study.web.base import PersonSite, is_htmx, number, option
from usi.study.web.guard import Pace
from usi.study.web.hub import Hub
from usi.study.web.pages import marked_up, render

HEARTBEAT_SECONDS = 15.0
_LINE_END = re.compile(r"\r\n|\r|\n")
_STATUS = {"not_your_turn": 409, "over": 409, "empty": 422, "long": 422}


class ParticipantSite(PersonSite):
    """Routes of participants.

    Parameters
    ----------
    running, agents, signer, hub
        The study, its agent, its links and its open pages.
    """

    def __init__(self, running: Running, agents: Agents, signer: Signer, hub: Hub) -> None:
        super().__init__(running.place.study, running.database, running.texts, signer)
        self.running, self.agents, self.hub = running, agents, hub
        self.messages_pace = Pace(a_second=1.0, at_once=8)

    def routes(self) -> list[Route]:
        """All addresses of participants."""
        talk = "/p/{token}/talk/{talk:int}"
        return [
            *self.arrival_routes(),
            Route("/p/{token}", self.step),
            Route("/p/{token}/consent", self.consent, methods=["POST"]),
            Route("/p/{token}/background", self.background, methods=["POST"]),
            Route("/p/{token}/understood", self.understood, methods=["POST"]),
            Route("/p/{token}/next", self.next, methods=["POST"]),
            Route("/p/{token}/withdraw", self.withdraw_page),
            Route("/p/{token}/withdraw", self.withdraw, methods=["POST"]),
            Route(f"{talk}/say", self.say, methods=["POST"]),
            Route(f"{talk}/end", self.end, methods=["POST"]),
            Route(f"{talk}/survey", self.survey, methods=["POST"]),
            Route(f"{talk}/messages", self.messages),
            Route(f"{talk}/events", self.events),
        ]

    @property
    def trial(self) -> bool:
        """Whether only scripts and testers take part."""
        return self.running.trial

    def arrive(
        self,
        db: Connection,
        *,
        invitation: int | None = None,
        key: str | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> int | None:
        """Number of the participant who comes."""
        person = people.arrive(
            db, self.running, invitation=invitation, key=key, parameters=parameters
        )
        return None if person is None else person.id

    # Pages

    async def step(self, request: Request) -> Response:
        """The page of the step that a participant is at."""
        standing = self.standing(request)
        if standing is None:
            return self.plain(request, "not_found", status=404)
        return self.page(request, standing)

    def page(
        self,
        request: Request,
        standing: Standing,
        *,
        notice: str = "",
        draft: str = "",
        status: int = 200,
    ) -> Response:
        """A step's page, with something to say about what was just sent."""
        study, t = self.running.place.study, self.t
        match standing.step:
            case "consent":
                return self.show(
                    request, standing, "consent.html.j2", t("step_consent"), part=0, status=status,
                    consent=marked_up(self.running.place.consent), notice=notice,
                )  # fmt: skip
            case "background":
                return self.show(
                    request, standing, "background.html.j2", t("step_background"), part=5,
                    questions=study.background, notice=notice, status=status,
                )  # fmt: skip
            case "instructions":
                question, options = self.comprehension(standing.person)
                return self.show(
                    request, standing, "instructions.html.j2", t("step_instructions"), part=10,
                    question=question, options=options, notice=notice, tries=standing.person.tries,
                    status=status,
                )  # fmt: skip
            case "practice" | "talk":
                return self.talk_page(request, standing, notice, draft, status)
            case "survey":
                assert self.running.survey is not None
                return self.show(
                    request, standing, "survey.html.j2",
                    t("step_survey", number=standing.done + 1, total=standing.total),
                    questions=self.running.survey.questions, talk=standing.talk,
                )  # fmt: skip
            case "between":
                return self.between(request, standing)
            case "wait":
                return self.show(
                    request, standing, "wait.html.j2", t("wait_title"),
                    minutes=round(study.design.idle_minutes),
                )  # fmt: skip
            case "debrief":
                code = self.code_of(standing.person.code)
                return self.show(
                    request, standing, "debrief.html.j2", t("step_end"), part=100, code=code,
                    debrief=t("debrief_text"), leave=self.leave_of(code),
                )  # fmt: skip
            case _:
                return self.plain(request, standing.step)

    def talk_page(
        self, request: Request, standing: Standing, notice: str, draft: str, status: int
    ) -> Response:
        """The page of a talk, with all that was said."""
        talk, t = standing.talk, self.t
        assert talk is not None
        stored = people.messages_of(self.running.database.read(), talk.id)
        study = self.running.place.study
        if talk.practice:
            heading = t("step_practice")
            instruction = study.practice.instruction or t("practice_instruction")
        else:
            heading = t("step_task", number=standing.done + 1, total=standing.total)
            instruction = self.running.by_id[talk.task].instruction
        return self.show(
            request, standing, "talk.html.j2", heading, status=status, talk=talk,
            instruction=instruction, practice=talk.practice, notice=notice, draft=draft,
            messages=heard(stored), last=stored[-1].seq, state=self.state(talk, stored),
            client=secrets.token_hex(16), most=study.limits.message_characters,
        )  # fmt: skip

    def between(self, request: Request, standing: Standing) -> Response:
        """Between two tasks, or before the first."""
        closed = self.running.closed(self.running.database.read()) is not None
        more = standing.done < standing.total and not closed
        news = {"infrastructure": "talk_broken", "returned": "talk_idle"}.get(
            standing.last_ended or ""
        )
        title = self.t("between_title", done=standing.done, total=standing.total)
        if not standing.done and more:
            title = self.t("between_start")
        return self.show(
            request, standing, "between.html.j2", title, title=title, more=more,
            news=self.t(news) if news else "",
        )  # fmt: skip

    def comprehension(self, person: Person) -> tuple[str, list[tuple[int, str]]]:
        """The question, and its options with their numbers, in an order of the person's own."""
        own = self.running.place.study.comprehension
        if own is not None:
            return own.question, list(enumerate(own.options, start=1))
        t = self.t
        names = ("comprehension_right", "comprehension_wrong_1", "comprehension_wrong_2")
        options = [(number, t(name)) for number, name in enumerate(names, start=1)]
        turn = person.id % len(options)
        return t("comprehension_question"), [*options[turn:], *options[:turn]]

    # Forms

    async def consent(self, request: Request) -> Response:
        """Agree, or not."""
        standing, form = await self.sent(request)
        if standing is None:
            return self.plain(request, "refused", status=403)
        agreed = form.get("answer") == "yes"
        if agreed and form.get("agree") != "yes" and standing.step == "consent":
            return self.page(request, standing, notice=self.t("consent_missing"), status=422)
        await self.running.database.commit(
            lambda db: people.consent(db, self.running, standing.person.id, agreed=agreed)
        )
        return self.to(request, standing.person.id)

    async def background(self, request: Request) -> Response:
        """Answers about the person."""
        standing, form = await self.sent(request)
        if standing is None:
            return self.plain(request, "refused", status=403)
        answers = {
            question.id: chosen
            for question in self.running.place.study.background
            if (chosen := option(form.get(question.id), question.options)) is not None
        }
        whole = await self.running.database.commit(
            lambda db: people.background(db, self.running, standing.person.id, answers)
        )
        if not whole:
            return self.page(request, standing, notice=self.t("choose_one"), status=422)
        return self.to(request, standing.person.id)

    async def understood(self, request: Request) -> Response:
        """The comprehension question; an answer sent twice counts once."""
        standing, form = await self.sent(request)
        if standing is None:
            return self.plain(request, "refused", status=403)
        own = self.running.place.study.comprehension
        right = form.get("answer") == str(own.answer if own is not None else 1)
        if form.get("try") == str(standing.person.tries):
            tries = own.tries if own is not None else 2
            await self.running.database.commit(
                lambda db: people.understood(
                    db, self.running, standing.person.id, right=right, tries=tries
                )
            )
        now = self.standing(request)
        if now is not None and now.step == "instructions":
            notice = self.t("comprehension_again")
            return self.page(request, now, notice=notice, status=422)
        return self.to(request, standing.person.id)

    async def next(self, request: Request) -> Response:
        """The next task."""
        standing, _ = await self.sent(request)
        if standing is None:
            return self.plain(request, "refused", status=403)
        await self.running.database.commit(
            lambda db: people.next_task(db, self.running, standing.person.id)
        )
        return self.to(request, standing.person.id)

    async def say(self, request: Request) -> Response:
        """A message: stored first, then answered."""
        person, form = await self.form_of(request)
        if person is None:
            return self.short(request, "refused_text", 403)
        talk_id = request.path_params["talk"]
        if not self.messages_pace.allows(str(person)):
            return self.short(request, "too_fast", 429)
        text = str(form.get("text") or "").replace("\r\n", "\n").replace("\0", "")
        said = await self.running.database.commit(
            lambda db: people.say(
                db,
                self.running,
                person,
                talk_id,
                text,
                client=str(form.get("client") or secrets.token_hex(16))[:64],
                typing_ms=number(form.get("typing_ms"), None),
                pastes=number(form.get("pastes"), 0) or 0,
                pasted_characters=number(form.get("pasted_characters"), 0) or 0,
                hidden=number(form.get("hidden"), 0) or 0,
            )
        )
        if said == "stored":
            self.agents.submit(talk_id)
            self.hub.tell(talk_id)
        if said in ("stored", "again"):
            if not is_htmx(request):
                return self.to(request, person)
            after = number(form.get("after"), -1)
            return self.fragment(talk_id, -1 if after is None else after)
        words = {
            "not_your_turn": "not_your_turn", "over": "talk_over", "empty": "message_empty",
            "long": "message_long",
        }[said]  # fmt: skip
        most = self.running.place.study.limits.message_characters
        notice = self.t(words, count=len(text), most=most)
        if is_htmx(request):
            return PlainTextResponse(notice, status_code=_STATUS[said])
        now = self.standing(request)
        if now is None or now.talk is None or now.talk.id != talk_id:
            return self.to(request, person)
        return self.page(request, now, notice=notice, draft=text, status=_STATUS[said])

    async def end(self, request: Request) -> Response:
        """The participant ends a talk."""
        standing, _ = await self.sent(request)
        if standing is None:
            return self.plain(request, "refused", status=403)
        talk_id = request.path_params["talk"]
        ended = await self.running.database.commit(
            lambda db: people.end_talk(db, self.running, standing.person.id, talk_id)
        )
        if not ended:
            return self.page(request, standing, notice=self.t("end_first"), status=422)
        self.agents.submit(talk_id)
        self.hub.tell(talk_id)
        return self.to(request, standing.person.id)

    async def survey(self, request: Request) -> Response:
        """Answers about a talk."""
        standing, form = await self.sent(request)
        instrument, shown = self.running.instrument, self.running.survey
        if standing is None or instrument is None or shown is None:
            return self.plain(request, "refused", status=403)
        chosen = {q.item: number(form.get(q.item), 0) or 0 for q in shown.questions}
        answers = shown.original(instrument, chosen)
        talk_id = request.path_params["talk"]
        await self.running.database.commit(
            lambda db: people.survey(db, self.running, standing.person.id, talk_id, answers)
        )
        return self.to(request, standing.person.id)

    async def withdraw_page(self, request: Request) -> Response:
        """Ask whether somebody means it."""
        standing = self.standing(request)
        if standing is None:
            return self.plain(request, "not_found", status=404)
        if not may_withdraw(standing):
            return self.to(request, standing.person.id)
        return self.show(request, standing, "withdraw.html.j2", self.t("withdraw_title"))

    async def withdraw(self, request: Request) -> Response:
        """Delete what a participant said."""
        standing, _ = await self.sent(request)
        if standing is None:
            return self.plain(request, "refused", status=403)
        await self.running.database.commit(
            lambda db: people.withdraw(db, self.running, standing.person.id)
        )
        await asyncio.to_thread(self.running.database.forget_log)
        if standing.talk is not None:
            self.hub.tell(standing.talk.id)
        return self.to(request, standing.person.id)

    # What a talk's page asks for

    async def messages(self, request: Request) -> Response:
        """Messages after a number, or the state alone."""
        talk = self.own_talk(request)
        if talk is None:
            return self.short(request, "not_found_text", 404)
        if request.query_params.get("state"):
            last = people.latest(self.running.database.read(), talk.id)
            return HTMLResponse(self.state_part(self.state(talk, last)))
        after = number(request.query_params.get("after"), -1)
        return self.fragment(talk.id, -1 if after is None else after)

    async def events(self, request: Request) -> Response:
        """Messages and states as they come, as server-sent events."""
        from starlette.responses import StreamingResponse

        talk = self.own_talk(request)
        if talk is None:
            return self.short(request, "not_found_text", 404)
        seen = request.headers.get("last-event-id") or request.query_params.get("after")
        after = number(seen, -1)
        return StreamingResponse(
            self.stream(talk.id, -1 if after is None else after),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def stream(self, talk_id: int, after: int) -> AsyncIterator[str]:
        """Events of a talk until it is over or the page goes away."""
        event, state = self.hub.join(talk_id), ""
        last = people.latest(self.running.database.read(), talk_id)
        try:
            while True:
                db = self.running.database.read()
                talk = people.talk_of(db, talk_id)
                new = people.messages_of(db, talk_id, after)
                for message in heard(new):
                    part = render("messages.html.j2", messages=[message], t=self.t)
                    yield sse("message", part, message.seq)
                if new:
                    after, last = new[-1].seq, new[-1:]
                now = "over" if talk is None else self.state(talk, last)
                if now != state:
                    state = now
                    yield sse("state", self.state_part(state))
                if state == "over" or not self.hub.is_in(talk_id, event):
                    return
                event.clear()
                try:
                    await asyncio.wait_for(event.wait(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self.hub.leave(talk_id, event)

    def fragment(self, talk_id: int, after: int) -> Response:
        """Messages of a talk after a number, as HTML."""
        db = self.running.database.read()
        talk = people.talk_of(db, talk_id)
        new = people.messages_of(db, talk_id, after)
        state = "over" if talk is None else self.state(talk, new or people.latest(db, talk_id))
        return HTMLResponse(
            render("messages.html.j2", messages=heard(new), t=self.t),
            headers={"X-Talk-State": state},
        )

    def state(self, talk: Talk, last: list[Stored]) -> str:
        """``yours``, ``writing`` or ``over``, by the end of a talk's messages."""
        if talk.state != "open":
            return "over"
        return "writing" if people.agents_turn(last) else "yours"

    def state_part(self, state: str) -> str:
        """A state as a piece of the page."""
        return render("state.html.j2", state=state, t=self.t).strip()

    # Pieces

    def standing(self, request: Request) -> Standing | None:
        """Where the participant of a link stands; ``None`` where the link is not valid."""
        person = self.number_of(request)
        if person is None:
            return None
        return people.where(self.running.database.read(), self.running, person)

    async def sent(self, request: Request) -> tuple[Standing | None, Mapping[str, Any]]:
        """Who sent a form, and its fields; ``None`` without the form's own token."""
        person, form = await self.form_of(request)
        if person is None:
            return None, {}
        return people.where(self.running.database.read(), self.running, person), form

    def own_talk(self, request: Request) -> Talk | None:
        """A talk of the participant whose link it is."""
        person = self.number_of(request)
        if person is None:
            return None
        talk = request.path_params["talk"]
        return people.talk_of(self.running.database.read(), talk, person)

    def show(
        self,
        request: Request,
        standing: Standing,
        template: str,
        heading: str,
        *,
        part: int | None = None,
        status: int = 200,
        **values: Any,
    ) -> Response:
        """A page of a participant."""
        if part is None:
            part = 15 + round(80 * standing.done / max(1, standing.total))
        return self.personal(
            request, standing.person.id, template, heading, part=part, status=status,
            may_withdraw=may_withdraw(standing), **values,
        )  # fmt: skip


def heard(messages: list[Stored]) -> list[Stored]:
    """Messages that a participant sees."""
    return [message for message in messages if people.is_heard(message.body)]


def may_withdraw(standing: Standing) -> bool:
    """Whether there is anything to withdraw."""
    return standing.step not in ("consent", "declined", "withdrawn", "closed")


def sse(name: str, data: str, number_: int | None = None) -> str:
    """A server-sent event; the data may have lines."""
    lines = [f"event: {name}"]
    if number_ is not None:
        lines.append(f"id: {number_}")
    lines += [f"data: {line}" for line in _LINE_END.split(data.strip())]
    return "\n".join(lines) + "\n\n"
