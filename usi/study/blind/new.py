"""``usi blind new``: sessions of both sides in a folder, with settings and a consent text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template

from usi.corpora.resolve import resolve
from usi.errors import UsageError
from usi.loading import open_sessions
from usi.options import LoadOptions
from usi.records import Session
from usi.study.blind.items import Item, choose_sessions, write_items
from usi.study.blind.settings import BLIND, ITEMS


def new_blind(
    folder: Path,
    *,
    human: str,
    simulators: Sequence[str],
    tasks: int,
    each: int,
    seed: int,
) -> list[Item]:
    """Write ``items.jsonl``, ``blind.toml`` and ``consent.md`` into a new folder.

    Parameters
    ----------
    human
        A corpus, or transcripts of people.
    simulators
        Transcripts of simulators; their labels are as of ``usi score``.
    tasks, each, seed
        Tasks of the check, sessions a rater reads, and the seed of both choices.

    Raises
    ------
    UsageError
        Where there is a blind check already.
    """
    if (folder / BLIND).exists():
        raise UsageError(f"{folder / BLIND} exists; a new blind check needs a folder of its own")
    reference = resolve(human)
    people = open_sessions(list(reference.paths), options=reference.load_options(LoadOptions()))
    sides: defaultdict[str, list[Session]] = defaultdict(list)
    for session in open_sessions([Path(name) for name in simulators]):
        sides[session.simulator].append(session)
    if not sides:
        raise UsageError("name transcripts of at least one simulator")
    items = choose_sessions(people, sides, tasks=tasks, seed=seed)
    shipped = resources.files("usi.study").joinpath("files")
    settings = Template(shipped.joinpath("blind.toml").read_text("utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    write_items(folder / ITEMS, items)
    (folder / BLIND).write_text(settings.substitute(each=each, seed=seed), encoding="utf-8")
    if not (folder / "consent.md").exists():
        text = shipped.joinpath("blind_consent.md").read_text("utf-8")
        (folder / "consent.md").write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text("blind.sqlite*\n.server.lock\n", encoding="utf-8")
    return items
