"""No input of any kind ends in an internal error: the short run of ``make fuzz``.

``USI_FUZZ=100000`` tries as many inputs, other ones each time; the smallest input of a failure is
kept in ``tests/fuzz/found``.
"""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.kinds import KINDS, Kind
from tests.fuzz.mutate import BYTES, PACKED, STRUCTURE, Mutation, damaged, mutated
from usi.errors import UsiError

LONG = int(os.environ.get("USI_FUZZ", "0"))
EXAMPLES = max(1, LONG // len(KINDS)) if LONG else 6
FOUND = Path(__file__).parent / "found"
SUFFIXES = {"log configuration": ".toml", "criteria": ".toml", "settings": ".toml"}


def tried(kind: Kind, data: bytes) -> None:
    """Read the bytes as a file of this kind; a message of usi is as good as a result."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"input{SUFFIXES.get(kind.name, '.json')}")
        path.write_bytes(data)
        told = "read"
        try:
            kind.read(path)
        except UsiError as error:
            told = str(error)
        assert told
        assert "pydantic" not in told
        assert "Traceback" not in told


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_damaged_input_is_read_or_refused(kind: Kind) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=not LONG,
        database=None,
        deadline=timedelta(seconds=10),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        changes=st.lists(STRUCTURE, max_size=4),
        packing=st.sampled_from(sorted(PACKED)) if kind.packed else st.just(""),
        damage=st.lists(BYTES, max_size=3),
    )
    def one(changes: list[Mutation], packing: str, damage: list[Mutation]) -> None:
        data = kind.written(mutated(kind.value, changes))
        data = damaged(PACKED[packing](data, "input.json"), damage)
        try:
            tried(kind, data)
        except BaseException:
            if LONG:
                FOUND.mkdir(exist_ok=True)
                (FOUND / f"{kind.name.replace(' ', '_')}.bin").write_bytes(data)
            raise

    tried(kind, kind.written(kind.value))  # what is imported at first use is not timed
    one()
