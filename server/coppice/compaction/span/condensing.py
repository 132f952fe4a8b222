"""A span with its less important texts shortened, so that the room goes to the others.

What a later message repeats or replaces is shortened first: results of calls that were made again, lines of
an output that a later one has, the old side of edits, reminders and catalogues that a harness sends, lines of
progress. What the user wrote, the assistant's words and the brief, a document that the user pointed to, stay
whole. Of outputs the end stays, where errors are.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from coppice.compaction.actions.action import OLD_NAMES, Action, action_of
from coppice.compaction.facts.documents import names_of, shows_document
from coppice.compaction.facts.runners import is_basic
from coppice.compaction.span.outputs import LaterLines, decoded, without_progress
from coppice.compaction.span.serialization import LOOKED_UP, RESULT_CHARS, TAIL_SHARE, shorten
from coppice.compaction.span.speakers import HARNESS, TOOL, speaker_of, spoken_in_result
from coppice.protocol.history import HISTORY_TOOLS
from coppice.tree.authorship import written_by_user
from coppice.tree.messages import (
    AssistantMessage,
    BashExecutionMessage,
    CustomRoleMessage,
    DeveloperMessage,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)

BRIEF_CHARS: Final = 40_000
"""Characters of a brief that are shown: 10,000 tokens, of the longest issue of those seen."""
_REPLACED_SHARE: Final = 0.2
"""Of a result's characters, for one whose call was made again later (guess)."""
_HARNESS_CHARS: Final = 1_000
"""Characters of a harness's text: of 35 recorded ones notifications and modes have at most 966, catalogues of
tools and permissions 1,842 and more."""
_INSTRUCTION_CHARS: Final = 8_000  # characters of a developer message: a longer one is a harness's manual
_OLD_CHARS: Final = 160  # characters of the old side of an edit: where it was; 41 % of 236 are shorter
_NEW_SHARE: Final = 2
"""Of a result's characters, for another argument: what was written is not seen elsewhere. At 4,000 characters
99 % of 2,216 recorded ones are whole."""
_OUTPUT_TAIL: Final = 0.7
"""Of an output's characters, for its end: a failure is reported there (guess)."""
_LEAST_REPEATED: Final = 200
"""Characters of a text that is named instead of repeated: of 326 repeated outputs, the shorter ones hold 15 %
of the characters."""
_REPEATED: Final = "[As before.]"
_OLD: Final = frozenset({*OLD_NAMES, "old", "oldStr", "old_text"})
_COMMANDS: Final = frozenset({"command", "cmd", "script"})
_PATCH_MARKS: Final = ("@@", "*** Begin Patch")
_REMOVED: Final = re.compile(r"(?m)(?:^-(?!-- ).*\n){4,}")
_REMINDER: Final = re.compile(
    r"<system-reminder>((?:(?!</?system-reminder>).)*+)</system-reminder>", re.DOTALL
)


@dataclass(slots=True)
class _Seen:
    """What is known of a span before its messages are shortened.

    `last` is the place of each call's newest result, by the call's name and arguments; `briefs` are the ids
    of calls that read what the user pointed to; `outputs` are the places of the results of those that did
    neither that nor read or change files; `texts` are those that were shown so far.
    """

    calls: dict[str, ToolCall] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    briefs: set[str] = field(default_factory=set)
    outputs: set[int] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def repeats(self, text: str) -> bool:
        """Whether a long text was shown before; it counts as shown from now on."""
        if len(text) < _LEAST_REPEATED:
            return False
        before = len(self.texts)
        self.texts.add(text)
        return len(self.texts) == before


def condensed(messages: Sequence[Message], result_chars: int = RESULT_CHARS) -> list[Message]:
    """`messages`, one for one, with their less important texts shortened. CPU-bound, linear.

    `result_chars` bounds a tool's result that is none of the others. A mark may be for an output of another
    request, where the span is shown in several.
    """
    seen = _seen(messages)
    shown = [_condensed(message, place, seen, result_chars) for place, message in enumerate(messages)]
    later = LaterLines()
    for place, message in reversed(list(enumerate(shown))):
        if isinstance(message, ToolResultMessage) and place in seen.outputs:
            text = later.fitted(text_of(message.content), *_limits(message, place, seen, result_chars))
            shown[place] = message.model_copy(update={"content": [TextContent(text=text)]})
    return shown


def _seen(messages: Iterable[Message]) -> _Seen:
    seen = _Seen()
    named: set[str] = set()
    signatures: dict[str, str] = {}
    for place, message in enumerate(messages):
        match message:
            case UserMessage() if speaker_of(message) != HARNESS:
                named = names_of(written_by_user(message.content)) or named
            case AssistantMessage():
                for call in message.tool_calls:
                    seen.calls[call.id] = call
                    signatures[call.id] = f"{call.name} {call.arguments_json}"
            case ToolResultMessage(tool_call_id=call_id) if call_id in signatures:
                seen.last[signatures[call_id]] = place
                action = action_of("", seen.calls[call_id], "", is_error=message.is_error)
                text = text_of(message.content)
                if shows_document(action, named) and decoded(text)[:1] not in ("{", "["):
                    seen.briefs.add(call_id)
                elif spoken_in_result(message, text)[0] == TOOL and not _is_about_files(action):
                    seen.outputs.add(place)
            case _:
                pass
    return seen


def _is_about_files(action: Action) -> bool:
    """Whether it reads or changes files: a tool for that, or commands that do nothing but look at them or
    handle them.
    """
    only_basic = bool(action.runs) and all(is_basic(run.command.program) for run in action.runs)
    return only_basic or bool(action.touches)


def _condensed(message: Message, place: int, seen: _Seen, result_chars: int) -> Message:
    match message:
        case AssistantMessage() if message.tool_calls:
            blocks = [
                _call(block, _NEW_SHARE * result_chars) if isinstance(block, ToolCall) else block
                for block in message.content
            ]
            return message.model_copy(update={"content": blocks})
        case ToolResultMessage():
            text = _result(message, place, seen, result_chars)
            return message.model_copy(update={"content": [TextContent(text=text)]})
        case BashExecutionMessage():
            output = shorten(without_progress(message.output), result_chars, tail=_OUTPUT_TAIL)
            return message.model_copy(update={"output": output})
        case UserMessage() | CustomRoleMessage() if speaker_of(message) != "User":
            chars = _HARNESS_CHARS if speaker_of(message) == HARNESS else _INSTRUCTION_CHARS
            return _instruction(message, seen, chars)
        case DeveloperMessage() | SystemMessage():
            return _instruction(message, seen, _INSTRUCTION_CHARS)
        case _:
            return message


def _instruction(
    message: UserMessage | CustomRoleMessage | DeveloperMessage | SystemMessage, seen: _Seen, chars: int
) -> Message:
    text = text_of(message.content)
    shown = _REPEATED if seen.repeats(text) else shorten(text, chars)
    return message if shown == text else message.model_copy(update={"content": shown})


def _call(call: ToolCall, new_chars: int) -> ToolCall:
    shown = {name: _argument(name, value, new_chars) for name, value in call.arguments.items()}
    return call.model_copy(update={"arguments": shown})


def _argument(name: str, value: Any, new_chars: int) -> Any:
    """An argument, and what it holds: edits are lists of objects with an old and a new side."""
    if isinstance(value, str):
        if name in _OLD:
            return shorten(value, _OLD_CHARS)
        is_patch = any(mark in value for mark in _PATCH_MARKS)
        return shorten(_REMOVED.sub(_removed, value) if is_patch else value, new_chars)
    if isinstance(value, list):
        return [
            {
                key: _argument(key, each, new_chars) if isinstance(each, str) else each
                for key, each in item.items()
            }
            if isinstance(item, dict)
            else item
            for item in value
        ]
    return value


def _removed(match: re.Match[str]) -> str:
    lines = match[0].splitlines()
    return f"{lines[0]}\n[… {len(lines) - 2} removed lines …]\n{lines[-1]}\n"


def _result(message: ToolResultMessage, place: int, seen: _Seen, result_chars: int) -> str:
    if message.tool_name in HISTORY_TOOLS:
        return LOOKED_UP
    text = _without_repeated_reminders(
        "\n".join("[image]" if isinstance(block, ImageContent) else block.text for block in message.content),
        seen,
    )
    chars, tail = _limits(message, place, seen, result_chars)
    text = decoded(text)
    if tail == _OUTPUT_TAIL:
        text = without_progress(text)
    return text if place in seen.outputs else shorten(text, chars, tail=tail)


def _limits(message: ToolResultMessage, place: int, seen: _Seen, result_chars: int) -> tuple[int, float]:
    """How many characters of a result are shown, and which share of them from its end."""
    call = seen.calls.get(message.tool_call_id)
    is_output = message.is_error or (call is not None and not _COMMANDS.isdisjoint(call.arguments))
    tail = _OUTPUT_TAIL if is_output else TAIL_SHARE
    if call is not None and seen.last.get(f"{call.name} {call.arguments_json}", place) != place:
        return int(_REPLACED_SHARE * result_chars), tail
    if message.tool_call_id in seen.briefs:
        return BRIEF_CHARS, TAIL_SHARE
    return result_chars, tail


def _without_repeated_reminders(text: str, seen: _Seen) -> str:
    if "<system-reminder>" not in text:
        return text

    def shown(match: re.Match[str]) -> str:
        if match[1] in seen.texts:
            return ""
        seen.texts.add(match[1])
        return match[0]

    return _REMINDER.sub(shown, text)
