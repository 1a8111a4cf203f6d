"""Running episodes: concurrent, each logged on disk once, resumed where an earlier run ended.

Which episodes a run has: tasks, trials and seeds.

The log of a run: append-only, a checksum a line, on disk before an episode counts as done.

A line is ``{"sha256":"<64 hex>","body":<JSON>}``, the checksum that of the bytes of the body. What
a crash leaves of a last line is cut off; any other damage is an error that names the line.

How far a run is, what it has cost and how long it will take: on stderr, on a terminal only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError, unknown_name
from usi.reading import whole_number
from usi.simulate.calls import Calls, Ledger, Runtime, Usage
from usi.simulate.candidates import differences, header, user_fingerprint
from usi.simulate.deadline import all_ended
from usi.simulate.episode import Cell, Episode, Setting, run_episode
from usi.simulate.faults import RunStopped
from usi.simulate.protocol import Domain, Task
from usi.simulate.questions import survey_file
from usi.simulate.sessions import (
    SURVEYS,
    Record,
    answers,
    lines_of,
    session_record,
    survey_key,
    times_file,
    write_whole,
)
from usi.simulate.user import UserFactory


def choose_tasks(domain: Domain, chosen: str | None) -> list[Task]:
    """Tasks by ids (``a,b``), a level (``easy``), a mark of the task, or the first n (``10``).

    Raises
    ------
    UsageError
        Where there is no such task, with near matches.
    """
    tasks = list(domain.tasks)
    if chosen in (None, "", "all"):
        return tasks
    wanted: list[Task] = []
    by_id = {task.id: task for task in tasks}
    for part in str(chosen).split(","):
        name = part.strip()
        group = [t for t in tasks if name in (t.difficulty, *t.kinds)]
        if name in by_id:
            wanted.append(by_id[name])
        elif group:
            wanted += group
        elif chosen == name and (whole_number(name) or 0) > 0:
            wanted += tasks[: whole_number(name)]
        else:
            raise unknown_name("task", name, list(by_id))
    keep = {task.id for task in wanted}
    return [task for task in tasks if task.id in keep]


def make_cells(
    tasks: Sequence[Task],
    *,
    runs: int = 1,
    user_seeds: int | None = None,
    agent_seeds: int | None = None,
    first_seed: int = 1,
) -> list[Cell]:
    """Episodes, run after run.

    Parameters
    ----------
    tasks
        In order.
    runs
        Passes over the tasks; run r has user seed and agent seed r.
    user_seeds, agent_seeds
        A full crossing of so many seeds each instead (each pair is a run), by which pass^k tells
        the user's part of the noise from the agent's.
    first_seed
        Smallest seed.
    """
    if user_seeds is None and agent_seeds is None:
        pairs = [(n, n) for n in range(runs)]
    else:
        users, agents = user_seeds or 1, agent_seeds or 1
        if runs != 1:
            raise UsageError("give --runs, or --user-seeds and --agent-seeds: they are two designs")
        pairs = [(u, a) for u in range(users) for a in range(agents)]
    return [
        Cell(task, trial, first_seed + u, first_seed + a)
        for trial, (u, a) in enumerate(pairs, start=1)
        for task in tasks
    ]


_HEAD, _MIDDLE, _HEX = b'{"sha256":"', b'","body":', 64


def encode_line(body: Any) -> bytes:
    """A line with its line end."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=True).encode()
    return _HEAD + hashlib.sha256(text).hexdigest().encode() + _MIDDLE + text + b"}\n"


def decode_line(line: bytes) -> Any | None:
    """The body of a line, or ``None`` where the line is damaged."""
    start = len(_HEAD) + _HEX
    text = line[start + len(_MIDDLE) : -2]
    if not (line.startswith(_HEAD) and line[start:].startswith(_MIDDLE) and line.endswith(b"}\n")):
        return None
    if hashlib.sha256(text).hexdigest().encode() != line[len(_HEAD) : start]:
        return None
    return json.loads(text)


class RunLog:
    """An open log, held by one process at a time."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._path.open("a+b", buffering=0)
        except OSError as error:
            raise UsageError(
                f"can't write into {self._path.parent}: {error.strerror}; choose another -o"
            ) from None
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._stream.close()
            raise UsageError(f"{self._path}: another run is writing here") from None
        try:
            self.bodies = self._read()
        except InputError:
            self._stream.close()
            raise

    def _read(self) -> list[Any]:
        self._stream.seek(0)
        lines = self._stream.read().splitlines(keepends=True)
        bodies, good = [], 0
        for row, line in enumerate(lines, start=1):
            body = decode_line(line)
            if body is None:
                if row < len(lines) or line.endswith(b"\n"):
                    raise InputError(
                        "the checksum does not fit: the log was changed or the disk is damaged; "
                        "start again in another folder",
                        file=str(self._path),
                        row=row,
                    )
                self._stream.truncate(good)
                break
            bodies.append(body)
            good += len(line)
        return bodies

    def append(self, body: Any) -> None:
        """Write a line and wait until it is on disk; it is there whole or not at all.

        Raises
        ------
        UsageError
            Where it can't be written (disk full).
        """
        line = memoryview(encode_line(body))
        with self._lock:
            number = self._stream.fileno()
            before = os.fstat(number).st_size
            try:
                while line:
                    line = line[os.write(number, line) :]
                os.fsync(number)
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(number, before)
                raise UsageError(
                    f"can't write {self._path}: {error.strerror}; what is done is kept, and the "
                    "same command goes on from there"
                ) from None

    def close(self) -> None:
        """Close the file and let others have it."""
        self._stream.close()


class Progress:
    """One line that is drawn anew after every episode."""

    def __init__(self, total: int, done: int, ledger: Ledger, *, label: str, quiet: bool) -> None:
        self.total, self.done, self.ledger, self.label = total, done, ledger, label
        self.first, self.began = done, time.monotonic()
        shown = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.stream: Any = sys.stderr if shown else None
        self._draw()

    def step(self) -> None:
        """One episode more."""
        self.done += 1
        self._draw()

    def close(self) -> None:
        """Leave the line."""
        if self.stream is not None:
            with suppress(OSError):
                self.stream.write("\n")
                self.stream.flush()

    def _draw(self) -> None:
        if self.stream is not None:
            with suppress(OSError):
                self.stream.write(f"\r\x1b[K{self.line()}")
                self.stream.flush()

    def line(self) -> str:
        """What is shown."""
        spent = self.ledger.spent
        text = f"{self.label}: {self.done} of {self.total} episodes, ${spent.cost:.4f}"
        new = self.done - self.first
        if new and self.done < self.total:
            left = (time.monotonic() - self.began) / new * (self.total - self.done)
            text += f", {duration(left)} left"
        return text


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(59), duration(90), duration(7300)
    ('59 s', '1 min 30 s', '2 h 1 min')
    """
    s = round(seconds)
    if s < 60:
        return f"{s} s"
    if s < 3600:
        return f"{s // 60} min {s % 60} s"
    return f"{s // 3600} h {s % 3600 // 60} min"


@dataclass(frozen=True)
class RunPlan:
    """A candidate and what it is to do.

    Attributes
    ----------
    label
        Of the candidate; names its files.
    cells, design
        Episodes in order, and the design of seeds that they come from.
    folder
        Where files go: ``LABEL.jsonl``, ``survey_data/``, and the log ``.LABEL.runlog``.
    concurrency
        Episodes at once.
    retry_failed
        Run episodes again that infrastructure ended.
    """

    label: str
    users: UserFactory
    cells: Sequence[Cell]
    setting: Setting
    folder: Path
    design: str = "runs"
    concurrency: int = 4
    retry_failed: bool = False
    quiet: bool = True

    @property
    def log_path(self) -> Path:
        """The run log."""
        return self.folder / f".{self.label}.runlog"

    @property
    def output(self) -> Path:
        """The transcripts."""
        return self.folder / f"{self.label}.jsonl"


@dataclass
class Summary:
    """How a run ended.

    Attributes
    ----------
    done, wanted
        Episodes logged, and asked for.
    terminations, infrastructure
        Reason -> count; those of infrastructure apart.
    rewarded, graded
        Successes, and episodes with a grade.
    defects
        What rules had to mend in the user's replies.
    spent
        Really spent for this candidate, all parts of the run together.
    stopped
        Why the run ended before it was done; ``None`` where it did not.
    """

    label: str
    output: Path
    wanted: int
    done: int = 0
    terminations: Counter[str] = field(default_factory=Counter)
    infrastructure: Counter[str] = field(default_factory=Counter)
    rewarded: int = 0
    graded: int = 0
    defects: Counter[str] = field(default_factory=Counter)
    spent: Usage = field(default_factory=Usage)
    stopped: str | None = None

    @property
    def unusable(self) -> bool:
        """Whether there are episodes and infrastructure ended every one."""
        return bool(self.infrastructure) and not self.terminations

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "simulator": self.label,
            "output": str(self.output) if self.output.exists() else None,
            "episodes": self.done,
            "wanted": self.wanted,
            "graded": self.graded,
            "rewarded": self.rewarded,
            "terminations": dict(sorted(self.terminations.items())),
            "infrastructure": dict(sorted(self.infrastructure.items())),
            "replies": dict(sorted(self.defects.items())),
            "spent": {**asdict(self.spent), "cost": round(self.spent.cost, 8)},
            "stopped": self.stopped,
        }

    def lines(self) -> Iterator[str]:
        """What is said of it to people."""
        where = f" -> {self.output}" if self.output.exists() else ""  # nothing done, no file
        yield f"{self.label}: {self.done} of {self.wanted} episodes{where}"
        if self.graded:
            ends = _counts(self.terminations)
            yield f"  reward 1 in {self.rewarded} of {self.graded}; ended by {ends}"
        if self.infrastructure:
            broken = _counts(self.infrastructure)
            yield f"  infrastructure, not scored: {broken} (again: --retry-failed)"
        if self.defects:
            yield f"  replies mended by rule: {_counts(self.defects)}"
        if self.spent.calls:
            spent = self.spent
            yield f"  {spent.calls} calls, {spent.tokens} tokens, ${spent.cost:.4f}"
        if self.stopped:
            yield f"  stopped: {self.stopped}. The same command goes on from here."


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counted.items()))


class Run:
    """One candidate's run, its log open. Use it as a context."""

    def __init__(self, plan: RunPlan) -> None:
        self.plan = plan
        self._lock = threading.Lock()
        self._stopped: str | None = None
        self._failure: Exception | None = None
        if plan.output.exists() and not plan.log_path.exists():
            raise UsageError(
                f"{plan.output} is there already and no run of usi simulate made it: choose "
                "another -o or --name"
            )
        self.log = RunLog(plan.log_path)
        try:
            self.entries, self.spent = self._earlier()
        except (InputError, UsageError):
            self.log.close()
            raise

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()

    def _earlier(self) -> tuple[dict[str, Record], Usage]:
        """Episodes and spending of earlier parts of the run."""
        plan, bodies = self.plan, self.log.bodies
        wanted = header(plan.label, plan.users, plan.setting, plan.design)
        if not bodies:
            self.log.append(wanted)
            return {}, Usage()
        other = differences(bodies[0], wanted)
        if other:
            raise UsageError(
                f"{plan.folder} holds a run of {plan.label!r} that differs in {', '.join(other)}; "
                "choose another -o (runs that differ are never mixed)"
            )
        entries = {body["key"]: body for body in bodies if body["kind"] == "episode"}
        spent = sum((Usage(**body["spent"]) for body in bodies if "spent" in body), Usage())
        return entries, spent

    def _todo(self) -> list[Cell]:
        """Episodes without an entry, and where asked those that infrastructure ended."""

        def broken(key: str) -> bool:
            status = self.entries[key]["session"].get("status")
            return self.plan.retry_failed and bool(status == "infrastructure_error")

        return [c for c in self.plan.cells if c.key not in self.entries or broken(c.key)]

    def go(self, runtime: Runtime) -> Summary:
        """Run what is not done yet, then write the files of all that is.

        Raises
        ------
        UsiError
            What ends a run for good (a refused key, a replay that lacks an answer); what was done
            before it is on disk.
        """
        plan = self.plan
        todo = self._todo()
        total = len(plan.cells)
        progress = Progress(
            total, total - len(todo), runtime.ledger, label=plan.label, quiet=plan.quiet
        )
        try:
            with ThreadPoolExecutor(max_workers=max(1, plan.concurrency)) as pool:
                try:
                    ended = [pool.submit(self._one, cell, runtime, progress) for cell in todo]
                    all_ended(ended)
                    for one in ended:
                        one.result()  # what `_one` does not catch must not pass for done
                except KeyboardInterrupt:
                    runtime.stopping.set()  # what is under way ends soon; its talk begins anew
                    runtime.interrupted.set()
                    raise
        finally:
            progress.close()
            summary = self.finish()
        if self._failure is not None:
            raise self._failure
        summary.stopped = self._stopped
        return summary

    def _one(self, cell: Cell, runtime: Runtime, progress: Progress) -> None:
        """Run one episode and log it, or what it has spent."""
        if runtime.stopping.is_set():
            return
        calls = Calls(runtime, f"{self.plan.label} {cell.key}")
        began = time.monotonic()
        try:
            episode = run_episode(cell, self.plan.users, self.plan.setting, calls)
            self._log(cell, episode, calls.paid, time.monotonic() - began)
            with self._lock:
                progress.step()
        except Exception as error:  # noqa: BLE001  (raised by `go`, once the others have ended)
            runtime.stopping.set()
            if calls.paid.calls:
                self.log.append({"kind": "spent", "key": cell.key, "spent": asdict(calls.paid)})
            with self._lock:
                self.spent = self.spent + calls.paid
                if isinstance(error, RunStopped):
                    self._stopped = self._stopped or error.why
                else:
                    self._failure = self._failure or error

    def _log(self, cell: Cell, episode: Episode, paid: Usage, seconds: float) -> None:
        plan, setting = self.plan, self.plan.setting
        body = {
            "kind": "episode",
            "key": cell.key,
            "spent": asdict(paid),
            "seconds": round(seconds, 3),
            "times": list(episode.times),
            "session": session_record(
                episode,
                cell,
                simulator=plan.label,
                user=user_fingerprint(plan.label, plan.users),
                agent=setting.agent_name,
                domain=setting.domain.name,
                synthetic=plan.users.synthetic,
                policy=setting.policy,
            ),
        }
        self.log.append(body)
        with self._lock:
            self.entries[cell.key] = body
            self.spent = self.spent + paid

    def finish(self) -> Summary:
        """Write transcripts and surveys of every logged episode, and add up."""
        plan = self.plan
        order = {task.id: place for place, task in enumerate(plan.setting.domain.tasks)}
        records = sorted(
            (body["session"] for body in self.entries.values()),
            key=lambda r: (int(r["trial"]), order.get(r["task_id"], len(order)), r["id"]),
        )
        if records:
            write_whole(plan.output, lines_of(records))
            write_whole(plan.folder / f"{plan.label}.times.json", times_file(self.entries.values()))
        instrument = plan.setting.instrument
        rows = [(survey_key(r), a) for r in records if (a := answers(r)) is not None]
        if instrument is not None and rows:
            name = f"survey_comparable_{plan.label}.json"
            text = survey_file(rows, instrument)
            write_whole(plan.folder / SURVEYS / name, text.encode("utf-8"))
        wanted = {cell.key for cell in plan.cells}
        summary = Summary(plan.label, plan.output, len(wanted), spent=self.spent)
        summary.done = len(wanted & self.entries.keys())
        for record in records:
            _add(summary, record)
        return summary


def _add(summary: Summary, record: dict[str, Any]) -> None:
    broken = record.get("status") == "infrastructure_error"
    ends = summary.infrastructure if broken else summary.terminations
    ends[record["termination"]] += 1
    if record.get("reward") is not None:
        summary.graded += 1
        summary.rewarded += record["reward"] >= 1
    summary.defects.update(record.get("metadata", {}).get("replies", {}))


def run_plans(
    plans: Sequence[RunPlan],
    begin: Callable[[Usage], Runtime],
    told: Callable[[Summary], None] = lambda summary: None,
) -> list[Summary]:
    """Run candidates one after the other, until one is stopped.

    Parameters
    ----------
    plans
        One for each candidate; their logs are opened before anything is called.
    begin
        Cache, budget and pace, given what earlier parts of these runs have spent.
    told
        Called with the summary of each candidate as it ends.

    Raises
    ------
    UsageError
        Where a folder holds another run of a candidate.
    UsiError
        What ends a run for good (see `Run.go`).
    """
    runs: list[Run] = []
    summaries: list[Summary] = []
    try:
        for plan in plans:
            runs.append(Run(plan))
        runtime = begin(sum((run.spent for run in runs), Usage()))
        try:
            for run in runs:
                summaries.append(run.go(runtime))
                told(summaries[-1])
                if summaries[-1].stopped:
                    break
        finally:
            runtime.cache.close()
    finally:
        for run in runs:
            run.log.close()
        for plan in plans:
            close = getattr(getattr(plan.users, "exchange", None), "close", None)
            if close is not None:
                close()
    return summaries
