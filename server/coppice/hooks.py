"""What a package imports that has a say in what the server does; see docs/hooks.md."""

from coppice.service.messages.hooks import (
    CompactionPreparation,
    HookCompaction,
    HookSummary,
    WillCompactParams,
    WillCompactResult,
    WillForkParams,
    WillForkResult,
    WillNavigateParams,
    WillNavigateResult,
)
from coppice.service.plugins import hookimpl

__all__ = [
    "CompactionPreparation",
    "HookCompaction",
    "HookSummary",
    "WillCompactParams",
    "WillCompactResult",
    "WillForkParams",
    "WillForkResult",
    "WillNavigateParams",
    "WillNavigateResult",
    "hookimpl",
]
