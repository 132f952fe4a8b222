"""The command `coppice`: its subcommands. Each is implemented in the module that it imports.

What a command needs is imported when it runs, so that `coppice --version` and a wrong word answer at once.
"""

import sys
from collections.abc import Awaitable, Sequence
from typing import Final

import typer

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


_PASSED_ON: Final = {"allow_extra_args": True, "ignore_unknown_options": True}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code; see `EXIT_CODES`."""
    prepare_streams()
    try:
        code = app(args=arguments, prog_name="coppice", standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        # Without a message the help itself was printed.
        if message := error.format_message().rstrip("."):
            context: typer.Context | None = getattr(error, "ctx", None)
            command = context.command_path if context else "coppice"
            print_error(f"coppice: {message}. See `{command} --help`.")
        code = error.exit_code
    except BrokenPipeError:
        silence_stdout()
        code = ExitCode.OK
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    raise SystemExit(code)


def _run(command: Awaitable[ExitCode | None], *, as_json: bool = False) -> int:
    from coppice.cli.running import run

    return run(command, as_json=as_json)


@app.callback()
def _coppice(version: options.Version = False) -> None:
    del version


@app.command(add_help_option=False, context_settings=_PASSED_ON)
def serve(arguments: typer.Context) -> None:
    """Run the language server for one client, on standard input and output."""
    from coppice.lsp.__main__ import main as serve_client

    serve_client(arguments.args)


@app.command(add_help_option=False, context_settings=_PASSED_ON)
def mcp(arguments: typer.Context) -> int:
    """Serve the history of this project's conversations to an agent, as an MCP server."""
    from coppice.mcp.__main__ import main as serve_client

    return serve_client(arguments.args)


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
    no_references: options.NoReferences = False,
    dry_run: options.DryRun = False,
    output: options.Output = None,
    format_: options.OutputFormatName = None,
    force: options.Force = False,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Replace the older part of a conversation by a summary, and show what the model then sees.

    A session file itself is never written: --output writes the result.
    A stored conversation is compacted in its store.
    """
    from coppice.cli.compact import CompactCommand

    command = CompactCommand(
        source=source,
        workspace=workspace,
        leaf=leaf,
        keep_recent=keep_recent,
        reserve=reserve,
        max_summary=max_summary,
        window=window,
        counter=counter,
        model=model,
        base_url=base_url,
        api_key_env=api_key_env,
        instructions=instructions,
        references=False if no_references else None,
        dry_run=dry_run,
        output=output,
        format=format_,
        force=force,
        as_json=as_json,
    )
    return _run(command.execute(), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def context(
    source: options.Source,
    format_: options.ContextFormatName = "text",
    leaf: options.Leaf = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Show what a model sees of a conversation."""
    from coppice.cli.printing import show_context

    return _run(show_context(source, workspace, format_, leaf, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def ledger(
    source: options.Source,
    leaf: options.Leaf = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Show the facts about a conversation's work: requests, commits, open problems, tasks, decisions."""
    from coppice.cli.printing import show_ledger

    return _run(show_ledger(source, workspace, leaf, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def tree(
    source: options.Source,
    mode: options.TreeMode = "branches",
    limit: options.Limit = 200,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Draw a conversation's tree. A filled dot is on the current path."""
    from coppice.cli.tree import show_tree

    return _run(show_tree(source, workspace, mode, limit, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def navigate(
    conversation: options.StoredConversation,
    target: options.Target,
    summarize: options.Summarize = False,
    instructions: options.Instructions = None,
    label: options.Label = None,
    preview: options.Preview = False,
    dry_run: options.DryRun = False,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Go to another entry of a conversation's tree.

    If the entry is a user message, its parent becomes the leaf,
    and the message's text is printed, to be edited and sent again.
    """
    from coppice.cli.navigate import navigate_tree

    command = navigate_tree(
        conversation,
        target,
        workspace,
        summarize=summarize,
        instructions=instructions,
        label=label,
        preview=preview,
        dry_run=dry_run,
        as_json=as_json,
    )
    return _run(command, as_json=as_json)


@app.command("list", epilog=EXIT_CODES)
def list_(
    workspace: options.Workspace = None,
    everywhere: options.Everywhere = False,
    limit: options.Limit = 50,
    as_json: options.Json = False,
) -> int:
    """List stored conversations, newest first."""
    from coppice.cli.conversations import list_conversations

    command = list_conversations(workspace, limit, everywhere=everywhere, as_json=as_json)
    return _run(command, as_json=as_json)


@app.command("import", epilog=EXIT_CODES)
def import_(
    file: options.SessionFile,
    format_: options.ImportFormatName = "auto",
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Store a session as a new conversation. What could not be imported is listed on standard error.

    However long it takes, Ctrl-C stops it, and nothing is stored then.
    """
    from coppice.cli.conversations import import_session

    return _run(import_session(file, workspace, format_, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def sources(
    update: options.Update = False,
    everywhere: options.EveryWorkspace = False,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """List the agents that have transcripts on this machine, this workspace's first.

    With --update what is new in the transcripts of this workspace is stored.
    The transcripts themselves are only read.
    """
    from coppice.cli.agent_sources import show_sources

    command = show_sources(workspace, update=update, everywhere=everywhere, as_json=as_json)
    return _run(command, as_json=as_json)


@app.command(epilog=EXIT_CODES)
def connect(
    agents: options.Agents = None,
    remove: options.Remove = False,
    dry_run: options.ShowOnly = False,
    everything: options.AllAgents = False,
    agents_md: options.AgentsMd = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
) -> int:
    """Give agents the tools that search their history: Claude Code, Codex, Pi and others.

    Without names it asks for each that is installed.
    Only your own configuration files are changed, and a backup of each is kept.
    """
    from coppice.cli.connect import Wanted, connect_agents

    wanted = Wanted(remove=remove, dry_run=dry_run, everything=everything, agents_md=agents_md, yes=yes)
    return _run(connect_agents(agents or [], wanted, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def status(workspace: options.Workspace = None, as_json: options.Json = False) -> int:
    """Show which agents are connected, how far their transcripts are read, and their last compactions."""
    from coppice.cli.agent_status import show_status

    return _run(show_status(workspace, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def forget(
    conversation: options.Forgotten = None,
    agent: options.OfAgent = None,
    everything: options.Everything = False,
    yes: options.Yes = False,
    as_json: options.Json = False,
) -> int:
    """Delete a conversation, or all that was stored of an agent's transcripts, from index and disk too.

    What is forgotten is not read again; the agent's own files stay.
    """
    from coppice.cli.conversations import forget_conversations

    command = forget_conversations(conversation, agent, everything=everything, yes=yes, as_json=as_json)
    return _run(command, as_json=as_json)


@app.command(epilog=EXIT_CODES)
def export(
    source: options.Source,
    format_: options.ExportFormatName,
    output: options.Output = None,
    force: options.Force = False,
    workspace: options.Workspace = None,
) -> int:
    """Write a conversation, by default to standard output."""
    from coppice.cli.conversations import export_conversation

    return _run(export_conversation(source, workspace, format_, output, force=force))


@app.command(epilog=EXIT_CODES)
def search(
    query: options.Query,
    workspace: options.Workspace = None,
    conversation: options.OneConversation = None,
    limit: options.HitLimit = 50,
    as_json: options.Json = False,
) -> int:
    """Search all branches of the workspace's conversations, newest first."""
    from coppice.cli.printing import search_conversations

    return _run(search_conversations(query, workspace, conversation, limit, as_json=as_json), as_json=as_json)


history = typer.Typer(
    help="Search and read the entries of a conversation, including those that a summary has replaced.",
    no_args_is_help=True,
)
app.add_typer(history, name="history")


@history.command("search", epilog=EXIT_CODES)
def history_search(
    source: options.Source,
    query: options.Question,
    scope: options.HistoryScope = "conversation",
    max_tokens: options.MaxTokens = 4000,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Give the exact text of what answers a question best."""
    from coppice.cli.printing import show_history

    command = show_history(
        source, workspace, query=query, scope=scope, max_tokens=max_tokens, cursor=cursor, as_json=as_json
    )
    return _run(command, as_json=as_json)


@history.command("read", epilog=EXIT_CODES)
def history_read(
    source: options.Source,
    ids: options.EntryIds,
    max_tokens: options.MaxTokens = 4000,
    cursor: options.Cursor = None,
    workspace: options.Workspace = None,
    as_json: options.Json = False,
) -> int:
    """Give entries by their ids, whole."""
    from coppice.cli.printing import show_history

    command = show_history(source, workspace, ids=ids, max_tokens=max_tokens, cursor=cursor, as_json=as_json)
    return _run(command, as_json=as_json)


@app.command(epilog=COPY_EXIT_CODES)
def copy(
    source: options.From = None,
    target: options.To = None,
    workspace: options.CopiedWorkspace = None,
    as_json: options.Json = False,
) -> int:
    """Copy conversations from one store to another, each as a whole.

    One that is there already is compared and never changed, so the command
    can be given again. A password is better kept in the settings or in
    ~/.pgpass than on the command line.
    """
    from coppice.cli.copy import copy_conversations
    from coppice.cli.running import run

    return run(copy_conversations(source, target, workspace, as_json=as_json), as_json=as_json)


@app.command(epilog=EXIT_CODES)
def doctor(
    workspace: options.Workspace = None,
    repair: options.Repair = False,
    as_json: options.Json = False,
) -> int:
    """Check the store, the settings and the tokenizer, and report what is wrong and what to do."""
    from coppice.cli.doctor import diagnose

    return _run(diagnose(workspace, repair=repair, as_json=as_json), as_json=as_json)


if __name__ == "__main__":
    main()
