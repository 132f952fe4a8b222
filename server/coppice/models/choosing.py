"""The model that the settings name."""

import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final

from coppice.errors import NoModelError
from coppice.models.chat import ChatModel
from coppice.models.editor import EditorModel, Sample
from coppice.models.providers.address import Address
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.models.providers.keys import KeySource
from coppice.providers import PROVIDERS
from coppice.settings import ModelSettings, SummarizerSettings

if TYPE_CHECKING:
    from coppice.models.providers.dialect import DialectFactory

_HOW_TO: Final = (
    f"Set model.provider to {', '.join(PROVIDERS)} or editor, and model.name. For another endpoint that is"
    " compatible with OpenAI's set model.baseUrl too. See docs/settings.md."
)
_VERSIONED: Final = re.compile(r"/v\d+(?:beta\d*)?$")


def chat_model(
    settings: ModelSettings | SummarizerSettings,
    *,
    sample: Sample | None = None,
    environ: Mapping[str, str] = os.environ,
    deadlines: Deadlines | None = None,
    retries: Retries | None = None,
    overflow_phrases: Sequence[str] = (),
) -> ChatModel:
    """The model of `settings`, opened when first asked; close it in the end.

    `sample` asks the editor, where it offers to answer. A window that the settings leave at its default is
    asked from the server. Raises NoModelError, with how to set one, when the settings name no model that can
    be asked. A missing key is an error of the first request.
    """
    window = settings.context_window if "context_window" in settings.model_fields_set else None
    if settings.provider == "editor":
        if sample is None:
            raise NoModelError(
                "The editor does not answer coppice/sample. Update its extension, or choose another"
                f" provider. {_HOW_TO}"
            )
        return EditorModel(
            sample,
            model=settings.name,
            context_window=window,
            max_output_tokens=settings.max_output_tokens,
            deadlines=deadlines,
            overflow_phrases=overflow_phrases,
        )
    if (provider := PROVIDERS.get(settings.provider)) is None:
        raise NoModelError(f"No model is set. {_HOW_TO}")
    if not settings.name:
        raise NoModelError(f"The provider {settings.provider} is set, but no model's name. {_HOW_TO}")
    try:
        address = Address.parse(settings.base_url or provider.address)
    except ValueError as error:
        raise NoModelError(f"baseUrl cannot be used: {error}.") from None
    if not _VERSIONED.search(address.base):
        address = Address(f"{address.base}{provider.version_path}")
    is_own = address.origin == Address.parse(provider.address).origin
    from coppice.models.providers.model import HttpChatModel  # noqa: PLC0415 - httpx takes 10 MB

    make_dialect: DialectFactory = import_module(f"coppice.models.providers.{provider.dialect}").make_dialect
    return HttpChatModel(
        make_dialect(settings.name, is_own),
        KeySource(settings.api_key_env, provider.key_variable, address, is_own, environ),
        context_window=window,
        max_output_tokens=settings.max_output_tokens,
        deadlines=deadlines,
        retries=retries,
        overflow_phrases=overflow_phrases,
    )
