"""Models that ask the provider server."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from models.provider_server import ProviderServer, Reply

from coppice import providers
from coppice.models.chat import ChatModel, ChatRequest
from coppice.models.choosing import chat_model
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.settings import ModelSettings
from coppice.tree.messages import UserMessage
from coppice.tree.view import ViewMessage

Provider = str
PROVIDERS: tuple[Provider, ...] = tuple(providers.PROVIDERS)
KEY = "sk-proj-4f9aTz0uVw81xYq2LmNb77Kc"
PATIENT = Deadlines(connect=3_600, silence=3_600, total=3_600, trailer=3_600, limits=3_600)
"""For tests in which no time runs out: they themselves end sooner, however busy the machine is."""

RETRIES = Retries(tries=3, pause=0.01, longest_pause=0.5)


def request(text: str = "Hello", **more: Any) -> ChatRequest:
    return ChatRequest([ViewMessage(None, UserMessage(content=text))], **{"max_tokens": 100, **more})


def model_at(
    url: str | None,
    provider: Provider = "openai",
    *,
    deadlines: Deadlines = PATIENT,
    retries: Retries = RETRIES,
    environ: dict[str, str] | None = None,
    overflow_phrases: Sequence[str] = (),
    **settings: Any,
) -> ChatModel:
    if environ is None:
        environ = {"TEST_API_KEY": KEY}
        settings = {"apiKeyEnv": "TEST_API_KEY", **settings}
    return chat_model(
        ModelSettings.model_validate(
            {"provider": provider, "name": "small-model", "baseUrl": url, **settings}
        ),
        environ=environ,
        deadlines=deadlines,
        retries=retries,
        overflow_phrases=overflow_phrases,
    )


@asynccontextmanager
async def asked(
    provider: Provider, *script: Reply, pages: dict[str, Any] | None = None, **how: Any
) -> AsyncIterator[tuple[ChatModel, ProviderServer]]:
    """A model of `provider` at a server that answers by `script`."""
    async with ProviderServer(list(script), pages or {}) as server:
        model = model_at(server.url, provider, **how)
        try:
            yield model, server
        finally:
            await model.close()
