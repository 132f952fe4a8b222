"""A conversation as one text, for whoever summarizes it or reads it."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from coppice.compaction.span.speakers import HARNESS, TOOL, speaker_of, spoken_in_result
from coppice.escapes import WRITTEN_SEQUENCE, without_sequences
from coppice.protocol.history import HISTORY_TOOLS
from coppice.tokens.measuring import compact_json
from coppice.tree.authorship import authorship, runs
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryRoleMessage,
    CompactionSummaryRoleMessage,
    CustomRoleMessage,
    DeveloperMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.tags import CLOSING, OPENING, escape_tags, imitations_of, place_in, seen
from coppice.tree.view import BRANCH_PREAMBLE, SUMMARY_PREAMBLE, bash_text

LOOKED_UP: Final = "(Earlier entries, looked up again; they are in the history.)"
RESULT_CHARS: Final = 2_000  # characters of a tool result (Pi: `TOOL_RESULT_MAX_CHARS`)
TAIL_SHARE: Final = 0.4  # share of them taken from the end (guess)
_SPEAKERS: Final = (
    "user",
    "human",
    "assistant",
    "developer",
    "system",
    "tool",
    "harness",
    "memory",
    "extension",
)
_LINE_ENDS: Final = "\r\n\v\f\x1c-\x1e\x85\u2028\u2029"
_BLANKS: Final = r" \t\x1f\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""White space within a line: it ends none."""
_MARK: Final = "\\"
_OPENING: Final = f"[{re.escape(OPENING)}]"
_BRACKET: Final = re.compile(_OPENING)
_CLOSING: Final = f"[{re.escape(CLOSING)}]"
_BLANK: Final = rf"[{_BLANKS}]*+"
_MARKED: Final = rf"[{_BLANKS}*_`~]*+"
_LINE_BEGINS: Final = re.compile(
    rf"(?:\A|(?<=[{_LINE_ENDS}]))(?:[-{_BLANKS}*_#>`~|+•·‣]|\d{{1,3}}[.)]|{WRITTEN_SEQUENCE})*+\Z"
)
"""The beginning of a line up to a speaker, where blanks, marks of Markdown and colours are all there is."""


@cache
def _speaker() -> re.Pattern[str]:
    """The bracket before what is read as a speaker. Compiled when it is first needed, as tags are.

    A text is searched fast for the few characters that it is.
    """
    firsts = "|".join(imitations_of(speaker[0]) for speaker in _SPEAKERS)
    return re.compile(
        rf"{_OPENING}(?={_BLANK}(?={firsts})(?:{'|'.join(map(imitations_of, _SPEAKERS))})(?![A-Za-z0-9_])"
        rf"[^\]\r\n.]{{0,30}}{_CLOSING}{_MARKED}[:：﹕︰∶ː˸꞉])"
    )


def _with_marks(text: str) -> str:
    """`text` with a mark before each beginning of a line that is read as the beginning of a message, and
    without escape sequences.
    """
    text = without_sequences(text)
    if not _BRACKET.search(text):
        return text
    shown, cuts = seen(text)
    parts, done, since = list[str](), 0, 0
    for speaker in _speaker().finditer(shown):
        line = _LINE_BEGINS.search(shown, since, speaker.start())
        since = speaker.start()
        if line is not None:
            start = place_in(cuts, line.start() - 1) + 1 if line.start() else 0
            parts += text[done:start], _MARK
            done = start
    return "".join([*parts, text[done:]])


def serialize(messages: Iterable[Message], result_chars: int | None = RESULT_CHARS) -> str:
    """The transcript, unable to close a tag of ours that it is put between."""
    return escape_tags(transcript(messages, result_chars))


def transcript(messages: Iterable[Message], result_chars: int | None = None) -> str:
    """Messages as `[User]: …` and the like, separated by blank lines.

    A line of content that begins like a speaker's, `[User]:` in a tool's output for instance, gets a
    backslash before it, so that nobody speaks in another's name. What a harness or an extension wrote with
    the role of the user is not the user's, nor is what an application put into a message of theirs. Images
    appear as a placeholder.

    Tool results longer than `result_chars` keep head and tail, since errors are at the end, and those of
    the history tools are left out, since they are in the history. None keeps them all whole.
    """
    return "\n\n".join(part for message in messages for part in _parts(message, result_chars))


def shorten(text: str, limit: int, *, tail: float = TAIL_SHARE) -> str:
    """`text` in at most about `limit` characters: its head, how much is left out, its tail.

    `tail` is the tail's share of the limit.
    """
    if len(text) <= limit:
        return text
    last = int(limit * tail)
    first = limit - last
    left_out = len(text) - limit
    return f"{text[:first]}\n[… {left_out} characters left out …]\n{text[len(text) - last :]}"


def _parts(message: Message, result_chars: int | None) -> Iterator[str]:
    for speaker, content in _contents(message, result_chars):
        yield f"[{speaker}]: {_with_marks(content)}"


def _contents(message: Message, result_chars: int | None) -> Iterator[tuple[str, str]]:
    match message:
        case UserMessage():
            yield from _user(message)
        case CustomRoleMessage():
            yield speaker_of(message), _content(message.content)
        case BashExecutionMessage():
            if not message.exclude_from_context:
                output = message.output if result_chars is None else shorten(message.output, result_chars)
                yield "User", bash_text(message.model_copy(update={"output": output}))
        case BranchSummaryRoleMessage():
            yield speaker_of(message), f"{BRANCH_PREAMBLE}\n\n{message.summary}"
        case CompactionSummaryRoleMessage():
            yield speaker_of(message), f"{SUMMARY_PREAMBLE}\n\n{message.summary}"
        case AssistantMessage():
            yield from _reply(message)
        case ToolResultMessage() if result_chars is not None and message.tool_name in HISTORY_TOOLS:
            yield TOOL, LOOKED_UP
        case ToolResultMessage():
            speaker, text = spoken_in_result(message, _content(message.content))
            yield (
                speaker,
                shorten(text, result_chars) if speaker == TOOL and result_chars is not None else text,
            )
        case DeveloperMessage() | SystemMessage():
            yield "Developer", text_of(message.content)


def _user(message: UserMessage) -> Iterator[tuple[str, str]]:
    """A message of which an application put in a part has several speakers."""
    text = _content(message.content)
    stretches = [*runs(text, authorship(_texts(message.content)))]
    if len(stretches) < 2:  # noqa: PLR2004 - one has no other next to it
        yield speaker_of(message), text
        return
    for is_added, stretch in stretches:
        yield HARNESS if is_added else "User", stretch.strip()


def _reply(message: AssistantMessage) -> Iterator[tuple[str, str]]:
    thinking = "\n".join(block.thinking for block in message.content if isinstance(block, ThinkingContent))
    if thinking:
        yield "Assistant thinking", thinking
    content = "\n".join(block.text for block in message.content if isinstance(block, TextContent))
    if content.strip():
        yield "Assistant", content
    calls = []
    for call in message.tool_calls:
        arguments = ", ".join(f"{name}={_argument(value)}" for name, value in call.arguments.items())
        calls.append(f"{call.name}({arguments})")
    if calls:
        yield "Assistant tool calls", "; ".join(calls)


def _argument(value: object) -> str:
    """A text of several lines as it is, between quotes; else JSON."""
    return f'"""{value}"""' if isinstance(value, str) and "\n" in value else compact_json(value)


def _content(content: str | list[TextContent | ImageContent]) -> str:
    return "\n".join(_texts(content))


def _texts(content: str | list[TextContent | ImageContent]) -> list[str]:
    if isinstance(content, str):
        return [content]
    return ["[image]" if isinstance(block, ImageContent) else block.text for block in content]
