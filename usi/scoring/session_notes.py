"""Sessions on their way to the features, and what is noted of them as they pass."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from usi.extraction.language import ENGLISH, language_of
from usi.extraction.spec import IDENTITY_SCHEMA
from usi.extraction.table import SessionTable
from usi.reasons import (
    ENGLISH_ONLY,
    Reason,
)
from usi.records import Session
from usi.scoring.batch_rule import STARTED, session_moment
from usi.scoring.columns import CONTENT, CONTENT_DIGITS
from usi.scoring.episodes import EpisodeTally
from usi.scoring.texts import SaidByPeople, TextStore


@dataclass
class NotedSessions:
    """Passes sessions on, and notes what the session table has no place for.

    Attributes
    ----------
    sessions
        What is passed on; alone or in pairs with the digest of their content, which the table
        then gets as the column `CONTENT`.
    columns
        Names of further fields of the sessions (`Session.meta`) that the score needs;
        `STARTED` stands for the time at which a session began.
    synthetic
        Whether a session says that it is a phantom's.
    glance, default
        Whether sessions in other languages than English are counted in `languages`: for a profile
        that has no means of its own to set them apart; language of those that declare none.
    texts
        Where the texts are kept aside, or what is noted of them; ``None`` for nowhere.
    episodes
        What runs recorded beside the reward, by the simulator that sessions name (``""``: none).
    """

    sessions: Iterable[Session] | Iterable[tuple[Session, str]]
    columns: Sequence[str] = ()
    synthetic: bool = False
    glance: bool = False
    default: str | None = None
    texts: TextStore | SaidByPeople | None = None
    languages: Counter[str] = field(default_factory=Counter)
    episodes: dict[str, EpisodeTally] = field(default_factory=dict)
    _found: dict[str, list[str | None]] = field(default_factory=dict)
    _content: list[str] = field(default_factory=list)
    _started: list[float | None] | None = None

    def __post_init__(self) -> None:
        self._found = {
            name: [] for name in self.columns if name not in (*IDENTITY_SCHEMA, CONTENT, STARTED)
        }
        if STARTED in self.columns:
            self._started = []

    def __iter__(self) -> Iterator[Session]:
        for session in self._each():
            if session.meta.get("synthetic") is True:
                self.synthetic = True
            self.episodes.setdefault(session.simulator or "", EpisodeTally()).see(session)
            if self.glance:
                code = language_of(session, self.default)
                if code is not None and code != ENGLISH:
                    self.languages[code] += 1
            for name, values in self._found.items():
                values.append(_text(session.meta.get(name)))
            if self._started is not None:
                self._started.append(session_moment(session))
            if self.texts is not None:
                self.texts.add(session)
            yield session

    def _each(self) -> Iterator[Session]:
        for item in self.sessions:
            if isinstance(item, Session):
                yield item
            else:
                self._content.append(item[1][:CONTENT_DIGITS])
                yield item[0]

    def remark(self, whose: str, profile: str) -> Reason | None:
        """What to say where a profile that knows English alone read another language."""
        if not self.languages:
            return None
        listed = ", ".join(f"{code} {n:,}" for code, n in sorted(self.languages.items()))
        return ENGLISH_ONLY(
            side=whose, sessions=self.languages.total(), languages=listed, profile=profile
        )

    def noted(self, table: SessionTable) -> SessionTable:
        """The session table with what was noted: further columns, and the mark of phantoms."""
        more = [
            pl.Series(name, values, dtype=pl.String)
            for name, values in self._found.items()
            if any(value is not None for value in values)
        ]
        if self._started is not None:
            more.append(pl.Series(STARTED, self._started, dtype=pl.Float64))
        if self._content:
            more.append(pl.Series(CONTENT, self._content, dtype=pl.String))
        return replace(
            table, frame=table.frame.with_columns(more), synthetic=table.synthetic or self.synthetic
        )


def _text(value: object) -> str | None:
    """A field as text: words as they are, numbers and truth values as in JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=str)
