"""A scripted participant in a browser: what somebody would click and type."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Look = Callable[[str], Awaitable[None]]


async def nothing(step: str) -> None:
    """Look at no step."""


@dataclass
class Walker:
    """Walks from wherever the page is to the end.

    Attributes
    ----------
    page
        Of Playwright.
    name
        Is in every message, so that messages can be told apart.
    turns
        Messages of each talk.
    look
        Called at each step with its name.
    sent
        Messages that the page showed as sent, by order.
    """

    page: Any
    name: str
    turns: int = 3
    look: Look = nothing
    leave_after: int | None = None
    home: str = ""
    double_click: bool = False
    sent: list[str] = field(default_factory=list)
    answered: int = 0
    code: str | None = None

    async def step(self) -> str:
        """Name of the step whose page is open."""
        for name, selector in (
            ("consent", "form[action$='/consent']"),
            ("background", "form[action$='/background']"),
            ("instructions", "form[action$='/understood']"),
            ("talk", "#chat"),
            ("survey", "form[action$='/survey']"),
            ("next", "form[action$='/next']"),
            ("code", ".code"),
        ):
            if await self.page.locator(selector).count():
                return name
        return "other"

    async def walk(self) -> None:
        """Go on until the end, or until `leave_after` messages were sent."""
        while await self.walk_one():
            if self.leave_after is not None and len(self.sent) >= self.leave_after:
                return

    async def walk_one(self) -> bool:
        """Do the step whose page is open; whether there is another."""
        step = await self.step()
        if step == "consent":
            await self.look("consent")
            await self.again(self._agree)
        elif step == "background":
            await self.look("background")
            await self.again(lambda: self._choose(0))
        elif step == "instructions":
            await self.look("instructions")
            await self.again(self._understand)
        elif step == "talk":
            await self.talk()
        elif step == "survey":
            await self.look("survey")
            await self.again(lambda: self._choose(1, all_but=1))
        elif step == "next":
            if await self.page.locator("meta[http-equiv=refresh]").count():
                await self.look("wait")
                await asyncio.sleep(1.0)
            else:
                await self.look("between")
            await self.press("button.primary")
        elif step == "code":
            await self.look("debrief")
            self.code = await self.page.locator(".code").inner_text()
            return False
        elif self.home and not await self.page.locator("header.site").count():
            await asyncio.sleep(0.5)  # no page of the site: the server is away
            await self.again(lambda: self.page.goto(self.home), first=self.home)
        else:
            await self.look("plain")
            return False
        return True

    async def _agree(self) -> None:
        await self.page.check("input[name=agree]", timeout=20_000)
        await self._press("button.primary")

    async def _understand(self) -> None:
        await self.page.check("input[name=answer][value='1']", timeout=20_000)
        await self._press("button.primary")

    async def _choose(self, option: int, *, all_but: int = 0) -> None:
        groups = await self.page.locator("fieldset").all()
        for group in groups[: len(groups) - all_but]:
            await group.locator("input").nth(option).check(timeout=20_000)
        await self._press("button.primary")

    async def press(self, selector: str) -> None:
        """Press a button and wait for the page that follows, however often the server is gone."""
        await self.again(lambda: self._press(selector))

    async def _press(self, selector: str) -> None:
        async with self.page.expect_navigation(timeout=20_000):
            await self.page.locator(selector).first.click(no_wait_after=True)
        if self.page.url.startswith("chrome-error"):
            raise ConnectionError

    async def again(self, act: Callable[[], Awaitable[Any]], *, first: str | None = None) -> None:
        """Try once more after loading the participant's page, while the server is away."""
        place = first or self.page.url
        for attempt in range(60):
            try:
                await act()
                return
            except Exception:
                if attempt == 59:
                    raise
                await asyncio.sleep(0.5)
                try:
                    await self.page.goto(place, timeout=5000)
                except Exception:  # noqa: BLE001  (the server is not back yet)
                    continue
                return

    async def talk(self) -> None:
        """Say some things, then end the talk."""
        page = self.page
        talk = await page.locator("#chat").get_attribute("data-talk")
        for number in range(1, self.turns + 1):
            if self.leave_after is not None and len(self.sent) >= self.leave_after:
                return
            text = f"{self.name} says {number} in talk {talk}: my number is E1001"
            if await page.locator(f"#log .mine .words:text-is('{text}')").count():
                continue  # said before the page was loaded again
            if not await self.turn_is_mine():
                return
            if number == 2:
                await self.look("talk")
            await page.fill("#text", text)
            if self.double_click:
                await page.locator("#send").dblclick(no_wait_after=True)
            else:
                await page.locator("#send").click(no_wait_after=True)
            if not await self.shown(text):
                return
            self.sent.append(text)
            if number == 1:
                await self.look("writing")
        if not await self.turn_is_mine():
            return
        if not await page.locator("#chat").count():
            return
        await page.locator("#end summary").click()
        await self.look("ending")
        await self.press("#end button.primary")

    async def turn_is_mine(self) -> bool:
        """Wait for the agent; whether the talk is still open."""
        for _ in range(600):
            if not await self.page.locator("#chat").count():
                return False
            state = await self.page.locator("#status [data-state]").first.get_attribute(
                "data-state"
            )
            if state == "yours":
                return True
            await asyncio.sleep(0.1)
        raise AssertionError(f"{self.name}: the agent never answered")

    async def shown(self, text: str) -> bool:
        """Wait until a message is in the talk; whether the talk is still there."""
        for _ in range(600):
            if not await self.page.locator("#chat").count():
                return False
            if await self.page.locator(f"#log .mine .words:text-is('{text}')").count():
                return True
            await asyncio.sleep(0.1)
        raise AssertionError(f"{self.name}: {text!r} was never shown as sent")
