"""Cards that can't be, and cards that were changed by hand, decide nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import usi
from tests.decisions.cards import card, simulator
from usi.cli.main import app
from usi.errors import InputError
from usi.provenance.digest import digest_of
from usi.reasons import CARD_EDITED
from usi.scoring.scorecard import Scorecard

Change = Callable[[dict[str, Any]], object]


def written(folder: Path, change: Change | None = None, *, sign: bool = True) -> Path:
    """A card that passes tier B, changed; with the digest of what it says then, if asked."""
    data = card(simulator()).to_dict()
    if change is not None:
        change(data)
    if sign:
        data["digest"] = digest_of(data)
    path = folder / "card.json"
    path.write_text(json.dumps(data))
    return path


def index(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["simulators"][0]["index"]
    return found


IMPOSSIBLE: dict[str, tuple[Change, str]] = {
    "low above value": (lambda d: index(d).update(low=99.0), "index.low"),
    "high below value": (lambda d: index(d).update(high=20.0), "index.high"),
    "above 100 points": (lambda d: index(d).update(value=101.0, high=102.0), "index.value"),
    "a share above 1": (
        lambda d: d["simulators"][0]["coverage"].update(value=1.5), "coverage.value",
    ),
    "negative tasks": (lambda d: d["simulators"][0]["n"].update(tasks=-3), "n.tasks"),
    "half a task": (lambda d: d["simulators"][0]["n"].update(tasks=1.5), "n.tasks"),
    "tasks as text": (lambda d: d["simulators"][0]["n"].update(tasks="165"), "n.tasks"),
    "tasks as truth": (lambda d: d["simulators"][0]["n"].update(tasks=True), "n.tasks"),
    "value as text": (lambda d: index(d).update(value="95"), "index.value"),
    "value as truth": (lambda d: index(d).update(value=True), "index.value"),
    "a name twice": (
        lambda d: d["simulators"].append(d["simulators"][0]), "simulators.1.name",
    ),
    "negative error": (lambda d: index(d).update(se=-1.0), "index.se"),
    "more terms than there are": (lambda d: index(d).update(terms=9), "index.terms"),
    "yes as truth": (lambda d: d.update(synthetic="yes"), "synthetic"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_card_that_cannot_be_is_refused_even_with_its_digest(name: str, tmp_path: Path) -> None:
    change, field = IMPOSSIBLE[name]
    path = written(tmp_path, change)
    for trust in (False, True):
        with pytest.raises(InputError, match=field) as caught:
            Scorecard.read(path, trust_edited=trust)
        assert str(caught.value).startswith(str(path))
        assert "pydantic" not in str(caught.value)


def test_a_card_that_was_not_changed_is_read_whatever_its_layout(tmp_path: Path) -> None:
    path = written(tmp_path, sign=False)
    assert Scorecard.read(path) == card(simulator())


def test_a_card_that_was_changed_decides_only_where_it_is_trusted(tmp_path: Path) -> None:
    path = written(tmp_path, lambda d: index(d).update(value=95.5), sign=False)
    run = CliRunner()
    done = run.invoke(app, ["gate", str(path), "--tier", "C"])
    assert done.exit_code == 2
    assert "--trust-edited" in done.stderr
    done = run.invoke(app, ["gate", str(path), "--tier", "C", "--trust-edited", "--print", "json"])
    codes = [reason["code"] for reason in json.loads(done.stdout)["warnings"]]
    assert CARD_EDITED.name in codes


def test_a_card_without_its_digest_counts_as_changed(tmp_path: Path) -> None:
    path = written(tmp_path, lambda d: d.pop("digest"), sign=False)
    with pytest.raises(InputError, match="changed after scoring"):
        Scorecard.read(path)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1" * 5000, "[" * 600 + "]" * 600])
def test_numbers_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace('"value": 95.0', f'"value": {text}', 1))
    with pytest.raises(InputError, match=r"card\.json"):
        Scorecard.read(path)


def test_a_key_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace('"profile":', '"profile": "x", "profile":', 1))
    with pytest.raises(InputError, match="occurs twice"):
        Scorecard.read(path)


def test_every_reader_of_a_card_takes_a_changed_one_only_where_it_is_trusted(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, lambda d: index(d).update(value=95.5), sign=False)
    done = CliRunner().invoke(app, ["plan", "--pilot", str(path), "--tasks", "20"])
    assert done.exit_code == 2
    assert "--trust-edited" in done.stderr
    done = CliRunner().invoke(
        app, ["plan", "--pilot", str(path), "--tasks", "20", "--trust-edited"]
    )
    assert "--trust-edited" not in done.stderr
    for call in (usi.gate, lambda card, **more: usi.plan(pilot=card, tasks=20, **more)):
        with pytest.raises(InputError, match="trust-edited"):
            call(path)
    assert CARD_EDITED.name in [r.code for r in usi.gate(path, trust_edited=True).warnings]
    for name in ("blind", "logs"):
        verb = {"blind": "join", "logs": "joint"}[name]
        shown = CliRunner().invoke(app, [name, verb, "--help"], env={"COLUMNS": "200"})
        assert "--trust-edited" in shown.stdout
