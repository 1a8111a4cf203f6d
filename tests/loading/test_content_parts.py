"""Messages that are lists of parts: only words of the speaker are speech, whatever the format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from usi.errors import InputError
from usi.pipeline import features, load

TOOL = {"status": "declined"}
ANTHROPIC = [
    {"role": "assistant", "content": [{"type": "text", "text": "Hello, how can I help?"}]},
    {"role": "user", "content": [{"type": "text", "text": "my pass wont renew"}]},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "look it up", "signature": "x"},
        {"type": "tool_use", "id": "t1", "name": "lookup", "input": {"q": 1}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": json.dumps(TOOL)}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Shall I try again?"}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "{}"}]},
        {"type": "text", "text": "ok, try it"}]},
]  # fmt: skip
GEMINI = [
    {"role": "model", "parts": [{"text": "Hello, how can I help?"}]},
    {"role": "user", "parts": [{"text": "my pass wont renew"}]},
    {"role": "model", "parts": [{"text": "hidden", "thought": True},
                                {"functionCall": {"name": "lookup", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "lookup", "response": TOOL}}]},
    {"role": "model", "parts": [{"text": "Shall I try again?"}]},
    {"role": "user", "parts": [{"text": "ok, try it"}, {"inlineData": {"mimeType": "image/png"}}]},
]  # fmt: skip
VERCEL = [
    {"id": "1", "role": "assistant", "parts": [{"type": "text", "text": "Hello, how can I help?"}]},
    {"id": "2", "role": "user", "parts": [{"type": "text", "text": "my pass wont renew"}]},
    {"id": "3", "role": "assistant", "parts": [
        {"type": "step-start"}, {"type": "reasoning", "text": "look it up"},
        {"type": "tool-lookup", "state": "output-available", "output": TOOL},
        {"type": "text", "text": "Shall I try again?"}]},
    {"id": "4", "role": "user", "parts": [{"type": "text", "text": "ok, try it"}]},
]  # fmt: skip
BEDROCK = [
    {"role": "user", "content": [{"text": "my pass wont renew"}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "lookup"}}]},
    {"role": "user", "content": [
        {"toolResult": {"toolUseId": "t1", "content": [{"json": TOOL}]}}]},
    {"role": "assistant", "content": [{"text": "Shall I try again?"}]},
    {"role": "user", "content": [{"text": "ok, try it"}]},
]  # fmt: skip
SHAPES: dict[str, Any] = {
    "anthropic": ANTHROPIC, "gemini": GEMINI, "vercel": VERCEL, "bedrock": BEDROCK
}  # fmt: skip
COUNTED = {
    "anthropic": {"message: tool result": 1, "part: thinking": 1, "part: tool_use": 1,
                  "part: tool_result": 2},
    "gemini": {"message: tool result": 1, "part: functionCall": 1, "part: functionResponse": 1,
               "part: inlineData": 1, "part: thought": 1},
    "vercel": {"part: step-start": 1, "part: reasoning": 1, "part: tool-call": 1},
    "bedrock": {"message: tool result": 1, "part: toolUse": 1, "part: toolResult": 1},
}  # fmt: skip


def written(folder: Path, messages: Any) -> Path:
    path = folder / "talks.jsonl"
    path.write_text(json.dumps({"id": "s", "task_id": "1", "messages": messages}) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_tool_says_is_not_what_the_user_says(tmp_path: Path, shape: str) -> None:
    found = load(written(tmp_path, SHAPES[shape]))
    said = [turn.content for turn in found.sessions[0].turns if turn.role == "user"]
    assert said == ["my pass wont renew", "ok, try it"]
    assert dict(found.notes.left_out) == COUNTED[shape]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("profile", ["robust", "tau-usi"])
def test_both_profiles_count_the_same_turns_of_the_user(
    tmp_path: Path, shape: str, profile: str
) -> None:
    table = features(written(tmp_path, SHAPES[shape]), side="simulated", profile=profile)
    assert table.frame["user_turns"].to_list() == [2]
    assert table.frame["words"].to_list() == [7]


@pytest.mark.parametrize("body", [{"text": "hi"}, {"body": {"plain": "hi"}}, {"message": "hi"}])
def test_a_message_without_a_known_body_is_a_problem_with_file_row_and_field(
    tmp_path: Path, body: dict[str, Any]
) -> None:
    messages = [{"role": "assistant", "content": "hello"}, {"role": "user", **body}]
    with pytest.raises(InputError) as caught:
        load(written(tmp_path, messages))
    (name,) = body
    assert f"has no `content`, but `{name}`" in str(caught.value)
    assert "talks.jsonl" in str(caught.value)
    assert caught.value.row == 1
    assert caught.value.field == "messages[1]"
