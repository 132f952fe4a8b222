"""The parts of Google's `Content`, as Gemini CLI and Qwen Code record them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from coppice.formats.answers import answered, gemini_answers, qwen_answers
from coppice.formats.lines import object_at, text_at
from coppice.tree.messages import (
    AssistantContent,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserContent,
    present,
)
from coppice.tree.tags import attachment

ASKING_TOOL: Final = "ask_user"  # Gemini CLI's
QWEN_ASKING_TOOL: Final = "ask_user_question"
_HOOK: Final = "<hook_context>"
_HOOK_END: Final = "</hook_context>"
_REFERENCED: Final = ("--- Content from referenced files ---", "--- Content from referenced context ---")
"""The part before the files that a prompt refers to. They are the last parts of the message."""
_FILES: Final = "referenced files"


def parts_of(content: object) -> list[dict[str, Any]]:
    """A message's content as parts; a plain text is one. What is no part is left out."""
    if isinstance(content, str):
        return [{"text": content}] if content else []
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def words_of(parts: list[dict[str, Any]], typed: list[dict[str, Any]] | None = None) -> list[UserContent]:
    """The texts and images of a user's message, without what hooks added and what tools showed.

    The files that the user's words refer to are one attachment, as is each text that is not among what the
    user `typed`, where that is recorded.
    """
    shown = [each for each in _texts_and_images(typed or []) if isinstance(each, TextContent)]
    typed_texts = {each.text for each in shown}
    words: list[UserContent] = [*shown]
    files: list[str] = []
    for each in _texts_and_images(parts):
        if not isinstance(each, TextContent):
            words.append(each)
        elif (
            files
            or each.text.lstrip().startswith(_REFERENCED)
            or (typed_texts and each.text not in typed_texts)
        ):
            files.append(each.text)
        elif not typed_texts:
            words.append(each)
    if any(text.strip() for text in files):
        words.append(TextContent(text=attachment(_FILES, "".join(files).strip("\n"))))
    return words


def _texts_and_images(parts: list[dict[str, Any]]) -> list[UserContent]:
    content: list[UserContent] = []
    is_of_tool = False
    for part in parts:
        is_of_tool = is_of_tool or "functionResponse" in part
        image = None if is_of_tool else _image(part)
        if isinstance(part.get("text"), str):
            if not part["text"].startswith(_HOOK):
                content.append(TextContent(text=part["text"]))
        elif image is not None:
            content.append(image)
    return content


def _image(part: dict[str, Any]) -> ImageContent | None:
    data = object_at(part, "inlineData")
    if not isinstance(data.get("data"), str):
        return None
    return ImageContent(data=data["data"], mime_type=text_at(data, "mimeType") or "image/png")


def reply_of(parts: list[dict[str, Any]]) -> list[AssistantContent]:
    """The texts, thoughts and calls of a model's message."""
    content: list[AssistantContent] = []
    for part in parts:
        call, text = part.get("functionCall"), text_at(part, "text")
        if isinstance(call, dict):
            content.append(call_of(call))
        elif text and part.get("thought") is True:
            content.append(ThinkingContent(thinking=text))
        elif text:
            content.append(TextContent(text=text))
    return content


def call_of(call: dict[str, Any]) -> ToolCall:
    """A tool call of `{id, name, args}`."""
    return ToolCall(
        id=text_at(call, "id") or "",
        name=text_at(call, "name") or "unknown",
        arguments=object_at(call, "args"),
    )


def results_in(
    parts: list[dict[str, Any]], *, failed: bool, headings: Mapping[str, Sequence[str]] | None = None
) -> Iterator[ToolResultMessage]:
    """The results of tool calls among `parts`, `{id, name, response}`, each with the images after it.

    `headings` are those of the questions of calls that ask, by the id of the call.
    """
    result: ToolResultMessage | None = None
    for part in parts:
        response, image = part.get("functionResponse"), _image(part)
        if isinstance(response, dict):
            if result is not None:
                yield result
            result = _result(response, headings or {}, failed=failed)
        elif result is not None and image is not None:
            result.content.append(image)
    if result is not None:
        yield result


def _result(
    response: dict[str, Any], headings: Mapping[str, Sequence[str]], *, failed: bool
) -> ToolResultMessage:
    """A tool's result, without what hooks added."""
    answer = object_at(response, "response")
    output, error = text_at(answer, "output"), text_at(answer, "error")
    if output is not None and output.endswith(_HOOK_END):
        output = output.partition(f"\n\n{_HOOK}")[0]
    tool, call_id = text_at(response, "name") or "unknown", text_at(response, "id") or ""
    details: dict[str, Any] | None = None
    if not failed and output is not None and tool == ASKING_TOOL:
        details = answered(gemini_answers(output, len(headings.get(call_id, ()))))
    elif not failed and output is not None and tool == QWEN_ASKING_TOOL:
        details = answered(qwen_answers(output, headings.get(call_id, ())))
    return ToolResultMessage(
        tool_call_id=call_id,
        tool_name=tool,
        content=[TextContent(text=output if output is not None else error or "")],
        is_error=failed or (output is None and error is not None),
        **present(details=details),
    )


def usage_of(value: object, given: str, output: str, cached: str, total: str) -> Usage | None:
    """The tokens of a request, counted under these names; None where there are none."""
    counts = [value.get(name) for name in (given, output, cached, total)] if isinstance(value, dict) else []
    numbers = [count if type(count) is int else 0 for count in counts]
    if not numbers or not numbers[0]:
        return None
    return Usage(
        input=max(numbers[0] - numbers[2], 0),
        output=numbers[1],
        cache_read=numbers[2],
        total_tokens=numbers[3] or numbers[0] + numbers[1],
    )
