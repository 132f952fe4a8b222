"""What servers do not take, and how each is found out."""

import asyncio

import pytest
from models.provider_replies import answer, close_without_an_answer, error, events, json_body
from summarizers.asking import asked, request

from coppice.models.chat import ChatRequest, ModelError
from coppice.tree.messages import AssistantMessage, Message, TextContent, UserMessage, text_of
from coppice.tree.view import ViewMessage


@pytest.mark.parametrize(
    ("error_response", "gone", "there"),
    [
        ("Unknown parameter: 'stream_options'.", {"stream_options"}, {"max_tokens"}),
        ('{"type":"extra_forbidden","loc":["body","stream_options"]}', {"stream_options"}, {"max_tokens"}),
        (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            {"max_tokens"},
            {"max_completion_tokens", "stream_options"},
        ),
    ],
)
async def test_what_a_server_does_not_take_is_left_out_from_then_on(
    error_response: str, gone: set[str], there: set[str]
) -> None:
    async with asked("openai", error(400, error_response), answer("one"), answer("two")) as (model, server):
        assert text_of((await model.complete(request())).content) == "one"
        assert text_of((await model.complete(request())).content) == "two"
    first, *later = [set(each.body) for each in server.requests]
    assert len(later) == 2
    assert gone <= first
    assert all(not (keys & gone) and there <= keys for keys in later)


@pytest.mark.parametrize("ends", [True, False])
async def test_a_stream_with_nothing_in_it_is_asked_for_in_one_piece(ends: bool) -> None:  # noqa: FBT001 - drawn
    whole = {"choices": [{"index": 0, "message": {"content": "Whole."}, "finish_reason": "stop"}]}
    async with asked("openai", events(ends=ends), json_body(whole)) as (model, server):
        assert text_of((await model.complete(request())).content) == "Whole."
    assert [each.body["stream"] for each in server.requests] == [True, False]
    assert "stream_options" not in server.requests[1].body


async def test_a_lost_connection_after_an_empty_stream_does_not_bring_the_stream_back() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": "Whole."}, "finish_reason": "stop"}]}
    script = (events(), close_without_an_answer, json_body(whole))
    async with asked("openai", *script) as (model, server):
        assert text_of((await model.complete(request())).content) == "Whole."
    assert [each.body["stream"] for each in server.requests] == [True, False, False]


async def test_an_overflow_that_a_stream_could_not_report_is_found_out() -> None:
    refusal = "This model's maximum context length is 512 tokens. However, you requested 1551 tokens."
    async with asked("openai", events(), error(400, refusal, code="context_length_exceeded")) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
        assert (await model.limits()).context_window == 512
    assert caught.value.kind == "overflow"


async def test_two_requests_at_once_each_learn_what_is_not_taken() -> None:
    error_response = error(400, "Unknown parameter: 'stream_options'.")
    async with asked("openai", error_response, error_response, answer("fine")) as (model, server):
        answers = await asyncio.gather(model.complete(request("a")), model.complete(request("b")))
    assert [text_of(each.content) for each in answers] == ["fine", "fine"]
    assert len(server.requests) == 4


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize(
    "error_response",
    [
        "System role not supported",
        "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] - 'messages.[0].role'",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "chat template rejected the request: Unexpected message role.",
    ],
)
async def test_a_template_without_system_messages_gets_their_text_in_the_user_s(
    status: int, error_response: str
) -> None:
    messages: list[Message] = [
        UserMessage(content="Hi"),
        AssistantMessage(content=[TextContent(text="Yes?")]),
        UserMessage(content="Go"),
    ]
    talk = [ViewMessage(None, message) for message in messages]
    async with asked("openai", error(status, error_response), answer("ok")) as (model, server):
        assert text_of((await model.complete(ChatRequest(talk, 100, "Be brief."))).content) == "ok"
    assert server.requests[1].body["messages"] == [
        {"role": "user", "content": "Be brief.\n\nHi"},
        {"role": "assistant", "content": "Yes?"},
        {"role": "user", "content": "Go"},
    ]
