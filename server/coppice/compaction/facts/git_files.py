"""Git's commands on the index and the working tree, and what a status shows of them."""

from collections.abc import Mapping

from coppice.compaction.actions.action import Action, Run
from coppice.compaction.facts.git_output import CLEAN, status_of
from coppice.compaction.facts.working_tree import WorkingTree, Workspace
from coppice.files.shell_scanner import Command
from coppice.protocol.state import ChangeKind


class GitFiles:
    """Brings the working tree up to date. A command that failed has changed nothing."""

    def __init__(self, tree: WorkingTree, workspace: Workspace) -> None:
        self._tree = tree
        self._workspace = workspace

    def take(self, run: Run, action: Action) -> None:
        """Takes in one git command of `action`."""
        command, flags = run.command, set(run.command.arguments)
        if not run.succeeded and action.failed:
            return
        match command.operands[0]:
            case "add":
                self._add(command, flags)
            case "restore":
                self._restore(command, flags)
            case "checkout" if "--" in flags or len(command.operands) > 1:
                specs = ["."] if "." in command.operands[1:] else self.specs(command)
                if "HEAD" in command.operands:
                    self._tree.unstage(specs)
                self._tree.restore(specs)
            case "stash" if "No local changes to save" not in action.output:
                self._stash(command, flags)
            case "rm" | "mv" if "--cached" not in flags:
                self._move_away(command, action.entry)
            case "clean" if not flags & {"-n", "--dry-run"}:
                self._tree.clean()
            case "worktree" | "clone" | "init":
                self._other_repository(command)
            case _:
                pass

    def show(self, runs: list[Run], action: Action) -> None:
        """Takes in the status that `action` printed; a commit and a stash print one too."""
        shown = [run for run in runs if run.command.operands[0] in ("status", "commit", "stash")]
        if not shown:
            return
        run = shown[-1]
        if CLEAN in action.output.splitlines():
            self._tree.clear()
            return
        statuses = list(status_of(action))
        listed, folders = self._listed(run.command, {name: kind for name, kind, _ in statuses})
        is_status = run.command.operands == ("status",)
        if (listed or folders) and not run.piped and (is_status or run.command.operands[0] != "status"):
            self._tree.show(listed, action.entry, folders)
            self._tree.stage(self._paths(run.command, tuple(name for name, _, staged in statuses if staged)))
        elif is_status and run.succeeded and not run.piped and not action.output.strip():
            self._tree.clear()

    def _listed(
        self, command: Command, named: Mapping[str, ChangeKind]
    ) -> tuple[dict[str, ChangeKind], list[str]]:
        listed, folders = dict[str, ChangeKind](), list[str]()
        for name, kind in named.items():
            path = self._workspace.path(name, command.directory)
            if path and name.endswith("/"):
                folders.append(path)
            elif path:
                listed[path] = kind
        return listed, folders

    def specs(self, command: Command) -> list[str]:
        """The paths of a command: its operands after the subcommand, or after `--`."""
        words = command.arguments
        return self._paths(command, words[words.index("--") + 1 :] if "--" in words else command.operands[1:])

    def _paths(self, command: Command, words: tuple[str, ...]) -> list[str]:
        paths = (self._workspace.path(word, command.directory) for word in words)
        return [path for path in paths if path is not None]

    def _add(self, command: Command, flags: set[str]) -> None:
        specs = self.specs(command)
        tracked_only = bool(flags & {"-u", "--update"})
        everything = "." in specs or (not specs and bool(flags & {"-A", "--all", "-u", "--update"}))
        self._tree.stage(specs, everything=everything, tracked_only=tracked_only)

    def _other_repository(self, command: Command) -> None:
        place = 2 if command.operands[:2] == ("worktree", "add") else len(command.operands) - 1
        if place > 0 and (command.operands[0] != "worktree" or command.operands[1:2] == ("add",)):
            self._workspace.foreign.update(self._paths(command, command.operands[place : place + 1]))

    def _restore(self, command: Command, flags: set[str]) -> None:
        staged = bool(flags & {"--staged", "-S"})
        if staged:
            self._tree.unstage(self.specs(command))
        if not staged or flags & {"--worktree", "-W"}:
            self._tree.restore(self.specs(command))

    def _move_away(self, command: Command, entry: str) -> None:
        paths = self.specs(command)
        if command.operands[0] == "rm":
            for path in paths:
                self._tree.delete(path, entry, tracked="." in path.rpartition("/")[2])
        elif len(paths) == 2:  # noqa: PLR2004 - the old name and the new one
            self._tree.rename(paths[0], paths[1], entry, tracked=True)
        self._tree.stage(paths)

    def _stash(self, command: Command, flags: set[str]) -> None:
        match command.operands[1:2]:
            case () | ("push",) | ("save",):
                self._tree.stash(untracked=bool(flags & {"-u", "--include-untracked", "-a"}))
            case ("pop",):
                self._tree.unstash()
            case ("apply",):
                self._tree.unstash(keep=True)
            case ("drop",):
                self._tree.drop_stash()
            case _:
                pass
