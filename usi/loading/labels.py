"""Names that come from file names: the simulator's label and the domain."""

from __future__ import annotations

import re

from usi.records import UNKNOWN_DOMAIN

_PREFIX = "eval_results_"
_PACKED = re.compile(r"\.(gz|xz|zst|zip|tar|tgz|txz|tzst)$", re.IGNORECASE)
_DATA = re.compile(r"\.(json|jsonl|ndjson|eval|csv|tsv|parquet|xlsx|xlsm)$", re.IGNORECASE)
_DOMAIN = re.compile(r"(airline|retail|telecom)(?![a-z])", re.IGNORECASE)


def simulator_label(filename: str) -> str:
    """Label of a simulator: the file name without ``eval_results_`` and suffix, else its stem.

    Only known suffixes go, since labels such as ``gpt-4.1`` have dots of their own.

    >>> simulator_label("eval_results_gpt-4.1.json.gz")
    'gpt-4.1'
    >>> simulator_label("airline_grok.jsonl")
    'airline_grok'
    """
    stem = filename
    while match := _PACKED.search(stem):
        stem = stem[: match.start()]
    if match := _DATA.search(stem):
        stem = stem[: match.start()]
    return stem.removeprefix(_PREFIX) or filename


def domain_of_name(filename: str) -> str | None:
    """Domain that a file name begins with: airline, retail or telecom.

    >>> domain_of_name("retail_agent-x.json"), domain_of_name("eval_results_x.json")
    ('retail', None)
    """
    match = _DOMAIN.match(filename)
    return match[1].lower() if match else None


def domain_for(found: str | None, option: str | None, filename: str) -> str:
    """The domain rule: the data, else ``--domain``, else the file name, else ``"unknown"``.

    Data that call their domain ``"unknown"`` leave it to ``--domain`` alone.
    """
    if found == UNKNOWN_DOMAIN:
        return option or UNKNOWN_DOMAIN
    return found or option or domain_of_name(filename) or UNKNOWN_DOMAIN
