"""The work behind `usi study`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from usi.cli.console import note, out, printed, working
from usi.errors import UsageError

if TYPE_CHECKING:
    from usi.study.study import Running


@contextmanager
def opened(folder: Path, *, must_exist: bool = True) -> Iterator[Running]:
    """A study with its file, closed at the end."""
    from usi.study.settings import read_study
    from usi.study.study import open_study

    place = read_study(folder)
    if must_exist and not place.database.exists():
        raise UsageError(f"{place.database} is not there: nobody was served yet")
    running = open_study(place)
    try:
        yield running
    finally:
        running.database.close()


def serve_study(
    folder: Path, *, host: str, port: int, root_path: str, trusted_proxy: str | None, trial: bool
) -> None:
    """Serve the site."""
    from usi.simulate.cost import unpriced
    from usi.study.database import only_server
    from usi.study.links import OWNER, SECRET, from_environment
    from usi.study.server import check_installed, root_of, serve
    from usi.study.study import begin

    check_installed()
    secret, password = from_environment(SECRET), from_environment(OWNER)
    path = root_of(root_path)
    with opened(folder, must_exist=False) as running, only_server(folder):
        begin(running, trial=trial)
        limits = running.place.study.limits
        if limits.budget and (unknown := unpriced([running.agent])):
            raise UsageError(
                f"limits.budget can't be held: the price of {', '.join(unknown)} is not known; "
                "give price_in and price_out in the agent's file, or limits.budget_tokens"
            )
        from usi.study.web.app import study_app

        app = study_app(running, secret=secret, password=password, root_path=path)

        def ready(address: str) -> None:
            note(f"{running.place.study.title}: {address}{path}/ (owner's page: {path}/owner)")
            if trial:
                note("trial: everything that comes of it is marked synthetic")

        serve(app, host=host, port=port, trusted_proxy=trusted_proxy, ready=ready)


def print_links(folder: Path, *, number: int, first: int) -> None:
    """Print signed links."""
    from usi.study.database import study_name
    from usi.study.links import SECRET, Signer, from_environment

    secret = from_environment(SECRET)
    with opened(folder, must_exist=False) as running:
        signer = Signer(secret, study_name(running.database))
        base = (running.place.study.url or "http://127.0.0.1:8000").rstrip("/")
        for n in range(first, first + number):
            out(f"{base}/i/{signer.sign('invitation', n)}\n")


def print_status(folder: Path, *, show: str) -> None:
    """Say how a study stands."""
    from usi.study.status import status_of

    with opened(folder) as running:
        found = status_of(running.database.read(), running)
    kind = printed(show)
    if kind == "json":
        out(json.dumps(found.to_dict(), indent=2) + "\n")
    elif kind == "table":
        lines = [
            f"cells: {found.filled} of {found.cells} filled, {found.held} under way",
            *(f"  {name}: {taken} of {size} taken" for name, (taken, size) in found.strata.items()),
            "people: " + (", ".join(f"{k} {n}" for k, n in found.people.items()) or "none"),
            "talks: " + (", ".join(f"{k} {n}" for k, n in found.talks.items()) or "none"),
            f"dropouts: {found.dropouts}",
            f"agent: {found.calls:,} calls, {found.tokens:,} tokens, ${found.cost_usd:.2f}",
            f"new talks: {'no, ' + found.closed if found.closed else 'yes'}",
        ]
        out("\n".join(lines) + "\n")


def exclude_talk(folder: Path, talk: int, reason: str) -> None:
    """Leave a talk out."""
    from usi.study.status import exclude

    if not reason.strip():
        raise UsageError("--reason: say why; it goes into the export")
    with opened(folder) as running:
        if not running.database.write(lambda db: exclude(db, running, talk, reason)):
            raise UsageError(f"there is no talk {talk}; usi study export lists them")


def export_study(folder: Path, output: Path, *, redacted: bool, force: bool, quiet: bool) -> None:
    """Write the corpus."""
    from usi.study.export import export_corpus

    with (
        opened(folder) as running,
        working("writing the corpus ...", quiet=quiet),
    ):
        done = export_corpus(running, output, redacted=redacted, force=force)
    note(f"{done.folder}: {done.sessions} sessions, {done.left_out} left out", quiet=quiet)
    for warning in done.warnings:
        note(f"  {warning}", quiet=quiet)
    note(f"Next: fill in {done.folder}/DATASHEET.md", quiet=quiet)


def forget(
    folder: Path,
    *,
    participants: tuple[str, ...],
    identities: bool,
    dropouts: bool,
    everything: bool,
    yes: bool,
) -> None:
    """Delete data of people."""
    from usi.study.retention import Forgotten, forget_data

    if not (participants or identities or dropouts or everything):
        raise UsageError("say what: --participant CODE, --identities, --dropouts or --everything")
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("this deletes data for good: confirm with --yes")
        if input("This deletes data for good. Write yes: ").strip() != "yes":
            raise UsageError("nothing was deleted")
    with opened(folder) as running:
        done: Forgotten = forget_data(
            running,
            participants=participants,
            identities=identities,
            dropouts=dropouts,
            everything=everything,
        )
    note(
        f"deleted: {done.people} people's talks, {done.identities} identities, "
        f"{done.talks} talks left in the middle"
    )
