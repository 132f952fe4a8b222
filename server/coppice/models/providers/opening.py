"""A model over HTTP, from the settings; apart from `models.choosing`, for it imports httpx."""

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

from coppice.errors import NoModelError
from coppice.models.providers.address import Address
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.models.providers.dialect import DialectFactory
from coppice.models.providers.keys import KeySource
from coppice.models.providers.model import HttpChatModel
from coppice.providers import Provider
from coppice.settings import ModelSettings, SummarizerSettings

_VERSIONED: Final = re.compile(r"/v\d+$")


def opened(
    provider: Provider,
    settings: ModelSettings | SummarizerSettings,
    environ: Mapping[str, str],
    *,
    context_window: int | None,
    max_output_tokens: int | None,
    deadlines: Deadlines | None,
    retries: Retries | None,
    overflow_phrases: Sequence[str],
) -> HttpChatModel:
    """The model, not connected yet. NoModelError where `baseUrl` cannot be used."""
    try:
        address = Address.parse(settings.base_url or provider.address)
    except ValueError as error:
        raise NoModelError(f"baseUrl cannot be used: {error}.") from None
    if not _VERSIONED.search(address.base):
        address = Address(f"{address.base}{provider.version_path}")
    is_own = address.origin == Address.parse(provider.address).origin
    name = settings.name or ""
    make_dialect: DialectFactory = import_module(f"coppice.models.providers.{provider.dialect}").make_dialect
    return HttpChatModel(
        make_dialect(name, is_own),
        name,
        KeySource(settings.api_key_env, provider.key_variable, address, is_own, environ),
        context_window=context_window,
        max_output_tokens=max_output_tokens,
        deadlines=deadlines,
        retries=retries,
        overflow_phrases=overflow_phrases,
    )
