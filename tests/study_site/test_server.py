"""The real command line: served, killed, served again, exported, scored, gated, on a page."""

from __future__ import annotations

import json
import re
import threading
import time
import tomllib
from pathlib import Path

import pytest
from command import refused, usi
from study_site.client import Client
from study_site.processes import ENVIRONMENT, StudyServer, agent_server
from study_site.support import write_study

from usi.errors import InputError, UsageError
from usi.study.links import from_environment
from usi.study.server import root_of
from usi.study.settings import read_study

httpx = pytest.importorskip("httpx")
pytest.importorskip("starlette")


def make_study(folder: Path, agent_url: str, *options: str, agent: str = "") -> Path:
    """``usi study new``, with the agent of a test server."""
    done = usi("study", "new", folder, "--agent", agent or f"{agent_url}/act", *options)
    assert done.code == 0, done.err
    return folder


def links(folder: Path, number: int) -> list[str]:
    """Paths of signed links."""
    done = usi("study", "links", folder, "-n", str(number), env=ENVIRONMENT)
    assert done.code == 0, done.err
    return [re.sub(r"^https?://[^/]+", "", line) for line in done.out.split()]


class Patient(Client):
    """Tries again while the server is away, with the same message each time."""

    def _retry(self, act):  # type: ignore[no-untyped-def]
        for attempt in range(200):
            try:
                return act()
            except httpx.HTTPError:
                if attempt == 199:
                    raise
                time.sleep(0.1)
        return None

    def get(self, path: str) -> str:
        return str(self._retry(lambda: Client.get(self, path)))

    def post(self, path: str, **fields: str) -> str:
        return str(self._retry(lambda: Client.post(self, path, **fields)))


def test_a_study_survives_kills_and_becomes_a_scorecard(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    with agent_server(0.02) as agent_url:
        make_study(folder, agent_url, "--people", "2", "--tasks-per-person", "3", "--subset", "6")
        server = StudyServer(folder)
        url = server.start()
        clients = [Patient(httpx.Client(base_url=url, timeout=10)) for _ in range(6)]
        paths, failed = links(folder, 6), []

        def go(number: int) -> None:
            person = clients[number]
            try:
                person.begin(paths[number])
                while person.do_task(*(f"p{number} says {n}, E1001" for n in range(3))):
                    continue
            except Exception as error:  # noqa: BLE001  (told by the test)
                failed.append(error)

        threads = [threading.Thread(target=go, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            time.sleep(1.2)
            server.kill()
            server.start()
        for thread in threads:
            thread.join(timeout=120)
        assert failed == []
        status = usi("study", "status", folder).json()
        assert (status["cells"], status["filled"], status["held"]) == (12, 12, 0)
        assert status["closed"] == "filled"
        assert server.stop() in (0, 130)

        corpus = tmp_path / "corpus"
        done = usi("study", "export", folder, "-o", corpus)
        assert done.code == 0, done.err
        sessions = [
            json.loads(line) for line in (corpus / "sessions.jsonl").read_text().splitlines()
        ]
        cells = {(s["task_id"], s["batch"]) for s in sessions}
        assert len(sessions) == len(cells) == 12
        kept = [m["content"] for s in sessions for m in s["messages"] if m["role"] == "user"]
        acknowledged = [text for person in clients for text in person.said if text != "hello"]
        assert sorted(kept) == sorted(acknowledged), "nothing lost, nothing doubled"
        for session in sessions:
            times = [m["time"] for m in session["messages"]]
            assert times == sorted(times)
            assert session["metadata"]["synthetic"] is True
            assert session["survey"]["task_success"] == "Yes - Task completed"

        tasks = ",".join(sorted({task for task, _ in cells}))
        ran = usi(
            "simulate", "scripted:plain", "--domain", "service_desk",
            "--agent", f"{agent_url}/act", "--tasks", tasks,
            "--runs", "2", "--survey", "-o", tmp_path / "runs", "--quiet",
        )  # fmt: skip
        assert ran.code == 0, ran.err
    scored = usi(
        "score", tmp_path / "runs" / "plain.jsonl", "--human", corpus,
        "-o", tmp_path / "card.json", "-o", tmp_path / "card.html", "--quiet",
    )  # fmt: skip
    assert scored.code == 0, scored.err
    told = json.loads((tmp_path / "card.json").read_text())["warnings"]
    sample = next(w["text"] for w in told if w["code"] == "task_sample")
    assert re.search(r"6 of 32 of service_desk \(easy \d of 11, hard \d of 9, medium \d", sample)
    gated = usi("gate", tmp_path / "card.json", "--tier", "C")
    assert gated.code == 3, gated.err  # six tasks are too few for a verdict
    assert "SYNTHETIC" in (tmp_path / "card.html").read_text(encoding="utf-8")


def test_what_serve_refuses(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    refused(
        usi("study", "serve", folder, env={**ENVIRONMENT, "USI_STUDY_SECRET": ""}),
        "USI_STUDY_SECRET",
    )
    (folder / "consent.md").write_text("[TO FILL IN]", encoding="utf-8")
    refused(usi("study", "serve", folder, env=ENVIRONMENT), "consent.md", "1 places")


def test_settings_of_the_server_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USI_STUDY_OWNER", "short")
    with pytest.raises(UsageError, match="fewer than 16"):
        from_environment("USI_STUDY_OWNER")
    for path in ("study", "/a/../b", "/a?b", "//evil.example"):
        with pytest.raises(UsageError, match="root-path"):
            root_of(path)
    assert root_of("/study/") == "/study"
    with pytest.raises(InputError, match="usi study new"):
        read_study(tmp_path)


def test_a_second_server_is_refused(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "s")
    server = StudyServer(folder)
    server.start()
    try:
        refused(
            usi("study", "serve", folder, "--trial", "--port", "0", env=ENVIRONMENT),
            "another server",
        )
    finally:
        server.kill()


def test_a_plan_gives_the_numbers_of_a_study(tmp_path: Path) -> None:
    """48 tasks with three runs at tier C (see the plan itself), three batches, four tasks each."""
    plan = usi("plan", "--tier", "C", "-o", tmp_path / "design.toml", "-o", tmp_path / "plan.json")
    assert plan.code == 0, plan.err
    trade = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["trade"]
    tasks = next(line["all_parts"] for line in trade if line["runs"] == 3)
    found = tomllib.loads((tmp_path / "design.toml").read_text(encoding="utf-8"))
    assert found["design"] == {"subset": tasks, "people_per_task": 3, "tasks_per_person": 4}
    assert found["limits"]["participants"] >= tasks * 3 / 4
    folder = write_study(tmp_path / "s", levels=["easy"] * tasks)
    text = (folder / "study.toml").read_text(encoding="utf-8").split("[design]")[0]
    (folder / "study.toml").write_text(
        text + (tmp_path / "design.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    assert read_study(folder).study.design.subset == tasks
