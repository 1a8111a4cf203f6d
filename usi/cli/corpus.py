"""``usi corpus``: human references with their origin, terms, integrity and quality."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from usi.cli.console import note, out, printed, working
from usi.cli.corpus_add import add
from usi.cli.guard import guarded
from usi.cli.options import (
    Domain,
    Force,
    Format,
    Map,
    Print,
    Printed,
    Quiet,
    UserRole,
    UserSpeaker,
)
from usi.cli.verbs import reflow

BAD_INPUT = 2
_HELP = """Keep human references: add, list, show, verify, fetch, split, quality, aggregate, redact.

A corpus is a folder human_corpus/NAME/ with its files, a manifest.toml and a DATASHEET.md. What
its terms forbid travels with every number made from it.

\b
Examples:
  usi corpus add chats.csv --name support --map session=chat,role=who,text=said
  usi corpus verify support
  usi corpus quality support
  usi corpus split support --by task --held-out 0.3"""

_PARTS = "Parts"

app = typer.Typer(
    name="corpus",
    help=reflow(_HELP),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)

Corpus = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A name under human_corpus/, or its folder."),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="DATE", help="Day that expiry counts to.", show_default=False),
]


def list_(as_of: AsOf = None, print_: Print = Printed.AUTO) -> None:
    """List the human references of the workspace with licence, restrictions and sizes.

    \b
    Example:
      usi corpus list
    """
    from usi.cli.corpora import listing

    listing(as_of, printed(print_))


def show(corpus: Corpus, as_of: AsOf = None, print_: Print = Printed.AUTO) -> None:
    """Show what the manifest of a corpus says.

    \b
    Example:
      usi corpus show support
    """
    from usi.cli.corpora import shown

    shown(corpus, as_of, printed(print_))


def verify(corpus: Corpus, as_of: AsOf = None, print_: Print = Printed.AUTO) -> None:
    """Check hashes, counts and schema; exit code 2 where something is wrong.

    \b
    Example:
      usi corpus verify support --as-of 2026-06-30
    """
    from usi.cli.corpora import verified

    if not verified(corpus, as_of, printed(print_)):
        raise SystemExit(BAD_INPUT)


def split(
    corpus: Corpus,
    by: Annotated[
        str, typer.Option("--by", metavar="UNIT", help="task, batch, participant or time.")
    ] = "task",
    held_out: Annotated[
        float,
        typer.Option("--held-out", metavar="SHARE", help="Share that only decisions read."),
    ] = 0.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 7,
    quiet: Quiet = False,
) -> None:
    """Divide a corpus into two halves, and a held-out part for decisions.

    usi score --human NAME then leaves the part held-out out, NAME@half-1 is a half, and
    NAME@held-out is read only where the card is gated: usi score ... --gate.

    \b
    Example:
      usi corpus split support --by task --held-out 0.3
    """
    from usi.cli.corpora import divided

    for line in divided(corpus, by, seed, held_out):
        note(line, quiet=quiet)


def freeze(corpus: Corpus, quiet: Quiet = False) -> None:
    """Fix the set of features that are scored with this corpus, in its manifest.

    \b
    Example:
      usi corpus freeze support
    """
    from usi.cli.corpora import frozen

    note(frozen(corpus), quiet=quiet)


def quality(
    corpus: Corpus,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
) -> None:
    """Judge a corpus: duplicates, copied openings, straight lines, agreement, ICC, power.

    \b
    Example:
      usi corpus quality support
    """
    from usi.cli.corpora import judged

    with working("reading ...", quiet=quiet):
        text = judged(corpus, printed(print_))
    out(text)


def fetch(
    corpus: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A name of: usi corpus fetch --list.")
    ] = "",
    list_known: Annotated[bool, typer.Option("--list", help="List what can be fetched.")] = False,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="Files already at hand.", show_default=False),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the corpus.", show_default=False),
    ] = None,
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="The terms were read and are accepted.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Fetch a public corpus into human_corpus/, with its licence and terms.

    Downloads resume, and a file of another hash than expected is refused. A corpus with terms of
    its own shows them and needs --accept-terms. With --from nothing is downloaded.

    \b
    Example:
      usi corpus fetch star
    """
    from usi.cli.corpora_made import fetched, known_sources

    if list_known or not corpus:
        out(known_sources())
        return
    for line in fetched(corpus, name=name, at_hand=from_, accepted=accept_terms, quiet=quiet):
        note(line, quiet=quiet)


def aggregate(
    corpus: Corpus,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Such as aggregate.parquet.")
    ],
    min_cell: Annotated[
        int, typer.Option("--min-cell", min=2, help="Fewest sessions a task may have.")
    ] = 3,
    drop_small: Annotated[
        bool, typer.Option("--drop-small", help="Leave tasks with fewer sessions out.")
    ] = False,
    one_batch: Annotated[
        bool, typer.Option("--one-batch", help="Forget which batch a session is of.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Add a corpus up by task: a reference without any text or session.

    usi score SIM --human aggregate.parquet gives the same numbers as the corpus itself for
    everything that needs no session, and says what is then not assessed.

    \b
    Example:
      usi corpus aggregate support -o aggregate.parquet
    """
    from usi.cli.corpora_made import aggregated

    with working("adding up ...", quiet=quiet):
        lines = aggregated(
            corpus, output, min_cell=min_cell, drop_small=drop_small, one_batch=one_batch,
            force=force,
        )  # fmt: skip
    for line in lines:
        note(line, quiet=quiet)


def redact(
    files: Annotated[
        list[str],
        typer.Argument(metavar="NAME|FILES...", help="A corpus, or transcript files."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="usi JSONL to write.")
    ],
    names: Annotated[
        Path | None,
        typer.Option(
            "--names", metavar="FILE", help="Names to replace, one a line.", show_default=False
        ),
    ] = None,
    entities: Annotated[
        str | None,
        typer.Option(
            "--entities",
            metavar="MODEL",
            help="Entities of an installed spaCy model, such as en_core_web_sm (extra nlp).",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    print_: Print = Printed.AUTO,
    quiet: Quiet = False,
    domain: Domain = None,
    format_: Format = None,
    user_role: UserRole = None,
    user_speaker: UserSpeaker = None,
    map_: Map = None,
) -> None:
    """Replace e-mail addresses, numbers and names by typed markers such as [EMAIL].

    What was replaced is counted, and the features stand before and after, since redaction
    changes what is measured. Read the result: no rule finds every name.

    \b
    Example:
      usi corpus redact people.jsonl --names names.txt -o people.redacted.jsonl
    """
    from usi.cli.corpora_made import redacted

    reading = {"format_": format_, "domain": domain, "user_role": user_role,
               "user_speaker": user_speaker, "map_": map_}  # fmt: skip
    with working("reading ...", quiet=quiet):
        text = redacted(
            files, output, names=names, entities=entities, reading=reading, force=force,
            show=printed(print_),
        )  # fmt: skip
    out(text)


for _name, _function in (
    ("add", add),
    ("list", list_),
    ("show", show),
    ("verify", verify),
    ("fetch", fetch),
    ("split", split),
    ("freeze", freeze),
    ("quality", quality),
    ("aggregate", aggregate),
    ("redact", redact),
):
    app.command(name=_name, help=reflow(_function.__doc__))(guarded(_function))
