"""The command on the page repeats the scoring: the same bytes, by the options of its record."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pytest
from command import usi
from report.html.made import Made

from usi.decisions.criteria import tier
from usi.decisions.decide import gate_scorecard
from usi.options import ScoreOptions, told, words_of
from usi.provenance.record import make_record
from usi.report.html import render
from usi.scoring.scorecard import Scorecard


def said(html: str) -> list[str]:
    """Words of the command that a page names."""
    found = re.search(r"<pre[^>]*><code data-static>(.*?)</code>", html, re.DOTALL)
    assert found
    return shlex.split(unescape(found[1]))


def run_it(words: list[str], folder: Path, made: Made) -> bytes:
    """Do what the page says, with its files where they lie; the bytes of its card."""
    files = {path.name: str(path) for path in made.files.simulators.values()}
    files |= {made.files.human.name: str(made.files.human), "card.json": str(folder / "card.json")}
    files |= {"report.html": str(folder / "report.html")}
    assert words[:2] == ["usi", "score"]
    done = usi(*(files.get(word, word) for word in words[1:]), "--print", "none", "--quiet")
    assert done.code in (0, 1, 3), done.err
    return (folder / "card.json").read_bytes()


def test_the_command_of_the_page_gives_the_same_scorecard(made: Made, tmp_path: Path) -> None:
    words = said(made.html())
    assert words[words.index("--gate") + 1] == "B"
    assert words[words.index("--replicates") + 1] == "200"
    assert run_it(words, tmp_path, made) == made.card.read_bytes()


@pytest.mark.parametrize(
    "choices",
    [
        ("--difficulty", "none", "--success-at", "0.5", "--c2st", "off"),
        ("--human-runs", "1,2", "--sim-runs", "2", "--by", "domain", "--surveys", "none"),
        ("--sim-where", "domain=retail", "--tasks", "common", "--seed", "11"),
    ],
    ids=lambda choices: choices[0],
)
def test_choices_are_said(made: Made, tmp_path: Path, choices: tuple[str, ...]) -> None:
    first = tmp_path / "first.json"
    done = usi(
        "score", made.files.simulators["polite"], "--human", made.files.human,
        "--profile", "robust", "--replicates", "100", *choices, "--print", "none",
        "-o", first, "-o", tmp_path / "first.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    words = said((tmp_path / "first.html").read_text(encoding="utf-8"))
    for flag, value in zip(choices[::2], choices[1::2], strict=True):
        assert (words[words.index(flag) + 1]) == value
    assert run_it(words, tmp_path, made) == first.read_bytes()


def test_names_are_quoted_for_the_shell(made: Made) -> None:
    card = Scorecard.read(made.card)
    name = "$(reboot) 'x'.jsonl"
    inputs = tuple(f.model_copy(update={"name": name}) if f.role == "simulator" else f
                   for f in card.inputs)  # fmt: skip
    assert said(render(card.model_copy(update={"inputs": inputs})))[2] == name


def test_a_pass_with_warnings_says_so_and_chance_is_called_chance(made: Made) -> None:
    card = Scorecard.read(made.card)
    found = gate_scorecard(card, tier("C"))
    data = json.loads(found.to_json())
    for part in data["simulators"]:
        part["verdict"] = "PASS"
        for k, check in enumerate(part["checks"]):
            check["state"] = "warning" if k == 0 else "pass"
    html = render(card, verdict=type(found).model_validate(data))
    assert html.count("Yes: it passes, with a warning.") == 2
    assert "<b>Warning</b> (decides nothing)" in html
    summary = re.sub(r"<[^>]+>", "", html.partition('id="summary"')[2].partition("</table>")[0])
    assert summary.count(f"PASSwarned: {found.simulators[0].checks[0].id}") == 2
    for side in json.loads(made.card.read_text())["simulators"]:
        section = html.partition(f"Parts about {side['name']}")[2].partition("Success:")[0]
        name = re.search(r'furthest from people.*?<p class="big">(.*?)</p>', section, re.DOTALL)
        assert name
        gap = (side["features"] | side["style"])[name[1].lower().replace(" ", "_")]["gap"]
        certain = gap["low"] > 0 or gap["high"] < 0
        assert certain == bool(side["certain_gaps"])
        assert certain or "may be chance" in section


def test_how_many_more_tasks_is_said_as_a_number(made: Made) -> None:
    card = Scorecard.read(made.card)
    found = gate_scorecard(card, tier("C"))
    need = {"part": "reaction", "kind": "tasks", "amount": 315, "now": 165, "text": "reaction: x"}
    data = json.loads(found.to_json())
    for part in data["simulators"]:
        part |= {"verdict": "INCONCLUSIVE", "needed": [need, {**need, "part": "b", "amount": 200}]}
    html = render(card, verdict=type(found).model_validate(data))
    text = re.sub(r"<[^>]+>", "", html)
    assert text.count("About 150 more tasks: 315 in place of 165.") == 2
    data["simulators"][0]["needed"].append({**need, "part": "c", "kind": "nothing"})
    text = re.sub(r"<[^>]+>", "", render(card, verdict=type(found).model_validate(data)))
    assert text.count("More tasks alone would not.") == 1


def test_the_record_keeps_arguments_and_options(made: Made, tmp_path: Path) -> None:
    record = json.loads(made.card.with_name("card.run.json").read_text(encoding="utf-8"))
    assert record["command"][:2] == ["usi", "score"]
    assert {"replicates": 200, "seed": 7, "c2st": "fast"}.items() <= record["options"].items()
    assert record["options"]["human"] == str(made.files.human)
    alone = tmp_path / "card.json"
    alone.write_bytes(made.card.read_bytes())
    assert usi("report", alone, "-o", tmp_path / "page.html").code == 0
    assert "The run record (card.run.json) is not beside" in (tmp_path / "page.html").read_text(
        encoding="utf-8"
    )


def test_options_become_words_without_folders_and_secrets() -> None:
    options = ScoreOptions(
        sim_runs=("0", "1"), by=("domain", "level"), surveys=None, difficulty="/some/where/d.json",
        map={"text": "body"}, flip=True, standardise=False, success_at=0.5,
    )  # fmt: skip
    assert words_of(ScoreOptions, told(options)) == [
        "--no-standardise", "--sim-runs", "0,1", "--by", "domain", "--by", "level",
        "--success-at", "0.5", "--flip", "--map", "text=body", "--surveys", "none",
        "--difficulty", "d.json",
    ]  # fmt: skip
    assert words_of(ScoreOptions, told(ScoreOptions())) == []
    record = make_record(
        ["usi"], started="now", options={"name": "sk-abcdefghijklm", "api_key": "x", "seed": 7}
    )
    assert record.options == {"name": "***", "api_key": "***", "seed": 7}
