"""`coppice context`: what a model sees of a conversation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from coppice.cli.plain import plain
from coppice.cli.sources import opened
from coppice.cli.terminal import print_error, warn, write_json, write_text
from coppice.protocol.trees import ContextFormat, ContextParams, ContextResult
from coppice.protocol.usage import TokenSource

_COUNTED_BY: Final[dict[TokenSource, str]] = {
    "usage": "the provider's count, with its system prompt and tools",
    "tokenizer": "the tokenizer's count",
    "estimate": "an estimate",
}


@dataclass(frozen=True)
class ContextCommand:
    """`coppice context`: what a model is sent for a path."""

    source: str
    workspace: Path | None = None
    format: ContextFormat = "text"
    leaf: str | None = None
    as_json: bool = False

    async def __call__(self) -> None:
        """Print the view on standard output, and its size in tokens on standard error."""
        async with opened(self.source, self.workspace) as conversation:
            warn(conversation.warnings)
            result = await conversation.service.views.context(
                ContextParams(conversation_id=conversation.id, leaf_id=self.leaf, format=self.format)
            )
        if self.as_json:
            write_json(result.model_dump(mode="json", by_alias=True))
            return
        _show(result)


def _show(result: ContextResult) -> None:
    """The messages on standard output, so that they can be piped; the numbers on standard error."""
    print_error(f"{result.tokens:,} tokens ({_COUNTED_BY[result.token_source]})")
    if isinstance(result.messages, str):
        write_text(plain(result.messages))
    elif result.system is not None:
        write_json({"system": result.system, "messages": result.messages})
    else:
        write_json(result.messages)
