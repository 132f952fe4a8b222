"""The model that the settings name."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from coppice.errors import NoModelError
from coppice.models.chat import ChatModel
from coppice.models.editor import EditorModel, Sample
from coppice.models.providers import anthropic, openai
from coppice.models.providers.address import Address
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.models.providers.dialect import Dialect
from coppice.models.providers.keys import KeySource
from coppice.models.providers.model import HttpChatModel
from coppice.settings import ModelSettings, SummarizerSettings

_VERSIONED: Final = re.compile(r"/v\d+$")
_HOW_TO: Final = (
    'Set model.provider to "openai" (any compatible endpoint, with model.baseUrl), "anthropic" or "editor",'
    " and model.name; see docs/settings.md."
)


def chat_model(
    settings: ModelSettings | SummarizerSettings,
    *,
    sample: Sample | None = None,
    environ: Mapping[str, str] | None = None,
    deadlines: Deadlines | None = None,
    retries: Retries | None = None,
    overflow_phrases: Sequence[str] = (),
) -> ChatModel:
    """The model of `settings`, opened when first asked; close it in the end.

    `sample` asks the editor, where it offers to answer. A window that the settings leave at its default is
    asked from the server. Raises NoModelError, with how to set one, when the settings name no model that can
    be asked. A key that is missing is told by the model itself, when it is asked.
    """
    window = settings.context_window if "context_window" in settings.model_fields_set else None
    output = settings.max_output_tokens
    match settings.provider:
        case "editor":
            if sample is None:
                raise NoModelError(
                    "The editor does not answer coppice/sample. Update its extension, or choose another"
                    f" provider. {_HOW_TO}"
                )
            return EditorModel(
                sample,
                model=settings.name,
                context_window=window,
                max_output_tokens=output,
                deadlines=deadlines,
                overflow_phrases=overflow_phrases,
            )
        case "openai" | "anthropic":
            dialect, keys = _endpoint(settings, os.environ if environ is None else environ)
            return HttpChatModel(
                dialect,
                settings.name or "",
                keys,
                context_window=window,
                max_output_tokens=output,
                deadlines=deadlines,
                retries=retries,
                overflow_phrases=overflow_phrases,
            )
        case _:
            raise NoModelError(f"No model is set. {_HOW_TO}")


def _endpoint(
    settings: ModelSettings | SummarizerSettings, environ: Mapping[str, str]
) -> tuple[Dialect, KeySource]:
    if not settings.name:
        raise NoModelError(f"The provider {settings.provider} is set, but no model's name. {_HOW_TO}")
    is_openai = settings.provider == "openai"
    module = openai if is_openai else anthropic
    try:
        address = Address.parse(settings.base_url or module.OWN_ADDRESS)
    except ValueError as error:
        raise NoModelError(f"baseUrl cannot be used: {error}.") from None
    if not is_openai and not _VERSIONED.search(address.base):
        address = Address(f"{address.base}/v1")  # its own tools are given the address without the version
    is_own = address.origin == Address.parse(module.OWN_ADDRESS).origin
    keys = KeySource(settings.api_key_env, module.KEY_VARIABLE, address, is_own, environ)
    if is_openai:
        return openai.OpenAIDialect(settings.name, is_openai_itself=is_own), keys
    return anthropic.AnthropicDialect(settings.name), keys
