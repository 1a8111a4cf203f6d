"""Whether talks of people may be sent to a model that runs elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from usi.corpora.resolve import terms_near
from usi.errors import UsageError
from usi.simulate.client import ModelSettings


def is_local(settings: ModelSettings) -> bool:
    """Whether a model is served on this machine: its `api_base` is a loopback address.

    >>> is_local(ModelSettings(model="m", api_base="http://127.0.0.1:8000/v1"))
    True
    >>> is_local(ModelSettings(model="m"))
    False
    """
    host = urlsplit(settings.api_base or "").hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def require_leave(transcripts: Sequence[str | Path], settings: ModelSettings) -> None:
    """Talks of a human corpus leave the machine only where its manifest or licence allows it.

    Raises
    ------
    UsageError
        For transcripts beside a manifest that does not, and a model on another machine.
    """
    if is_local(settings):
        return
    for path in transcripts:
        if terms_near(path) is not True:
            raise UsageError(
                f"{path}: its manifest does not say that its texts may be passed on, and "
                f"{settings.model} runs elsewhere; set redistribute = true in the manifest, or "
                "name a model on this machine (api_base = http://127.0.0.1:...)"
            )
