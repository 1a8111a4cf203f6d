"""Signed links and tokens; the key comes from the environment and is stored nowhere."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from usi.errors import UsageError
from usi.secrets import remember

SECRET, OWNER = "USI_STUDY_SECRET", "USI_STUDY_OWNER"
"""Environment variables: the key that signs links, and the password of the owner's page."""
_LEAST = {SECRET: 32, OWNER: 16}
_OWNER_HOURS = 12


def from_environment(name: str) -> str:
    """A secret of the environment.

    Raises
    ------
    UsageError
        Where it is not set, or too short to be one.
    """
    value = os.environ.get(name, "")
    if len(value) < _LEAST[name]:
        what = "is not set" if not value else f"has fewer than {_LEAST[name]} characters"
        raise UsageError(
            f"the environment variable {name} {what}; keep the same one for the whole study, "
            f'such as the output of: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    remember(value)
    return value


@dataclass(frozen=True)
class Signer:
    """Makes and reads the tokens of one study; those of another are not valid in it."""

    secret: str
    study: str

    def sign(self, purpose: str, value: Any) -> str:
        """A token for a value, safe in an address."""
        return str(self._serializer(purpose).dumps(value))

    def read(self, purpose: str, token: str) -> Any | None:
        """The value of a token; ``None`` where it is not valid for the purpose."""
        from itsdangerous import BadData

        try:
            return self._serializer(purpose).loads(token)
        except BadData:
            return None

    def invitations(self, address: str, *, first: int, number: int) -> Iterator[str]:
        """Signed links to a site, one a person; the same numbers give the same links."""
        base = address.rstrip("/")
        for n in range(first, first + number):
            yield f"{base}/i/{self.sign('invitation', n)}"

    def owner_cookie(self) -> str:
        """A token for whoever gave the owner's password."""
        return str(self._timed().dumps(secrets.token_hex(8)))

    def is_owner(self, cookie: str) -> bool:
        """Whether a cookie was made within the last hours."""
        from itsdangerous import BadData

        try:
            self._timed().loads(cookie, max_age=_OWNER_HOURS * 3600)
        except BadData:
            return False
        return True

    def hashed(self, value: str) -> str:
        """A keyed hash, by which an id is found again."""
        key = f"{self.study}|{self.secret}".encode()
        return hmac.new(key, value.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def _serializer(self, purpose: str) -> Any:
        return _serializer(self.secret, f"usi|{self.study}|{purpose}")

    def _timed(self) -> Any:
        from itsdangerous import URLSafeTimedSerializer

        return URLSafeTimedSerializer(
            self.secret, salt=f"usi|{self.study}|owner",
            signer_kwargs={"digest_method": hashlib.sha256},
        )  # fmt: skip


@lru_cache(maxsize=64)
def _serializer(secret: str, salt: str) -> Any:
    from itsdangerous import URLSafeSerializer

    return URLSafeSerializer(secret, salt=salt, signer_kwargs={"digest_method": hashlib.sha256})
