import logging
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.provider_replies import answer, body, error, json_body
from summarizers.asking import KEY, PROVIDERS, Provider, asked, model_at, request

from coppice.models.chat import ModelError
from coppice.models.providers.address import Address
from coppice.models.providers.keys import REMOVED, KeySource, redacted


def chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_key_is_read_at_each_request(provider: Provider) -> None:
    environ = {"MY_KEY": "first-key-1"}
    async with asked(provider, answer("ok"), environ=environ, apiKeyEnv="MY_KEY") as (model, server):
        await model.complete(request())
        environ["MY_KEY"] = "second-key-2"
        await model.complete(request())
    name = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(provider, "authorization")
    sent = [each.headers[name].removeprefix("Bearer ") for each in server.requests]
    assert sent == ["first-key-1", "second-key-2"]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_server_without_a_key_is_asked_without_one(provider: Provider) -> None:
    async with asked(provider, answer("ok"), environ={}) as (model, server):
        await model.complete(request())
    assert not {"authorization", "x-api-key", "x-goog-api-key"} & server.requests[0].headers.keys()


async def test_a_named_variable_that_is_not_set_is_reported_before_anything_is_sent() -> None:
    async with asked("openai", answer("ok"), environ={"OPENAI_API_KEY": KEY}, apiKeyEnv="MY_KEY") as (
        model,
        server,
    ):
        with pytest.raises(ModelError, match="MY_KEY is not set") as caught:
            await model.complete(request())
    assert caught.value.kind == "auth"
    assert server.requests == []


@pytest.mark.parametrize("key", ["two words", "tab\tinside", "line\nbreak", "schlüssel"])
async def test_a_key_that_no_header_can_hold_is_not_sent_nor_shown(key: str) -> None:
    async with asked("openai", answer("ok"), environ={"A_KEY": key}, apiKeyEnv="A_KEY") as (model, server):
        with pytest.raises(ModelError, match="A_KEY") as caught:
            await model.complete(request())
    assert caught.value.kind == "auth"
    assert key not in str(caught.value)
    assert server.requests == []


async def test_a_key_in_place_of_its_variable_s_name_is_not_shown() -> None:
    async with asked("openai", answer("ok"), environ={}, apiKeyEnv=KEY) as (model, _):
        with pytest.raises(ModelError, match="the name of an environment variable") as caught:
            await model.complete(request())
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://example.invalid/v1", "http://10.1.2.3:8080/v1", "http://[2001:db8::1]/v1"]
)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_never_goes_over_plain_http_to_another_machine(provider: Provider, url: str) -> None:
    model = model_at(url, provider, environ={"MY_KEY": KEY}, apiKeyEnv="MY_KEY")
    with pytest.raises(ModelError) as caught:
        await model.complete(request())
    assert caught.value.kind == "auth"
    assert "plain http" in str(caught.value)
    assert "https" in str(caught.value)
    await model.close()


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("http://127.0.0.1:11434/v1", None),
        ("http://localhost:1234/v1", None),
        ("https://openrouter.ai/api/v1", None),
        ("https://api.openai.com.example.org/v1", None),
        ("http://192.168.1.5:11434/v1", None),
    ],
)
def test_the_usual_key_counts_only_at_its_provider(url: str, variable: str | None) -> None:
    address = Address.parse(url)
    is_own = address.origin == "https://api.openai.com"
    assert KeySource(None, "OPENAI_API_KEY", address, is_own, {}).variable == variable
    assert KeySource("MINE", "OPENAI_API_KEY", address, is_own, {}).variable == "MINE"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
async def test_a_server_that_repeats_the_key_does_not_get_it_shown(
    provider: Provider, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echoed = f"bad key {KEY}, {KEY[:20]}, {quote(KEY + '/')}, {KEY[8:]} at https://user:secret@host/"
    for reply in (
        error(status, echoed, code=KEY),
        body(echoed.encode(), status=status),
        json_body(echoed, status=status),
    ):
        async with asked(provider, reply) as (model, _):
            with pytest.raises(ModelError) as caught:
                await model.complete(request())
            texts = [repr(model), caplog.text]
        for each in chain(caught.value):
            texts += [str(each), repr(each), repr(vars(each))]
        for text in texts:
            assert not any(KEY[start : start + 10] in text for start in range(len(KEY) - 9))
            assert "secret" not in text


async def test_nothing_that_holds_the_request_hangs_on_an_error() -> None:
    async with asked("anthropic", answer("ok")) as (model, server):
        await server.__aexit__()
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert list(chain(caught.value)) == [caught.value]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Incorrect API key provided: sk-proj-abc***xyz.", f"Incorrect API key provided: {REMOVED}"),
        ("Authorization: Bearer abcdefghijklmnop123", f"Authorization: {REMOVED}"),
        ("see https://me:pass@example.org/x", f"see https://{REMOVED}example.org/x"),
        ("Basic information about tokens", "Basic information about tokens"),
        ("the key is wrong", "the key is wrong"),
    ],
)
def test_what_looks_like_a_key_is_taken_out(text: str, expected: str) -> None:
    assert redacted(text, None) == expected


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=60), st.text(), st.text()
)
def test_no_text_keeps_the_key(key: str, before: str, after: str) -> None:
    text = redacted(f"{before}{key}{after}", key)
    assert key not in text.replace(REMOVED, "\0")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("localhost:1234", "http"),
        ("ftp://host/v1", "http"),
        ("http://", "host"),
        ("https://me:pass@host/v1", "password"),
        ("https://host/v1?key=secret", "query"),
        ("http://host:port/v1", "no URL"),
        ("http://[::1/v1", "no URL"),
        ("https://ex ample.org/v1", "blanks"),
    ],
)
def test_an_address_that_cannot_be_asked_is_reported_without_repeating_it(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        Address.parse(url)
    assert "pass@" not in str(caught.value)
    assert "secret" not in str(caught.value)


@given(st.text())
def test_no_text_breaks_the_reading_of_an_address(text: str) -> None:
    try:
        address = Address.parse(text)
    except ValueError:
        return
    assert address.host
    assert isinstance(address.is_loopback, bool)
