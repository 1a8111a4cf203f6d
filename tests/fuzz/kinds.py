"""What is fuzzed: small valid inputs of every kind, and what reads each."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from tests.decisions.cards import card, simulator
from tests.fuzz.mutate import RAW, json_bytes
from usi.cli.main import app
from usi.cli.settings import find_workspace
from usi.decisions.criteria import read_criteria, tier
from usi.decisions.decide import gate_scorecard
from usi.decisions.verdict import Verdict
from usi.extraction.table import SessionTable
from usi.loading import LoadOptions, validate
from usi.logs import load_config, open_log
from usi.logs.config import LogConfig
from usi.logs.feature_options import classes_of, options_of
from usi.logs.tables import LogFormat
from usi.scoring.aggregate import aggregate_table, read_aggregate
from usi.scoring.published.calibration import read_difficulty
from usi.scoring.scorecard import Scorecard

TALK = [
    {"role": "assistant", "content": "Hello", "timestamp": "2026-01-01T10:00:00Z"},
    {"role": "user", "content": [{"type": "text", "text": "I want to cancel"}]},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "user", "content": "thanks", "name": "ann"},
]  # fmt: skip
SPAN = {
    "traceId": "t", "startTimeUnixNano": "1760000000000000000", "name": "chat",
    "attributes": [
        {"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])}},
        {"key": "gen_ai.conversation.id", "value": {"stringValue": "c"}},
    ],
    "events": [{"name": "gen_ai.user.message", "attributes": {"content": "hi"}}],
}  # fmt: skip
TRANSCRIPTS: dict[str, Any] = {
    "usi-jsonl": {"id": "1", "task_id": "t", "trial": 0, "reward": 1, "messages": TALK,
                  "survey": {"q": {"question": "?", "answer": "yes"}}, "time": None},
    "openai": {"messages": TALK, "metadata": {"a": 1}},
    "responses": {"input": [{"type": "message", "role": "user", "content": "x"}], "output": []},
    "tau-usi": {"airline_1": {"conversation": TALK, "reward": 1.0, "survey": {"q": "a"},
                              "keep": True}},
    "tau-bench": [{"task_id": 1, "trial": 0, "reward": 1.0, "traj": TALK, "info": {}}],
    "tau2": {"info": {"user_info": {"llm": "m"}}, "tasks": [{"id": "1"}], "simulations": [
        {"id": "a", "task_id": "1", "trial": 0, "messages": TALK, "termination_reason": "user_stop",
         "reward_info": {"reward": 1.0}}]},
    "inspect": {"eval": {"task": "x", "model": "m"}, "samples": [
        {"id": "a", "epoch": 1, "messages": TALK, "scores": {"s": {"value": "C"}}}]},
    "odyssim": {"results": [{"task_id": "1", "conversation": TALK, "reward": 1}]},
    "sharegpt": [{"id": "1", "conversations": [{"from": "human", "value": "hi"},
                                               {"from": "gpt", "value": "yes"}]}],
    "wildchat": {"conversation_hash": "h", "model": "m", "turn": 1, "conversation": TALK},
    "otel": {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]},
    "openinference": {"context": {"trace_id": "t"}, "start_time": "2026-01-01", "attributes": {
        "openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "hi"}},
    "abcd": [{"convo_id": 1, "scenario": {"flow": "f", "subflow": "s"},
              "original": [["agent", "hi"], ["customer", "hello"]]}],
    "star": {"DialogueID": 1, "CompletionLevel": "Complete", "BatchID": "woz_1",
             "Scenario": {"WizardCapabilities": [{"Domain": "d", "Task": "t"}]},
             "UserQuestionnaire": [{"Question": "q", "Answer": "Yes"}],
             "Events": [{"Agent": "User", "Action": "utter", "Text": "hi", "UnixTime": 158000000}]},
    "multiwoz": [{"dialogue_id": "d", "services": ["hotel"], "turns": [
        {"speaker": "USER", "utterance": "hi", "turn_id": "0", "frames": []},
        {"speaker": "SYSTEM", "utterance": "yes", "turn_id": "1", "frames": []}]}],
}  # fmt: skip
ROWS = [
    {"session": "a", "role": "user", "text": "hi", "reward": "1", "batch": "1",
     "timestamp": "2026-01-01T10:00:00Z"},
    {"session": "a", "role": "agent", "text": "yes", "reward": "1", "batch": "1",
     "timestamp": "2026-01-01T10:01:00Z"},
]  # fmt: skip
EVENTS = [
    {"case_id": "1", "activity": "open", "timestamp": "2016-03-01T00:00:00Z", "group": "a"},
    {"case_id": "1", "activity": "close", "timestamp": "2016-03-01T02:00:00Z", "group": "b"},
]
LOG = {
    "name": "own", "version": "1",
    "read": {"timezone": "UTC", "delimiter": ",", "quote": '"', "missing": ["?"], "rows": "event"},
    "columns": {"case_id": "case_id", "activity": {"names": ["activity"], "pattern": "(.*)"}},
    "fields": {"tracked": ["group"], "required": []},
    "classes": {"open": "work", "close": "closed"},
    "features": {"clock": "business", "horizon": 24, "level_order": ["a", "b"]},
    "calendar": {"days": ["mon", "tue"], "start": "08:00", "end": "18:00",
                 "holidays": ["2016-12-25"]},
}  # fmt: skip
CRITERIA = {
    "tier": "B", "minimum": {"index": 80, "outcome": 70}, "min_tasks": 20, "family_size": 2,
    "survey": {"min_kappa_ratio": 0.5}, "subgroup": [{"by": "domain", "minimum": 70}],
}  # fmt: skip
SETTINGS = {"load": {"max_record": "64MB"}, "score": {"profile": "robust", "seed": 7},
            "gate": {"tier": "B"}}  # fmt: skip
XES = (
    '<?xml version="1.0" encoding="utf-8"?><log><trace><string key="concept:name" value="1"/>'
    '<event><string key="concept:name" value="a"/>'
    '<date key="time:timestamp" value="2016-03-01T00:00:00Z"/></event></trace></log>'
)


@dataclass(frozen=True)
class Kind:
    """One kind of input: a valid value, how it is written, and what reads the file."""

    name: str
    value: Any
    written: Callable[[Any], bytes]
    read: Callable[[Path], object]
    packed: bool = False


def _transcript(path: Path) -> None:
    validate(path)
    validate(path, LoadOptions(format="usi-jsonl", flip=True))


def _as(layout: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        validate(path)
        validate(path, LoadOptions(format=layout))

    return read


def _log(path: Path) -> None:
    for layout in (LogFormat(), LogFormat(timezone="UTC", encoding="cp1252")):
        for _ in open_log(path, layout):
            pass


def _configuration(path: Path) -> None:
    found: LogConfig = load_config(path)
    options_of(found)
    classes_of(found)


def _card(path: Path) -> None:
    found = Scorecard.read(path, trust_edited=True)
    gate_scorecard(found, tier("C"))
    repr(found)
    found.to_pandas()


def _settings(path: Path) -> None:
    path = path.rename(path.with_name("usi.toml"))
    find_workspace(path.parent)


def _aggregate(path: Path) -> None:
    aggregate_table(read_aggregate(path), file=path.name)


def csv_bytes(rows: Any) -> bytes:
    """Rows as CSV; whatever is not a row as its text."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not rows:
        return str(rows).encode("utf-8", "replace")
    names = list(rows[0])
    lines = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    return "\n".join(",".join(line) for line in lines).encode("utf-8", "replace")


def parquet_bytes(rows: Any) -> bytes:
    """Rows as Parquet; where that can't be written, as CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist(rows), found)
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError):
        return csv_bytes(rows)
    return found.getvalue()


def toml_bytes(value: Any) -> bytes:
    """A table as TOML, tables inside it inline; odd values as JSON writes them."""
    if not isinstance(value, dict):
        return json_bytes(value)
    lines = [f"{json.dumps(str(key))} = {_toml(part)}" for key, part in value.items()]
    return "\n".join(lines).encode("utf-8", "replace")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str) and value.startswith(RAW):
        return value[1:].replace("NaN", "nan").replace("Infinity", "inf")
    return json.dumps(value)


def words_bytes(value: Any) -> bytes:
    """Arguments of a command, one a line."""
    words = value if isinstance(value, list) else [value]
    return "\n".join(map(str, words)).encode("utf-8", "replace")


def lines_bytes(value: Any) -> bytes:
    """JSON Lines of three records."""
    return b"\n".join([json_bytes(value)] * 3)


def _command(path: Path) -> None:
    """Arguments, one a line, as a command; the runner raises what is not an exit."""
    words = path.read_bytes().decode("utf-8", "replace").replace("\0", "").split("\n")
    done = CliRunner().invoke(app, [word.replace("FILE", str(path)) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code not in (0, 1, 2, 3):
        raise AssertionError(f"exit code {done.exit_code}")


COMMANDS = [
    ["validate", "FILE", "--format", "table", "--map", "session=a,role=b,text=c"],
    ["score", "FILE", "--human", "FILE", "--seed", "7", "--success-at", "1", "--by", "domain"],
    ["gate", "FILE", "--tier", "B", "--as-of", "2026-01-01", "--family-size", "2"],
    ["passk", "FILE", "-k", "1,2"],
    ["plan", "--tasks", "20", "--truth", "90", "--batches", "3"],
    ["explain", "USI|profile:tau-usi|corpus:people@ab12|terms:6|v:0.1.0"],
    ["convert", "FILE", "--to", "csv"],
    ["logs", "validate", "FILE", "--timezone", "UTC", "--no-classes"],
]
VERDICT = gate_scorecard(card(simulator()), tier("B")).to_dict()

KINDS: tuple[Kind, ...] = (
    *(Kind(name, own, json_bytes, _transcript, packed=True) for name, own in TRANSCRIPTS.items()),
    *(
        Kind(f"{name} lines", value, lines_bytes, _as("usi-jsonl"))
        for name, value in TRANSCRIPTS.items()
        if isinstance(value, dict)
    ),
    Kind("csv", ROWS, csv_bytes, _as("table"), packed=True),
    Kind("parquet", ROWS, parquet_bytes, _as("table")),
    Kind("log csv", EVENTS, csv_bytes, _log, packed=True),
    Kind("log parquet", EVENTS, parquet_bytes, _log),
    Kind("xes", XES, lambda value: str(value).encode("utf-8", "replace"), _log, packed=True),
    Kind("log configuration", LOG, toml_bytes, _configuration),
    Kind("criteria", CRITERIA, toml_bytes, read_criteria),
    Kind("settings", SETTINGS, toml_bytes, _settings),
    Kind("scorecard", card(simulator()).to_dict(), json_bytes, _card),
    Kind("verdict", VERDICT, json_bytes, Verdict.read),
    Kind("difficulty", {"difficulty": {"airline_1": 0.5}}, json_bytes, read_difficulty),
    Kind("session table", ROWS, parquet_bytes, SessionTable.read),
    Kind("aggregate", ROWS, parquet_bytes, _aggregate),
    *(
        Kind(f"command {words[0]}", words, words_bytes, _command)
        for words in COMMANDS
    ),
)  # fmt: skip
