"""Run 200 scripted episodes into a folder (a program of its own, so that a test can kill it)."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from simulate.tiny import TinyDomain, setting

from usi.simulate.agents.oracle import OracleAgents
from usi.simulate.calls import Runtime
from usi.simulate.questions import published_instrument
from usi.simulate.runner import Run, RunPlan, Summary, make_cells
from usi.simulate.users.scripted import ScriptedUsers

EPISODES = 200


class Slow(ScriptedUsers):
    """Scripted users that take their time."""

    def new(self, *arguments: Any) -> Any:
        time.sleep(0.01)
        return super().new(*arguments)


def plan(folder: Path, *, slow: bool = False) -> RunPlan:
    domain = TinyDomain(count=50)
    fixed = setting(domain, OracleAgents(shirk=0.3, miss=0.2), instrument=published_instrument())
    kind = Slow if slow else ScriptedUsers
    return RunPlan("varied", kind(None), make_cells(domain.tasks, runs=4), fixed, folder)


def run(folder: Path, *, slow: bool = False) -> Summary:
    with Run(plan(folder, slow=slow)) as running:
        return running.go(Runtime())


if __name__ == "__main__":
    run(Path(sys.argv[1]), slow=True)
