"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from coppice.formats.registry import EXPORT_NAMES, IMPORT_NAMES, READABLE_TITLES

FLAG: Final = ""
"""The `metavar` of an option that takes no value; the help would show `<bool>` after it."""

_MOST_HITS: Final = 1000  # hits; the limit of `coppice/conversation/search`

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help=f"A session file ({READABLE_TITLES}), - for standard input, or the id of a stored conversation "
        "or its beginning.",
        show_default=False,
    ),
]
StoredConversation = Annotated[
    str,
    typer.Argument(
        metavar="CONVERSATION",
        help="The id of a stored conversation, or its beginning; `coppice list` shows them.",
    ),
]
Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", metavar="DIR", help="The workspace's folder.", show_default="this folder"),
]
Leaf = Annotated[
    str | None,
    typer.Option("--leaf", metavar="ID", help="The path to this entry instead of the session's leaf."),
]
Json = Annotated[bool, typer.Option("--json", metavar=FLAG, help="One JSON object on standard output.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")]
Force = Annotated[bool, typer.Option("--force", metavar=FLAG, help="Replace the output file if it exists.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER/NAME",
        help="Who writes the summary: openai/NAME (any compatible endpoint), anthropic/NAME, or offline.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="The model's endpoint; ends in /v1 for openai."),
]
ApiKeyEnv = Annotated[
    str | None,
    typer.Option(
        "--api-key-env", metavar="NAME", help="The environment variable that holds the model's key."
    ),
]
Instructions = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What the summary should pay attention to.")
]
HistoryScope = Annotated[
    Literal["path", "conversation", "workspace"],
    typer.Option("--scope", help="The current path, all branches, or all conversations of the workspace."),
]
MaxTokens = Annotated[
    int, typer.Option("--max-tokens", min=50, max=100_000, metavar="N", help="Tokens of one page at most.")
]
Cursor = Annotated[str | None, typer.Option("--cursor", metavar="PAGE", help="The next page, as named.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", metavar=FLAG, help="Show what would happen and store nothing.")
]
Limit = Annotated[
    int, typer.Option("--limit", "-n", min=1, max=1_000_000, metavar="N", help="At most so many.")
]
HitLimit = Annotated[
    int, typer.Option("--limit", "-n", min=1, max=_MOST_HITS, metavar="N", help="At most so many.")
]
Everywhere = Annotated[
    bool, typer.Option("--all", metavar=FLAG, help="The conversations of every workspace.")
]

_MOST: int = 100_000_000  # tokens; the settings' own limit
KeepRecent = Annotated[
    int | None,
    typer.Option(min=1, max=_MOST, metavar="N", help="Tokens of the newest messages that stay as they are."),
]
Reserve = Annotated[
    int | None, typer.Option(min=1, max=_MOST, metavar="N", help="Tokens kept free for the model's answer.")
]
MaxSummary = Annotated[
    int | None, typer.Option(min=1, max=_MOST, metavar="N", help="Tokens the summary may have.")
]
Window = Annotated[
    int | None, typer.Option(min=1, max=_MOST, metavar="N", help="The model's context window in tokens.")
]

CounterName = Literal["auto", "tiktoken", "estimate"]
Counter = Annotated[CounterName | None, typer.Option(help="How tokens are counted.")]
TreeMode = Annotated[
    Literal["branches", "all"],
    typer.Option(help="`branches` folds what does not branch into one line, `all` lists every entry."),
]
ContextFormatName = Annotated[
    Literal["entries", "openai", "anthropic", "text"],
    typer.Option("--format", help="The form the messages come in."),
]
if TYPE_CHECKING:
    _ImportName = str
    _ExportName = str
else:
    _ImportName = Literal[IMPORT_NAMES]
    _ExportName = Literal[EXPORT_NAMES]

ImportFormatName = Annotated[_ImportName, typer.Option("--format", help="The session's format.")]
ExportFormatName = Annotated[_ExportName, typer.Option("--format", help="The form it is written in.")]
OutputFormatName = Annotated[
    _ExportName | None,
    typer.Option(
        "--format",
        help="The form --output is written in; by default by its name: .md is Markdown, .pi.jsonl Pi's, "
        "any other the session's own or Coppice's.",
    ),
]
