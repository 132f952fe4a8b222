"""The command `coppice`: its subcommands and options. Each is implemented in the module that it imports.

What a command needs is imported when it runs, so that `coppice --version` and a wrong word answer at once.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from coppice import __version__
from coppice.cli import options
from coppice.cli.exits import COPY_EXIT_CODES, EXIT_CODES, ExitCode
from coppice.cli.terminal import prepare_streams, print_error, silence_stdout

app = typer.Typer(
    name="coppice",
    help="Stores an agent's conversations and compacts them into summaries.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; see `EXIT_CODES`."""
    prepare_streams()
    try:
        code = app(args=arguments, prog_name="coppice", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        print_error(f"coppice: {error.format_message().rstrip('.')}. See `coppice --help`.")
        code = error.exit_code
    except BrokenPipeError:
        silence_stdout()
        code = ExitCode.OK
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    raise SystemExit(code)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if wanted:
        typer.echo(f"coppice {__version__}")
        raise typer.Exit


@app.callback()
def _coppice(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar=options.FLAG, callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    del version


@app.command(
    add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def serve(arguments: typer.Context) -> None:
    """Run the language server for one client, on standard streams or a socket."""
    from coppice.lsp.__main__ import main as serve_client

    raise typer.Exit(serve_client(arguments.args))


@app.command(epilog=EXIT_CODES)
def compact(
    source: options.Source,
    leaf: options.Leaf = None,
    keep_recent: options.KeepRecent = None,
    reserve: options.Reserve = None,
    max_summary: options.MaxSummary = None,
    window: options.Window = None,
    counter: options.Counter = None,
    model: options.Model = None,
    base_url: options.BaseUrl = None,
    api_key_env: options.ApiKeyEnv = None,
    instructions: options.Instructions = None,
    dry_run: options.DryRun = False,
    output: options.Output = None,
    format_: options.OutputFormatName = None,
    force: options.Force = False,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Replace the older part of a conversation by a summary, and show what the model then sees.

    A session file itself is never written: --output writes the result.
    A stored conversation is compacted in its store.
    """
    from coppice.cli.compact import CompactCommand, Sizes, Writer
    from coppice.cli.running import run

    command = CompactCommand(
        source=source,
        workspace=workspace,
        leaf=leaf,
        sizes=Sizes(keep_recent, reserve, max_summary, window, counter),
        writer=Writer(model, base_url, api_key_env),
        instructions=instructions,
        dry_run=dry_run,
        output=output,
        format=format_,
        force=force,
        as_json=as_json,
    )
    raise typer.Exit(run(command, as_json=as_json))


@app.command(epilog=EXIT_CODES)
def context(
    source: options.Source,
    format_: options.ContextFormatName = "text",
    leaf: options.Leaf = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Show what a model sees of a conversation."""
    from coppice.cli.context import ContextCommand
    from coppice.cli.running import run

    command = ContextCommand(source, workspace, format_, leaf, as_json)
    raise typer.Exit(run(command, as_json=as_json))


@app.command(epilog=EXIT_CODES)
def ledger(
    source: options.Source,
    leaf: options.Leaf = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Show the facts about a conversation's work: requests, commits, open problems, tasks, decisions."""
    from coppice.cli.ledger import LedgerCommand
    from coppice.cli.running import run

    raise typer.Exit(run(LedgerCommand(source, workspace, leaf, as_json), as_json=as_json))


@app.command(epilog=EXIT_CODES)
def tree(
    source: options.Source,
    mode: options.TreeMode = "branches",
    limit: options.Limit = 200,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Draw a conversation's tree. A filled dot is on the current path."""
    from coppice.cli.running import run
    from coppice.cli.tree import TreeCommand

    raise typer.Exit(run(TreeCommand(source, workspace, mode, limit, as_json), as_json=as_json))


@app.command(epilog=EXIT_CODES)
def navigate(
    conversation: options.StoredConversation,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The entry to go to; `coppice tree` shows ids.")
    ],
    summarize: Annotated[
        bool,
        typer.Option(
            "--summarize",
            metavar=options.FLAG,
            help="Add a summary of this branch to the branch that is entered.",
        ),
    ] = False,
    instructions: options.Instructions = None,
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name the summary, or the target if there is none.")
    ] = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview",
            metavar=options.FLAG,
            help="Show the entries that would leave the path, and change nothing.",
        ),
    ] = False,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Go to another entry of a conversation's tree.

    If the entry is a user message, its parent becomes the leaf,
    and the message's text is printed, to be edited and sent again.
    """
    from coppice.cli.navigate import NavigateCommand
    from coppice.cli.running import run

    command = NavigateCommand(
        source=conversation,
        target=target,
        workspace=workspace,
        summarize=summarize,
        instructions=instructions,
        label=label,
        preview=preview,
        as_json=as_json,
    )
    raise typer.Exit(run(command, as_json=as_json))


@app.command("list", epilog=EXIT_CODES)
def list_(
    workspace: options.Workspace = None,
    everywhere: options.Everywhere = False,
    limit: options.Limit = 50,
    as_json: options.Json = False,
) -> None:
    """List stored conversations, newest first."""
    from coppice.cli.conversations import ListCommand
    from coppice.cli.running import run

    raise typer.Exit(run(ListCommand(workspace, everywhere, limit, as_json), as_json=as_json))


@app.command("import", epilog=EXIT_CODES)
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A session file, or - for standard input.")],
    format_: options.ImportFormatName = "auto",
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Store a session as a new conversation. What could not be imported is listed on standard error."""
    from coppice.cli.conversations import ImportCommand
    from coppice.cli.running import run

    raise typer.Exit(run(ImportCommand(file, workspace, format_, as_json), as_json=as_json))


@app.command(epilog=EXIT_CODES)
def export(
    source: options.Source,
    format_: options.ExportFormatName,
    output: options.Output = None,
    force: options.Force = False,
    workspace: options.Workspace = None,
) -> None:
    """Write a conversation, by default to standard output."""
    from coppice.cli.conversations import ExportCommand
    from coppice.cli.running import run

    raise typer.Exit(run(ExportCommand(source, format_, workspace, output, force)))


@app.command(epilog=EXIT_CODES)
def search(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help='Words that all occur; "quoted" ones adjacent. The last also matches as a prefix.',
        ),
    ],
    workspace: options.Workspace = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Search this conversation only.")
    ] = None,
    limit: options.HitLimit = 50,
    as_json: options.Json = False,
) -> None:
    """Search all branches of the workspace's conversations, newest first."""
    from coppice.cli.running import run
    from coppice.cli.search import SearchCommand

    command = SearchCommand(query, workspace, conversation, limit, as_json)
    raise typer.Exit(run(command, as_json=as_json))


history = typer.Typer(
    help="Search and read the entries of a conversation, including those that a summary has replaced.",
    no_args_is_help=True,
)
app.add_typer(history, name="history")


@history.command("search", epilog=EXIT_CODES)
def history_search(
    source: options.Source,
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="In your own words, or names, or errors.")],
    scope: options.HistoryScope = "conversation",
    max_tokens: options.MaxTokens = 4000,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Give the exact text of what answers a question best."""
    from coppice.cli.history import HistoryCommand
    from coppice.cli.running import run

    command = HistoryCommand(source, query, (), scope, max_tokens, cursor, workspace, as_json)
    raise typer.Exit(run(command, as_json=as_json))


@history.command("read", epilog=EXIT_CODES)
def history_read(
    source: options.Source,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="Ids of entries, as a search gives them.")
    ],
    max_tokens: options.MaxTokens = 4000,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Give entries by their ids, whole."""
    from coppice.cli.history import HistoryCommand
    from coppice.cli.running import run

    command = HistoryCommand(source, None, tuple(ids), "conversation", max_tokens, cursor, workspace, as_json)
    raise typer.Exit(run(command, as_json=as_json))


@app.command(epilog=COPY_EXIT_CODES)
def copy(
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="URL|DIR",
            help="A storage URL, or a folder of stores.",
            show_default="the store of the settings",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL|DIR",
            help="A storage URL, or a folder of stores.",
            show_default="the store of the settings",
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(metavar="DIR|URI", help="Only this workspace.", show_default="every workspace"),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Copy conversations from one store to another, each as a whole.

    One that is there already is compared and never changed, so the command
    can be given again. A password is better kept in the settings or in
    ~/.pgpass than on the command line.
    """
    from coppice.cli.copy import CopyCommand
    from coppice.cli.running import run

    raise typer.Exit(run(CopyCommand(source, target, workspace, as_json), as_json=as_json))


@app.command(epilog=EXIT_CODES)
def doctor(
    workspace: options.Workspace = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", metavar=options.FLAG, help="Replace each damaged store by what can be read of it."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Check the store, the settings and the tokenizer, and report what is wrong and what to do."""
    from coppice.cli.doctor import DoctorCommand
    from coppice.cli.running import run

    raise typer.Exit(run(DoctorCommand(workspace, as_json, repair), as_json=as_json))


if __name__ == "__main__":
    main()
