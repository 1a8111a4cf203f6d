"""Participants in headless Chromium, driven by Playwright: one with care, thirty at once.

The thirty (``make test-study``) take minutes and run where ``USI_STUDY_FULL`` is set.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from browser import browser
from command import usi
from helpers import ROOT
from study_site.processes import StudyServer, agent_server
from study_site.support import write_study
from study_site.test_server import links, make_study
from study_site.walker import Walker

playwright = pytest.importorskip("playwright.async_api")
AXE = ROOT / "tests" / "report" / "html" / "node_modules" / "axe-core" / "axe.min.js"
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']}"


async def launch(p: Any) -> Any:
    return await p.chromium.launch(
        executable_path=browser(), args=["--no-sandbox", "--disable-quic", "--no-first-run"]
    )


class Careful:
    """Looks at every step at two widths and in both schemes."""

    def __init__(self, page: Any, axe: str | None, shots: Path | None) -> None:
        self.page, self.axe, self.shots = page, axe, shots
        self.seen: set[str] = set()
        self.wide: list[str] = []
        self.violations: list[str] = []

    async def look(self, step: str) -> None:
        if step in self.seen:
            return
        self.seen.add(step)
        # Four shots of each step for eyes; two of the four for axe, which takes its time.
        axed = {(375, "light"), (1280, "dark")}
        for width, height in ((375, 740), (1280, 800)):
            await self.page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                if self.shots is None and (width, scheme) not in axed:
                    continue
                await self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                if await self.page.evaluate("document.documentElement.scrollWidth") > width:
                    self.wide.append(f"{step} {width}")
                if self.shots is not None:
                    name = self.shots / f"{step}-{width}-{scheme}.png"
                    await self.page.screenshot(path=name, full_page=True)
                if self.axe is not None and (width, scheme) in axed:
                    await self.page.evaluate(self.axe)
                    found = await self.page.evaluate(f"axe.run(document, {RULES})")
                    self.violations += [
                        f"{step} {width} {scheme} {v['id']}: {v['nodes'][0]['html'][:120]}"
                        for v in found["violations"]
                    ]


def test_one_participant_with_care(tmp_path: Path) -> None:
    """Keyboard, two tabs, a reload, a lost connection, the back button; every step is looked at."""
    folder = write_study(
        tmp_path / "s", each=1,
        top='institution = "Example University"\ncontact = "study@example.org"',
        more='[[background]]\nid = "use"\nquestion = "How often do you use support chats?"\n'
        'options = ["Never", "Often"]\n',
    )  # fmt: skip
    shots = Path(os.environ["USI_STUDY_SHOTS"]) if "USI_STUDY_SHOTS" in os.environ else None
    axe = AXE.read_text(encoding="utf-8") if AXE.exists() else None
    if axe is None and os.environ.get("CI"):
        pytest.fail("axe-core is not installed: see .ci/npm")
    server = StudyServer(folder)
    url = server.start()

    async def go() -> None:
        async with playwright.async_playwright() as p:
            chromium = await launch(p)
            context = await chromium.new_context()
            page = await context.new_page()
            told: list[str] = []
            page.on("pageerror", lambda error: told.append(str(error)))
            page.on("request", lambda request: told.append(request.url)
                    if not request.url.startswith((url, "data:")) else None)  # fmt: skip
            careful = Careful(page, axe, shots)
            walker = Walker(page, "anna", turns=2, look=careful.look, double_click=True)
            await page.goto(url + links(folder, 1)[0])
            while await walker.step() != "next":  # consent, background, instructions, practice
                await walker.walk_one()
            await walker.walk_one()

            # A second tab: what one says, the other shows; both send at once, one is kept.
            other = await context.new_page()
            await other.goto(page.url)
            await page.fill("#text", "from the first tab")
            await page.keyboard.press("Tab")
            await page.keyboard.press("Shift+Tab")
            await page.keyboard.press("Enter")
            await other.wait_for_selector("text=answer 1 to from the first tab")
            await walker.turn_is_mine()
            await page.fill("#text", "both, one")
            await other.fill("#text", "both, two")
            send = "document.getElementById('composer').requestSubmit()"
            await asyncio.gather(page.evaluate(send), other.evaluate(send))
            await page.wait_for_selector("text=answer 2 to both")
            kept = await page.locator("#log .mine .words").all_inner_texts()
            assert kept[0] == "from the first tab"
            assert len(kept) == 2
            assert kept[1] in ("both, one", "both, two")
            refused = page if kept[1] == "both, two" else other
            assert (await refused.input_value("#text")).startswith("both"), "it is still there"
            await other.close()

            # A reload keeps what is being typed; a lost connection sends it later, once.
            await page.fill("#text", "typed before the reload")
            await page.dispatch_event("#text", "input")
            await page.reload()
            assert await page.input_value("#text") == "typed before the reload"
            await context.set_offline(True)
            await page.click("#send")
            await page.wait_for_selector("#notice:not([hidden])")
            await context.set_offline(False)
            await page.wait_for_selector("text=answer 3 to typed before the reload", timeout=30000)
            sent = await page.locator("#log .mine .words").all_inner_texts()
            assert Counter(sent)["typed before the reload"] == 1
            await careful.look("talk-long")
            await page.go_back()
            await page.goto(page.url)
            await walker.walk()
            assert walker.code
            assert careful.wide == []
            assert careful.violations == []
            assert told == []
            await chromium.close()

    try:
        asyncio.run(go())
    finally:
        server.kill()


def test_a_page_from_right_to_left(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s", top='language = "ar"')
    shots = Path(os.environ["USI_STUDY_SHOTS"]) if "USI_STUDY_SHOTS" in os.environ else None
    server = StudyServer(folder)
    url = server.start()

    async def go() -> None:
        async with playwright.async_playwright() as p:
            chromium = await launch(p)
            page = await chromium.new_page(viewport={"width": 375, "height": 740})
            await page.goto(url + links(folder, 1)[0])
            walker = Walker(page, "anna", turns=1)
            while await walker.step() != "talk":
                await walker.walk_one()
            assert await page.evaluate("document.documentElement.dir") == "rtl"
            assert await page.evaluate("document.documentElement.scrollWidth") == 375
            await page.fill("#text", "hello")
            await page.click("#send")
            await page.wait_for_selector("#m2")
            box = await page.locator("#m1 .words").bounding_box()
            assert box is not None
            assert box["x"] < 375 / 2 - 40, "one's own words are at the end of the line: left"
            if shots is not None:
                await page.screenshot(path=shots / "rtl-375.png", full_page=True)
            await chromium.close()

    try:
        asyncio.run(go())
    finally:
        server.kill()


LATE = (26, 27, 28, 29)
AGENT = (
    'kind = "model"\nmodel = "openai/m"\napi_base = "{url}/v1"\nprice_in = 1.0\nprice_out = 1.0\n'
)


@pytest.mark.skipif("USI_STUDY_FULL" not in os.environ, reason="minutes: make test-study")
def test_thirty_participants_and_two_kills(tmp_path: Path) -> None:
    """10 tasks x 3 replicates; some leave, some return; the server is killed twice."""
    folder = tmp_path / "desk"
    with agent_server(0.2) as agent_url:
        agent = tmp_path / "agent.toml"
        agent.write_text(AGENT.format(url=agent_url), encoding="utf-8")
        make_study(
            folder, agent_url, "--people", "3", "--tasks-per-person", "3", "--subset", "10",
            agent=str(agent),
        )  # fmt: skip
        settings = folder / "study.toml"
        text = settings.read_text(encoding="utf-8").replace(
            "idle_minutes = 30", "idle_minutes = 1.0"
        )
        settings.write_text(text, encoding="utf-8")
        server = StudyServer(folder)
        url = server.start()
        paths = links(folder, 30)
        walkers: list[Walker] = []
        gone: set[int] = set()

        async def participant(chromium: Any, number: int) -> None:
            context = await chromium.new_context(viewport={"width": 375, "height": 740})
            page = await context.new_page()
            page.set_default_timeout(60_000)
            leaves = number % 5 == 0  # six of thirty leave in their first task
            if number in LATE:  # they come once the places of those who left are free again
                while len(gone) < 3:
                    await asyncio.sleep(1)
                await asyncio.sleep(75)
            walker = Walker(
                page, f"person {number}", turns=2, leave_after=3 if leaves else None,
                double_click=number % 2 == 0, home=url + paths[number],
            )  # fmt: skip
            walkers.append(walker)
            await walker.again(lambda: page.goto(url + paths[number]), first=url + paths[number])
            await walker.walk()
            if number % 10 == 5:
                gone.add(number)
            if leaves and number % 10 == 0:  # three of them return on another device
                await context.close()
                await asyncio.sleep(20)
                context = await chromium.new_context()
                walker.page = page = await context.new_page()
                walker.leave_after = None
                await walker.again(
                    lambda: page.goto(url + paths[number]), first=url + paths[number]
                )
                await walker.walk()
            await context.close()

        async def killer() -> None:
            for pause in (25, 25):
                await asyncio.sleep(pause)
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)

        async def go() -> None:
            async with playwright.async_playwright() as p:
                chromium = await launch(p)
                await asyncio.gather(
                    killer(), *(participant(chromium, number) for number in range(30))
                )
                await chromium.close()

        try:
            asyncio.run(go())
            status = usi("study", "status", folder).json()
            assert (status["filled"], status["held"], status["cells"]) == (30, 0, 30), status
        finally:
            server.kill()
    corpus = tmp_path / "corpus"
    done = usi("study", "export", folder, "-o", corpus)
    assert done.code == 0, done.err
    sessions = [json.loads(line) for line in (corpus / "sessions.jsonl").read_text().splitlines()]
    assert len({(s["task_id"], s["batch"]) for s in sessions}) == len(sessions) == 30
    kept = Counter(m["content"] for s in sessions for m in s["messages"] if m["role"] == "user")
    assert max(kept.values()) == 1, "nothing doubled"
    shown = {text for walker in walkers for text in walker.sent}
    assert set(kept) <= shown
    left = (corpus / "left_out.csv").read_text(encoding="utf-8").count("returned")
    assert left >= 3
    scored = usi(
        "score", simulated(tmp_path, sessions), "--human", corpus, "-o", tmp_path / "card.json",
        "-o", tmp_path / "card.html", "--quiet",
    )  # fmt: skip
    assert scored.code == 0, scored.err
    assert usi("gate", tmp_path / "card.json", "--tier", "C").code == 3, "ten tasks are too few"
    assert "SYNTHETIC" in (tmp_path / "card.html").read_text(encoding="utf-8")


def simulated(folder: Path, sessions: list[dict[str, Any]]) -> Path:
    """The same talks as those of a simulator."""
    lines = [
        json.dumps({**s, "simulator": "copy", "trial": s["batch"], "batch": None}) + "\n"
        for s in sessions
    ]
    path = folder / "copy.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path
