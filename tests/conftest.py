"""What all tests share: drawn cases are the same in every run, one thread a process."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Before any numerical library is loaded, here and in the commands that tests start: the workers of
# the test run are the parallelism, and threads that wait for a core cost more than they give.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_threads, "1")

# Criteria ask for more where this is set (usi.cli.gate.in_ci); tests set it where they mean it.
os.environ.pop("CI", None)

settings.register_profile(
    "usi", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("usi")
