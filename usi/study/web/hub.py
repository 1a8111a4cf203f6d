"""Tells open pages that a talk changed."""

from __future__ import annotations

import asyncio
from collections import defaultdict

MOST_STREAMS = 6
"""Open streams of one talk; the oldest ends where there are more."""


class Hub:
    """Waiting streams by talk. Used on the event loop; `tell` may be called from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: defaultdict[int, list[asyncio.Event]] = defaultdict(list)
        self.closing = False

    def start(self) -> None:
        """Belong to the running loop."""
        self._loop = asyncio.get_running_loop()

    def join(self, talk: int) -> asyncio.Event:
        """A new stream's event; it is set whenever the talk changed."""
        streams = self._waiting[talk]
        event = asyncio.Event()
        streams.append(event)
        while len(streams) > MOST_STREAMS:
            streams.pop(0).set()
        return event

    def is_in(self, talk: int, event: asyncio.Event) -> bool:
        """Whether a stream was not pushed out by newer ones, and the server goes on."""
        return not self.closing and event in self._waiting.get(talk, ())

    def leave(self, talk: int, event: asyncio.Event) -> None:
        """A stream ended."""
        streams = self._waiting.get(talk, [])
        if event in streams:
            streams.remove(event)
        if not streams:
            self._waiting.pop(talk, None)

    def tell(self, talk: int) -> None:
        """Wake the streams of a talk."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, talk)

    def close(self) -> None:
        """End all streams."""
        self.closing = True
        for streams in self._waiting.values():
            for event in streams:
                event.set()

    def _wake(self, talk: int) -> None:
        for event in self._waiting.get(talk, ()):
            event.set()
