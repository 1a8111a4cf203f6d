"""Whether texts of a corpus or a simulator may stand in results that others will read."""

from __future__ import annotations

REDISTRIBUTABLE: tuple[str, ...] = (
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0",
    "CDLA-Sharing-1.0",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "ISC",
    "MIT",
    "ODbL-1.0",
    "ODC-By-1.0",
    "PDDL-1.0",
    "Unlicense",
)
"""Licences (SPDX identifiers) that allow anybody to pass the texts on, for any use.

Any other licence, and any text that is not one of these identifiers, needs ``redistribute = true``
in the manifest.
"""
_KNOWN = frozenset(name.lower() for name in REDISTRIBUTABLE)


def may_pass_on(
    declared: bool | None, licence: str | None, *, otherwise: bool | None = None
) -> bool | None:
    """Whether texts may be passed on; ``None`` where nobody says so and nobody forbids it.

    Parameters
    ----------
    declared
        ``redistribute`` of the manifest; ``None`` where it says nothing.
    licence
        Its licence.
    otherwise
        What holds where neither says anything.

    >>> may_pass_on(None, "MIT"), may_pass_on(None, "internal"), may_pass_on(False, "MIT")
    (True, None, False)
    """
    if declared is not None:
        return declared
    if licence is None or not licence.strip():
        return otherwise
    return True if licence.strip().lower() in _KNOWN else None


def texts_shown(allowed: bool | None, examples: bool | None) -> bool:
    """Whether texts stand in results.

    Parameters
    ----------
    allowed
        Whether they may be passed on (`may_pass_on`).
    examples
        What was asked for: ``False`` shows none, ``None`` those that may be passed on, ``True``
        also those of which nobody forbids it, to the one who asks.
    """
    if examples is False:
        return False
    return bool(examples) if allowed is None else allowed
