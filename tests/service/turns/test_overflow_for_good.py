"""A turn whose request cannot be made small enough ends with the size that the request had."""

import pytest
from conftest_service import MakeClient
from models.provider_replies import error
from models.provider_server import ProviderServer

from coppice.errors import ContextOverflowError

WINDOW = 4_000
TOO_LONG = f"This model's maximum context length is {WINDOW} tokens. Your messages resulted in 9000 tokens."


async def test_the_error_has_the_size_of_the_request_with_its_system_prompt(make_client: MakeClient) -> None:
    async with ProviderServer([error(400, TOO_LONG, code="context_length_exceeded")]) as server:
        client = await make_client(
            {
                "model": {"provider": "openai", "name": "m", "baseUrl": server.url, "contextWindow": WINDOW},
                "summarizer": {"provider": "offline"},
                "tokens": {"counter": "estimate"},
                "compaction": {"reserveTokens": 500, "keepRecentTokens": 500},
            }
        )
        conversation = await client.conversation(*(f"Tree {number}. " * 60 for number in range(6)))
        with pytest.raises(ContextOverflowError) as refused:
            await client.ask("prompt", conversationId=conversation, content="Go on.", system="a b " * 1_500)
    tokens = refused.value.data["tokens"]
    assert f"{tokens:,} tokens against a window of {WINDOW:,}" in str(refused.value)
    assert tokens > 1_500  # the system prompt alone
