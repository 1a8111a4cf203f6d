"""What all tests share: drawn cases are the same in every run."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "usi", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("usi")
