"""Secrets stand in no label, file name, transcript, log, card, page or error."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulate.server import Server
from simulate.test_command import DESK, inside

from usi.secrets import HIDDEN, hidden, name_of_address, public_address

USER, PASSWORD = "planted-user", "planted-pass-1"
BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
PARAMETERS = {
    "api_key": "planted-a1", "key": "planted-b2", "token": "planted-c3", "access_token": "planted",
    "sig": "planted-d5", "code": "planted-e6", "X-Amz-Signature": "planted-f7", "apiKey": "planted",
    "plain": "plantedXk29fj3nslq0", "auth": "planted%2Fg9",
}  # fmt: skip
QUERY = "&".join(f"{name}={value}" for name, value in PARAMETERS.items())
PROXY = "http://proxy-user:planted-proxy-1@127.0.0.1:9"
ENVIRONMENT = {
    "MY_KEY": "planted-bearer-1", "OPENAI_API_KEY": "planted-openai-1", "HTTPS_PROXY": PROXY,
    "NO_PROXY": "127.0.0.1",
}  # fmt: skip


def address(server: Server) -> str:
    return f"{server.url.replace('://', f'://{USER}:{PASSWORD}@')}/user?{QUERY}#planted-fragment"


def without_plants(folder: Path, *texts: str) -> None:
    """No file below a folder, its name included, and none of the texts holds a planted secret."""
    for path in folder.rglob("*"):
        assert "planted" not in path.name
        if path.is_file() and path.suffix != ".toml":
            content = path.read_bytes()
            assert b"planted" not in content, path
            assert BASIC.encode() not in content, path
    for text in texts:
        assert "planted" not in text
        assert BASIC not in text


def test_what_an_endpoint_echoes_reaches_no_file_and_no_output(
    server: Server, tmp_path: Path
) -> None:
    def echo(request: dict[str, Any], number: int) -> dict[str, Any]:
        everything = json.dumps([server.headers[-1], server.paths[-1], PROXY, ENVIRONMENT])
        if number % 5 == 3:
            return {"status": 500, "message": everything, "headers": {"X-Echo": PASSWORD}}
        if request["type"] == "survey":
            return {"raw": json.dumps({"answers": {}, everything: everything}).encode()}
        body = {"content": f"I need {everything}", "stop": number % 3 == 2, "cost": 0}
        return {"raw": json.dumps(body).encode()}

    server.answer = echo
    runs = tmp_path / "runs"
    done = inside(
        "simulate", address(server), *DESK, "--agent", "oracle", "--tasks", "4", "--survey",
        "--retries", "0", "-o", runs, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert server.headers[0]["authorization"] == f"Basic {BASIC}"
    assert server.paths[0] == f"/user?{QUERY}"
    (summary,) = done.json()
    assert summary["infrastructure"]  # errors were logged, too
    transcript = Path(summary["output"])
    assert HIDDEN in transcript.read_text()
    without_plants(tmp_path, done.out, done.err)
    card = tmp_path / "card.json"
    scored = inside(
        "score", transcript, "--human", transcript, "--surveys", "none", "--difficulty", "self",
        "--profile", "tau-usi", "-o", card, *("-o", tmp_path / "card.html"),
        *("-o", tmp_path / "card.csv"), *("-o", tmp_path / "card.md"), env=ENVIRONMENT,
    )  # fmt: skip
    assert scored.code == 0, scored.err
    gated = inside("gate", card, "--tier", "C", "--exit-zero", env=ENVIRONMENT)
    converted = inside("convert", transcript, "-o", tmp_path / "talks.csv", env=ENVIRONMENT)
    doctor = inside("doctor", env=ENVIRONMENT)
    assert "internal" not in doctor.err + gated.err + converted.err
    outputs = [(d.out, d.err) for d in (scored, gated, converted, doctor)]
    without_plants(tmp_path, *(text for pair in outputs for text in pair))


def test_agents_and_judges_with_secrets_in_their_addresses(server: Server, tmp_path: Path) -> None:
    def echo(request: dict[str, Any], number: int) -> dict[str, Any]:
        return {"content": f"{server.headers[-1]} {server.paths[-1]} planted-bearer-1 {PASSWORD}"}

    server.answer = echo
    base = f"{server.url.replace('://', f'://{USER}:{PASSWORD}@')}/v1"
    file = tmp_path / "mine.toml"
    file.write_text(
        f'kind = "model"\nmodel = "openai/m"\napi_base = "{base}"\nkey_env = "MY_KEY"\n'
    )
    runs = tmp_path / "runs"
    done = inside(
        "simulate", "scripted:terse", *DESK, "--agent", file, "--tasks", "2", "--max-turns", "2",
        "--retries", "0", "-o", runs, env=ENVIRONMENT,
    )  # fmt: skip
    judged = inside(
        "simulate", "judge", runs / "terse.jsonl", "--judge", file, "--retries", "0",
        "-o", tmp_path / "judged", env=ENVIRONMENT,
    )  # fmt: skip
    assert server.requests
    without_plants(tmp_path, done.out, done.err, judged.out, judged.err)


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "http://planted:planted@host:bad/?key=planted", *DESK, "--agent", "oracle"),
        ("simulate", "ftp://me:planted1@host/x", *DESK, "--agent", "oracle"),
        ("simulate", "process:nothing --api-key planted1", *DESK, "--agent", "oracle",
         "--tasks", "1", "-o", "out"),
        ("score", "http://me:planted1@host/x.json", "--human", "https://host/?api_key=planted1"),
        ("validate", "https://host/x.json?sig=planted1"),
        ("gate", "https://me:planted1@host/card.json", "--tier", "C"),
        ("report", "https://me:planted1@host/card.json"),
        ("corpus", "show", "https://me:planted1@host/"),
    ],
)  # fmt: skip
def test_messages_about_addresses_hide_their_secrets(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = inside(*arguments)
    without_plants(tmp_path, done.out, done.err)
    assert "internal" not in done.err


@pytest.mark.parametrize(
    "table", ["extra = {api_key = 'x'}", "extra = {h = {Authorization = 'x'}}"]
)
def test_a_key_inside_a_table_is_refused(table: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'kind = "model"\nmodel = "openai/m"\n{table}\n')
    done = inside("simulate", file, *DESK, "--agent", "oracle")
    assert done.code == 2
    assert "key_env" in done.err


WORD = st.text(alphabet="abcdefghij0123456789-._~", min_size=6, max_size=30).map("planted".__add__)


@given(
    scheme=st.sampled_from(["http", "https", "socks5", "HTTP"]), user=WORD, password=WORD,
    name=st.sampled_from(sorted(set(PARAMETERS) - {"plain"})), value=WORD, fragment=WORD,
    before=st.text(max_size=20), after=st.sampled_from(["", " ", '"', "'", ">", ", x"]),
)  # fmt: skip
def test_no_secret_of_an_address_is_left_in_any_text(
    scheme: str, user: str, password: str, name: str, value: str, fragment: str, before: str,
    after: str,
) -> None:  # fmt: skip
    made = f"{scheme}://{user}:{password}@host:80/path?model=m&{name}={value}#{fragment}"
    shown = public_address(made)
    assert shown.startswith(f"{scheme}://{HIDDEN}@host:80/path?model=m&{name}=")
    assert "planted" not in shown
    assert public_address(shown) == shown
    assert "planted" not in hidden(f"{before} {made}{after}")
    assert name_of_address(made) == "host:80/path?model=m"


@given(st.sampled_from(["http://127.0.0.1:8000/user", "https://h/a/b?model=gpt-4o&t2=x&lang=en"]))
def test_an_address_without_secrets_stays(address: str) -> None:
    assert public_address(address) == address
    assert hidden(f"see {address} for more") == f"see {address} for more"


@pytest.mark.parametrize(
    "text",
    [
        "api_key=planted-1", "Authorization: Bearer planted-1", "{'password': 'planted-1'}",
        '{"Authorization": "Basic planted-1"}', "--api-key planted-1", "X-Api-Key: planted-1",
        "Set-Cookie: sid=planted-1", "Proxy-Authorization: Basic planted-1", "MY_KEY=planted-1 run",
        "sk-proj-planted-0123", "client_secret = 'x' secret=planted-1",
    ],
)  # fmt: skip
def test_text_with_the_look_of_a_secret_is_hidden(text: str) -> None:
    assert "planted" not in hidden(text)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: must be a whole number", 'name it: key_env = "MY_KEY"', "--budget-tokens 5",
        "the key 'a' occurs twice in one object", "a secret of the environment", "field token: no",
    ],
)  # fmt: skip
def test_other_text_stays(text: str) -> None:
    assert hidden(text) == text
