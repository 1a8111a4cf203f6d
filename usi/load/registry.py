"""All readers by name: those of usi, and those that installed packages bring (``usi.loaders``).

A plug-in that can't be imported, lacks a part of the protocol or takes a name that is taken is
passed over with one message; every other format works as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from usi.errors import InputError, UsiError
from usi.load import (
    abcd,
    abredial,
    inspect_log,
    multidogo,
    multiwoz,
    odyssim,
    openai_chat,
    openinference,
    otel,
    sharegpt,
    star,
    table,
    tau2,
    tau_usi,
    taubench,
    usi_jsonl,
    wildchat,
)
from usi.load.context import Context
from usi.load.reader import About, Reader
from usi.load.sample import Sample
from usi.records import Session

GROUP = "usi.loaders"
OWN: tuple[Any, ...] = (
    tau_usi,
    taubench,
    tau2,
    odyssim,
    inspect_log,
    otel,
    openinference,
    star,
    multiwoz,
    multidogo,
    abcd,
    abredial,
    wildchat,
    sharegpt,
    openai_chat,
    usi_jsonl,
    table,
)
"""Readers of usi, in the order in which they are asked whether a file is theirs."""


@dataclass(frozen=True)
class Found:
    """Readers by name, and one message for every plug-in that can't be used."""

    readers: Mapping[str, Reader]
    plugins: frozenset[str] = frozenset()
    broken: tuple[str, ...] = ()


@dataclass
class _Plugin:
    """A plug-in between usi and the package: its errors become input errors that name it."""

    NAME: str
    inner: Reader
    origin: str
    ABOUT: About = field(default_factory=lambda: About(""))

    def recognise(self, sample: Sample) -> bool:
        try:
            return bool(self.inner.recognise(sample))
        except UsiError:
            return False
        except Exception as error:  # noqa: BLE001  foreign code; told, and never in the way
            sample.complaints.append(self._complaint("looking at the file", error))
            return False

    def read(self, context: Context) -> Iterator[Session]:
        try:
            for session in self.inner.read(context):
                if not isinstance(session, Session):
                    kind = type(session).__name__
                    raise InputError(
                        f"the loader {self.NAME!r} ({self.origin}) gave a {kind}, not a Session",
                        file=context.source.name,
                    )
                yield session
        except (UsiError, GeneratorExit):
            raise
        except Exception as error:
            raise InputError(self._complaint("reading", error), file=context.source.name) from error

    def _complaint(self, doing: str, error: Exception) -> str:
        return (
            f"the loader {self.NAME!r} ({self.origin}) broke while {doing}: "
            f"{type(error).__name__}: {error}"
        )


@cache
def registry() -> Found:
    """Own readers and plug-ins; looked up once a process."""
    return collect(tuple(entry_points(group=GROUP)))


def collect(points: tuple[EntryPoint, ...]) -> Found:
    """Own readers and those of some entry points."""
    readers: dict[str, Reader] = {module.NAME: cast(Reader, module) for module in OWN}
    plugins: set[str] = set()
    broken: list[str] = []
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        origin = f"entry point {point.name} = {point.value}"
        try:
            inner = point.load()
        except Exception as error:  # noqa: BLE001  a broken package must not break the others
            broken.append(f"{origin} can't be loaded: {type(error).__name__}: {error}")
            continue
        missing = [
            name for name in ("NAME", "ABOUT", "recognise", "read") if not hasattr(inner, name)
        ]
        if missing or not isinstance(inner.NAME, str) or not isinstance(inner.ABOUT, About):
            what = f"lacks {', '.join(missing)}" if missing else "has a NAME or ABOUT of wrong type"
            broken.append(f"{origin} is no reader: it {what}; see docs/own-format.md")
            continue
        if inner.NAME in readers:
            broken.append(f"{origin} calls itself {inner.NAME!r}, which is taken")
            continue
        readers[inner.NAME] = _Plugin(inner.NAME, inner, origin, inner.ABOUT)
        plugins.add(inner.NAME)
    return Found(readers, frozenset(plugins), tuple(broken))
