"""Shell commands: what a command line is at heart, and whether its output says that it worked."""

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coppice.compaction.facts.actions import Action, ActionKind, without_escapes
from coppice.compaction.facts.sentences import clip, one_line

_MAX_COMMAND_CHARS: Final = 4_000
_LOOKING: Final = frozenset(
    [
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "ls",
        "ll",
        "dir",
        "tree",
        "find",
        "fd",
        "grep",
        "rg",
        "ag",
        "ack",
        "sed",
        "awk",
        "wc",
        "sort",
        "uniq",
        "cut",
        "diff",
        "file",
        "stat",
        "which",
        "type",
        "echo",
        "printf",
        "pwd",
        "env",
        "printenv",
        "ps",
        "top",
        "df",
        "du",
        "date",
        "whoami",
        "sleep",
        "true",
        "jq",
        "yq",
        "xxd",
        "hexdump",
        "cd",
        "pushd",
        "popd",
        "export",
        "set",
        "source",
        "wait",
        "read",
        "test",
    ]
)
_LOOKING_PAIRS: Final = frozenset(
    [
        "git status",
        "git log",
        "git diff",
        "git show",
        "git branch",
        "git ls-files",
        "git blame",
        "git remote",
        "git stash list",
        "docker ps",
        "docker logs",
        "kubectl get",
        "kubectl logs",
        "kubectl describe",
        "gh pr",
        "gh issue",
        "gh run",
        "npm ls",
        "npm view",
        "pip show",
        "pip list",
        "bd show",
        "bd list",
        "bd ready",
    ]
)
_WITH_SUBCOMMAND: Final = frozenset(
    [
        "git",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "npx",
        "cargo",
        "go",
        "mix",
        "make",
        "docker",
        "kubectl",
        "gh",
        "uv",
        "pip",
        "pip3",
        "poetry",
        "python",
        "python3",
        "node",
        "ruby",
        "rails",
        "bundle",
        "rake",
        "gradle",
        "./gradlew",
        "mvn",
        "dotnet",
        "terraform",
        "ansible",
        "bd",
        "deno",
        "composer",
        "php",
        "artisan",
        "tox",
        "nox",
        "just",
        "task",
        "bazel",
        "swift",
        "flutter",
        "dart",
        "sbt",
        "lein",
        "stack",
        "cabal",
        "opam",
        "dune",
        "zig",
    ]
)
_SHELL_WORDS: Final = frozenset(
    [
        "for",
        "while",
        "until",
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "do",
        "done",
        "case",
        "esac",
        "{",
        "}",
        "(",
        ")",
        "[",
        "[[",
        "function",
        "in",
    ]
)
_RUNNERS: Final = frozenset(
    ["sudo", "time", "timeout", "nice", "nohup", "env", "command", "exec", "xvfb-run"]
)
_REDIRECTION: Final = re.compile(r"\s*(?:[0-9&]?>{1,2}\s*(?:&[0-9]|/dev/null|\S{1,200})|<\s*/dev/null)")
_SEPARATED: Final = re.compile(
    r"(?:^\||(?<!\|)\|(?!\|))?(?:\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|>&|&>|[^;|&\n\"']|\"|')++", re.DOTALL
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*$")
_FAILURE: Final = re.compile(
    r"^(?:"
    r"\s*(?:error|fatal|panic|FAILED|FAILURE|BUILD FAILED)(?:\[\w{1,20}\])?\b[ :!(]"
    r"|\s*[\w.]{0,80}(?:Error|Exception)\b(?::|$)"
    r"|Traceback \(most recent call last\)"
    r"|.{0,200}\berror(?: TS\d+)?:"
    r"|.{0,120}\b[1-9]\d{0,6} (?:failed|failures?|failing|errors?)\b"
    r"|.{0,200}(?:command not found|No such file or directory|Permission denied|Segmentation fault)"
    r"|(?:Command exited with code|Exit code:?|exit status|exited with) [1-9]\d{0,2}\b"
    r"|\*\* \(|E {3}|npm (?:ERR!|error)|make(?:\[\d+\])?: \*\*\*|== Compilation error"
    r")",
    re.MULTILINE,
)
_TELLING: Final = re.compile(
    r"\s*(?:E {3}|\*\* \(|error\b|fatal:|panic|[\w.]{0,80}(?:Error|Exception)\b[: ])"
    r"|.{0,200}\berror(?: TS\d+)?:"
    r"|.{0,120}\b[1-9]\d{0,6} (?:failed|failures?|failing|errors?)\b",
    re.IGNORECASE,
)
_CHATTER: Final = re.compile(
    r"\s*(?:Command exited with code|Exit code:?|exit status) \d+\s*$|\s*[-=~^.*_ ]{2,}\s*$"
)
_OUTCOME: Final = re.compile(
    r"^.{0,80}\b\d{1,7} (?:tests?|passed|passing|doctests?|examples?|specs?|assertions?)\b.{0,120}$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`text` is the command as typed, without directory changes and redirections, on one line.

    `family` is program and subcommand, `targets` the files and names it was aimed at. `looks` is true for a
    command that only shows something.
    """

    text: str
    family: str
    targets: frozenset[str]
    looks: bool


@lru_cache(maxsize=4_096)
def parse_command(command: str) -> CommandLine:
    """The last telling command of a line such as `cd x && make test 2>&1 | tail`."""
    short = command[:_MAX_COMMAND_CHARS]
    first_line = short.partition("<<")[0].strip() or short
    stages = [_stage(part) for part in split_command(first_line)] or [_stage(first_line)]
    telling = [stage for stage in stages if not stage.looks] or stages
    return telling[-1]


def split_command(command: str) -> list[str]:
    """The commands of a line, the first of each pipe; separators within quotes are text."""
    return [
        part for part in map(str.strip, _SEPARATED.findall(command[:_MAX_COMMAND_CHARS])) if part[:1] != "|"
    ]


def _stage(text: str) -> CommandLine:
    plain = one_line(_REDIRECTION.sub(" ", text))
    words = _words(plain)
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _RUNNERS or words[0].isdigit()):
        words = words[1:]
    if not words or words[0].startswith("#") or words[0] in _SHELL_WORDS:
        return CommandLine(plain, "", frozenset(), looks=True)
    program = words[0].rpartition("/")[2] if not words[0].startswith("./") else words[0]
    family, rest = _family(program, words[1:])
    targets = frozenset(word for word in rest if not word.startswith("-") and len(word) > 1)
    looks = program in _LOOKING or family in _LOOKING_PAIRS
    return CommandLine(plain, family, targets, looks)


def _family(program: str, rest: list[str]) -> tuple[str, list[str]]:
    """Program and subcommand, as in `git push`, `npm run check` and `python -m pytest`; and what follows."""
    if program not in _WITH_SUBCOMMAND:
        return program, rest
    if rest[:1] == ["-m"] and len(rest) > 1:
        return f"{program} -m {rest[1]}", rest[2:]
    while rest and rest[0].startswith("-"):
        rest = rest[1:]
    if rest[:1] in (["run"], ["exec"]) and len(rest) > 1:
        return f"{program} {rest[0]} {rest[1]}", rest[2:]
    return (f"{program} {rest[0]}", rest[1:]) if rest else (program, rest)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def has_failed(action: Action) -> bool:
    """Whether the result says so, or, for a command that does something, its output does."""
    if action.kind is not ActionKind.COMMAND or action.command is None:
        return action.failed
    if parse_command(action.command).looks:
        return False
    if action.failed:
        return True
    return bool(_FAILURE.search(without_escapes(action.output)))


def error_line(output: str, limit: int = 240) -> str:
    """The line of `output` that says most about what went wrong."""
    lines = [
        line
        for line in without_escapes(output).splitlines()
        if line.strip() and not _CHATTER.match(line[:200])
    ]
    telling = next((line for line in lines if _TELLING.match(line[:400])), None)
    return clip(one_line((telling or (lines[-1] if lines else ""))[: limit * 4]), limit)


def outcome_line(output: str) -> str:
    """The line in which a test run says how many tests passed; empty when there is none."""
    matches = _OUTCOME.findall(without_escapes(output)[-6_000:])
    return clip(one_line(matches[-1]), 100) if matches else ""
