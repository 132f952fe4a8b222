"""The sizes of its models that a server reports.

The listing at `/models` has the window under one of several names, or not at all. Servers for one's own
machine know better at addresses of their own: there the window that is loaded may be far smaller than the one
the model was trained with, and it is the loaded one that counts.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from coppice.json_values import as_count, as_object, as_text, at, objects
from coppice.settings import MAX_TOKENS

Ask = Callable[[str], Awaitable[Any]]
"""The JSON at a URL, or None when there is none."""

_SMALLEST: Final = 256  # tokens; no model has a smaller window
_OLLAMA_WINDOW: Final = 4_096
"""What Ollama loads a model with by default. It cuts longer prompts without an error."""

_SERVED: Final = (
    ("max_model_len",),  # vLLM, SGLang
    ("meta", "n_ctx"),  # llama.cpp
    ("loaded_context_length",),  # LM Studio
    ("top_provider", "context_length"),  # OpenRouter
    ("context_length",),  # OpenRouter, Together, Fireworks
    ("context_window",),  # Groq
    ("max_context_length",),  # Mistral
    ("max_input_tokens",),  # Anthropic
    ("inputTokenLimit",),  # Gemini
    ("capabilities", "limits", "max_context_window_tokens"),  # GitHub Copilot
)
_TRAINED: Final = (
    ("meta", "n_ctx_train"),  # llama.cpp
    ("n_ctx_train",),
    ("max_position_embeddings",),
)
_OUTPUT: Final = (
    ("top_provider", "max_completion_tokens"),
    ("max_completion_tokens",),
    ("max_output_tokens",),
    ("max_tokens",),
    ("outputTokenLimit",),  # Gemini
    ("capabilities", "limits", "max_output_tokens"),
)


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Sizes in tokens, as a server reports them."""

    context_window: int
    max_output_tokens: int | None = None
    is_certain: bool = True
    """False for a window that may turn out larger once the model is loaded."""


async def served_limits(
    base: str, listing: str, model: str, ask: Ask, *, has_own_addresses: bool
) -> ServerLimits | None:
    """The limits of `model` that the server at `base` reports; None when it reports none.

    `listing` is the path of its list of models. llama.cpp reports the window of a slot, LM Studio and Ollama
    that of a model as it is loaded. `has_own_addresses` is false where the server is known to be no local
    one, and is spared the questions.
    """
    entry = listed_model(await ask(f"{base}{listing}"), model)
    output = _first(entry, _OUTPUT)
    if window := _first(entry, _SERVED):
        return ServerLimits(window, output)
    if has_own_addresses:
        root = base.removesuffix("/v1")
        if window := _size(at(await ask(f"{root}/props"), "default_generation_settings", "n_ctx")):
            return ServerLimits(window, output)
        if window := _first(listed_model(await ask(f"{root}/api/v0/models"), model), _SERVED):
            return ServerLimits(window, output)
        running = await ask(f"{root}/api/ps")
        if isinstance(as_object(running).get("models"), list):
            window = _first(listed_model(running, model, or_only=False), _SERVED)
            return ServerLimits(window or _OLLAMA_WINDOW, output, is_certain=window is not None)
    window = _first(entry, _TRAINED)
    return ServerLimits(window, output) if window else None


def listed_model(listing: Any, model: str, *, or_only: bool = True) -> dict[str, Any]:
    """The entry of `model`, or of the only model there is: most servers with one answer to any name."""
    if as_object(listing).get("id") == model:
        return as_object(listing)
    entries = list(objects(listing))
    for name in ("data", "models"):
        entries = entries or list(objects(as_object(listing).get(name)))
    names = (model, f"{model}:latest", f"models/{model}")
    for entry in entries:
        if any(as_text(entry.get(key)) in names for key in ("id", "name", "model")):
            return entry
    return entries[0] if or_only and len(entries) == 1 else {}


def _first(entry: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> int | None:
    return next((size for path in paths if (size := _size(at(entry, *path)))), None)


def _size(value: Any) -> int | None:
    size = as_count(value)
    return min(size, MAX_TOKENS) if size is not None and size >= _SMALLEST else None
