"""Which agent took part: scores made with different agents are refused a comparison.

Only fingerprints count, as `usi simulate` writes them (a name, ``@`` and twelve hex digits of the
hash of kind, model, parameters, rule book, tools and harness): other names of agents say too
little to be held against anybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from usi.errors import NotScorable
from usi.extraction.table import SessionTable

_FINGERPRINT = re.compile(r".+@[0-9a-f]{12}", re.DOTALL)
KEY = "agent"
"""Entry of a simulator card's identity."""


def fingerprints(table: SessionTable) -> tuple[str, ...]:
    """Fingerprints of the agents of a table, sorted; ``()`` where none is known."""
    names = table.frame["agent"].drop_nulls().unique().to_list()
    return tuple(sorted(name for name in names if is_fingerprint(name)))


def is_fingerprint(name: str) -> bool:
    """Whether a name of an agent is a fingerprint.

    >>> is_fingerprint("oracle@0123456789ab"), is_fingerprint("gpt-4o")
    (True, False)
    """
    return _FINGERPRINT.fullmatch(name) is not None


def require_same_agent(
    human: SessionTable, simulators: Mapping[str, SessionTable], *, allowed: bool = False
) -> None:
    """Refuse tables whose agents are known and differ.

    Parameters
    ----------
    human, simulators
        All that is to stand on one card; tables without fingerprints are taken at their word.
    allowed
        The caller wants it all the same (``--other-agent``).

    Raises
    ------
    NotScorable
        Which agents they are, and the way out.
    """
    if allowed:
        return
    known = [("the reference", fingerprints(human))]
    known += [(label, fingerprints(table)) for label, table in sorted(simulators.items())]
    known = [(name, agents) for name, agents in known if agents]
    if len({agents for _, agents in known}) > 1:
        listed = "; ".join(f"{name}: {', '.join(agents)}" for name, agents in known)
        raise NotScorable(
            f"the sessions were made with different agents ({listed}): a difference could be the "
            "agent's. Run all of them with one agent, rule book and harness version, or pass "
            "--other-agent"
        )
