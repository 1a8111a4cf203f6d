"""Running episodes: concurrent, each logged on disk once, resumed where an earlier run ended."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from usi.errors import InputError, UsageError
from usi.simulate.calls import Calls, Runtime
from usi.simulate.episode import Cell, Episode, Setting, run_episode
from usi.simulate.faults import RunStopped
from usi.simulate.identity import differences, header, user_fingerprint
from usi.simulate.ledger import Usage
from usi.simulate.progress import Progress
from usi.simulate.questions import survey_file
from usi.simulate.runlog import RunLog
from usi.simulate.sessions import (
    SURVEYS,
    Record,
    answers,
    lines_of,
    session_record,
    survey_key,
    write_whole,
)
from usi.simulate.user import UserFactory


@dataclass(frozen=True)
class Plan:
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


class Run:
    """One candidate's run, its log open. Use it as a context."""

    def __init__(self, plan: Plan) -> None:
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
                    wait(ended)
                    for one in ended:
                        one.result()  # what `_one` does not catch must not pass for done
                except KeyboardInterrupt:
                    runtime.stopping.set()  # what is under way ends and is logged
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
