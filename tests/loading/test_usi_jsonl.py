"""usi JSONL: what a line may be, its published schema, and writing it without loss."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC
from importlib.resources import files

import jsonschema
import msgspec
import pytest
from helpers import ROOT, shared
from hypothesis import given, settings
from hypothesis import strategies as st

from usi.errors import InputError, InputErrors
from usi.loading import LoadOptions, open_sessions, write_usi_jsonl
from usi.records import MISSING, Outcome, Session, SurveyAnswer, Turn

SCHEMA = json.loads(
    files("usi.loading").joinpath("schemas/usi-jsonl.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
HI = [{"role": "user", "content": "hi"}]


def load(write, *records: object, name: str = "x.jsonl", **options: object) -> list[Session]:
    for record in records:
        VALIDATOR.validate(record)
    path = write(name, list(records), lines=True)
    return list(open_sessions(path, options=LoadOptions(**options)))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_all_fields(write):
    record = {
        "id": "s1",
        "task_id": 7,
        "trial": 2,
        "batch": 3,
        "domain": "banking",
        "simulator": "gpt",
        "reward": True,
        "outcome": "correct_refusal",
        "termination": "user_stop",
        "survey": {"reuse": {"question": "q", "answer": "Maybe"}, "overall_score": 4},
        "participant": "p1",
        "agent": "a1",
        "keep": False,
        "status": "infrastructure_error",
        "status_reason": "timeout",
        "layout": "tau2",
        "metadata": {"k": [1]},
        "weight": 0,
        "messages": [
            {"role": "developer", "content": "x"},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}], "name": "ann"},
            {"role": "user", "content": "again"},
            {"role": "function", "name": "f", "content": "ok"},
            {"type": "function_call_output", "output": "ok"},
        ],
    }
    assert load(write, record) == [
        Session(
            session_id="s1",
            task_id="7",
            trial="2",
            batch=3,
            domain="banking",
            simulator="gpt",
            outcome=Outcome(reward=1.0, label="correct_refusal", termination="user_stop"),
            survey=(SurveyAnswer("reuse", "Maybe"), SurveyAnswer("overall_score", "4")),
            participant="p1",
            agent="a1",
            keep=False,
            status="infrastructure_error",
            status_reason="timeout",
            layout="tau2",
            meta={"k": [1], "weight": 0},
            row=1,
            turns=(
                Turn("developer", "x"),
                Turn("user", [{"type": "input_text", "text": "hi"}], None, "ann"),
                Turn("user", "again"),
                Turn("function", "ok", None, "f"),
                Turn(None),
            ),
        )
    ]


def test_conversation_run_and_session_id_are_other_names(write):
    (session,) = load(write, {"conversation": HI, "run": "a", "session_id": "x", "id": "y"})
    assert (session.session_id, session.trial, session.turns) == ("x", "a", (Turn("user", "hi"),))


def test_a_bare_list_of_messages_is_a_session(write):
    sessions = load(write, HI, [*HI, {"role": "tool", "content": "ok"}], [])
    assert [len(s.turns) for s in sessions] == [1, 2, 0]


def test_a_session_without_an_id_is_named_by_its_content_wherever_it_stands(write):
    other = [{"role": "user", "content": "bye"}]
    records = [{"messages": HI}, {"messages": other, "id": ""}, {"messages": HI}, {"id": "mine",
               "messages": HI}]  # fmt: skip
    names = [s.session_id for s in load(write, *records)]
    assert names[2] == f"{names[0]}-2"
    assert names[3] == "mine"
    assert re.fullmatch("session-[0-9a-f]{12}", names[0])
    assert re.fullmatch("session-[0-9a-f]{12}", names[1])
    assert len(set(names)) == 4
    assert [s.session_id for s in load(write, *records[::-1])] == [
        "mine", names[0], names[1], names[2]]  # fmt: skip


def test_metadata_fills_in_what_the_record_does_not_say(write):
    found = {"task_id": "t1", "run": 4, "domain": "retail", "reward": 0}
    one, two = load(
        write,
        {"messages": HI, "metadata": found},
        {"messages": HI, "metadata": found, "task_id": None, "trial": 1, "reward": None},
    )
    assert (one.task_id, one.trial, one.domain, one.outcome.reward) == ("t1", "4", "retail", 0.0)
    assert (two.task_id, two.trial, two.outcome.reward) == (None, "1", None)
    assert one.session_id == "retail_t1"


def test_null_messages_are_a_failed_session(write):
    sessions = load(write, {"messages": None}, {"status": "failed", "status_reason": "boom"})
    assert [(s.status, s.turns) for s in sessions] == [("failed", ()), ("failed", ())]


def test_duplicates(write):
    path = write(
        "x.jsonl",
        [
            {"id": "a", "messages": HI},
            {"id": "a", "messages": []},
            {"id": "a", "messages": HI, "trial": 2},
            {"id": "a", "messages": HI, "batch": 2},
            {"task_id": 1, "trial": 1, "messages": HI},
            {"task_id": 1, "trial": 1, "messages": HI},
            {"task_id": 1, "messages": HI},
            {"task_id": 1, "messages": HI},
        ],
        lines=True,
    )
    stream = open_sessions(path)
    assert [s.row for s in stream] == [1, 3, 4, 5, 7, 8]
    assert stream.notes.left_out == {
        "session: duplicate id": 1,
        "session: duplicate task and trial": 1,
    }


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"id": "x"}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": HI, "id": 1.5}, "id"),
        ({"messages": HI, "task_id": {}}, "task_id"),
        ({"messages": HI, "batch": 0}, "batch"),
        ({"messages": HI, "batch": "2"}, "batch"),
        ({"messages": HI, "domain": 1}, "domain"),
        ({"messages": HI, "reward": "1"}, "reward"),
        ({"messages": HI, "outcome": "great"}, "outcome"),
        ({"messages": HI, "survey": []}, "survey"),
        ({"messages": HI, "survey": {"reuse": True}}, "survey.reuse"),
        ({"messages": HI, "status": "bad"}, "status"),
        ({"messages": HI, "metadata": []}, "metadata"),
    ],
)
def test_wrong_types_are_refused_by_loader_and_schema(write, record, field):
    assert not VALIDATOR.is_valid(record)
    with pytest.raises(InputError) as caught:
        list(open_sessions(write("x.jsonl", [{"messages": HI}, record], lines=True)))
    assert (caught.value.row, caught.value.field) == (2, field)


def test_bad_lines_come_together_and_name_their_line(write):
    good = json.dumps({"messages": HI})
    text = f'{good}\n\n{{"messages": [\n{good}\n"text"\n12\n'
    with pytest.raises(InputErrors) as caught:
        list(open_sessions(write("x.jsonl", text)))
    assert [p.row for p in caught.value.problems] == [3, 5, 6]


def test_records_that_span_lines_and_arrays_of_records(write):
    record = {"id": "a", "messages": HI}
    pretty = json.dumps(record, indent=2) + "\n" + json.dumps(record | {"id": "b"}, indent=2)
    assert [s.session_id for s in open_sessions(write("p.json", pretty))] == ["a", "b"]
    array = json.dumps([record, record | {"id": "b"}], indent=2)
    assert [s.session_id for s in open_sessions(write("q.json", array))] == ["a", "b"]
    array = json.dumps([record, record | {"id": "b"}])
    assert [s.session_id for s in open_sessions(write("r.json", array))] == ["a", "b"]


def test_values_are_those_of_python(write):
    text = '{"messages": [{"role": "user", "content": %s}]}\n'
    odd = ["12345678901234567890123456789", "NaN", "-Infinity", "1e999", '"\\ud800"', "1.0", "-0"]
    path = write("x.jsonl", "".join(text % value for value in odd))
    found = [s.turns[0].content for s in open_sessions(path)]
    assert [str(value) for value in found[:4]] == [
        "12345678901234567890123456789",
        "nan",
        "-inf",
        "inf",
    ]
    assert found[4:] == ["\ud800", 1.0, 0]
    assert type(found[6]) is int


def test_the_adversarial_golden_file_loads_as_it_stands():
    path = shared("golden/features_adversarial.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    sessions = list(open_sessions(path))
    assert len(sessions) == len(rows) == 1054
    for row, session in zip(rows, sessions, strict=True):
        VALIDATOR.validate(row)
        assert session.session_id == str(row["id"])
        assert [t.role for t in session.turns] == [m.get("role") for m in row["conversation"]]
        assert [t.content for t in session.turns] == [
            m.get("content", MISSING) for m in row["conversation"]
        ]


# ---- writing


def test_written_lines_follow_the_schema_and_are_the_same_bytes(tmp_path, write):
    session = Session(session_id="a", meta={"task_id": "t", "run": 1}, turns=(Turn("user", None),))
    out = io.BytesIO()
    assert write_usi_jsonl([session], out) == 1
    record = json.loads(out.getvalue())
    VALIDATOR.validate(record)
    assert record["task_id"] is None
    for name in ("o.jsonl", "o.jsonl.gz"):
        write_usi_jsonl([session], tmp_path / name)
        first = (tmp_path / name).read_bytes()
        write_usi_jsonl(iter([session]), tmp_path / name)
        assert (tmp_path / name).read_bytes() == first
        (back,) = open_sessions(tmp_path / name)
        assert back == msgspec.structs.replace(session, row=1)
    text = io.StringIO()
    write_usi_jsonl([session], text)
    assert text.getvalue().encode() == out.getvalue()


def test_a_file_that_can_not_be_written(tmp_path):
    with pytest.raises(InputError, match="can't be written"):
        write_usi_jsonl([], tmp_path / "absent" / "x.jsonl")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just("\ud800 alone"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
TEXT = st.text(max_size=8)
TURN = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant", "tool", None]) | TEXT,
    content=JSON | st.just(MISSING),
    tool_calls=st.none() | st.lists(JSON, min_size=1, max_size=2),
    name=st.none() | TEXT,
    time=st.none() | st.datetimes(timezones=st.just(UTC)),
)
IDENTIFIER = st.none() | TEXT
SURVEY = st.dictionaries(TEXT, IDENTIFIER, max_size=3).map(
    lambda found: tuple(SurveyAnswer(item, answer) for item, answer in found.items())
)
SESSION = st.builds(
    Session,
    session_id=TEXT.filter(bool),
    turns=st.lists(TURN, max_size=4).map(tuple),
    simulator=TEXT,
    domain=st.sampled_from(["airline", "unknown", "é"]),
    task_id=IDENTIFIER,
    trial=IDENTIFIER,
    batch=st.none() | st.integers(1, 5),
    layout=st.sampled_from(["usi-jsonl", "tau-bench", "tau2", "tau-usi", "odyssim"]),
    keep=JSON | st.just(MISSING),
    outcome=st.builds(
        Outcome,
        reward=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        label=st.none() | st.sampled_from(["full", "wrong_refusal"]),
        termination=IDENTIFIER,
    ),
    survey=st.none() | SURVEY,
    participant=IDENTIFIER,
    agent=IDENTIFIER,
    status=st.just("ok"),
    status_reason=IDENTIFIER,
    meta=st.dictionaries(
        TEXT | st.sampled_from(["id", "task_id", "trial", "run", "batch", "domain", "reward"]),
        JSON,
        max_size=4,
    ),
)


@settings(max_examples=150, deadline=None)
@given(sessions=st.lists(SESSION, max_size=4, unique_by=lambda s: s.session_id))
def test_reading_what_was_written_gives_it_again(tmp_path_factory, sessions):
    path = tmp_path_factory.mktemp("round") / "retail_x.jsonl"
    write_usi_jsonl(sessions, path)
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        VALIDATOR.validate(json.loads(line))
    if sessions:
        expected = [msgspec.structs.replace(s, row=i) for i, s in enumerate(sessions, start=1)]
        assert list(open_sessions(path)) == expected


@pytest.mark.parametrize(
    "name",
    [
        "data/taubench/retail_broken_run.json",
        "data/tau2/telecom_agent-gpt-4o_user-gpt-4o_20x1.json",
        "data/tau2/airline_user-grok-3_4x4.json",
        "golden/score_six_terms/eval_results_sim-polite.json",
        "golden/features_adversarial.jsonl",
    ],
)
def test_converting_real_files_loses_nothing(tmp_path, name):
    before = list(open_sessions(shared(name)))
    write_usi_jsonl(before, tmp_path / "c.jsonl")
    after = list(open_sessions(tmp_path / "c.jsonl"))
    assert after == [msgspec.structs.replace(s, row=i) for i, s in enumerate(before, start=1)]


def test_the_example_of_the_documentation_is_valid_and_loads(write):
    text = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    line = text.partition("```json\n")[2].partition("\n```")[0]
    (session,) = load(write, json.loads(line))
    assert (session.session_id, session.task_id, session.trial) == ("s-17", "retail_12", "1")
    assert [turn.role for turn in session.turns] == [
        "assistant",
        "user",
        "assistant",
        "tool",
        "user",
    ]
    assert session.meta == {"prompt": "p3"}


@pytest.mark.parametrize("role", [7, True, ["user"], {"a": 1}])
def test_a_role_of_another_type_than_text_is_refused(write, role):
    path = write("x.jsonl", {"messages": [{"role": role, "content": "hi"}]})
    with pytest.raises(InputError, match=r"row 1, field messages\[0\]\.role: must be text"):
        list(open_sessions(path))
