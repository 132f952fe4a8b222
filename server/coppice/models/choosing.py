"""The model that the settings name."""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from coppice.errors import NoModelError
from coppice.models.chat import ChatModel
from coppice.models.editor import EditorModel, Sample
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.providers import PROVIDERS
from coppice.settings import ModelSettings, SummarizerSettings

_HOW_TO: Final = (
    f"Set model.provider to {', '.join(PROVIDERS)} or editor, and model.name. For another endpoint that is"
    " compatible with OpenAI's set model.baseUrl too. See docs/settings.md."
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
    be asked. A missing key is an error of the first request.
    """
    window = settings.context_window if "context_window" in settings.model_fields_set else None
    output = settings.max_output_tokens
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
            max_output_tokens=output,
            deadlines=deadlines,
            overflow_phrases=overflow_phrases,
        )
    if (provider := PROVIDERS.get(settings.provider)) is None:
        raise NoModelError(f"No model is set. {_HOW_TO}")
    if not settings.name:
        raise NoModelError(f"The provider {settings.provider} is set, but no model's name. {_HOW_TO}")
    from coppice.models.providers.opening import opened  # noqa: PLC0415 - httpx takes 10 MB

    return opened(
        provider,
        settings,
        os.environ if environ is None else environ,
        context_window=window,
        max_output_tokens=output,
        deadlines=deadlines,
        retries=retries,
        overflow_phrases=overflow_phrases,
    )
