"""`coppice compact`: the same compaction as over LSP, for a session file or a stored conversation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coppice.cli.compact_report import Outcome, show
from coppice.cli.exits import UsageError
from coppice.cli.output_file import check_output, export_format
from coppice.cli.progress import watched
from coppice.cli.sources import Opened, opened, uri_of
from coppice.cli.terminal import console, warn, write_json
from coppice.protocol.compaction import CompactParams, CompactPreviewParams
from coppice.protocol.conversations import ExportFormat, ExportParams
from coppice.protocol.trees import ContextParams
from coppice.providers import PROVIDERS
from coppice.service.core.progress import NoProgress


@dataclass(frozen=True)
class Sizes:
    """The sizes given on the command line, in tokens; None keeps the setting."""

    keep_recent: int | None = None
    reserve: int | None = None
    max_summary: int | None = None
    window: int | None = None
    counter: str | None = None

    def settings(self) -> dict[str, Any]:
        """As the settings of a client, which is what a command line is."""
        sections: dict[str, dict[str, Any]] = {
            "compaction": {
                "keepRecentTokens": self.keep_recent,
                "reserveTokens": self.reserve,
                "maxSummaryTokens": self.max_summary,
            },
            "model": {"contextWindow": self.window},
            "tokens": {"counter": self.counter},
        }
        given = {
            name: {key: value for key, value in section.items() if value is not None}
            for name, section in sections.items()
        }
        return {name: section for name, section in given.items() if section}


@dataclass(frozen=True)
class Writer:
    """Who the command line wants to write the summary; None leaves the settings as they are."""

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None

    def settings(self) -> dict[str, Any]:
        """The request's settings that select the model. UsageError where the options do not go together."""
        if self.model is None:
            if self.base_url is not None or self.api_key_env is not None:
                raise UsageError("--base-url and --api-key-env go with --model; give that too.")
            return {}
        provider, _, name = self.model.partition("/")
        if provider not in (*PROVIDERS, "offline") or (provider != "offline" and not name):
            raise UsageError(f"--model takes {', '.join(f'{each}/NAME' for each in PROVIDERS)}, or offline.")
        named = {"name": name or None, "baseUrl": self.base_url, "apiKeyEnv": self.api_key_env}
        given = {key: value for key, value in named.items() if value is not None}
        return {"summarizer": {"provider": provider, **given}}


@dataclass(frozen=True)
class CompactCommand:
    """`coppice compact`: compact a session file or a stored conversation."""

    source: str
    workspace: Path | None = None
    leaf: str | None = None
    sizes: Sizes = Sizes()
    writer: Writer = Writer()
    instructions: str | None = None
    dry_run: bool = False
    output: Path | None = None
    format: ExportFormat | None = None
    force: bool = False
    as_json: bool = False

    async def __call__(self) -> None:
        """Run it. UsageError where the options do not go together, before anything is read."""
        if self.output is not None:
            if self.dry_run:
                raise UsageError("--dry-run writes nothing; leave --output away.")
            check_output(self.output, self.source, force=self.force)
        settings = self.sizes.settings() | self.writer.settings()
        async with opened(self.source, self.workspace, client_settings=settings) as conversation:
            warn(conversation.warnings)
            outcome = await self._compacted(conversation)
            if self.output is not None:
                await self._export(conversation, self.output)
        if self.as_json:
            write_json(outcome.as_json(self.output))
        else:
            show(outcome, self.output)

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
        before = await service.views.context(ContextParams(conversation_id=conversation_id))
        result = await service.compacting.compact(
            CompactParams(
                conversation_id=conversation_id, instructions=self.instructions, draft=self.dry_run
            ),
            watched(console(stderr=True)),
        )
        after = None
        if not self.dry_run:
            after = await service.views.context(ContextParams(conversation_id=conversation_id))
        return Outcome(conversation, preview, result, before, after)

    async def _export(self, conversation: Opened, output: Path) -> None:
        source = conversation.conversation.source
        format_ = self.format or export_format(output, source.format if source is not None else None)
        params = ExportParams(
            conversation_id=conversation.id, format=format_, uri=uri_of(output), overwrite=self.force
        )
        await conversation.service.portability.export(params, NoProgress())
