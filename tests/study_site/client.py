"""A participant without a browser and without scripts: links and forms over HTTP."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')
_HERE = re.compile(r'action="([^"]*/p/[^/"]+)/')
_TALK = re.compile(r"/talk/(\d+)/")
_STATE = re.compile(r'data-state="(\w+)"')


@dataclass
class Client:
    """`http` is an httpx client of the site, or Starlette's test client."""

    http: Any
    place: str = ""
    text: str = ""
    status: int = 0
    said: list[str] = field(default_factory=list)

    def get(self, path: str) -> str:
        """Open a page, and go where it leads."""
        return self._took(self.http.get(path, follow_redirects=True))

    def _took(self, response: Any) -> str:
        self.text, self.status = response.text, response.status_code
        found = _HERE.search(self.text)
        if found:
            self.place = found[1]
        return self.text

    def post(self, path: str, **fields: str) -> str:
        """Send a form of the page that is open."""
        token = _CSRF.search(self.text)
        data = {"csrf": token[1] if token else "", **fields}
        return self._took(self.http.post(f"{self.place}{path}", data=data, follow_redirects=True))

    @property
    def talk(self) -> str:
        """Number of the talk that is open."""
        found = _TALK.search(self.text)
        assert found, self.text[-2000:]
        return found[1]

    @property
    def state(self) -> str | None:
        """State of the talk on the page."""
        found = _STATE.search(self.text)
        return found[1] if found else None

    def begin(self, path: str) -> None:
        """From the link to the first task."""
        self.get(path)
        self.post("/consent", answer="yes", agree="yes")
        self.post("/understood", answer="1", **{"try": "0"})
        self.say("hello")
        self.wait()
        self.post(f"/talk/{self.talk}/end")

    def say(self, text: str, **more: str) -> None:
        """Say something; it is shown or refused."""
        client = more.pop("client", uuid.uuid4().hex)
        self.post(f"/talk/{self.talk}/say", text=text, client=client, **more)
        if self.status == 200:
            self.said.append(text)

    def wait(self, seconds: float = 20.0) -> None:
        """Load the page until the agent has answered."""
        end = time.monotonic() + seconds
        while self.state == "writing":
            assert time.monotonic() < end, "the agent never answered"
            time.sleep(0.02)
            self.get(self.place)

    def do_task(self, *texts: str) -> bool:
        """Do a task; whether there was one."""
        self.post("/next")
        if "/say" not in self.text:
            return False
        for text in texts:
            self.say(text)
            self.wait()
        self.post(f"/talk/{self.talk}/end")
        if "/survey" in self.text:
            self.post(f"/talk/{self.talk}/survey", task_success="4", efficiency="3")
        return True
