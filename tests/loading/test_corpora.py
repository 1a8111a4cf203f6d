"""Every file of the shared data loads, or is refused with the true reason.

Counts are made here by other means: the standard library on the raw bytes, by the description of
each corpus.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tarfile
import zipfile
from collections import Counter

import pytest
from helpers import shared

from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, open_sessions


def read(path, **options):
    stream = open_sessions(path, options=LoadOptions(**options))
    return list(stream), stream.notes


def user_turns(found):
    return sum(turn.role == "user" for session in found for turn in session.turns)


def test_star():
    path = shared("data/star/dialogues_even.tar.xz")
    dialogues = []
    with tarfile.open(path) as packed:
        for member in packed:
            if member.name.endswith(".json"):
                dialogues.append(json.load(packed.extractfile(member)))
    found, notes = read(path)
    assert len(found) == len(dialogues) == 3326
    said = Counter(
        {"User": "user", "Wizard": "assistant"}[event["Agent"]]
        for dialogue in dialogues
        for event in dialogue["Events"]
        if (event["Agent"], event["Action"])
        in {
            ("User", "utter"),
            ("Wizard", "utter"),
            ("Wizard", "pick_suggestion"),
            ("Wizard", "query"),
        }
    )
    assert said == Counter(turn.role for session in found for turn in session.turns)
    complete = sum(d["CompletionLevel"] == "Complete" for d in dialogues)
    assert complete == sum(s.outcome.reward == 1.0 for s in found)
    groups = {
        tuple(sorted(c["Task"] for c in d["Scenario"]["WizardCapabilities"])) for d in dialogues
    }
    assert len({s.task_id for s in found}) == len(groups)
    assert notes.layout == "star"


def test_multiwoz():
    path = shared("data/multiwoz21/val.json.zip")
    with zipfile.ZipFile(path) as packed:
        dialogues = json.load(packed.open("val.json"))
    found, notes = read(path)
    assert len(found) == len(dialogues) == 999
    assert notes.layout == "multiwoz"
    assert user_turns(found) == sum(len(d["log"][::2]) for d in dialogues.values())
    by_id = {session.session_id: session for session in found}
    for own in ("PMUL1635", max(dialogues), min(dialogues)):
        texts = [entry["text"] for entry in dialogues[own]["log"]]
        assert [turn.content for turn in by_id[own].turns] == texts
        assert [turn.role for turn in by_id[own].turns][:2] == ["user", "assistant"]
    assert by_id["PMUL1635"].domain == "hotel+train"


def test_multidogo():
    """2,411 different first cells: 2,404 conversations, and 7 lines that carry on a text."""
    folder = shared("data/multidogo")
    first_cells, marked, lines = set(), set(), 0
    for path in sorted(folder.glob("*.tsv")):
        rows = path.read_text(encoding="utf-8").split("\n")[1:]
        first_cells |= {row.split("\t")[0] for row in rows if row}
        marked |= set(re.findall(r"<CONV>([^<]+)<TURN>", "\n".join(rows)))
        lines += sum(bool(row) for row in rows)
    found, notes = read(folder)
    cut = len(first_cells - marked)
    assert (len(first_cells), cut) == (2411, 7)
    assert len(found) == len(marked) == len(first_cells) - cut == 2404
    assert {session.session_id for session in found} == marked
    assert notes.merged == {"message: a text that was cut by a line end": cut}
    assert user_turns(found) == lines - cut
    assert {session.domain for session in found} == {"airline"}
    assert any("customer turns only" in remark for remark in notes.remarks)
    quoted = [t.content for s in found for t in s.turns if t.content.startswith('"')]
    assert quoted, "quotation marks are text"


def test_abredial():
    path = shared("data/abredial/annotated_dialogues.csv")
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))[1:]
    found, notes = read(path)
    assert len(found) == len(rows) == 640
    assert notes.layout == "abredial"
    users = sum(cell.startswith("USER") for row in rows for cell in row[1:23])
    assert user_turns(found) == users
    assert len({s.task_id for s in found}) == len({(row[0], *row[1:23]) for row in rows})
    assert len({(s.task_id, s.batch) for s in found}) == 640
    column = 1 + 22 + 4
    assert Counter(s.survey[4].answer for s in found) == Counter(
        str(int(float(row[column]))) if row[column] else None for row in rows
    )


HARNESS = sorted(
    path.relative_to(shared("data")).as_posix()
    for kind in ("taubench", "tau2")
    for path in shared(f"data/{kind}").glob("*.json")
)


@pytest.mark.parametrize("name", HARNESS)
def test_results_of_harnesses(name):
    path = shared(f"data/{name}")
    data = json.loads(path.read_text())
    rows = data["simulations"] if isinstance(data, dict) else data
    found, _ = read(path)
    assert len(found) == len(rows)
    kept = [m for row in rows for m in row.get("messages", row.get("traj")) if m["role"] == "user"]
    tools = [m for m in kept if str(m["content"]).startswith("API output: ")]
    assert user_turns(found) == len(kept) - len(tools)


def test_results_are_those_of_the_readme():
    names = {
        "taubench/airline_agent-gpt-4o_user-gpt-4o_50x4.json": 200,
        "taubench/retail_agent-gpt-4o_user-gpt-4o_115x1.json": 115,
        "taubench/retail_broken_run.json": 2,
        "tau2/airline_user-grok-3_4x4.json": 16,
        "tau2/airline_user-grok-3_1task_x20trials.json": 20,
        "tau2/telecom_agent-gpt-4o_user-gpt-4o_20x1.json": 20,
        "tau2/airline_agent-toolorchestra_user-gpt-4.1_50x1_NOTASKID.json": 50,
    }
    for name, number in names.items():
        assert len(read(shared(f"data/{name}"))[0]) == number
    found, _ = read(shared("data/taubench/retail_broken_run.json"))
    assert Counter(s.status for s in found) == {"failed": 1, "ok": 1}


def test_everything_else_is_refused_with_the_true_reason():
    logs = [p for p in shared("data/logs").rglob("*") if ".csv" in p.suffixes]
    assert len(logs) == 5 + 3 + 4 + 11
    for path in logs:
        with pytest.raises(InputError, match=r"Operational logs .* are no transcripts"):
            read(path)
    with pytest.raises(InputError, match="ratings of turns are not read"):
        read(shared("data/abredial/annotated_turns.csv"))
    licences = list(shared("data").rglob("LICENSE*"))
    assert licences
    for path in licences:
        with pytest.raises(InputError, match="not a file of transcripts"):
            read(path)


# Fixtures after public documentation; texts are invented.


def test_multiwoz_of_later_versions(write):
    """MultiWOZ 2.2 (README: dialogue_id, services, turns with speaker) and ConvLab's form."""
    turns = [
        {"speaker": "USER", "turn_id": "0", "utterance": "a room", "frames": []},
        {"speaker": "SYSTEM", "turn_id": "1", "utterance": "where?", "frames": []},
    ]
    new = {"dialogue_id": "PMUL1", "services": ["train", "hotel"], "turns": turns}
    unified = {
        "dataset": "multiwoz21", "dialogue_id": "multiwoz21-val-0", "original_id": "SNG2",
        "domains": ["taxi"], "goal": {},
        "turns": [{"speaker": "user", "utterance": "a taxi", "utt_idx": 0},
                  {"speaker": "system", "utterance": "when?", "utt_idx": 1}],
    }  # fmt: skip
    found, notes = read(write("x.json", [new, unified]))
    assert notes.layout == "multiwoz"
    assert [(s.session_id, s.domain) for s in found] == [("PMUL1", "hotel+train"), ("SNG2", "taxi")]
    assert [t.role for s in found for t in s.turns] == ["user", "assistant"] * 2
    bad = {"d": {"goal": {}, "log": [3]}, "e": {"goal": {}, "log": 3}}
    with pytest.raises(InputErrors) as caught:
        read(write("y.json", bad), format="multiwoz")
    assert [p.field for p in caught.value.problems] == ["log[0]", "log"]


def test_multidogo_with_both_sides(write):
    """The unannotated files name the author of each turn (README of the data set)."""
    head = "conversationId\tturnNumber\tutteranceId\tutterance\tauthorRole\n"
    text = head + 'c\t1\tu1\tHello, "dear"\tagent\nc\t0\tu0\thi\tcustomer\n'
    (session,), notes = read(write("finance.tsv", text))
    assert [(t.role, t.content) for t in session.turns] == [
        ("user", "hi"), ("assistant", 'Hello, "dear"'),
    ]  # fmt: skip
    assert session.domain == "finance"
    assert not notes.remarks
    with pytest.raises(InputErrors) as caught:
        read(write("y.tsv", head + "c\tx\tu\th\tagent\n\t1\tu\th\tagent\nc\t1\tu\th\tboss\nc\t1\n"))
    assert [p.field for p in caught.value.problems] == [
        "turnNumber", "conversationId", "authorRole", None,
    ]  # fmt: skip


ABCD = {
    "convo_id": 3592,
    "scenario": {"personal": {}, "flow": "product_defect", "subflow": "return_size"},
    "original": [["agent", "Hi!"], ["customer", "wrong size"], ["action", "Account pulled up."],
                 ["customer", "Bronze"]],
    "delexed": [{"speaker": "customer", "text": "<x>", "turn_count": 1, "targets": []}],
}  # fmt: skip


@pytest.mark.parametrize("split", [None, "train"])
def test_abcd(write, split):
    """After the README of ABCD: splits of conversations, pairs of speaker and text."""
    content = (
        [ABCD] if split is None else {"train": [ABCD], "dev": [], "test": [ABCD | {"convo_id": 7}]}
    )
    found, notes = read(write("abcd_v1.1.json", content))
    assert notes.layout == "abcd"
    first = found[0]
    assert [(t.role, t.content) for t in first.turns] == [
        ("assistant", "Hi!"), ("user", "wrong size"), ("user", "Bronze"),
    ]  # fmt: skip
    assert (first.session_id, first.domain, first.task_id) == (
        "3592",
        "product_defect",
        "return_size",
    )
    assert notes.left_out["message: result of a button that the agent pressed"] == len(found)
    assert len(found) == (1 if split is None else 2)


def test_abcd_with_placeholders_alone_and_bad_rows(write):
    placeholders = {key: value for key, value in ABCD.items() if key != "original"}
    (session,), notes = read(write("x.json", [placeholders]))
    assert [t.content for t in session.turns] == ["<x>"]
    assert notes.guessed
    bad = [ABCD | {"original": [["boss", "x"]]}, ABCD | {"original": 3}, ABCD | {"convo_id": None}]
    with pytest.raises(InputErrors) as caught:
        read(write("y.json", bad))
    assert [p.field for p in caught.value.problems] == ["original[0]", "original", "convo_id"]
