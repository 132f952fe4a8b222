"""`coppice compact`: the same compaction as over LSP, for a session file or a stored conversation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coppice.cli.compact_report import Outcome, show
from coppice.cli.exits import UsageError
from coppice.cli.output_file import check_output, export_format
from coppice.cli.progress import watched
from coppice.cli.sources import Opened, opened
from coppice.cli.terminal import console, write_json
from coppice.protocol.compaction import CompactParams, CompactPreviewParams
from coppice.protocol.conversations import ExportFormat
from coppice.protocol.trees import ContextParams
from coppice.providers import PROVIDERS


@dataclass(frozen=True)
class CompactCommand:
    """`coppice compact`: compact a session file or a stored conversation.

    The sizes are in tokens; what is None is left to the settings.
    """

    source: str
    workspace: Path | None
    leaf: str | None
    keep_recent: int | None
    reserve: int | None
    max_summary: int | None
    window: int | None
    counter: str | None
    model: str | None
    base_url: str | None
    api_key_env: str | None
    instructions: str | None
    references: bool | None
    dry_run: bool
    output: Path | None
    format: ExportFormat | None
    force: bool
    as_json: bool

    async def execute(self) -> None:
        """Compact, and print the outcome.

        UsageError, before anything is read, where the options do not go together.
        """
        if self.output is not None:
            if self.dry_run:
                raise UsageError("--dry-run writes nothing; leave --output away.")
            check_output(self.output, self.source, force=self.force)
        async with opened(self.source, self.workspace, client_settings=self._settings()) as conversation:
            outcome = await self._compacted(conversation)
            if self.output is not None:
                source = conversation.conversation.source
                format_ = self.format or export_format(self.output, source.format if source else None)
                await conversation.export(self.output, format_, overwrite=self.force)
        if self.as_json:
            write_json(outcome.as_json(self.output))
        else:
            show(outcome, self.output)

    def _settings(self) -> dict[str, Any]:
        """The options as settings of a client, where None is no value."""
        return {
            "compaction": {
                "keepRecentTokens": self.keep_recent,
                "reserveTokens": self.reserve,
                "maxSummaryTokens": self.max_summary,
                "references": self.references,
            },
            "model": {"contextWindow": self.window},
            "tokens": {"counter": self.counter},
            "summarizer": self._summarizer(),
        }

    def _summarizer(self) -> dict[str, Any]:
        """UsageError where the options do not go together."""
        if self.model is None:
            if self.base_url is not None or self.api_key_env is not None:
                raise UsageError("--base-url and --api-key-env go with --model; give that too.")
            return {}
        provider, _, name = self.model.partition("/")
        if provider not in (*PROVIDERS, "offline") or (provider != "offline" and not name):
            raise UsageError(f"--model takes {', '.join(f'{each}/NAME' for each in PROVIDERS)}, or offline.")
        return {
            "provider": provider,
            "name": name or None,
            "baseUrl": self.base_url,
            "apiKeyEnv": self.api_key_env,
        }

    async def _compacted(self, conversation: Opened) -> Outcome:
        service = conversation.service
        conversation_id = conversation.id
        if self.leaf is not None:
            if conversation.stored:
                raise UsageError(
                    "--leaf works on session files; a stored conversation is compacted at its leaf."
                )
            await service.trees.set_leaf(conversation_id, self.leaf)
        preview = await service.compacting.preview(CompactPreviewParams(conversation_id=conversation_id))
        seen = ContextParams(conversation_id=conversation_id)
        before = await service.views.context(seen)
        params = CompactParams(
            conversation_id=conversation_id, instructions=self.instructions, draft=self.dry_run
        )
        result = await service.compacting.compact(params, watched(console(stderr=True)))
        after = None if self.dry_run else await service.views.context(seen)
        return Outcome(conversation, preview, result, before, after)
