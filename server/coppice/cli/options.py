"""The arguments and options of the commands."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from coppice import __version__
from coppice.formats.registry import EXPORT_NAMES, IMPORT_NAMES, READABLE_TITLES

_PAGE: Final = re.compile(r"\d{1,9}:\d{1,9}")
_MOST_HITS: Final = 1000  # hits; the limit of `coppice/conversation/search`
_MOST_TOKENS: Final = 100_000_000  # tokens; the limit of the settings, which are slow to import


def _flag(name: str, help_: str, **more: Any) -> Any:
    """An option without a value: with an empty `metavar` the help shows no `<bool>` after it."""
    return typer.Option(name, metavar="", help=help_, **more)


def _tokens(help_: str) -> Any:
    return typer.Option(min=1, max=_MOST_TOKENS, metavar="N", help=help_)


def _at_most(most: int) -> Any:
    return typer.Option("--limit", "-n", min=1, max=most, metavar="N", help="At most so many.")


def _place(name: str) -> Any:
    return typer.Option(
        name,
        metavar="URL|DIR",
        help="A storage URL, or a folder of stores.",
        show_default="the store of the settings",
    )


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if wanted:
        typer.echo(f"coppice {__version__}")
        raise typer.Exit


def _checked_cursor(page: str | None) -> str | None:
    if page is not None and not _PAGE.fullmatch(page):
        raise typer.BadParameter(f"{page!r} is not a page that an answer named")
    return page


Version = Annotated[bool, _flag("--version", "Show the version.", callback=_show_version, is_eager=True)]

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
SessionFile = Annotated[str, typer.Argument(metavar="FILE", help="A session file, or - for standard input.")]
Target = Annotated[
    str, typer.Argument(metavar="TARGET", help="The entry to go to; `coppice tree` shows ids.")
]
Query = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help='Words that all occur; "quoted" ones adjacent. The last also matches as a prefix.',
    ),
]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="In your own words, or names, or errors.")]
EntryIds = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Ids of entries, as a search gives them.")
]

Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", metavar="DIR", help="The workspace's folder.", show_default="this folder"),
]
CopiedWorkspace = Annotated[
    str | None,
    typer.Option(
        "--workspace", metavar="DIR|URI", help="Only this workspace.", show_default="every workspace"
    ),
]
From = Annotated[str | None, _place("--from")]
To = Annotated[str | None, _place("--to")]
Everywhere = Annotated[bool, _flag("--all", "The conversations of every workspace.")]
Update = Annotated[bool, _flag("--update", "Store what is new in the transcripts.")]
EveryWorkspace = Annotated[bool, _flag("--all", "Update the transcripts of every workspace.")]
Forgotten = Annotated[
    str | None,
    typer.Argument(
        metavar="[ID]", help="A stored conversation, or the beginning of its id.", show_default=False
    ),
]
OfAgent = Annotated[
    str | None, typer.Option("--source", metavar="AGENT", help="All that was stored of this agent.")
]
Everything = Annotated[bool, _flag("--all", "All that was stored of all agents.")]
Yes = Annotated[bool, _flag("--yes", "Do not ask.")]
Agents = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT…]",
        help="claude-code, codex, pi, opencode, copilot, gemini, hermes, openclaw.",
        show_default=False,
    ),
]
Remove = Annotated[bool, _flag("--remove", "Take out what was added.")]
ShowOnly = Annotated[bool, _flag("--dry-run", "Show what would be changed, and write nothing.")]
AgentsMd = Annotated[
    bool,
    _flag("--agents-md", "Add to Codex' own AGENTS.md, in your home, when to search the history; it asks."),
]
AllAgents = Annotated[bool, _flag("--all", "All that are installed, without a question.")]
OneConversation = Annotated[
    str | None, typer.Option("--conversation", metavar="ID", help="Search this conversation only.")
]
Leaf = Annotated[
    str | None,
    typer.Option("--leaf", metavar="ID", help="The path to this entry instead of the session's leaf."),
]
Json = Annotated[bool, _flag("--json", "One JSON object on standard output.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")]
Force = Annotated[bool, _flag("--force", "Replace the output file if it exists.")]
Limit = Annotated[int, _at_most(1_000_000)]
HitLimit = Annotated[int, _at_most(_MOST_HITS)]
Repair = Annotated[bool, _flag("--repair", "Replace each damaged store by what can be read of it.")]

HistoryScope = Annotated[
    Literal["path", "conversation", "workspace"],
    typer.Option("--scope", help="The current path, all branches, or all conversations of the workspace."),
]
MaxTokens = Annotated[
    int, typer.Option("--max-tokens", min=50, max=100_000, metavar="N", help="Tokens of one page at most.")
]
Cursor = Annotated[
    str | None,
    typer.Option("--cursor", metavar="PAGE", help="The next page, as named.", callback=_checked_cursor),
]
TreeMode = Annotated[
    Literal["branches", "all"],
    typer.Option(help="`branches` folds what does not branch into one line, `all` lists every entry."),
]

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER/NAME",
        help="Who writes the summary: openai/NAME (any compatible endpoint), openai-responses/NAME,"
        " anthropic/NAME, gemini/NAME, or offline.",
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
DryRun = Annotated[bool, _flag("--dry-run", "Show what would happen and store nothing.")]
NoReferences = Annotated[
    bool, _flag("--no-references", "Name no entries in the summary, for who cannot read them by their ids.")
]
KeepRecent = Annotated[int | None, _tokens("Tokens of the newest messages that stay as they are.")]
Reserve = Annotated[int | None, _tokens("Tokens kept free for the model's answer.")]
MaxSummary = Annotated[int | None, _tokens("Tokens the summary may have.")]
Window = Annotated[int | None, _tokens("The model's context window in tokens.")]
Counter = Annotated[
    Literal["auto", "tiktoken", "estimate"] | None, typer.Option(help="How tokens are counted.")
]

Summarize = Annotated[
    bool, _flag("--summarize", "Add a summary of this branch to the branch that is entered.")
]
Label = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name the summary, or the target if there is none.")
]
Preview = Annotated[
    bool, _flag("--preview", "Show the entries that would leave the path, and change nothing.")
]

if TYPE_CHECKING:
    _ImportName = str
    _ExportName = str
else:
    _ImportName = Literal[IMPORT_NAMES]
    _ExportName = Literal[EXPORT_NAMES]

ContextFormatName = Annotated[
    Literal["entries", "openai", "anthropic", "text"],
    typer.Option("--format", help="The form the messages come in."),
]
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
