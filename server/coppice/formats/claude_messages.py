"""Claude Code's messages in our terms."""

import json
from collections.abc import Sequence
from typing import Any, Final

from coppice.formats.answers import answered, answers_by, chosen, of_questions
from coppice.formats.claude_harness import Author, authors_of, command_line
from coppice.formats.lines import object_at, objects_at, text_at
from coppice.tree.messages import (
    DENIED,
    AssistantContent,
    AssistantMessage,
    ImageContent,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    present,
    text_of,
)

UNKNOWN_TOOL: Final = "unknown"

_ASKING_TOOL: Final = "AskUserQuestion"
_SERVER_TOOL: Final = "mcp__"
"""How tools of MCP servers are named: what such a server reports as an error is the result, word for word. An
error of any other tool begins with words of Claude Code's own, "Exit code 1" for instance."""
_ONLY_NOTES: Final = "(notes only)"  # in place of an answer
_DENIALS: Final = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
)

_STOP_REASONS: Final[dict[str, StopReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
    "refusal": "error",
}
_USAGE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """A message's content as blocks; what is no block is left out."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects_at(message, "content")


def tool_results_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a user message that answer tool calls."""
    return [block for block in blocks_of(message) if block.get("type") == "tool_result"]


def assistant_message(parts: Sequence[dict[str, Any]]) -> AssistantMessage:
    """The reply whose streamed parts were recorded as `parts`, oldest first.

    Blocks are joined in order; model, usage and stop reason are those of the last part that has them.
    """
    messages = [part["message"] for part in parts]
    content = [_assistant_block(block) for message in messages for block in blocks_of(message)]
    model = _last(messages, "model")
    failed = model == "<synthetic>" or any(part.get("isApiErrorMessage") for part in parts)
    stop_reason = "error" if failed else _stop_reason(_last(messages, "stop_reason"), content)
    response_id = _last(messages, "id")
    optional = present(
        usage=next((usage for message in reversed(messages) if (usage := _usage(message))), None),
        model=model if isinstance(model, str) else None,
        error_message=text_of(content) if failed else None,
        responseId=response_id if isinstance(response_id, str) else None,
    )
    return AssistantMessage(content=content, provider="anthropic", stop_reason=stop_reason, **optional)


def authors_in(value: dict[str, Any]) -> tuple[Author, ...]:
    """Who wrote what a user record holds beside tool results; the harness comes first."""
    message = value["message"]
    written = _written_by(value)
    if written:
        return tuple(author for author in ("harness", "user") if any(each == author for each, _ in written))
    return () if tool_results_of(message) else ("user",)


def part_of(value: dict[str, Any], author: Author) -> str | list[UserContent]:
    """What `author` wrote in a user record, without tool results."""
    content = value["message"].get("content")
    if isinstance(content, str):
        return (command_line(content) or content) if author == "user" else content
    blocks = [_user_block(block) for each, block in _written_by(value) if each == author]
    return [_typed(block) for block in blocks] if author == "user" else blocks


def _written_by(value: dict[str, Any]) -> list[tuple[Author, dict[str, Any]]]:
    blocks = [block for block in blocks_of(value["message"]) if block.get("type") != "tool_result"]
    return list(zip(authors_of(value, [text_at(block, "text") for block in blocks]), blocks, strict=True))


def _typed(block: UserContent) -> UserContent:
    line = command_line(block.text) if isinstance(block, TextContent) else None
    return block if line is None else TextContent(text=line)


def tool_result_message(value: dict[str, Any], number: int, tool_name: str) -> ToolResultMessage:
    """One of a record's results, by its number; blocks in it that are neither text nor image become their
    JSON.
    """
    results = tool_results_of(value["message"])
    block = results[number]
    content, failed = blocks_of(block), block.get("is_error") is True
    is_denied = failed and not tool_name.startswith(_SERVER_TOOL) and _begins_with(content, _DENIALS)
    details: dict[str, Any] | None = DENIED if is_denied else None
    if not failed and tool_name == _ASKING_TOOL:
        details = answered(_answers(value) if len(results) == 1 else ())
    return ToolResultMessage(
        tool_call_id=str(block.get("tool_use_id", "")),
        tool_name=tool_name,
        content=[_user_block(item) for item in content],
        is_error=failed,
        **present(details=details),
    )


def _answers(value: dict[str, Any]) -> list[str | None]:
    """What the user answered and wrote beside it, where the record has it apart from the questions. What was
    chosen and not sent, and what a client wrote for a question without an answer, is none of the user's.
    """
    recorded = object_at(value, "toolUseResult")
    if "afkTimeoutMs" in recorded:
        return []
    answers, notes = object_at(recorded, "answers"), object_at(recorded, "annotations")
    given = {each: _answer(answers.get(each), object_at(notes, each)) for each in (*answers, *notes)}
    texts = answers_by(of_questions(recorded, "question"), given)
    response = text_at(recorded, "response")  # in place of the answers, or beside them
    return [*(texts if any(texts) or len(texts) > 1 else ()), response] if response else texts


def _answer(answer: object, notes: dict[str, Any]) -> str | None:
    if notes.get("unanswered"):
        return None
    text, note = chosen(answer), text_at(notes, "notes")
    return "\n".join(dict.fromkeys(filter(None, (note if text == _ONLY_NOTES else text, note))))


def _begins_with(content: Sequence[dict[str, Any]], beginnings: tuple[str, ...]) -> bool:
    return bool(content) and (text_at(content[0], "text") or "").startswith(beginnings)


def text_of_message(message: dict[str, Any]) -> str:
    """The text of a message, block by block."""
    return "\n".join(text for block in blocks_of(message) if isinstance(text := block.get("text"), str))


def _assistant_block(block: dict[str, Any]) -> AssistantContent:
    match block:
        case {"type": "text", "text": str(text)}:
            return TextContent(text=text)
        case {"type": "thinking", "thinking": str(thinking)}:
            return ThinkingContent(thinking=thinking, **_signature(block.get("signature")))
        case {"type": "redacted_thinking"}:
            return ThinkingContent(thinking="", **{"redacted": True, **_signature(block.get("data"))})
        case {"type": "tool_use", "id": str(call_id), "name": str(name)}:
            given = block.get("input")
            arguments = given if isinstance(given, dict) else {} if given is None else {"input": given}
            return ToolCall(id=call_id, name=name, arguments=arguments)
        case _:
            return _as_text(block)


def _user_block(block: dict[str, Any]) -> UserContent:
    match block:
        case {"type": "text", "text": str(text)}:
            return TextContent(text=text)
        case {"type": "image", "source": {"type": "base64", "data": str(data), "media_type": str(kind)}}:
            return ImageContent(data=data, mime_type=kind)
        case _:
            return _as_text(block)


def _as_text(block: dict[str, Any]) -> TextContent:
    return TextContent(text=json.dumps(block, ensure_ascii=False))


def _signature(value: object) -> dict[str, Any]:
    return {"thinkingSignature": value} if isinstance(value, str) else {}


def _stop_reason(recorded: object, content: Sequence[AssistantContent]) -> StopReason:
    inferred: StopReason = "toolUse" if any(isinstance(block, ToolCall) for block in content) else "stop"
    return _STOP_REASONS.get(recorded, inferred) if isinstance(recorded, str) else inferred


def _usage(message: dict[str, Any]) -> Usage | None:
    recorded = message.get("usage")
    if not isinstance(recorded, dict):
        return None
    counts = {name: recorded.get(key, 0) or 0 for name, key in _USAGE.items()}
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in counts.values()):
        return None
    return Usage(**counts, total_tokens=sum(counts.values()))


def _last(messages: Sequence[dict[str, Any]], key: str) -> object:
    return next((message[key] for message in reversed(messages) if message.get(key) is not None), None)
