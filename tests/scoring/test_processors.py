"""The same bytes on every processor: other BLAS kernels, no vector instructions, more threads.

``make test-processors`` runs the demo under every setting and compares it with the committed
report; the ordinary run compares one small scoring on the oldest kernels with one as it comes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command import usi

from usi.phantom import PhantomFiles, build_phantom

ROOT = Path(__file__).parents[2]
# What an instruction set names, for numpy, glibc and OpenBLAS.
NO_VECTORS = {
    "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL "
    "AVX512_ICL AVX512_SPR X86_V3 X86_V4",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable",
}
OLDEST = {"OPENBLAS_CORETYPE": "Nehalem", **NO_VECTORS}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")
SETTINGS = {
    "as it comes": {},
    "oldest kernels, no vectors": OLDEST,
    "kernel of Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "kernel of Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "two threads": dict.fromkeys(THREADS, "2"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> PhantomFiles:
    place = tmp_path_factory.mktemp("population")
    return build_phantom(place, tasks=40, batches=2, runs=2, simulators=["copy", "polite"], seed=5)


def outputs(files: PhantomFiles, to: Path, env: dict[str, str]) -> dict[str, bytes]:
    """Everything that score, gate, compare and rank write, but for what tells of the machine."""
    cards = []
    for name, transcripts in files.simulators.items():
        cards.append(to / f"{name}.json")
        done = usi(
            "score", transcripts, "--human", files.human, "--profile", "robust",
            "--replicates", "200", "-o", cards[-1], "-o", to / f"{name}.html", env=env,
        )  # fmt: skip
        assert done.code == 0, done.err
    usi("gate", cards[1], "--tier", "B", "-o", to / "verdict.json", env=env)
    usi("compare", *cards, "-o", to / "compare.json", env=env)
    usi("rank", *cards, "-o", to / "rank.json", env=env)
    found = {path.name: path.read_bytes() for path in sorted(to.iterdir())}
    return {name: data for name, data in found.items() if not name.endswith(".run.json")}


@pytest.fixture(scope="module")
def expected(files: PhantomFiles, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return outputs(files, tmp_path_factory.mktemp("here"), {})


def test_the_oldest_kernels_write_the_same_bytes(
    files: PhantomFiles, expected: dict[str, bytes], tmp_path: Path
) -> None:
    found = outputs(files, tmp_path, OLDEST)
    assert {"verdict.json", "compare.json", "rank.json", "polite.html"} <= set(expected)
    assert [name for name in expected if found.get(name) != expected[name]] == []
    assert set(found) == set(expected)


@pytest.mark.skipif("USI_PROCESSORS" not in os.environ, reason="minutes: make test-processors")
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_demo_is_the_committed_one_on_every_processor(setting: str, tmp_path: Path) -> None:
    done = usi("demo", "-o", tmp_path / "demo", env=SETTINGS[setting])
    assert done.code == 0, done.err
    kept = sorted((ROOT / "reports" / "demo").glob("*.json"))
    kept = [path for path in kept if not path.name.endswith(".run.json")]
    assert kept
    for path in kept:
        assert (tmp_path / "demo" / path.name).read_bytes() == path.read_bytes(), path.name


def long_floats(value: Any, path: str = "") -> list[str]:
    """Where a number has more than twelve significant digits."""
    if isinstance(value, dict):
        return [p for key, part in value.items() for p in long_floats(part, f"{path}.{key}")]
    if isinstance(value, list):
        return [p for part in value for p in long_floats(part, f"{path}[]")]
    if isinstance(value, float) and value != float(f"{value:.12g}"):
        return [f"{path}: {value!r}"]
    return []


def test_no_number_has_more_than_twelve_digits(expected: dict[str, bytes]) -> None:
    tables = {name: json.loads(data) for name, data in expected.items() if name.endswith(".json")}
    assert len(tables) >= 5
    assert [
        f"{name}{where}" for name, table in tables.items() for where in long_floats(table)
    ] == []
