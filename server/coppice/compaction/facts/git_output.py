"""What git prints, read: https://git-scm.com/docs/git-commit, git-log, git-status."""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from coppice.compaction.actions.action import Action
from coppice.compaction.text.sentences import clip, one_line
from coppice.files.shell_scanner import Command
from coppice.protocol.state import ChangeKind

_BODY_CHARS: Final = 600
"""Characters of a commit's body that are stored; recorded ones have 400 at the median."""
COMMITTED: Final = re.compile(
    r"^\[(?P<branch>detached HEAD|[^\]\s]{1,200})(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\]"
    r" (?P<subject>.{1,400})$",
    re.MULTILINE,
)
CLEAN: Final = "nothing to commit, working tree clean"
PUSHED: Final = re.compile(r"^ [ *+] ?\S.{0,200} -> \S{1,200}$|^Everything up-to-date$", re.MULTILINE)
_ONE_LINE: Final = re.compile(
    r"^(?:\* )?(?P<hash>[0-9a-f]{7,40}) (?:\([^)\n]{1,400}\) )?(?P<subject>\S.{0,400})$", re.MULTILINE
)
_LOGGED: Final = re.compile(
    r"^commit (?P<hash>[0-9a-f]{40})(?: \([^)\n]{1,400}\))?\n(?:\w[\w-]{0,20}: .{0,400}\n){1,8}\n"
    r" {4}(?P<subject>\S.{0,400})$",
    re.MULTILINE,
)
_BRANCH: Final = re.compile(
    r"^(?:HEAD detached (?:at|from) |## HEAD \(no branch\)|Note: switching to '|\[detached HEAD "
    r"|(?:On branch |Switched to (?:a new )?branch '|## |Already on ')"
    r"(?P<branch>[^\s'.]{1,200}(?:\.(?!\.)[^\s'.]{1,200})*))",
    re.MULTILINE,
)
_LONG_STATUS: Final = re.compile(
    r"^\t(?:(?P<kind>modified|new file|deleted|renamed|typechange|both \w{5,8}|\w{5,7} by \w{2,4}): {1,12})?"
    r"(?P<path>\S.{0,1000})$"
)
_SECTIONS: Final = ("Changes to be committed:", "Changes not staged", "Untracked files:", "Unmerged paths:")
_SHORT_STATUS: Final = re.compile(r"^(?P<code>[ MADRCUT?]{2}) (?P<path>\S.{0,1000})$", re.MULTILINE)
_CREATED: Final = " create mode "
_TRAILER: Final = re.compile(r"[A-Z][\w-]{1,60}: \S")
_KINDS: Final[dict[str, ChangeKind]] = {
    "new file": "created", "?": "created", "A": "created", "deleted": "deleted", "D": "deleted",
    "renamed": "renamed", "R": "renamed",
}  # fmt: skip


def branch_in(action: Action) -> str | None:
    """The branch that an action's output names last as the current one; empty for none, None where it names
    none. `## ` begins headings too: it is read of a short status, where nothing else prints.
    """
    short = _only_git(action) and any(run.command.runs("git", "status") for run in action.runs)
    lines = (line for line in _BRANCH.finditer(action.output) if short or not line[0].startswith("## "))
    return next((line["branch"] or "" for line in list(lines)[::-1]), None)


def _only_git(action: Action) -> bool:
    return {run.command.program for run in action.runs} <= {"git", "cd", "echo"}


def logged(output: str, *, one_line_each: bool) -> list[tuple[str, str]]:
    """Hash and subject of each commit of a log, the newest first."""
    matches = (_ONE_LINE if one_line_each else _LOGGED).finditer(output)
    return [(match["hash"], match["subject"].strip()) for match in matches]


def created_by(commit: re.Match[str]) -> Iterator[str]:
    """The files that a commit, a match of `COMMITTED`, says it created: in the lines right after it."""
    after = commit.string[commit.end() + 1 :].splitlines()
    for line in takewhile(lambda line: line.startswith(" "), after):
        if line.startswith(_CREATED):
            yield line.removeprefix(_CREATED).partition(" ")[2].strip('"')


def status_of(action: Action) -> Iterator[tuple[str, ChangeKind, bool]]:
    """Path and kind of each file in a status, and whether it is in the index; a new folder ends in `/`.

    Lines of the short form are read only where nothing else in the action prints such lines.
    """
    if "\n\t" in action.output:
        section = ""
        for line in action.output.splitlines():
            if line.strip() and not line.startswith(("\t", "  (")):
                section = line if line.startswith(_SECTIONS) else ""
            if section and (match := _LONG_STATUS.match(line)):
                kind = _KINDS.get(match["kind"] or "new file", "changed")
                for path, each in _names(match["path"], kind):
                    yield path, each, section.startswith(_SECTIONS[0])
        return
    if not _only_git(action) or any(run.command.runs("git", "diff", "show") for run in action.runs):
        return
    for match in _SHORT_STATUS.finditer(action.output):
        code = match["code"]
        if code.strip():
            kind = _KINDS.get(code.strip()[0], "changed")
            for path, each in _names(match["path"], kind):
                yield path, each, code[1] == " "


def _names(listed: str, kind: ChangeKind) -> Iterator[tuple[str, ChangeKind]]:
    """The paths of a listed file, whose old name is gone; git puts unusual ones in quotation marks."""
    old, arrow, new = listed.rpartition(" -> ")
    if arrow and kind == "renamed":
        yield old.strip('"'), "deleted"
    yield new.strip('"'), kind


def message_of(command: Command) -> tuple[str, str]:
    """Subject and body of a `git commit`, from its options or its here-document; without trailers."""
    texts, words = list[str](), command.arguments
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--message" or re.fullmatch(r"-[a-zA-Z]{0,8}m", word):
            texts.append(following)
        elif word.startswith("--message="):
            texts.append(word.partition("=")[2])
        elif re.fullmatch(r"-m.+", word, re.DOTALL):
            texts.append(word[2:])
    lines = "\n\n".join(texts or command.documents[:1]).strip().splitlines()
    body = "\n".join(line for line in lines[1:] if not _TRAILER.match(line)).strip()
    return (one_line(lines[0]) if lines else ""), clip(body, _BODY_CHARS)


def has_option(command: Command, letter: str, name: str) -> bool:
    """Whether `command` has the option `--name`, or `letter` alone or among other short options."""
    return any(
        word == name or (word.startswith("-") and word[1:].isalpha() and word.islower() and letter in word)
        for word in command.arguments
    )
