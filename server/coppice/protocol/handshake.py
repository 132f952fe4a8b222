"""What client and server send about themselves in `initialize`."""

from typing import Any, Final, Literal

from coppice.protocol.base import WireModel

PROTOCOL_VERSION: Final = 2  # counts incompatible changes of the wire


class HookOptions(WireModel):
    """Which questions before an operation the client answers."""

    will_compact: bool = False
    will_navigate: bool = False
    will_fork: bool = False


class InitializationOptions(WireModel):
    """`initializationOptions` of `initialize`: the editor's settings, and the requests a client answers.

    What is absent is never asked of the client.
    """

    settings: dict[str, Any] | None = None
    hooks: HookOptions | None = None
    sampling: bool = False
    tools: bool = False
    abort_turn: bool = False


class Capability(WireModel):
    """`capabilities.experimental.coppice` of the server: the protocol's version and its methods."""

    protocol_version: Literal[2] = PROTOCOL_VERSION
    methods: list[str]
