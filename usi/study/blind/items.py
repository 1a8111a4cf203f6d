"""The sessions of a blind check: of people and of simulators, matched by task, without tell-tales.

Nothing in an item's name or order says which side it is from; only the file of items does.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from usi.errors import InputError, NotScorable
from usi.extraction.robust.cleaning import clean_turn, content_text
from usi.records import Session
from usi.simulate.user import STOPS

Side = Literal["person", "program"]
MOST_TURNS = 60
"""Messages that are shown of a session; longer ones are left out."""
_STOP = re.compile("|".join(re.escape(stop) for stop in STOPS))


@dataclass(frozen=True)
class Item:
    """A session to read.

    Attributes
    ----------
    id
        Says nothing about the side.
    side, simulator, task, session
        Where it is from; the simulator of a person is empty.
    messages
        Role (``user`` or ``assistant``) and text, as they were sent.
    synthetic
        Whether the data say that no people took part.
    """

    id: str
    side: Side
    simulator: str
    task: str
    session: str
    messages: tuple[tuple[str, str], ...]
    synthetic: bool = False


def shown_messages(session: Session) -> tuple[tuple[str, str], ...]:
    """What a reader sees of a session: words of both sides, without stop marks and tools."""
    found = []
    for turn in session.turns:
        if turn.role == "user":
            if clean_turn(turn).text is None:
                continue
        elif turn.role != "assistant" or turn.tool_calls:
            continue
        text = _STOP.sub("", content_text(turn.content)[0] or "").strip()
        if text:
            found.append((str(turn.role), text))
    return tuple(found)


def choose_sessions(
    people: Iterable[Session],
    simulators: Mapping[str, Iterable[Session]],
    *,
    tasks: int,
    seed: int,
) -> list[Item]:
    """Sessions of the same tasks: one of each simulator, and as many of people where there are.

    Parameters
    ----------
    people
        Of the human corpus.
    simulators
        Label -> sessions.
    tasks
        How many tasks; fewer where the sides share fewer.
    seed
        Which tasks and sessions.

    Raises
    ------
    NotScorable
        Where the sides share no task.
    """
    human = _by_task(people)
    sides = {label: _by_task(sessions) for label, sessions in simulators.items()}
    common = set(human).intersection(*(set(side) for side in sides.values()))
    if not common:
        raise NotScorable(
            "people and simulators share no task: a blind check compares sessions of the same "
            "tasks; check domain and task_id on both sides"
        )
    chosen = sorted(common, key=lambda task: _place(seed, task))[:tasks]
    items = []
    for task in sorted(chosen):
        persons = sorted(human[task], key=lambda s: _place(seed, task, s.session_id))
        items += [_item("person", "", task, s, seed) for s in persons[: len(sides)]]
        for label, side in sides.items():
            session = min(side[task], key=lambda s: _place(seed, label, task, s.session_id))
            items.append(_item("program", label, task, session, seed))
    return sorted(items, key=lambda item: item.id)


def _by_task(sessions: Iterable[Session]) -> dict[str, list[Session]]:
    found: defaultdict[str, list[Session]] = defaultdict(list)
    for session in sessions:
        if session.status != "ok" or session.task_id is None:
            continue
        messages = shown_messages(session)
        if any(role == "user" for role, _ in messages) and len(messages) <= MOST_TURNS:
            found[f"{session.domain}_{session.task_id}"].append(session)
    return dict(found)


def _item(side: Side, simulator: str, task: str, session: Session, seed: int) -> Item:
    name = _place(seed, side, simulator, task, session.session_id, str(session.batch))[:12]
    return Item(
        id=name,
        side=side,
        simulator=simulator,
        task=task,
        session=session.session_id,
        messages=shown_messages(session),
        synthetic=bool(session.meta.get("synthetic")),
    )


def write_items(path: Path, items: Sequence[Item]) -> None:
    """Write items, one a line."""
    lines = [json.dumps(asdict(item), ensure_ascii=True) + "\n" for item in items]
    path.write_text("".join(lines), encoding="utf-8")


def read_items(path: Path) -> tuple[Item, ...]:
    """Read items.

    Raises
    ------
    InputError
        Where a line is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't be read ({error})", file=str(path)) from None
    items = []
    for row, line in enumerate(lines, start=1):
        try:
            items.append(_read(json.loads(line)))
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"is no item ({error})", file=str(path), row=row) from None
    if {item.side for item in items} != {"person", "program"}:
        raise InputError("needs sessions of people and of simulators", file=str(path))
    return tuple(items)


def _read(data: dict[str, Any]) -> Item:
    messages = tuple((str(role), str(text)) for role, text in data.pop("messages"))
    item = Item(**data, messages=messages)
    if item.side not in ("person", "program"):
        raise ValueError("side is person or program")
    return item


def choose_items(
    items: Sequence[Item], counts: Mapping[str, int], number: int, *, seed: int, person: str
) -> list[str]:
    """The sessions of one rater, in random order.

    Half are of people, half of simulators, these in equal parts; a task comes once as long as
    there are others; sessions that were read less come first.

    Parameters
    ----------
    items
        All of the check.
    counts
        Item -> how many raters were given it.
    number
        Of sessions; fewer where there are fewer.
    seed, person
        Decide between sessions that were read equally often.
    """
    labels = sorted({item.simulator for item in items if item.side == "program"})
    first = int(_place(seed, person, "first"), 16)
    wanted: list[tuple[Side, str]] = []
    for n in range(number):
        side: Side = "person" if (n + first) % 2 == 0 else "program"
        label = labels[(first // 2 + n // 2) % len(labels)] if side == "program" else ""
        wanted.append((side, label))
    chosen: list[Item] = []
    given: defaultdict[str, int] = defaultdict(int)
    for side, label in wanted:
        taken = {item.id for item in chosen}
        free = [i for i in items if i.side == side and i.id not in taken]
        own = [i for i in free if i.simulator == label] or free
        if not own:
            continue
        best = min(
            own,
            key=lambda i: (given[i.task], counts.get(i.id, 0), _place(seed, person, i.id)),
        )
        chosen.append(best)
        given[best.task] += 1
    order = sorted(chosen, key=lambda item: _place(seed, person, "order", item.id))
    return [item.id for item in order]


def _place(seed: int, *parts: str) -> str:
    return hashlib.sha256("|".join((str(seed), *parts)).encode()).hexdigest()
