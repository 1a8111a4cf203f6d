"""Profiles by name; an unknown name lists near matches."""

from __future__ import annotations

import importlib

from usi.errors import UsageError, unknown_name
from usi.features.profile import Profile
from usi.features.spec import FeatureSpec

_MODULES = {"tau-usi": "usi.features.kernel_tau", "robust": "usi.features.robust"}
"""Where each profile's ``PROFILE`` stands; imported when it is asked for."""
PROFILES: tuple[str, ...] = tuple(_MODULES)
"""Profiles of conversations."""
_LOG_MODULES = {"log": "usi.features.trace"}
LOG_PROFILES: tuple[str, ...] = tuple(_LOG_MODULES)
"""Profiles of operational logs: one row a case; `usi.features.trace_extract` makes the tables."""


def get_profile(name: str) -> Profile:
    """Profile by name, with or without its version (``robust`` or ``robust@1``).

    Raises
    ------
    UsageError
        For an unknown name, or a version that this usi does not have.
    """
    stem, _, version = name.partition("@")
    modules = {**_MODULES, **_LOG_MODULES}
    if stem not in modules:
        raise unknown_name("profile", name, tuple(modules))
    profile: Profile = importlib.import_module(modules[stem]).PROFILE
    if version and version != profile.version:
        raise UsageError(f"profile {stem!r} has version {profile.version} here, not {version}")
    return profile


def get_specs(profile: str) -> tuple[FeatureSpec, ...]:
    """Features of a profile, in the order in which they are shown."""
    return get_profile(profile).specs
