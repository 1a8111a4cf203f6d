"""Signatures, content hashes and the run record: where a number comes from."""

from usi.provenance.record import combined_sha256, sha256_bytes, sha256_file
from usi.provenance.signature import Signature, build, differences, explain, parse

__all__ = [
    "Signature",
    "build",
    "combined_sha256",
    "differences",
    "explain",
    "parse",
    "sha256_bytes",
    "sha256_file",
]
