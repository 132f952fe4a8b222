"""Settings: their names, types and defaults."""

from pathlib import Path
from typing import Annotated, Final, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from coppice.providers import ModelProvider, SummarizerProvider, ThinkingLevel

MAX_TOKENS: Final = 100_000_000
"""A hundred times the largest window that a model has today."""

Tokens = Annotated[int, Field(ge=1, le=MAX_TOKENS)]

MAX_MODEL_CHARS: Final = 100
"""Of the name of a configured model: longer than any id of a provider that is read as one."""

ModelName = Annotated[str, Field(min_length=1, max_length=MAX_MODEL_CHARS)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]

MAX_IGNORE_PATTERNS: Final = 2_000
"""As many as an ignore file may have; see `coppice.files.ignoring`."""


class _Section(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        strict=True,
        frozen=True,
        defer_build=True,
    )


class ClearSettings(_Section):
    """When old tool results are cleared: from `start_share` of the window on, in steps that save at least
    `least_gain_tokens`. The newest `keep_tokens` of the view stay.
    """

    enabled: bool = True
    start_share: Annotated[float, Field(gt=0, le=1)] = 0.6
    keep_tokens: Tokens = 40_000
    least_gain_tokens: Tokens = 20_000


class CompactionSettings(_Section):
    """Sizes in tokens. `max_summary_tokens` defaults to 0.8 of the reserve.

    `target_summary_tokens` is the length that a summary aims at; `max_summary_tokens` is its hard limit.
    `references` lets statements of a summary end in `[#id]`, the entry that they are based on. With
    `background` a summary is written before it is due.
    """

    enabled: bool = True
    reserve_tokens: Tokens = 16_384
    keep_recent_tokens: Tokens = 20_000
    target_summary_tokens: Tokens = 3_500
    max_summary_tokens: Tokens | None = None
    references: bool = True
    background: bool = True
    clear: ClearSettings = ClearSettings()


class BranchSummarySettings(_Section):
    """`reserve_tokens` is what a branch summary leaves free of the window."""

    reserve_tokens: Tokens = 16_384
    ask: Literal["ask", "always", "never"] = "ask"


class ModelSettings(_Section):
    """Which model answers turns. `api_key_env` names an environment variable; no setting holds the key.

    With `context_editing` the provider clears old tool results itself, where its protocol has that.
    Without `thinking_level` the model thinks as much as it does by itself.
    """

    provider: ModelProvider = "none"
    base_url: str | None = None
    name: str | None = None
    api_key_env: str | None = None
    context_window: Tokens = 200_000
    max_output_tokens: Tokens | None = None
    context_editing: bool = False
    thinking_level: ThinkingLevel | None = None


class ModelPrices(_Section):
    """What a million tokens cost, `cached_input` those that the provider reads from its cache.

    `cache_write` is for those that it writes there, by default as much as for `input`.
    """

    input: Price
    cached_input: Price
    cache_write: Price | None = None
    output: Price
    currency: Annotated[str, Field(max_length=8)] = "$"


class ConfiguredModel(ModelSettings):
    """A model that a user may choose for a conversation. Nothing is asked for its `prices`."""

    prices: ModelPrices | None = None


class SummarizerSettings(_Section):
    """What writes summaries: `offline`, the model (`inherit`), or another model.

    When it fails, `fallbacks` are tried in order; `offline` is the last even when it is not listed. Each has
    `timeout_seconds`; what a model has written by then is used, and the rest is summarized offline.

    `split_turn`: the early part of a turn is summarized in the same request as what came before it, or in
    one of its own at the same time.
    """

    provider: SummarizerProvider = "inherit"
    base_url: str | None = None
    name: str | None = None
    api_key_env: str | None = None
    context_window: Tokens | None = None
    max_output_tokens: Tokens | None = None
    fallbacks: list[Literal["inherit", "editor", "offline"]] = ["offline"]
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 240
    split_turn: Literal["together", "separate"] = "together"


class RecallSettings(_Section):
    """`enabled` offers the model the tools that look up what was compacted, in the server's own turns."""

    enabled: bool = True


class McpSettings(_Section):
    """`other_workspaces` lets `coppice mcp` search the conversations of every workspace on request."""

    other_workspaces: bool = False


class AgentSettings(_Section):
    """`replace_summaries` lists the agents whose summaries are replaced, where they can be completed too."""

    replace_summaries: list[Literal["claude-code"]] = []


class TokenSettings(_Section):
    """`auto` is the tokenizer where it can be loaded, else the estimate."""

    counter: Literal["auto", "tiktoken", "estimate"] = "auto"


class ContextSettings(_Section):
    """What a model is sent. With `files_at_hand` a turn shows files that it works on after a compaction.

    With `notes` a conversation is shown the notes of its workspace, and with `note_tools` too a model that
    is offered tools in a turn of the server's can write some.
    """

    summary_role: Literal["user", "system"] = "user"
    files_at_hand: bool = True
    notes: bool = True
    note_tools: bool = True


class ToolMapping(_Section):
    """How a tool's arguments name files: `path` (and `from` for a rename) are argument names."""

    kind: Literal["read", "write", "delete", "rename"]
    path: str
    from_path: str | None = Field(default=None, alias="from")


class FileSettings(_Section):
    """`ignore` are patterns as in `.gitignore`; `tools` maps tool names to what they do to files."""

    count_open_as_read: bool = False
    ignore: Annotated[list[str], Field(max_length=MAX_IGNORE_PATTERNS)] = []
    tools: dict[str, ToolMapping] = {}


class OverflowSettings(_Section):
    """`phrases` are further texts of errors that mean an overflow, in any case."""

    phrases: list[str] = []


class HookSettings(_Section):
    """`model_timeout_seconds` is for a hook that announced that it asks a model; a summarizer has as long."""

    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10
    model_timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 240


class ApiKeySettings(_Section):
    """`allow` lists environment variables that a client may name in `api_key_env`, for any endpoint."""

    allow: list[str] = []


class SourceSettings(_Section):
    """Whose transcripts are followed. `folders` maps an agent to another folder than its own; with
    `forget_deleted` the conversation of a transcript that its agent deletes goes too.
    """

    agents: list[str] = [
        "claude-code", "codex", "pi", "copilot", "gemini", "qwen", "opencode", "hermes", "openclaw",
    ]  # fmt: skip
    folders: dict[str, str] = {}
    forget_deleted: bool = False


class StorageSettings(_Section):
    """A database server, or the folder of SQLite files; the default is the user's data directory."""

    url: str | None = None
    directory: str | None = None


class Settings(_Section):
    """All settings with their defaults; docs/settings.md describes each."""

    compaction: CompactionSettings = CompactionSettings()
    branch_summary: BranchSummarySettings = BranchSummarySettings()
    model: ModelSettings = ModelSettings()
    models: dict[ModelName, ConfiguredModel] = {}
    summarizer: SummarizerSettings = SummarizerSettings()
    recall: RecallSettings = RecallSettings()
    mcp: McpSettings = McpSettings()
    agents: AgentSettings = AgentSettings()
    tokens: TokenSettings = TokenSettings()
    context: ContextSettings = ContextSettings()
    files: FileSettings = FileSettings()
    overflow: OverflowSettings = OverflowSettings()
    hooks: HookSettings = HookSettings()
    api_keys: ApiKeySettings = ApiKeySettings()
    storage: StorageSettings = StorageSettings()
    sources: SourceSettings = SourceSettings()
    prompts: dict[str, str] = {}


def data_directory(settings: Settings) -> Path:
    """Where workspaces are stored unless `storage.url` names a server."""
    named = settings.storage.directory
    return Path(named).expanduser() if named else platformdirs.user_data_path("coppice") / "workspaces"
