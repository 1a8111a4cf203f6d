"""Texts that want to be more than text, and texts that must not be shown at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Done, usi
from report.html.look import look

MARK = "zebra-crossing"
HOSTILE = (
    f"<script>window.hit=1</script><img src=x onerror=hit=1> {MARK} </bdi></li></details>"
    "\u202eright to left\u202c \x1b[31mred\x1b[0m {{ 7*7 }} {% raw %} & &lt;b&gt; sorry"
)
HUGE = "sorry " + "a" * 200_000


def session(number: int, texts: list[str], simulator: str = "") -> dict[str, Any]:
    talk = [{"role": "assistant", "content": f"Hello <b>{HOSTILE}</b>"}]
    for text in texts:
        talk += [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes?"}]
    own = {"simulator": simulator} if simulator else {}
    return {"id": f"s{number}", "task_id": f"t{number}", "domain": "shop", "reward": number % 2,
            "messages": talk, **own}  # fmt: skip


def write(folder: Path, *, redistribute: bool = True) -> tuple[Path, Path]:
    corpus = folder / "people"
    corpus.mkdir()
    people = [session(k, ["sorry, where is it?", HOSTILE, "ok"]) for k in range(20)]
    made = [session(k, [HOSTILE, HUGE, "thank you " * (k + 1)], "<b>bad</b>") for k in range(20)]
    for path, rows in ((corpus / "sessions.jsonl", people), (folder / "sim.jsonl", made)):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    allowed = str(redistribute).lower()
    manifest = f'name = "people"\nsessions = "sessions.jsonl"\nredistribute = {allowed}\n'
    (corpus / "manifest.toml").write_text(manifest, encoding="utf-8")
    return corpus, folder / "sim.jsonl"


def score(folder: Path, corpus: Path, simulator: Path, *more: str) -> Done:
    return usi(
        "score", simulator, "--human", corpus, "--profile", "robust", "--difficulty", "none",
        "--replicates", "200", "-o", folder / "card.json", "-o", folder / "report.html",
        "--print", "none", *more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    done = score(folder, *write(folder))
    assert done.code == 0, done.err
    return folder


def test_hostile_text_stays_text_in_the_browser(hostile: Path) -> None:
    script = """(() => {
      for (const d of document.querySelectorAll('details')) d.open = true;
      return [document.scripts.length, document.images.length, typeof window.hit,
        document.querySelectorAll('b').length > 0 && [...document.querySelectorAll('b')]
          .some((b) => b.textContent === 'bad'),
        [...document.querySelectorAll('bdi')].filter((b) => b.textContent.includes('onerror'))
          .length > 0, document.documentElement.scrollWidth];
    })()"""
    seen = look(hostile / "report.html", width=375, script=script)
    scripts, images, hit, bold, shown, width = seen["result"]
    assert (scripts, images, hit, bold, shown) == (1, 0, "undefined", False, True)
    assert width <= 375
    assert seen["console"] == []


def test_controls_and_bidi_are_shown_as_escapes(hostile: Path) -> None:
    html = (hostile / "report.html").read_text(encoding="utf-8")
    for char in ("\x1b", "\u202e", "\u202c"):
        assert char not in html
    assert "\\x1b[31m" in html
    assert "\\u202e" in html
    assert "{{ 7*7 }}" in html


def test_huge_texts_are_cut_and_say_so(hostile: Path) -> None:
    page = hostile / "report.html"
    assert page.stat().st_size < 400_000
    assert "more characters" in page.read_text(encoding="utf-8")
    evidence = hostile / "card.evidence.json"
    assert evidence.stat().st_size < 200_000


def test_without_examples_no_text_is_anywhere(hostile: Path, tmp_path: Path) -> None:
    corpus, simulator = write(tmp_path)
    assert score(tmp_path, corpus, simulator).code == 0
    assert MARK in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "card.evidence.json").exists()
    assert score(tmp_path, corpus, simulator, "--no-examples").code == 0
    _nothing(tmp_path)
    # and a report that was asked to leave them out does, though they are there
    done = usi("report", hostile / "card.json", "--no-examples", "-o", tmp_path / "plain.html")
    assert done.code == 0, done.err
    assert MARK not in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_a_licence_that_forbids_it_keeps_texts_out(tmp_path: Path) -> None:
    corpus, simulator = write(tmp_path, redistribute=False)
    assert score(tmp_path, corpus, simulator, "--examples").code == 0
    # The simulator repeats people's words; what it says of its own is shown.
    _without_mark(tmp_path)
    assert "thank you thank you" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "must not be passed on" in (tmp_path / "report.html").read_text(encoding="utf-8")


def _without_mark(folder: Path) -> None:
    for path in folder.glob("card*"):
        assert MARK.encode() not in path.read_bytes(), path
    assert MARK not in (folder / "report.html").read_text(encoding="utf-8")


def _nothing(folder: Path) -> None:
    assert not (folder / "card.evidence.json").exists()
    _without_mark(folder)
    assert "There are no texts on this page" in (folder / "report.html").read_text("utf-8")
    assert (folder / "card.report.json").exists()
