import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.provider_replies import answer, close_without_an_answer, error, error_in_stream
from models.provider_server import Reply
from summarizers.asking import PROVIDERS, Provider, asked, request

from coppice.models.chat import Delta, ModelError
from coppice.models.providers.deadlines import Retries
from coppice.tree.messages import text_of


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "trouble",
    [
        error(429, "Slow down"),
        error(500, "Internal error"),
        error(503, "Loading model"),
        error(529, "Overloaded", code="overloaded_error"),
        close_without_an_answer,
        error_in_stream("Overloaded", code="overloaded_error"),
    ],
    ids=["429", "500", "503", "529", "no answer", "overloaded in the stream"],
)
async def test_what_passes_by_itself_is_asked_again(provider: Provider, trouble: Reply) -> None:
    deltas: list[Delta] = []
    async with asked(provider, trouble, trouble, answer("At last.")) as (model, server):
        assert text_of((await model.complete(request(), deltas.append)).content) == "At last."
    assert len(server.requests) == 3
    assert "".join(each.text for each in deltas) == "At last."


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_nothing_is_asked_again_once_something_was_streamed(provider: Provider) -> None:
    deltas: list[Delta] = []
    broken = error_in_stream("Overloaded", code="overloaded_error", after="The begin")
    async with asked(provider, broken, answer("The whole")) as (model, server):
        with pytest.raises(ModelError):
            await model.complete(request(), deltas.append)
    assert len(server.requests) == 1
    assert "".join(each.text for each in deltas) == "The begin"


@pytest.mark.parametrize(
    "headers",
    [{"retry_after": "0.3"}, {"retry_after_ms": "300"}, {"retry_after": "0.3", "retry_after_ms": "300"}],
)
async def test_a_server_s_own_pause_is_kept(headers: dict[str, Any]) -> None:
    async with asked("openai", error(429, "Slow down", **headers), answer("ok")) as (model, server):
        started = time.monotonic()
        await model.complete(request())
    assert time.monotonic() - started >= 0.3
    assert len(server.requests) == 2


async def test_a_pause_in_the_sentence_is_kept_too() -> None:
    async with asked("openai", error(429, "Please try again in 300ms."), answer("ok")) as (model, _):
        started = time.monotonic()
        await model.complete(request())
    assert time.monotonic() - started >= 0.3


async def test_a_pause_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    async with asked("openai", error(429, "Slow down", retry_after=later)) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.retry_after is not None
    assert 3500 < caught.value.retry_after <= 3600
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "header",
    ["soon", "-5", "nan", "inf", "", "Fri, 31 Dec 99999999999 23:59:59 GMT", "Fri, 31 Dec 0 23:59:59 GMT"],
)
async def test_a_pause_that_is_none_is_passed_over(header: str) -> None:
    async with asked("openai", error(429, "Slow down", retry_after=header), answer("ok")) as (model, _):
        assert text_of((await model.complete(request())).content) == "ok"


async def test_a_pause_that_outlasts_the_deadline_is_not_begun() -> None:
    slow = error(429, "Slow down", retry_after="5000")
    async with asked("openai", slow, retries=Retries(longest_pause=10_000)) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert (caught.value.kind, caught.value.retry_after, len(server.requests)) == ("rate-limit", 5_000, 1)


async def test_a_redirect_is_not_followed() -> None:
    async with asked("openai", answer("never")) as (elsewhere, other):
        target = f"{other.url}/chat/completions"
        async with asked("openai", error(307, "Moved", location=target)) as (model, _):
            with pytest.raises(ModelError) as caught:
                await model.complete(request())
        assert other.requests == []
        assert elsewhere.name == model.name
    assert "redirect" in str(caught.value)


@given(st.integers(2, 40), st.floats(0.001, 10), st.floats(0.001, 100))
def test_pauses_grow_within_their_bound(attempt: int, pause: float, longest: float) -> None:
    retries = Retries(tries=40, pause=pause, longest_pause=longest)
    waited = retries.before(attempt, None)
    assert waited is not None
    whole = min(pause * 2 ** (attempt - 2), longest)
    assert whole / 2 <= waited <= whole
    assert retries.before(41, None) is None
