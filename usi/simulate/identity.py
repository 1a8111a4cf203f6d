"""What took part in a run, hashed: candidate, agent, domain, survey, limits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from usi._version import __version__
from usi.simulate.cache import canonical
from usi.simulate.episode import Setting
from usi.simulate.protocol import Domain
from usi.simulate.user import UserFactory

SHOWN = {
    "simulator": "the simulator",
    "agent": "the agent",
    "domain": "the domain",
    "survey": "the survey",
    "limits": "the limits of an episode",
    "design": "the design of seeds",
}
"""Entry of a header -> how messages call it."""


def digest(value: Any) -> str:
    """First 12 hex digits of the hash of a value."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:12]


def user_fingerprint(label: str, users: UserFactory) -> str:
    """Label and hash of a candidate."""
    return f"{label}@{digest({'user': dict(users.identity), 'harness': __version__})}"


def domain_digest(domain: Domain) -> str:
    """Hash of what a domain gives to users and agents."""
    tasks = [
        [t.id, t.instruction, list(t.traits), list(t.requests), dict(t.facts), t.difficulty]
        for t in domain.tasks
    ]
    return digest([domain.name, domain.policy, list(domain.tools), tasks])


def header(label: str, users: UserFactory, setting: Setting, design: str) -> dict[str, Any]:
    """First line of a run log: what must be the same for a run to be continued."""
    return {
        "kind": "run",
        "simulator": user_fingerprint(label, users),
        "agent": setting.agent_name,
        "domain": f"{setting.domain.name}@{domain_digest(setting.domain)}",
        "survey": setting.instrument.tag if setting.instrument else "none",
        "limits": f"{setting.max_turns} turns, {setting.max_steps} steps, "
        f"greeting {digest(setting.greeting)}",
        "design": design,
    }


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What differs between two headers, in words."""
    return [text for name, text in SHOWN.items() if found.get(name) != wanted[name]]
