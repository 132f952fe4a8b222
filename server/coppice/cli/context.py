"""`coppice context`: what a model sees of a conversation."""

from pathlib import Path
from typing import Final

from coppice.cli.plain import plain
from coppice.cli.sources import opened
from coppice.cli.terminal import print_error, write_json, write_text
from coppice.protocol.trees import ContextFormat, ContextParams
from coppice.protocol.usage import TokenSource

_COUNTED_BY: Final[dict[TokenSource, str]] = {
    "usage": "the provider's count, with its system prompt and tools",
    "tokenizer": "the tokenizer's count",
    "estimate": "an estimate",
}


async def show_context(
    source: str, workspace: Path | None, format_: ContextFormat, leaf: str | None, *, as_json: bool
) -> None:
    """Print what a model is sent for a path: on standard output, so that it can be piped.

    Its size in tokens goes to standard error.
    """
    async with opened(source, workspace) as conversation:
        params = ContextParams(conversation_id=conversation.id, leaf_id=leaf, format=format_)
        result = await conversation.service.views.context(params)
    if as_json:
        write_json(result)
        return
    print_error(f"{result.tokens:,} tokens ({_COUNTED_BY[result.token_source]})")
    if isinstance(result.messages, str):
        write_text(plain(result.messages))
    elif result.system is not None:
        write_json({"system": result.system, "messages": result.messages})
    else:
        write_json(result.messages)
