"""The commands of a shell command line, without what starts them, and which of them succeeded."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from coppice.files.shell_scanner import Command, scanned

_MOST_CHARS: Final = 20_000
"""Characters of a command line that are read; the longest recorded one without a here-document has 9,000."""
_COMPLAINT: Final = re.compile(r"\bcd: |^fatal: ", re.MULTILINE)
_MOST_NESTED: Final = 3
"""Levels of `sh -c` that are opened."""
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_CONTROL: Final = frozenset(
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function"]
)
_HEADERS: Final = frozenset(["for", "case", "function"])
_WRAPPERS: Final[dict[str, int]] = dict.fromkeys(
    ["sudo", "env", "nice", "nohup", "command", "exec", "time", "stdbuf", "builtin", "!", "{"], 0
) | {"timeout": 1}
"""Programs that run the rest of their words, with how many words of their own come first."""
_SHELLS: Final = frozenset(["sh", "bash", "zsh", "dash"])
_SILENT: Final = frozenset(["cd", "export", "set", "source", "true", "sleep"])
_GIT_VALUES: Final = frozenset(["-c", "--git-dir", "--work-tree", "--namespace"])


@lru_cache(maxsize=2_048)
def commands_of(line: str, depth: int = 0) -> tuple[Command, ...]:
    """The simple commands of a command line in order. Linear in its length."""
    commands: list[Command] = []
    directory = ""
    parsed = scanned(line[:_MOST_CHARS])
    conditional = any(command.words[0] in _CONTROL for command in parsed)
    for number, each in enumerate(parsed):
        background = number + 1 < len(parsed) and parsed[number + 1].operator == "&"
        command = _unwrapped(replace(each, conditional=conditional or background or each.operator == "&"))
        if command is None:
            continue
        command = replace(command, directory=_joined(directory, command.directory))
        if command.program in _SHELLS and depth < _MOST_NESTED and (script := _script(command)):
            for place, nested in enumerate(commands_of(script, depth + 1)):
                operator = nested.operator if place else command.operator
                inside = _joined(command.directory, nested.directory)
                outer = nested.conditional or command.conditional
                commands.append(replace(nested, operator=operator, directory=inside, conditional=outer))
            continue
        commands.append(command)
        if command.program == "cd" and command.operands:
            directory = _joined(directory, command.operands[0])
    return tuple(commands)


def outcomes(commands: Sequence[Command], output: str = "", *, failed: bool) -> list[bool | None]:
    """For each command whether it succeeded, as far as the status of the whole line shows; else None.

    The status is that of the last list of commands joined by `&&` and `||`; of a pipeline, of its last
    command. In a list that failed the last command did, where those before it only prepare it and `output`
    has no word of theirs.
    """
    results: list[bool | None] = [None] * len(commands)
    if (
        commands
        and commands[0].program == "set"
        and any(word.startswith("-") and "e" in word for word in commands[0].arguments)
    ):
        commands = [
            replace(each, operator="&&" if each.operator == ";" else each.operator) for each in commands
        ]
    first = max((n for n, command in enumerate(commands) if command.operator in ("", ";", "&")), default=0)
    last_list = commands[first:]
    ends = [
        first + n
        for n in range(len(last_list))
        if n + 1 == len(last_list) or last_list[n + 1].operator != "|"
    ]
    operators = {command.operator for command in last_list[1:]} - {"|"}
    if "||" in operators:
        return results
    if failed and operators:
        prepared = all(_prepares(command) for command in last_list[:-1])
        if not prepared or _COMPLAINT.search(output):
            return results
        results[first : len(commands)] = [True] * len(last_list)
        ends = ends[-1:]
    for end in ends:
        if not commands[end].conditional:
            results[end] = not failed
    return results


def divided(commands: Sequence[Command], output: str) -> list[str]:
    """For each command what it printed: the only one that prints, or the only one between two `echo`."""
    parts = [""] * len(commands)
    printing, rest = list[int](), f"\n{output}\n"
    for number, command in enumerate(commands):
        if command.program == "echo" and command.operator != "|" and not command.writes:
            before, mark, rest = rest.partition(f"\n{' '.join(command.arguments)}\n")
            if not mark:
                return [""] * len(commands)
            if len(printing) == 1:
                parts[printing[0]] = before.strip("\n")
            printing, rest = [], f"\n{rest}"
        elif command.operator != "|" and command.program not in _SILENT:
            printing.append(number)
    if len(printing) == 1:
        parts[printing[0]] = rest.strip("\n")
    return parts


def _prepares(command: Command) -> bool:
    return command.program in ("cd", "export", "set", "source", "echo") or command.runs("git", "add")


def _script(command: Command) -> str:
    """The script of `sh -c SCRIPT`."""
    for place, word in enumerate(command.arguments):
        if word.startswith("-") and word.endswith("c") and not word.startswith("--"):
            return command.arguments[place + 1] if place + 1 < len(command.arguments) else ""
        if not word.startswith("-"):
            return ""
    return ""


def _joined(directory: str, path: str) -> str:
    if not path or path.startswith(("/", "~", "$")):
        return path or directory
    return f"{directory.rstrip('/')}/{path}" if directory else path


def _unwrapped(command: Command) -> Command | None:
    """`command` without assignments and wrappers; None where nothing is left."""
    words = list(command.words)
    while words:
        name = words[0].rpartition("/")[2]
        if _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif name in _HEADERS:
            return None
        elif name in _CONTROL or words[0] == "}":
            words = words[1:]
        elif name in _WRAPPERS:
            words = words[1:]
            while words and words[0].startswith("-"):
                words = words[1:]
            words = words[_WRAPPERS[name] :]
        else:
            break
    directory = command.directory
    if words and words[0].rpartition("/")[2] == "git":
        words, directory = _git(words)
    return replace(command, words=tuple(words), directory=directory) if words else None


def _git(words: list[str]) -> tuple[list[str], str]:
    """A git command without git's global options (https://git-scm.com/docs/git#_options), and its `-C`."""
    rest, directory = words[1:], ""
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C":
            directory = _joined(directory, rest[1]) if len(rest) > 1 else directory
        rest = rest[2 if rest[0] in ("-C", *_GIT_VALUES) else 1 :]
    return ["git", *rest], directory
