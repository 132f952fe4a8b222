"""Shell commands: their stages, programs and arguments, and what is read from their outputs."""

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from coppice.compaction.text.sentences import clip, one_line
from coppice.compaction.words import any_of, raw

_LONGEST: Final = 8_000  # characters of a command that are parsed (guess)
_HEREDOC: Final = re.compile(r"<<-?\s?(['\"]?)([A-Za-z_]\w{0,40})\1")
_SEPARATED: Final = re.compile(
    r"(?:^\||(?<!\|)\|(?!\|))?(?:\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|>&|&>|[^;|&\n\"']|\"|')++", re.DOTALL
)
_REDIRECTION: Final = re.compile(r" ?(?:[0-9&]?>{1,2} ?(?:&[0-9]|/dev/null|\S{1,200})|< ?/dev/null)")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*$")
_WRAPPERS: Final = frozenset(["sudo", "time", "timeout", "nice", "nohup", "env", "command", "exec"])
_VALUED_OPTIONS: Final = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace"])
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{4,16}\b")
_CHECK: Final = re.compile(raw("CHECK"), re.IGNORECASE)
_TOKEN_PART: Final = re.compile(r"[A-Za-z0-9]+")
_FAILED_COUNT: Final = re.compile(any_of("FAILED_COUNT"), re.IGNORECASE)
_PASSED: Final = re.compile(raw("PASSED"), re.IGNORECASE)
_ERROR_LINE: Final = re.compile(
    r"[ \t]{0,12}(?:\d{1,3}\) |E {3}|\*\* \(|error\b|fatal:|panic|FAIL|Traceback"
    r"|[\w./@-]{1,200}\.\w{1,8}:\d+(?::\d+)?: (?!in )\S"
    r"|[\w.]{0,80}(?:Error|Exception)\b[: ](?!:))"
    r"|.{0,200}\berror(?:\[\w{1,12}\]| TS\d+)?:(?!:)"
    r"|.{0,200}(?:command not found|No such file|Permission denied)",
    re.IGNORECASE,
)
_CHATTER: Final = re.compile(
    r"\s{0,40}+(?:(?:Command exited with|Exit|exit) (?:code|status):? ?\d+|Traceback .{0,60}|[-=~^.*_ ]{2,}+"
    r"|<[/\w-]{1,40}>)\s*+$"
)


@dataclass(frozen=True, slots=True)
class Stage:
    """One command of a line: its text without redirections, and its words without the program's wrappers."""

    text: str
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        """The program's name without its folder; empty for an empty stage."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words after the program."""
        return self.words[1:]

    def runs(self, program: str, *subcommands: str) -> bool:
        """Whether it is `program` with one of `subcommands` as its first argument that is no flag."""
        plain = [word for word in self.arguments if not word.startswith("-")]
        return self.program == program and (not subcommands or (plain[:1] and plain[0] in subcommands))  # type: ignore[return-value]


@lru_cache(maxsize=4_096)
def stages_of(command: str) -> tuple[Stage, ...]:
    """The commands of a line in order, the first of each pipe; here-documents are left out."""
    text, _ = split_heredocs(command)
    parts = (part.strip() for part in _SEPARATED.findall(text))
    return tuple(stage for part in parts if part and part[0] not in "|#" and (stage := _stage(part)).words)


def split_heredocs(command: str) -> tuple[str, list[str]]:
    """`command` without the bodies of its here-documents, and those bodies, in order.

    A body without its end is left out as well, and is none: `<<` may also stand in a text or shift bits.
    """
    kept: list[str] = []
    bodies: list[str] = []
    body: list[str] = []
    marker = ""
    for line in command[:_LONGEST].splitlines():
        if marker and line.strip() == marker:
            bodies.append("\n".join(body))
            marker = ""
        elif marker:
            body.append(line)
        else:
            kept.append(line)
            if opened := _HEREDOC.search(line):
                marker, body = opened[2], []
    return "\n".join(kept), bodies


def is_check(stage: Stage) -> bool:
    """Whether the command's first words are those of a test, a build or a check."""
    if stage.program == "git":
        return False
    plain = [
        word for word in stage.words[:4] if not _ASSIGNMENT.match(word) and not set(word[1:]) & set(" /.")
    ]
    return any(_CHECK.fullmatch(part) for word in plain for part in _TOKEN_PART.findall(word[:80]))


def result_of(output: str) -> tuple[bool | None, str]:
    """Whether `output` reports that a run passed (None if neither that nor a failure), and that line."""
    passed, line = None, ""
    for raw_line in output.splitlines()[-400:]:
        text = raw_line[:300]
        if _FAILED_COUNT.search(text):
            return False, one_line(text)
        if (_PASSED.search(text) and any(char.isdigit() for char in text)) or "no issues" in text:
            passed, line = True, one_line(text)
    return passed, "" if line.startswith(("{", "[{")) else clip(line, 160)


def error_line(output: str, limit: int = 240) -> str:
    """The line of `output` that best describes what went wrong, without addresses of memory."""
    lines = [line for line in output.splitlines() if line.strip() and not _CHATTER.match(line[:200])]
    telling = next((line for line in lines if _ERROR_LINE.match(line[:400])), None)
    place = lines.index(telling) if telling is not None else len(lines) - 1
    text = one_line((lines[place] if lines else "")[: limit * 4])
    if len(text) < limit // 4 and telling is not None and place + 1 < len(lines):
        text = one_line(f"{text} {lines[place + 1][:limit]}")
    return clip(_ADDRESS.sub("0x…", text), limit)


def _stage(part: str) -> Stage:
    text = one_line(_REDIRECTION.sub(" ", one_line(part)))
    try:
        words = shlex.split(part)
    except ValueError:
        words = text.split()
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _WRAPPERS or words[0].isdigit()):
        words = words[1:]
    words = [word for word in words if not re.fullmatch(r"[0-9&]?>{1,2}&?\S{0,200}|2>&1|\)", word)]
    if words and words[0].rpartition("/")[2] == "git":
        words = [words[0], *_without_global_options(words[1:])]
    return Stage(text, tuple(words))


def _without_global_options(words: list[str]) -> list[str]:
    """The words from git's subcommand on (https://git-scm.com/docs/git#_options)."""
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUED_OPTIONS else 1 :]
    return words


_LOOKING: Final = re.compile(
    r"cat|head|tail|less|more|ls|dir|tree|find|fd|grep|egrep|rg|ag|sed|awk|wc|sort|uniq|cut|diff|file"
    r"|stat|which|type|echo|printf|pwd|env|printenv|ps|top|df|du|date|whoami|sleep|true|false|jq|yq|xxd"
    r"|cd|pushd|popd|export|set|source|wait|read|test|\[|for|while|if|do|done|then|fi|nl|id|uname|seq|tee"
    r"|xargs"
)
_LOOKING_AT: Final = re.compile(
    r"status|log|diff|show|branch|ls-files|blame|remote|rev-parse|view|list|ls|get|describe|logs|ps|info"
    r"|search"
)


def is_looking(stage: Stage) -> bool:
    """Whether the command only shows something, so that its failure is none."""
    return bool(_LOOKING.fullmatch(stage.program)) or any(map(_LOOKING_AT.fullmatch, stage.arguments[:2]))
