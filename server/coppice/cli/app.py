"""The command `coppice`: what can be typed. Each command's work stands in the file of its name.

What a command needs is imported when it runs, so that `coppice --version` and a wrong word answer at once.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from coppice import __version__
from coppice.cli import options
from coppice.cli.exits import COPY_EXIT_CODES, EXIT_CODES, SERVE_EXIT_CODES, ExitCode
from coppice.cli.terminal import prepare_streams, say, silence_stdout

app = typer.Typer(
    name="coppice",
    help="Keeps an agent's conversations, and cuts old growth back into a summary.",
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
        say(f"coppice: {error.format_message().rstrip('.')}. See `coppice --help`.")
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


@app.command(epilog=SERVE_EXIT_CODES)
def serve(
    stdio: Annotated[bool, typer.Option("--stdio", help="Standard input and output; the default.")] = False,
    tcp: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="A loopback address; port 0 picks a free one.")
    ] = None,
) -> None:
    """Run the language server for one client."""
    if tcp is not None and stdio:
        raise _usage("--stdio and --tcp exclude each other")
    from coppice.lsp.serve import serve_stdio, serve_tcp

    if tcp is None:
        raise typer.Exit(serve_stdio())
    host, _, port = tcp.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise _usage("--tcp takes HOST:PORT, 127.0.0.1:0 for instance")
    raise typer.Exit(serve_tcp(host, int(port)))


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

    A session file itself is never written: --output writes the result. A stored conversation is compacted
    in its store.
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
        bool, typer.Option("--summarize", help="Tell the branch that is entered what this one did.")
    ] = False,
    instructions: options.Instructions = None,
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name the summary, or the target where there is none.")
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show what would be left, and change nothing.")
    ] = False,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> None:
    """Go to another place of a conversation's tree.

    At a person's message the conversation comes to stand before it, and its text is shown, to be edited and
    sent again.
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
    """Store a session as a new conversation. What could not be taken over is told on standard error."""
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
            help='Words that all occur; "quoted" ones side by side. The last may be a beginning.',
        ),
    ],
    workspace: options.Workspace = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Search this conversation only.")
    ] = None,
    limit: options.Limit = 50,
    as_json: options.Json = False,
) -> None:
    """Find what was said on any branch of the workspace's conversations, newest first."""
    from coppice.cli.running import run
    from coppice.cli.search import SearchCommand

    command = SearchCommand(query, workspace, conversation, limit, as_json)
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

    One that is there already is compared and never changed, so the command can be given again. A password
    is better kept in the settings or in ~/.pgpass than on the command line.
    """
    from coppice.cli.copy import CopyCommand
    from coppice.cli.running import run

    raise typer.Exit(run(CopyCommand(source, target, workspace, as_json), as_json=as_json))


@app.command(epilog=EXIT_CODES)
def doctor(workspace: options.Workspace = None, as_json: options.Json = False) -> None:
    """Check the store, the settings and the tokenizer, and say what to do about what is wrong."""
    from coppice.cli.doctor import DoctorCommand
    from coppice.cli.running import run

    raise typer.Exit(run(DoctorCommand(workspace, as_json), as_json=as_json))


def _usage(message: str) -> typer.BadParameter:
    return typer.BadParameter(message)


if __name__ == "__main__":
    main()
