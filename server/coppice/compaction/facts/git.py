"""Commits and the branch, from git's commands and what they printed."""

import re
from collections.abc import Iterator
from typing import Final

from coppice.compaction.actions.action import Action, Run
from coppice.compaction.facts.git_files import GitFiles
from coppice.compaction.facts.git_output import (
    COMMITTED,
    PUSHED,
    branch_in,
    created_by,
    has_option,
    logged,
    message_of,
)
from coppice.compaction.facts.working_tree import WorkingTree, Workspace
from coppice.compaction.text.sentences import label, one_line
from coppice.files.shell_scanner import Command
from coppice.protocol.state import ChangedFile, Commit, WorkState

_MOST_COMMITS: Final = 200  # of a conversation; the recorded ones have at most 31
_SHORTEST: Final = 7
"""Digits of the shortest hash that git prints by itself (core.abbrev)."""
_UP: Final = re.compile(r"(?:HEAD|@)(?:~(?P<number>\d{0,3})|(?P<carets>\^{1,20}))$")
_NAMES_BRANCH: Final = ("checkout", "switch", "status", "commit", "branch", "stash")
_LIMITING: Final = (
    "--author", "--since", "--until", "--all", "--grep", "-S", "-G", "--merges", "--skip", "--graph",
)  # fmt: skip
_NOT_PUSHING: Final = frozenset(["--dry-run", "-n", "--delete", "-d", "--tags"])


class Git:
    """Brings commits, branch and the working tree up to date with each git command."""

    def __init__(self, state: WorkState, tree: WorkingTree, workspace: Workspace) -> None:
        self._state = state
        self._tree = tree
        self._workspace = workspace
        self._files = GitFiles(tree, workspace)
        self._taken: dict[str, list[ChangedFile]] = {}
        """The files that each commit took, by its subject; a reset gives them back."""

    def take(self, action: Action) -> None:
        """Takes in the git commands of `action`."""
        runs = [run for run in action.runs if run.command.program == "git" and run.command.operands]
        here = []
        for run in runs:
            is_here = self._workspace.path(".", run.command.directory) is not None
            if is_here:
                here.append(run)
                self._files.take(run, action)
            self._apply(run, action, is_here=is_here)
        if here:
            self._files.show(here, action)
        if any(run.command.operands[0] in _NAMES_BRANCH for run in here):
            named = branch_in(action)
            self._state.branch = self._state.branch if named is None else named

    def _apply(self, run: Run, action: Action, *, is_here: bool) -> None:
        match run.command.operands[0]:
            case "commit" | "revert" | "cherry-pick":
                self._commit(run, action, is_here=is_here)
            case "push":
                self._push(run, action)
            case "reset" if is_here and run.succeeded is not False:
                self._reset(run.command)
            case "rebase" if is_here and run.succeeded is not False:
                self._rebase(run.command)
            case "checkout" | "switch" if is_here:
                self._switch(run)
            case "branch" if is_here and {"-m", "-M", "--move"} & set(run.command.arguments):
                self._rename(run)
            case "branch" if is_here and "--show-current" in run.command.arguments:
                shown = run.output.split()
                self._state.branch = shown[0] if len(shown) == 1 else self._state.branch
            case "log" if is_here:
                self._log(run, action)
            case _:
                pass

    def _commit(self, run: Run, action: Action, *, is_here: bool) -> None:
        command, commits = run.command, self._state.commits
        subject, body = message_of(command)
        amends = "--amend" in command.arguments
        ours = {commit.hash for commit in commits}
        new = [line for line in COMMITTED.finditer(action.output) if line["hash"] not in ours]
        line = next((each for each in new if one_line(each["subject"]) == subject), next(iter(new), None))
        if line is None and not (
            run.succeeded and (subject or amends) and has_option(command, "q", "--quiet")
        ):
            if run.succeeded is None and command.runs("git", "commit") and is_here:
                self._tree.commit()  # whether it was made is not known, so neither is what is uncommitted
            return
        taken, created = list[ChangedFile](), list[ChangedFile]()
        if is_here and command.runs("git", "commit"):
            everything = has_option(command, "a", "--all")
            specs = self._files.specs(command) if "--" in command.arguments else []
            if line and self._workspace.path(".", command.directory) == ".":  # else from another folder
                created = list(self._created(line, action.entry))
            taken = self._tree.commit(specs, everything=everything)
        before = commits.pop() if amends and commits else Commit(subject=subject)
        commit = Commit(
            entry_id=action.entry,
            hash=line["hash"] if line else "",
            subject=label(line["subject"] if line else subject or before.subject),
            body=body or before.body,
            branch=(line["branch"] if line else self._state.branch).removeprefix("detached HEAD"),
            files=list(dict.fromkeys([*before.files, *(file.path for file in taken)])),
        )
        if is_here and line:
            self._state.branch = commit.branch
        earlier = self._taken.pop(before.subject, None)
        if amends and earlier is None:  # whether the commit had created what is deleted now is not known
            taken = [file for file in taken if file.kind != "deleted"]
        self._taken[commit.subject] = _merged([*(earlier or ()), *created, *taken])
        commits.append(commit)
        del commits[:-_MOST_COMMITS]

    def _created(self, commit: re.Match[str], entry: str) -> Iterator[ChangedFile]:
        """The files that a commit created, of those whose changes were seen."""
        for path in filter(None, map(self._workspace.path, created_by(commit))):
            if self._tree.followed(path):
                yield ChangedFile(entry_id=entry, path=path, kind="created")

    def _push(self, run: Run, action: Action) -> None:
        pushed = run.succeeded or (run.succeeded is None and PUSHED.search(action.output))
        if not pushed or _NOT_PUSHING & set(run.command.arguments):
            return
        named = {each.partition(":")[0] for each in run.command.operands[2:]}
        for commit in self._state.commits:
            if not named or "HEAD" in named or commit.branch in named:
                commit.pushed = True

    def _rename(self, run: Run) -> None:
        names = run.command.operands[1:]
        if run.succeeded is False or not names:
            return
        before = names[0] if names[1:] else self._state.branch
        for commit in self._state.commits:
            commit.branch = names[-1] if commit.branch == before else commit.branch
        self._state.branch = names[-1] if self._state.branch == before else self._state.branch

    def _rebase(self, command: Command) -> None:
        """New hashes, which its output does not show, for the commits of the branch; those of others stay."""
        others = command.operands[2 + ("--onto" in command.arguments) :]
        branch = "" if others or "--update-refs" in command.arguments else self._state.branch
        for commit in self._state.commits:
            if not branch or commit.branch in ("", branch):
                commit.hash = ""

    def _switch(self, run: Run) -> None:
        words, operands = run.command.arguments, run.command.operands[1:]
        if run.succeeded and operands and {"-b", "-B", "-c", "-C"} & set(words):
            self._state.branch = operands[0]
        elif "--detach" in words or (run.succeeded is None and "--" not in words):
            self._state.branch = ""

    def _reset(self, command: Command) -> None:
        target = next(iter(command.operands[1:]), "HEAD")
        hard, soft = "--hard" in command.arguments, "--soft" in command.arguments
        dropped = self._above(target)
        if hard:
            self._tree.reset_hard()
        elif not soft:
            self._tree.unstage(() if dropped or target == "HEAD" else self._files.specs(command))
        for commit in dropped:
            self._state.commits.remove(commit)
            for file in () if hard else self._taken.pop(commit.subject, ()):
                self._tree.bring_back(file, staged=soft)

    def _above(self, target: str) -> list[Commit]:
        """The conversation's commits that a reset to `target` leaves."""
        commits = self._state.commits
        if up := _UP.match(target):
            number = len(up["carets"] or "") or int(up["number"] or 1)
            return commits[-number:] if number else []
        names = [commit.hash[:_SHORTEST] for commit in commits]
        if target[:_SHORTEST] in names and len(target) >= _SHORTEST:
            return commits[names.index(target[:_SHORTEST]) + 1 :]
        base = self._state.base_commit[:_SHORTEST]
        return list(commits) if (base and target.startswith(base)) or "/" in target else []

    def _log(self, run: Run, action: Action) -> None:
        """Commits above the newest one that is known are new, by whoever made them."""
        words, state = run.command.arguments, self._state
        if run.piped or len(run.command.operands) > 1 or any(word.startswith(_LIMITING) for word in words):
            return
        listed = logged(action.output, one_line_each=bool({"--oneline", "--pretty=oneline"} & set(words)))
        by_subject = {commit.subject: commit for commit in state.commits}
        for digest, subject in listed:
            commit = by_subject.get(label(subject))
            if commit is not None and not (commit.hash and digest.startswith(commit.hash)):
                commit.hash = digest
        ours = {commit.hash[:_SHORTEST] for commit in state.commits if commit.hash}
        own_digests = ours | {state.base_commit[:_SHORTEST]} - {""}
        newest = next((n for n, (digest, _) in enumerate(listed) if digest[:_SHORTEST] in own_digests), None)
        for digest, subject in reversed(listed[:newest] if newest is not None else []):
            state.commits.append(Commit(entry_id=action.entry, hash=digest, subject=label(subject)))
        del state.commits[:-_MOST_COMMITS]
        if not state.base_commit:
            older = (digest for digest, _ in listed[newest or 0 :] if digest[:_SHORTEST] not in ours)
            state.base_commit = next(older, "")


def _merged(taken: list[ChangedFile]) -> list[ChangedFile]:
    """The change of each file that several changes make; none for one that was created and deleted."""
    first = {file.path: file.kind for file in reversed(taken)}
    last = {file.path: file for file in taken}
    files = []
    for path, file in last.items():
        if first[path] != "created" or file.kind != "deleted":
            kind = first[path] if first[path] == "created" else file.kind
            files.append(file.model_copy(update={"kind": kind}))
    return files
