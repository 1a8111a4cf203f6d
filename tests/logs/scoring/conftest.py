"""Phantom logs scored once for the tests of this folder."""

from __future__ import annotations

import pytest

from usi.options import ScoreOptions
from usi.phantom.log_build import build_phantom_logs
from usi.phantom.log_spec import load_log_phantom


def options(config, *, replicates=300, c2st="off", **log):
    return ScoreOptions(log_config=str(config), replicates=replicates, c2st=c2st, **log)


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    names = ["copy", "easy_mode", "wrong_waiting", "no_ping_pong", "memoryless"]
    # as the people, but twice as many high priorities
    mixed = load_log_phantom("human").changed(name="other_mix", priorities=(0.45, 0.40, 0.15))
    folder = tmp_path_factory.mktemp("logs")
    return build_phantom_logs(folder, cases=2500, simulators=[*names, mixed])


@pytest.fixture(scope="session")
def scored(logs):
    from usi.pipeline import score_with_tables

    return score_with_tables(
        list(logs.simulators.values()), logs.human, options=options(logs.config)
    )


@pytest.fixture(scope="session")
def cards(scored):
    return {part.name: part for part in scored.card.simulators}
