"""Output bytes tell nothing of the order of files, rows or entries: through the command line."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import usi

from usi.phantom import build_phantom

ALL = (".json", ".md", ".html", ".csv", ".sessions.parquet")
FEW = (".json", ".md")
ROBUST = ("--profile", "robust", "--replicates", "200")
QUICK = (*ROBUST, "--c2st", "off")
TAU = ("--profile", "tau-usi")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A population with surveys and two simulators, as the generator writes it."""
    place = tmp_path_factory.mktemp("population")
    build_phantom(place, tasks=26, runs=2, simulators=["copy", "polite"], seed=3)
    return place


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def people_in(place: Path) -> Path:
    """The reference: the folder with the manifest."""
    return next(place.rglob("manifest.toml")).parent


def simulators_in(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*.jsonl") if people_in(place) not in path.parents)


def rewritten(source: Path, into: Path, change: Callable[[Path, str], bytes]) -> Path:
    """A copy of a folder in which `change` gives the bytes of each file."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            target = into / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(change(path, path.read_text()))
    return into


def shuffled(rng: random.Random) -> Callable[[Path, str], bytes]:
    """Lines of JSONL, keys of their objects and entries of survey files in another order."""

    def keys(found: dict[str, Any]) -> dict[str, Any]:
        return {k: keys(v) if isinstance(v, dict) else v for k, v in rng.sample(
            list(found.items()), len(found))}  # fmt: skip

    def change(path: Path, text: str) -> bytes:
        if path.suffix == ".jsonl":
            records = [keys(json.loads(line)) for line in text.splitlines()]
            rng.shuffle(records)
            return "".join(json.dumps(record) + "\n" for record in records).encode()
        if path.name.startswith("survey_"):
            entries = list(json.loads(text).items())
            rng.shuffle(entries)
            return json.dumps(dict(entries)).encode()
        return text.encode()

    return change


def plain(path: Path, text: str) -> bytes:
    return text.encode()


def outputs(place: Path, *arguments: Any, forms: tuple[str, ...] = FEW) -> dict[str, bytes]:
    """All that a scoring writes and prints, but the run record, which is about the files."""
    place.mkdir()
    written = [part for suffix in forms for part in ("-o", place / f"card{suffix}")]
    done = usi("score", *arguments, *written, "--print", "json")
    assert done.code == 0, done.err
    found = {path.name: path.read_bytes() for path in place.iterdir()}
    record = json.loads(found.pop("card.run.json"))
    assert {len(entry["sha256"]) for entry in record["inputs"]} == {64}
    return {**found, "stdout": done.out.encode()}


def same(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    """Every output has the same bytes (named, where one has not)."""
    beside = {"card.tasks.parquet", "card.evidence.json", "card.report.json"}
    assert {"card.json", "card.md", "stdout", *beside} <= set(one)
    assert [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)] == []


@pytest.mark.parametrize("profile", [ROBUST, TAU], ids=["robust", "tau-usi"])
def test_rows_surveys_and_files_in_another_order_change_no_byte(
    source: Path, tmp_path: Path, profile: tuple[str, ...]
) -> None:
    found = []
    for k, change in enumerate((plain, shuffled(random.Random(5)))):
        place = rewritten(source, tmp_path / f"in{k}", change)
        paths = simulators_in(place)[:: 1 - 2 * k]
        found.append(outputs(tmp_path / f"out{k}", *paths, "--human", people_in(place), *profile,
                              forms=ALL))  # fmt: skip
    same(*found)
    card = json.loads(found[0]["card.json"])
    kept = {simulator["components"]["survey"]["status"] for simulator in card["simulators"]}
    assert kept == {"ok"}


def test_a_changed_word_changes_digest_and_signature(source: Path, tmp_path: Path) -> None:
    """The digest is one of the content: it is no constant that any two files share."""
    people = rewritten(people_in(source), tmp_path / "people", plain)
    path = next(people.rglob("*.jsonl"))
    cards = []
    for _ in range(2):
        done = usi("score", simulators_in(source)[0], "--human", people, *QUICK)
        cards.append(done.json())
        lines = rows(path)
        lines[0]["messages"][0]["content"] += " "
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    one, other = ({i["role"]: i["content_digest"] for i in card["inputs"]} for card in cards)
    assert one["simulator"] == other["simulator"]
    assert one["human"] != other["human"]
    corpus = [card["signature"].partition("|corpus:")[2].partition("|")[0] for card in cards]
    assert corpus[0] != corpus[1]


def as_array(records: list[dict[str, Any]]) -> bytes:
    return json.dumps(records).encode()


def as_lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def as_packed_lines(records: list[dict[str, Any]]) -> bytes:
    return gzip.compress(as_lines(records))


def as_table(records: list[dict[str, Any]]) -> bytes:
    """One message a row, whole conversations one after the other."""
    import io

    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(["session_id", "task_id", "trial", "reward", "role", "text"])
    for record in records:
        head = [record["id"], record["task_id"], record.get("trial", record.get("batch"))]
        for message in record["messages"]:
            if isinstance(message["content"], str):
                cells = [*head, record["reward"], message["role"], message["content"]]
                writer.writerow(cells)
    return sink.getvalue().encode()


WRITERS = {
    "array.json": as_array,
    "packed.jsonl.gz": as_packed_lines,
    "table.csv": as_table,
}


def without_ids(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same conversations with nothing to name them by, some of them twice."""
    named = ("id", "session_id", "task_id", "trial", "run", "batch", "metadata", "participant")
    bare = [{key: value for key, value in r.items() if key not in named} for r in records]
    return [*bare, *bare[:3]]


@pytest.mark.parametrize(
    ("name", "named"),
    [("packed.jsonl.gz", True), ("table.csv", True), ("array.json", False)],
)
def test_rows_of_every_kind_of_file_in_another_order(
    source: Path, tmp_path: Path, name: str, named: bool
) -> None:
    human = rows(next(people_in(source).rglob("*.jsonl")))
    model = rows(simulators_in(source)[1])
    found = []
    for k in range(2):
        rng = random.Random(k)
        files = []
        for side, records in (("people", human), ("model", model)):
            mine = records if named else without_ids(records)
            if k:
                mine = rng.sample(mine, len(mine))
            path = tmp_path / f"in{k}" / f"{side}-{name}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(WRITERS[name](mine))
            files.append(path)
        people, own = files
        found.append(outputs(tmp_path / f"out{k}", own, "--human", people, *QUICK))
    same(*found)
    assert b"row-" not in found[0]["card.evidence.json"]


def test_sessions_that_share_every_key_and_differ_in_their_words(
    source: Path, tmp_path: Path
) -> None:
    """Two people with one task and no id: their sessions have one name."""
    keep = ("task_id", "domain", "messages", "reward")
    found = []
    for k in range(2):
        files = []
        for path in (next(people_in(source).rglob("*.jsonl")), simulators_in(source)[0]):
            records = [{key: row[key] for key in keep if key in row} for row in rows(path)]
            if k:
                records.reverse()
            target = tmp_path / f"in{k}" / path.name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(as_lines(records))
            files.append(target)
        found.append(outputs(tmp_path / f"out{k}", files[1], "--human", files[0], *QUICK))
    same(*found)


def test_a_folder_may_lie_in_any_order_and_be_cut_anywhere(source: Path, tmp_path: Path) -> None:
    human = rows(next(people_in(source).rglob("*.jsonl")))
    model = simulators_in(source)[0]
    cut, other_cut = len(human) // 3, len(human) // 2
    made = []
    for k, (names, at) in enumerate(
        (
            (("a.jsonl", "b.jsonl"), cut),
            (("b.jsonl", "a.jsonl"), cut),
            (("a.jsonl", "b.jsonl"), other_cut),
        )
    ):
        folder = tmp_path / f"in{k}" / "people"
        folder.mkdir(parents=True)
        # written in this order: the first name is not the first in the folder where they swap
        parts = dict(zip(("a.jsonl", "b.jsonl"), (human[:at], human[at:]), strict=True))
        for name in names:
            (folder / name).write_bytes(as_lines(parts[name]))
        made.append(outputs(tmp_path / f"out{k}", model, "--human", folder, *QUICK))
    same(made[0], made[1])
    # Cut elsewhere only the files differ: same corpus, same signature, same sums, same evidence.
    one, other = (json.loads(found["card.json"]) for found in (made[0], made[2]))
    assert one["inputs"] != other["inputs"]
    apart = {"inputs": (), "digest": ""}  # the digest of a card is that of its inputs, too
    assert one | apart == other | apart
    for name in ("card.tasks.parquet", "card.evidence.json", "card.report.json"):
        assert made[0][name] == made[2][name]


def test_runs_of_one_simulator_in_several_files(source: Path, tmp_path: Path) -> None:
    records = rows(simulators_in(source)[0])
    files = []
    for k in range(2):
        path = tmp_path / f"part{k}.jsonl"
        path.write_bytes(as_lines(records[k::2]))
        files.append(path)
    found = [
        outputs(
            tmp_path / f"out{k}", *order, "--name", "both", "--human", people_in(source), *QUICK
        )
        for k, order in enumerate((files, files[::-1]))
    ]
    same(*found)
