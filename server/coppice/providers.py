"""The providers of models over HTTP, by the name that `model.provider` gives them.

A new one is a line here, and a module below `coppice.models.providers` where it speaks a protocol of its own.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from pydantic import AfterValidator, Field


@dataclass(frozen=True, slots=True)
class Provider:
    """`address` is its own base URL, `key_variable` the environment variable that usually holds its key.

    `dialect` is the module below `coppice.models.providers` that speaks its protocol. `version_path` is
    added to a base URL that names no version: a provider's own tools may be given the address without it.
    """

    name: str
    address: str
    key_variable: str
    dialect: str
    version_path: str = ""


PROVIDERS: Final = {
    provider.name: provider
    for provider in (
        Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "openai"),
        Provider("openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY", "responses"),
        Provider(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            "gemini",
            "/v1beta",
        ),
        Provider("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "anthropic", "/v1"),
    )
}

ThinkingLevel = Literal["off", "low", "medium", "high"]
"""How much a model thinks before it answers; a server that has no such choice is asked without."""

THINKING_LEVELS: Final[tuple[ThinkingLevel, ...]] = get_args(ThinkingLevel)

MODEL_PROVIDERS: Final = ("none", *PROVIDERS, "editor")
SUMMARIZER_PROVIDERS: Final = ("inherit", "offline", *PROVIDERS, "editor")


def _check(name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise ValueError(f"expected one of {', '.join(names)}")
    return name


ModelProvider = Annotated[
    str,
    AfterValidator(lambda name: _check(name, MODEL_PROVIDERS)),
    Field(json_schema_extra={"enum": list(MODEL_PROVIDERS)}),
]
"""A value of `model.provider`."""

SummarizerProvider = Annotated[
    str,
    AfterValidator(lambda name: _check(name, SUMMARIZER_PROVIDERS)),
    Field(json_schema_extra={"enum": list(SUMMARIZER_PROVIDERS)}),
]
"""A value of `summarizer.provider`."""
