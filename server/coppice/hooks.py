"""What a package imports to extend the server; see docs/hooks.md."""

from coppice.protocol.hooks import (
    CompactionPreparation,
    CompactionSizes,
    DidCompactParams,
    DidForkParams,
    DidNavigateParams,
    HookCompaction,
    HookSummary,
    WillCompactParams,
    WillCompactResult,
    WillForkParams,
    WillForkResult,
    WillNavigateParams,
    WillNavigateResult,
)
from coppice.service.hooks.hook_thread import HookContext, HookStoppedError
from coppice.service.hooks.plugins import hookimpl

__all__ = [
    "CompactionPreparation",
    "CompactionSizes",
    "DidCompactParams",
    "DidForkParams",
    "DidNavigateParams",
    "HookCompaction",
    "HookContext",
    "HookStoppedError",
    "HookSummary",
    "WillCompactParams",
    "WillCompactResult",
    "WillForkParams",
    "WillForkResult",
    "WillNavigateParams",
    "WillNavigateResult",
    "hookimpl",
]
