"""Words of people leave the machine only where their manifest or licence says so.

Sentences are planted in every message of the people (and of their agent), the verbs run, and
whatever these print or write is searched for them.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command import Done, refused, usi

PLANTED = ("quillon", "zarbatov", "4929-1177", "glimmerford")
"""Parts of a name, a number and a street: none of them is an identifier of a session."""
SAID = "my name is Quillon Zarbatov of Glimmerford Lane and my card ends in 4929-1177"
TASKS = 30


def talk(texts: list[str], agent: str = "Thank you Quillon Zarbatov, one moment.") -> list[Any]:
    found = [{"role": "assistant", "content": "Hello, how can I help?"}]
    for text in texts:
        found += [{"role": "user", "content": text}, {"role": "assistant", "content": agent}]
    return found


def person(task: int, batch: int) -> dict[str, Any]:
    more = ["ok", "sorry, where is it?", "why?", "and then?"][: 1 + (task + batch) % 4]
    return {"id": f"p{task}-{batch}", "task_id": f"t{task}", "batch": batch, "domain": "shop",
            "reward": (task + batch) % 2, "participant": f"w{batch}",
            "messages": talk([f"{SAID} number {task}", *more, "Quillon Zarbatov"])}  # fmt: skip


def simulated(task: int, run: int) -> dict[str, Any]:
    more = ["Thank you very much.", "I understand, please go on."][: 1 + (task + run) % 2]
    first = f"Hello, I would like to return order {task}, could you help me please?"
    messages = talk([first, *more], "One second.")
    return {"id": f"s{task}-{run}", "task_id": f"t{task}", "trial": run, "domain": "shop",
            "reward": (task + run) % 2, "messages": messages}  # fmt: skip


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def everything(folder: Path, done: Done) -> Iterator[tuple[str, str]]:
    """What a command printed, and every file under a folder, as text."""
    yield "stdout", done.out
    yield "stderr", done.err
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".parquet":
            frame = pl.read_parquet(path)
            meta = pl.read_parquet_metadata(path)
            yield str(path), f"{frame.write_ndjson()} {json.dumps(meta)}"
        elif data[:2] == b"\x1f\x8b":
            yield str(path), gzip.decompress(data).decode("utf-8", "replace")
        else:
            yield str(path), data.decode("utf-8", "replace")


def gave_away(folder: Path, done: Done) -> list[str]:
    """Where a planted word stands."""
    return [
        f"{word} in {place}"
        for place, text in everything(folder, done)
        for word in PLANTED
        if word in re.sub(r"\\u[0-9a-f]{4}", "", text.lower())
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a corpus of people, the same people as a plain file, and a simulator."""
    root = tmp_path_factory.mktemp("workspace")
    made = usi("init", cwd=root)
    assert made.code == 0, made.err
    people = [person(task, batch) for batch in (1, 2) for task in range(TASKS)]
    lines(root / "people.jsonl", people)
    lines(root / "polite.jsonl", [simulated(t, run) for run in (0, 1) for t in range(TASKS)])
    replay = [{**p, "id": f"r{k}", "trial": p["batch"] - 1} for k, p in enumerate(people)]
    lines(root / "replay.jsonl", [{k: v for k, v in p.items() if k != "batch"} for p in replay])
    added = usi("corpus", "add", "people.jsonl", "--name", "mine", "--licence", "internal", "--yes",
                cwd=root)  # fmt: skip
    assert added.code == 0, added.err
    assert gave_away(Path("/nonexistent"), added) == []
    (root / "simulators" / "declared.toml").write_text(
        'kind = "recorded"\nruns = "../polite.jsonl"\nlicence = "MIT"\n[identity]\nmodel = "m"\n'
        'provider = "p"\nprompt_sha256 = "0"\nharness = "h"\ndate = "2026-08-01"\n',
        encoding="utf-8",
    )
    return root


SCORE = ("--difficulty", "none", "--replicates", "200", "--design", "paired")


def score(home: Path, out: Path, human: str, *more: str, simulator: str = "polite.jsonl") -> Done:
    outputs = ("card.json", "page.html", "card.md", "card.csv", "cells.sessions.parquet")
    named = [part for name in outputs for part in ("-o", str(out / name))]
    return usi("score", simulator, "--human", human, *SCORE, *named, *more, cwd=home)


@pytest.fixture(scope="module")
def scored(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that a score of a corpus without leave writes."""
    out = tmp_path_factory.mktemp("out")
    done = score(home, out, "mine")
    assert done.code == 0, done.err
    assert gave_away(out, done) == []
    return out


def test_a_plain_file_of_people_gives_no_words_away(home: Path, tmp_path: Path) -> None:
    done = score(home, tmp_path, "people.jsonl", "--print", "table")
    assert done.code == 0, done.err
    assert gave_away(tmp_path, done) == []


def test_scores_and_pages_hold_no_words_of_people(scored: Path) -> None:
    page = (scored / "page.html").read_text("utf-8")
    assert "no manifest or licence says that they may be passed on" in page
    assert "I would like to return order" in page, "the simulator's words are its own"
    card = json.loads((scored / "card.json").read_bytes())
    assert card["human"]["redistribute"] is None
    assert card["simulators"][0]["telltales"], "what the simulator says is shown"
    assert card["simulators"][0]["unsaid"] == []


@pytest.mark.parametrize("profile", ["tau-usi", "robust"])
@pytest.mark.parametrize("simulator", ["replay.jsonl", "people.jsonl"])
def test_a_simulator_that_repeats_people_does_not_carry_their_words(
    home: Path, tmp_path: Path, profile: str, simulator: str
) -> None:
    outputs = [part for name in ("card.json", "page.html") for part in ("-o", tmp_path / name)]
    done = usi("score", simulator, "--human", "people.jsonl", "--profile", profile, *outputs,
               cwd=home)  # fmt: skip
    assert done.code == 0, done.err
    assert gave_away(tmp_path, done) == []


def test_words_are_shown_to_who_asks_and_the_page_says_whose(home: Path, tmp_path: Path) -> None:
    done = score(home, tmp_path, "people.jsonl", "--examples")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Zarbatov" in page
    assert "Not for passing on." in page
    card = json.loads((tmp_path / "card.json").read_bytes())
    assert any("glimmerford" in term["text"] for term in card["simulators"][0]["unsaid"])
    assert "made to be passed on" not in page
    again = usi("report", tmp_path / "card.json", "-o", tmp_path / "again.html")
    assert again.code == 0, again.err
    assert "Quillon Zarbatov" not in (tmp_path / "again.html").read_text("utf-8")


def test_a_licence_on_the_list_lets_words_out(home: Path, tmp_path: Path) -> None:
    open_ = tmp_path / "open"
    open_.mkdir()
    (open_ / "people.jsonl").write_bytes((home / "people.jsonl").read_bytes())
    (open_ / "manifest.toml").write_text('name = "open"\nlicence = "CC-BY-4.0"\n', encoding="utf-8")
    done = score(home, tmp_path, str(open_))
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Zarbatov" in page
    assert "made to be passed on" in page


def test_a_simulator_whose_licence_does_not_allow_it_shows_no_words(
    home: Path, tmp_path: Path
) -> None:
    (home / "simulators" / "house.toml").write_text(
        'kind = "recorded"\nruns = "../polite.jsonl"\nlicence = "internal"\n', encoding="utf-8"
    )
    done = score(home, tmp_path, "people.jsonl", simulator="house")
    assert done.code == 0, done.err
    assert "I would like to return order" not in (tmp_path / "page.html").read_text("utf-8")
    assert not (tmp_path / "card.evidence.json").exists()


VERBS: dict[str, tuple[str, ...]] = {
    "validate": ("validate", "people.jsonl"),
    "validate json": ("validate", "people.jsonl", "--print", "json"),
    "features": ("features", "people.jsonl", "--side", "human", "-o", "OUT/features.parquet"),
    "features csv": ("features", "people.jsonl", "--side", "human", "-o", "OUT/features.csv"),
    "corpus list": ("corpus", "list"),
    "corpus show": ("corpus", "show", "mine"),
    "corpus verify": ("corpus", "verify", "mine"),
    "corpus quality": ("corpus", "quality", "mine"),
    "corpus quality file": ("corpus", "quality", "people.jsonl"),
    "corpus aggregate": ("corpus", "aggregate", "mine", "-o", "OUT/a.parquet", "--min-cell", "2"),
    "plan": ("plan", "--pilot", "CARD"),
    "passk": ("passk", "people.jsonl", "-k", "1"),
    "correct": ("correct", "polite.jsonl", "--human", "people.jsonl"),
    "agents": (
        "agents",
        "--human",
        "a=people.jsonl",
        "--human",
        "b=people.jsonl",
        "--human",
        "c=people.jsonl",
        "--sim",
        "a=polite.jsonl",
        "--sim",
        "b=replay.jsonl",
        "--sim",
        "c=polite.jsonl",
    ),
    "submit": (
        "submit",
        "declared",
        "--human",
        "mine",
        "--gate",
        "C",
        "--reports",
        "OUT",
    ),
    "gate": ("gate", "CARD", "--tier", "C", "-o", "OUT/verdict.json", "-o", "OUT/verdict.md"),
    "rank": ("rank", "CARDS"),
    "compare": ("compare", "CARD", "CARD"),
    "report": (
        "report",
        "CARD",
        "-o",
        "OUT/r.html",
        "-o",
        "OUT/r.md",
        "--figures",
        "OUT/figures",
        "--figure",
        "index",
    ),
    "report asked": ("report", "CARD", "-o", "OUT/r.html", "--examples"),
    "doctor": ("doctor",),
}


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_tells_what_people_said(
    verb: str, scored: Path, home: Path, tmp_path: Path
) -> None:
    card = str(scored / "card.json")
    arguments = [
        part.replace("OUT", str(tmp_path)).replace("CARDS", str(scored)).replace("CARD", card)
        for part in VERBS[verb]
    ]
    done = usi(*arguments, cwd=home)
    assert done.code in (0, 1, 3), (verb, done.err)
    assert gave_away(tmp_path, done) == []


DAMAGE: dict[str, Any] = {
    "role": lambda row: row["messages"][1].update(role=SAID),
    "content is an object": lambda row: row["messages"][1].update(content={"say": SAID}),
    "content is a list": lambda row: row["messages"][1].update(content=[SAID, {"x": SAID}]),
    "part of an unknown type": lambda row: row["messages"][1].update(
        content=[{"type": SAID, "text": SAID}]
    ),
    "reward": lambda row: row.update(reward=SAID),
    "trial": lambda row: row.update(trial={"a": SAID}),
    "messages": lambda row: row.update(messages=SAID),
    "a message": lambda row: row["messages"].insert(1, SAID),
    "time": lambda row: row["messages"][1].update(timestamp=SAID),
    "unknown key": lambda row: row.update({SAID: SAID}),
    "status": lambda row: row.update(status=SAID),
    "keep": lambda row: row.update(keep=SAID),
    "survey": lambda row: row.update(survey={"q": SAID}),
    "language": lambda row: row.update(language=SAID),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("verb", ["validate", "score"])
def test_messages_about_damaged_files_do_not_quote_them(
    damage: str, verb: str, home: Path, tmp_path: Path
) -> None:
    rows = [person(task, 1) for task in range(TASKS)]
    DAMAGE[damage](rows[3])
    path = lines(tmp_path / "damaged.jsonl", rows)
    if verb == "validate":
        done = usi("validate", path)
    else:
        done = usi("score", home / "polite.jsonl", "--human", path, *SCORE)
    assert done.code in (0, 2), done.err
    assert gave_away(Path("/nonexistent"), done) == []


@pytest.mark.parametrize("cut", [200, 777, 1500])
def test_messages_about_cut_files_do_not_quote_them(cut: int, home: Path, tmp_path: Path) -> None:
    text = (home / "people.jsonl").read_bytes()[:cut]
    for name in ("cut.jsonl", "cut.json", "cut.csv"):
        path = tmp_path / name
        path.write_bytes(text)
        done = usi("validate", path)
        assert gave_away(Path("/nonexistent"), done) == [], name


def test_a_table_without_a_header_is_refused_without_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    rows = [f"p{k},user,{SAID} number {k}" for k in range(5)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for verb in (("validate", path), ("features", path, "--side", "human")):
        done = usi(*verb)
        assert done.code == 2, done
        assert gave_away(Path("/nonexistent"), done) == []


TICKETS = "number,sys_updated_at,incident_state,short_description,resolved_by\n"


@pytest.fixture(scope="module")
def tickets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of tickets whose description and last column hold words of people."""
    folder = tmp_path_factory.mktemp("tickets")
    for name in ("real", "made"):
        rows = [
            f'{name}{k},2026-03-{1 + k % 27:02d} 1{hour}:{k % 6}0,{state},"{SAID} {k}",Zarbatov'
            for k in range(30)
            for hour, state in ((0, "New"), (3, "Active"), (5 + k % 4, "Closed"))
        ]
        (folder / f"{name}.csv").write_text(TICKETS + "\n".join(rows) + "\n", encoding="utf-8")
    return folder


LOGS: dict[str, tuple[str, ...]] = {
    "suggest": ("logs", "suggest", "real.csv"),
    "suggest file": ("logs", "suggest", "real.csv", "-o", "OUT/log.toml"),
    "validate": ("logs", "validate", "real.csv", "--case", "number", "--activity",
                 "incident_state", "--time", "sys_updated_at", "--no-classes", "--timezone", "UTC"),
    "score": ("score", "made.csv", "--human", "real.csv", "--case", "number", "--activity",
              "incident_state", "--time", "sys_updated_at", "--no-classes", "--timezone", "UTC",
              "-o", "OUT/card.json", "-o", "OUT/page.html"),
    "wrong activity": ("logs", "validate", "real.csv", "--case", "number", "--activity",
                       "incident_state", "--time", "short_description",
                       "--no-classes", "--timezone", "UTC"),
}  # fmt: skip


@pytest.mark.parametrize("verb", LOGS)
def test_logs_of_tickets_keep_their_words(verb: str, tickets: Path, tmp_path: Path) -> None:
    done = usi(*(part.replace("OUT", str(tmp_path)) for part in LOGS[verb]), cwd=tickets)
    assert done.code in (0, 2), done.err
    assert (done.code == 2) == verb.startswith("wrong"), done.err
    assert gave_away(tmp_path, done) == []


@pytest.mark.parametrize("verb", ["judge", "replay"])
def test_talks_of_a_corpus_are_not_sent_to_a_model_elsewhere(
    verb: str, home: Path, tmp_path: Path
) -> None:
    corpus = "human_corpus/mine/people.jsonl"
    asked = {
        "judge": ("judge", corpus, "--judge", "model:openai/any"),
        "replay": ("run", f"replay:{corpus}", "--domain", "service_desk", "--agent",
                   "model:openai/any"),
    }[verb]  # fmt: skip
    done = usi("simulate", *asked, "-o", tmp_path / "out", cwd=home, env={"OPENAI_API_KEY": "x"})
    refused(done, "runs elsewhere", "redistribute = true")
