"""API keys: read when a request is made, never stored, and removed from every message."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from coppice.models.chat import ModelError
from coppice.models.providers.address import Address

REMOVED: Final = "[key removed]"

_SHORTEST_PART: Final = 8
"""Characters in common with a key from which a text is redacted. Of 64 kinds, these are 48 bits: no text has
them by chance."""
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SENDABLE: Final = re.compile(r"[\x21-\x7e]+")
# The shapes in which providers issue keys, masked ones included, and the places where credentials are.
_KEY_SHAPES: Final = re.compile(
    r"""
      \b(?:sk|gsk|xai|hf|tgp|csk|nvapi)[-_][A-Za-z0-9*._-]{6,}
    | \bAIza[A-Za-z0-9_-]{10,}
    | (?i:\b(?:bearer|basic)\s+)[A-Za-z0-9*._~+/=-]{16,}
    | (?i:\bx-api-key\s*[:=]\s*)[^\s,"']+
    | (?<=://)[^/\s@]+@
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where the key for an address comes from.

    `named` is the variable that the settings name. Without one the provider's `usual` variable counts, but
    only at the provider's own address: a key is sent to no other endpoint than the one that it is for.
    """

    named: str | None
    usual: str
    address: Address
    is_own_address: bool
    environ: Mapping[str, str] = field(repr=False)

    @property
    def variable(self) -> str | None:
        """The environment variable that is read, or None where none counts."""
        if self.named is not None:
            return self.named
        return self.usual if self.is_own_address else None

    @property
    def held(self) -> str | None:
        """What the variable holds, whether or not it can be a key; None for nothing."""
        if self.variable is None or not _VARIABLE_NAME.fullmatch(self.variable):
            return None
        return self.environ.get(self.variable, "").strip() or None

    def read(self) -> str | None:
        """The key; None where none is set and none was named.

        Raises ModelError `auth` when the named variable is not set, when what it holds can be no key, and
        when the key would travel unencrypted to another machine.
        """
        variable = self.variable
        if variable is None:
            return None
        if not _VARIABLE_NAME.fullmatch(variable):
            raise ModelError(
                "apiKeyEnv must be the name of an environment variable, not the key itself.", kind="auth"
            )
        key = self.held
        if key is None:
            if self.named is None:
                return None
            raise ModelError(
                f"The environment variable {variable} is not set. Set it to your key for"
                f" {self.address.origin} where the server is started, or correct apiKeyEnv.",
                kind="auth",
            )
        if not _SENDABLE.fullmatch(key):
            raise ModelError(
                f"The environment variable {variable} holds blanks or letters that no key has. Copy the key"
                " again.",
                kind="auth",
            )
        if self.address.is_plain and not self.address.is_loopback:
            raise ModelError(
                f"The key in {variable} was not sent: {self.address.origin} is plain http, so anyone on the"
                " way could read it. Use https, or take apiKeyEnv out if the server needs no key.",
                kind="auth",
            )
        return key

    def redacted(self, text: str) -> str:
        """`text` as `redacted` leaves it for the key that is set."""
        return redacted(text, self.held)


def redacted(text: str, key: str | None) -> str:
    """`text` without `key` or a good part of it, anything shaped like a key, and credentials in URLs."""
    if key:
        text = _without_parts(text, key)
    return _KEY_SHAPES.sub(REMOVED, text)


def _without_parts(text: str, key: str) -> str:
    """Servers repeat a key whole, cut or percent-encoded: whatever shares `_SHORTEST_PART` letters goes."""
    covered: set[int] = set()
    for form in {key, quote(key, safe="")}:
        size = min(len(form), _SHORTEST_PART)
        for part in {form[start : start + size] for start in range(len(form) - size + 1)}:
            offset = text.find(part)
            while offset >= 0:
                covered.update(range(offset, offset + size))
                offset = text.find(part, offset + 1)
    pieces: list[str] = []
    for place, letter in enumerate(text):
        if place not in covered:
            pieces.append(letter)
        elif place - 1 not in covered:
            pieces.append(REMOVED)
    return "".join(pieces)
