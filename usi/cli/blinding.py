"""The work behind `usi blind`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from usi.cli.console import note, out
from usi.errors import InputError, UsageError

if TYPE_CHECKING:
    from usi.study.blind.raters import Blind


@contextmanager
def opened(folder: Path) -> Iterator[Blind]:
    """A blind check with its file, closed at the end."""
    from usi.study.blind.raters import open_blind
    from usi.study.blind.settings import read_blind

    blind = open_blind(read_blind(folder))
    try:
        yield blind
    finally:
        blind.database.close()


def serve_blind(
    folder: Path, *, host: str, port: int, root_path: str, trusted_proxy: str | None, trial: bool
) -> None:
    """Serve the site."""
    from usi.study.blind.raters import set_trial
    from usi.study.database import only_server
    from usi.study.links import SECRET, from_environment
    from usi.study.server import check_installed, root_of, serve
    from usi.study.settings import check_filled_in

    check_installed()
    secret, path = from_environment(SECRET), root_of(root_path)
    with opened(folder) as blind, only_server(folder):
        if not trial:
            check_filled_in(blind.place.consent, blind.place.folder / "consent.md")
        set_trial(blind, trial=trial)
        from usi.study.web.blind import blind_app

        app = blind_app(blind, secret=secret, root_path=path)

        def ready(address: str) -> None:
            note(f"{blind.place.study.title}: {address}{path}/")

        serve(app, host=host, port=port, trusted_proxy=trusted_proxy, ready=ready)


def print_links(folder: Path, *, number: int, first: int) -> None:
    """Print signed links."""
    from usi.study.database import study_name
    from usi.study.links import SECRET, Signer, from_environment

    secret = from_environment(SECRET)
    with opened(folder) as blind:
        signer = Signer(secret, study_name(blind.database))
        base = (blind.place.study.url or "http://127.0.0.1:8001").rstrip("/")
        for n in range(first, first + number):
            out(f"{base}/i/{signer.sign('invitation', n)}\n")


def export_blind(folder: Path, outputs: Sequence[Path], *, force: bool, quiet: bool) -> None:
    """Say what raters could tell."""
    from usi.report import files
    from usi.report.card_text import practitioners
    from usi.study.blind.raters import ratings_of
    from usi.study.blind.results import results_of
    from usi.study.blind.text import markdown_of

    forms = files.claim(outputs, known=(".json", ".md"), force=force)
    with opened(folder) as blind:
        ratings, incomplete = ratings_of(blind.database.read())
        if not ratings:
            raise UsageError(f"{folder}: no rating was given yet")
        card = results_of(
            list(blind.items.values()),
            ratings,
            title=blind.place.study.title,
            seed=blind.place.study.seed,
            incomplete=incomplete,
            synthetic=blind.trial,
        )
    text = card.to_json()
    made = {".json": text, ".md": markdown_of(card)}
    files.write_all({path: files.text(made[form]) for path, form in forms.items()})
    for path in forms:
        note(f"written: {path}", quiet=quiet)
    note(practitioners(card.auc), quiet=quiet)
    if not outputs:
        out(text)


def join(card_path: Path, blind_path: Path, output: Path, *, force: bool, quiet: bool) -> None:
    """Add the result of a blind check to a scorecard."""
    from pydantic import ValidationError

    from usi.report import files
    from usi.scoring.scorecard import Scorecard
    from usi.study.blind.join import joined
    from usi.study.blind.results import BlindCard

    files.claim([output], known=(".json",), force=force or output == card_path)
    card = Scorecard.read(card_path)
    try:
        blind = BlindCard.model_validate_json(blind_path.read_bytes())
    except (OSError, ValidationError) as error:
        raise InputError(
            f"is no result of usi blind export ({type(error).__name__})", file=str(blind_path)
        ) from None
    whole, names = joined(card, blind)
    files.write_all({output: files.text(whole.to_json())})
    note(f"{output}: blind check of {', '.join(names)}", quiet=quiet)
