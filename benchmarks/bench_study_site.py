"""200 participants on the site of a study, a message every 5 seconds each: time and memory.

The server runs in a process of its own (``usi study serve``), its agent answers at once. Each
participant does what a page does: an event stream is open, and every 15 seconds the page asks
whether it missed something. Printed are the median and the 95th percentile of the time from sending
a message to the server's answer, by which it is on disk; the processor time that a message takes,
which holds on a busy machine, too; and the server's memory once everybody talks and at the end.
The participants are one process on the same machine: where they and the server want more than its
processors, the time holds their waiting, too, which the load average that is printed tells.
Usage: python benchmarks/bench_study_site.py [PEOPLE] [SECONDS].
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import httpx

EVERY = 5.0
"""Seconds between two messages of one participant."""
ASK = 15.0
"""Seconds after which a page asks for messages, in case a proxy holds events back."""
ENVIRONMENT = {
    "USI_STUDY_SECRET": "secret-of-the-benchmark-32-characters",
    "USI_STUDY_OWNER": "password-of-the-benchmark",
}
STUDY = """\
title = "Load"
task_file = "tasks.toml"
agent = "callable:answers:reply"
[design]
people_per_task = {people}
tasks_per_person = 1
max_turns = 500
[practice]
skip = true
"""
TASKS = '[[task]]\nid = "t1"\ninstruction = "You want a thing repaired."\n'
AGENT = 'def reply(request):\n    return {"content": "noted"}\n'


def make(folder: Path, people: int) -> None:
    """Write a study for so many people."""
    (folder / "study.toml").write_text(STUDY.format(people=people), encoding="utf-8")
    (folder / "tasks.toml").write_text(f'name = "load"\n{TASKS}', encoding="utf-8")
    (folder / "consent.md").write_text("Consent.\n", encoding="utf-8")
    (folder / "answers.py").write_text(AGENT, encoding="utf-8")


def memory_mib(process: int) -> float:
    """Resident memory of a process, MiB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def cpu_seconds(process: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def participant(url: str, link: str, seconds: float, times: list[float], wait: float) -> None:
    """Go to the task, then say something every five seconds."""
    limits = httpx.Limits(max_connections=3)
    async with httpx.AsyncClient(
        base_url=url, timeout=60, follow_redirects=True, limits=limits
    ) as http:
        page = (await http.get(link)).text

        async def send(path: str, **fields: str) -> str:
            csrf = re.search(r'name="csrf" value="([^"]+)"', page)
            here = re.search(r'action="(/p/[^/"]+)/', page)
            assert csrf, page[-500:]
            assert here
            answer = await http.post(f"{here[1]}{path}", data={"csrf": csrf[1], **fields})
            assert answer.status_code == 200, answer.text[-300:]
            return answer.text

        page = await send("/consent", answer="yes", agree="yes")
        page = await send("/understood", answer="1", **{"try": "0"})
        page = await send("/next")
        talk = re.search(r"/talk/(\d+)/say", page)
        csrf = re.search(r'name="csrf" value="([^"]+)"', page)
        here = re.search(r'action="(/p/[^/"]+)/', page)
        assert talk
        assert csrf
        assert here
        place = f"{here[1]}/talk/{talk[1]}"

        said = 0

        async def listen() -> None:
            async with http.stream("GET", f"{place}/events?after=0", timeout=None) as stream:
                async for _ in stream.aiter_bytes():
                    continue

        async def ask() -> None:
            while True:
                await asyncio.sleep(ASK)
                await http.get(f"{place}/messages?after={2 * said}")

        beside = (asyncio.create_task(listen()), asyncio.create_task(ask()))
        await asyncio.sleep(wait)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.perf_counter()
            answer = await http.post(
                f"{place}/say",
                data={"csrf": csrf[1], "client": uuid.uuid4().hex, "text": "please help me"},
                headers={"HX-Request": "true"},
            )
            times.append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text[:200]
            said += 1
            await asyncio.sleep(max(0.0, EVERY - (time.perf_counter() - began)))
        for task in beside:
            task.cancel()


async def run(people: int, seconds: float) -> None:
    """Serve, load, print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, people)
        root = str(Path(__file__).resolve().parents[1])
        environment = {
            **os.environ, **ENVIRONMENT,
            "PYTHONPATH": os.pathsep.join((name, root, os.environ.get("PYTHONPATH", ""))),
        }  # fmt: skip
        command = [sys.executable, "-m", "usi", "study"]
        made = subprocess.run(
            [*command, "links", name, "-n", str(people)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        links = [re.sub(r"^https?://[^/]+", "", line) for line in made.stdout.split()]
        server = subprocess.Popen(
            [*command, "serve", name, "--trial", "--port", "0"],
            env=environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert server.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
        assert found
        times: list[float] = []
        try:
            work = [
                asyncio.create_task(
                    participant(found[0], link, seconds, times, EVERY + EVERY * n / people)
                )
                for n, link in enumerate(links)
            ]
            while len(times) < 2 * people:  # by then everybody talks
                await asyncio.sleep(0.1)
            counted, before, used = len(times), memory_mib(server.pid), cpu_seconds(server.pid)
            await asyncio.gather(*work)
            after = memory_mib(server.pid)
            used = cpu_seconds(server.pid) - used
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
    ordered = sorted(times)
    load = os.getloadavg()[0]
    print(f"{people} participants, {len(times)} messages in {seconds:g} s, load average {load:.1f}")
    print(f"median {1000 * statistics.median(ordered):.1f} ms")
    print(f"95th percentile {1000 * ordered[int(0.95 * len(ordered))]:.1f} ms")
    each = 1000 * used / max(1, len(times) - counted)
    print(f"processor time of the server {each:.1f} ms a message, its answer and events included")
    print(f"memory of the server {before:.0f} MiB once all talk, {after:.0f} MiB at the end")


if __name__ == "__main__":
    asyncio.run(
        run(
            int(sys.argv[1]) if len(sys.argv) > 1 else 200,
            float(sys.argv[2]) if len(sys.argv) > 2 else 60.0,
        )
    )
