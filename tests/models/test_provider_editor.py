import asyncio
from typing import Any

import pytest
from summarizers.asking import request
from waiting import PATIENCE

from coppice.errors import NoModelError
from coppice.models.chat import ChatModel, ChatRequest, Delta, ModelError, ModelLimits
from coppice.models.choosing import chat_model
from coppice.models.editor import EditorModel
from coppice.models.providers.deadlines import Deadlines
from coppice.protocol.server_requests import OnPart
from coppice.protocol.tools import SampleParams
from coppice.settings import ModelSettings, SummarizerSettings
from coppice.tree.messages import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    text_of,
)
from coppice.tree.view import ViewMessage


class Editor:
    """An editor that answers `coppice/sample` from its script."""

    def __init__(self, answer: Any, *parts: Any) -> None:
        self.answer = answer
        self.parts = parts
        self.asked: list[dict[str, Any]] = []

    async def sample(self, params: SampleParams, on_part: OnPart | None) -> Any:
        self.asked.append(params.model_dump(mode="json", by_alias=True))
        for part in self.parts:
            assert on_part is not None
            on_part(part)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer == "hang":
            await asyncio.Event().wait()
        return self.answer


async def test_the_editor_is_asked_in_the_protocol_s_own_words() -> None:
    editor = Editor(
        {"text": "Fine.", "model": "gpt", "usage": {"input": 5, "output": 2}, "stopReason": "length"}
    )
    deltas: list[Delta] = []
    call = ToolCall(id="c", name="read", arguments={"path": "a"})
    result = ToolResultMessage(
        tool_call_id="c", tool_name="read", content=[TextContent(text="A")], is_error=False
    )
    messages: list[Message] = [UserMessage(content="Hi"), AssistantMessage(content=[call]), result]
    asked = ChatRequest([ViewMessage("id", each) for each in messages], 400, "Be brief.", "turn")
    answer = await EditorModel(editor.sample, max_output_tokens=300).complete(asked, deltas.append)
    assert editor.asked == [
        {
            "messages": [
                {"role": "user", "content": "Hi"},
                {
                    "role": "assistant",
                    "content": [{"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a"}}],
                },
                {
                    "role": "toolResult",
                    "toolCallId": "c",
                    "toolName": "read",
                    "content": [{"type": "text", "text": "A"}],
                    "isError": False,
                },
            ],
            "system": "Be brief.",
            "maxTokens": 300,
            "purpose": "turn",
        }
    ]
    assert text_of(answer.content) == "Fine."
    assert (answer.provider, answer.model, answer.stop_reason) == (
        "editor",
        "gpt",
        "length",
    )
    assert answer.usage is not None
    assert deltas == [Delta("text", "Fine.")]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, "bad-answer"),
        ("text", "bad-answer"),
        ({}, "bad-answer"),
        ({"text": 5}, "bad-answer"),
        ({"text": "x", "stopReason": "sometimes"}, "bad-answer"),
        ({"text": "x" * 5_000_000}, "bad-answer"),
        ({"text": "x", "stopReason": "aborted"}, "cut-off"),
        (RuntimeError("No model is signed in\nsk-proj-abcdefgh123"), "server"),
        (RuntimeError("prompt token count of 65446 exceeds the limit of 64000"), "overflow"),
        (ModelError("Said so.", kind="quota"), "quota"),
        ("hang", "timeout"),
    ],
)
async def test_an_editor_that_fails_is_a_typed_error(answer: Any, kind: str) -> None:
    model = EditorModel(
        Editor(answer).sample, deadlines=Deadlines(total=0.2 if answer == "hang" else PATIENCE)
    )
    with pytest.raises(ModelError) as caught:
        await model.complete(request())
    assert caught.value.kind == kind
    assert "sk-proj" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_an_overflow_reports_the_editor_s_window() -> None:
    editor = Editor(RuntimeError("prompt token count of 65446 exceeds the limit of 64000"))
    model = EditorModel(editor.sample)
    assert await model.limits() == ModelLimits(200_000, None, "default")
    with pytest.raises(ModelError):
        await model.complete(request())
    assert await model.limits() == ModelLimits(64_000, None, "server")


async def test_asking_the_editor_can_be_cancelled() -> None:
    task = asyncio.create_task(EditorModel(Editor("hang").sample).complete(request()))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ModelSettings(), "model.provider"),
        (SummarizerSettings(), "model.provider"),
        (SummarizerSettings(provider="offline"), "model.provider"),
        (ModelSettings(provider="openai"), "model.name"),
        (ModelSettings(provider="editor"), "coppice/sample"),
        (ModelSettings(provider="openai", name="m", base_url="https://me:pw@host/v1"), "baseUrl"),
        (ModelSettings(provider="openai", name="m", base_url="nonsense"), "baseUrl"),
    ],
)
def test_settings_without_a_model_say_how_to_set_one(
    settings: ModelSettings | SummarizerSettings, expected: str
) -> None:
    with pytest.raises(NoModelError) as caught:
        chat_model(settings)
    assert expected in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (ModelSettings(provider="openai", name="gpt-4o-mini"), "openai/gpt-4o-mini"),
        (ModelSettings(provider="anthropic", name="claude"), "anthropic/claude"),
        (SummarizerSettings(provider="openai", name="m", base_url="http://localhost:1/v1"), "openai/m"),
        (ModelSettings(provider="editor"), "editor/default"),
    ],
)
async def test_a_model_is_known_by_its_provider_and_name(
    settings: ModelSettings | SummarizerSettings, name: str
) -> None:
    model: ChatModel = chat_model(settings, sample=Editor(None).sample, environ={})
    assert model.name == name
    await model.close()


@pytest.mark.parametrize(
    ("window", "source"),
    [({}, "default"), ({"contextWindow": 200_000}, "settings"), ({"contextWindow": 8000}, "settings")],
)
async def test_a_window_counts_as_set_only_when_somebody_set_it(window: dict[str, Any], source: str) -> None:
    settings = ModelSettings.model_validate({"provider": "editor", **window})
    assert (await chat_model(settings, sample=Editor(None).sample).limits()).source == source


async def test_the_pieces_of_an_editor_are_streamed_and_its_whole_text_is_the_answer() -> None:
    nonsense: list[Any] = [None, {"kind": "card", "text": "x"}, {"kind": "text"}, "text"]
    refusal = [("thinking", "Hm."), ("text", "Fi"), ("text", "ne.")]
    pieces = [{"kind": kind, "text": text} for kind, text in refusal]
    deltas: list[Delta] = []
    answer = await EditorModel(Editor({"text": "Fine."}, *nonsense, *pieces).sample).complete(
        request(), deltas.append
    )
    assert [(each.kind, each.text) for each in deltas] == refusal
    assert text_of(answer.content) == "Fine."


async def test_calls_of_an_editors_answer_have_ids_of_their_own() -> None:
    calls: list[Any] = [
        {"type": "toolCall", "id": "c", "name": name, "arguments": {}} for name in ("read", "write")
    ]
    answer = await EditorModel(Editor({"text": "", "toolCalls": calls}).sample).complete(request())
    assert [call.name for call in answer.tool_calls] == ["read", "write"]
    assert answer.tool_calls[0].id == "c" != answer.tool_calls[1].id
