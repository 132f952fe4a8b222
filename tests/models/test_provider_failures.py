"""Each failure ends in its typed error, in time, after as many requests as make sense."""

import asyncio
import contextlib
import json
import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from models.provider_replies import (
    answer,
    answer_of_bytes,
    body,
    close_without_an_answer,
    cut_the_stream,
    drip_slowly,
    end_the_stream_early,
    error,
    error_in_stream,
    events,
    hang_before_headers,
    hang_in_the_stream,
    hurried,
    json_body,
    line_of_bytes,
)
from models.provider_server import Exchange, Reply
from summarizers.asking import KEY, PATIENT, PROVIDERS, Provider, asked, model_at, request
from waiting import PATIENCE

from coppice.errors import ModelFailedError
from coppice.models.chat import Delta, ModelError
from coppice.models.providers.deadlines import Deadlines, Retries
from coppice.tree.messages import text_of

MESSAGES = json.loads(
    (Path(__file__).parents[1] / "recovery" / "provider_messages.json").read_text(encoding="utf-8")
)
MEGABYTE = 1_000_000
HTML = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"

# name, reply, kind of the error, reported status, requests that are made
FAILURES: list[tuple[str, Reply, str, int | None, int]] = [
    ("401", error(401, "Invalid key", code="authentication_error"), "auth", 401, 1),
    ("403", error(403, "Not allowed", code="permission_error"), "auth", 403, 1),
    ("404 model", error(404, "model: no-such-model", code="not_found_error"), "not-found", 404, 1),
    ("400", error(400, "messages: at least one message is required"), "refused", 400, 1),
    ("402", error(402, "Payment required"), "quota", 402, 1),
    ("429 spent", error(429, "You exceeded your current quota.", code="insufficient_quota"), "quota", 429, 1),
    ("400 spent", error(400, "Your credit balance is too low to access the API."), "quota", 400, 1),
    ("413", body(HTML, status=413, kind="text/html"), "overflow", 413, 1),
    ("413 by bytes", error(413, "Request too large", code="request_too_large"), "overflow", 413, 1),
    ("413 by the minute", error(413, "on tokens per minute (TPM): Limit 6000"), "rate-limit", 413, 3),
    ("429", error(429, "Slow down", code="rate_limit_error"), "rate-limit", 429, 3),
    ("429 soon", error(429, "Slow down", retry_after="0"), "rate-limit", 429, 3),
    ("429 late", error(429, "Slow down", retry_after="3600"), "rate-limit", 429, 1),
    ("500", error(500, "Internal server error", code="api_error"), "server", 500, 3),
    ("502 web page", body(HTML, status=502, kind="text/html"), "server", 502, 3),
    ("529", error(529, "Overloaded", code="overloaded_error"), "server", 529, 3),
    ("redirect", body(b"", status=307, location="http://127.0.0.1:9/v1"), "not-found", 307, 1),
    ("hang before headers", hurried(hang_before_headers), "timeout", None, 1),
    ("hang in the stream", hurried(hang_in_the_stream), "timeout", None, 1),
    ("slow drip", hurried(drip_slowly), "timeout", None, 1),
    ("no answer", close_without_an_answer, "network", None, 3),
    ("cut stream", cut_the_stream, "cut-off", None, 1),
    ("stream that ends early", end_the_stream_early, "cut-off", None, 1),
    ("garbage", body(b"\x00\xff\xfe garbage \x80" * 1000), "bad-answer", None, 2),
    ("garbage events", events("this is no JSON"), "bad-answer", None, 1),
    ("empty", body(b""), "bad-answer", None, 2),
    ("empty JSON", body(b"", kind="application/json"), "bad-answer", None, 1),
    ("half a JSON", body(b'{"choices": [', kind="application/json"), "bad-answer", None, 1),
    ("deep JSON", body(b"[" * 100_000, kind="application/json"), "bad-answer", None, 1),
    ("wrong JSON", json_body({"hello": "world"}), "bad-answer", None, 1),
    ("a list", json_body([1, 2, 3]), "bad-answer", None, 1),
    ("wrong events", events({"hello": "world"}), "bad-answer", None, 1),
    ("a web page", body(HTML, kind="text/html; charset=utf-8"), "bad-answer", None, 1),
    ("10 MB of answer", answer_of_bytes(10 * MEGABYTE), "bad-answer", None, 1),
    ("10 MB in one line", line_of_bytes(10 * MEGABYTE), "bad-answer", None, 1),
    ("10 MB of JSON", body(b'"' + b"a" * 10 * MEGABYTE, kind="application/json"), "bad-answer", None, 1),
    ("10 MB of error", body(b"e" * 10 * MEGABYTE, status=400, kind="text/plain"), "refused", 400, 1),
    ("error with 200", json_body({"error": {"message": "Bad request", "code": 400}}), "refused", 400, 1),
    (
        "MiniMax's error",
        json_body({"base_resp": {"status_code": 1004, "status_msg": "x"}}),
        "server",
        None,
        3,
    ),
    ("overloaded in the stream", error_in_stream("Overloaded", code="overloaded_error"), "server", None, 3),
    (
        "overloaded in the middle",
        error_in_stream("Overloaded", code="overloaded_error", after="The begin"),
        "server",
        None,
        1,
    ),
]


CASES = [
    pytest.param(provider, *case, id=f"{provider}: {name}")
    for provider in PROVIDERS
    for name, *case in FAILURES
]


@pytest.mark.parametrize(("provider", "reply", "kind", "status", "requests"), CASES)
async def test_a_failure_is_a_typed_error_in_time(
    provider: Provider, reply: Reply, kind: str, status: int | None, requests: int
) -> None:
    async with asked(provider, reply, deadlines=Deadlines()) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
        if kind == "timeout":
            await server.until(lambda: server.dropped > 0)
    failure = caught.value
    assert isinstance(failure, ModelFailedError)
    assert (failure.kind, failure.status) == (kind, status)
    assert failure.data["kind"] == kind
    assert len(server.requests) == requests
    text = str(failure)
    assert text.endswith((".", '."'))
    assert len(text) < 800
    assert KEY not in text
    assert "\n" not in text


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("row", MESSAGES["overflow"], ids=[row["provider"] for row in MESSAGES["overflow"]])
async def test_a_full_window_is_an_overflow_and_never_asked_again(
    provider: Provider, row: dict[str, Any]
) -> None:
    code = row["code"] or "invalid_request_error"
    async with asked(provider, error(row["status"] or 400, row["message"], code=code)) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
        window = (await model.limits()).context_window
    assert caught.value.kind == "overflow"
    assert len(server.requests) == 1
    if row["window"] and row["window"] < 200_000:
        assert window == row["window"]


@pytest.mark.parametrize("row", MESSAGES["other"], ids=[row["what"] for row in MESSAGES["other"]])
async def test_what_only_looks_like_a_full_window_is_something_else(row: dict[str, Any]) -> None:
    async with asked("openai", error(row["status"] or 400, row["message"], code=row["code"])) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind != "overflow"


async def test_a_user_s_phrase_makes_an_overflow() -> None:
    script = error(400, "Contexto lleno")
    async with asked("openai", script, overflow_phrases=["contexto LLENO"]) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind == "overflow"


async def test_a_window_is_read_from_llama_cpp_s_own_field() -> None:
    response = {
        "error": {"code": 400, "message": "too big", "type": "exceed_context_size_error", "n_ctx": 2048}
    }
    async with asked("openai", json_body(response, status=400)) as (model, _):
        with pytest.raises(ModelError):
            await model.complete(request())
        assert (await model.limits()).context_window == 2048


@pytest.mark.parametrize(
    ("shape", "code", "words"),
    [
        ({"error": "model 'x' not found, try pulling it first"}, None, "try pulling it first"),
        (
            [{"error": {"code": 400, "message": "Bad argument", "status": "INVALID_ARGUMENT"}}],
            "INVALID_ARGUMENT",
            "Bad",
        ),
        (
            {"object": "error", "message": "Bad role", "type": "BadRequestError", "code": 400},
            "BadRequestError",
            "Bad role",
        ),
        ({"object": "error", "message": {"detail": [{"msg": "Extra inputs"}]}}, None, "Extra inputs"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, None, "field required"),
        ({"message": "Malformed input"}, None, "Malformed input"),
        (
            {"error": {"message": "Provider error", "code": 400, "metadata": {"raw": "the cause"}}},
            None,
            "the cause",
        ),
        ({"error": {"type": "invalid_request_error", "message": "x", "code": "bad"}}, "bad", "x"),
    ],
)
async def test_errors_are_read_in_every_shape(shape: Any, code: str | None, words: str) -> None:
    async with asked("openai", json_body(shape, status=400)) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert words in str(caught.value)
    assert caught.value.provider_code == code


@pytest.mark.parametrize(
    ("provider", "stop", "kind"),
    [
        ("openai", "content_filter", "refused"),
        ("openai", "sensitive", "refused"),
        ("openai", "refusal", "refused"),
        ("openai", "network_error", "server"),
        ("openai", "model_context_window_exceeded", "overflow"),
        ("anthropic", "refusal", "refused"),
    ],
)
async def test_an_answer_that_stopped_for_a_bad_reason_is_an_error(
    provider: Provider, stop: str, kind: str
) -> None:
    async with asked(provider, answer("", stop=stop)) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind == kind


async def test_a_refusal_in_a_field_of_its_own_is_an_error() -> None:
    refusal = {"choices": [{"index": 0, "delta": {"refusal": "I cannot help with that."}}]}
    async with asked("openai", events(refusal)) as (model, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
    assert caught.value.kind == "refused"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_an_answer_that_filled_the_window_is_cut_by_length(provider: Provider) -> None:
    async with asked(provider, answer("As far as it went", stop="model_context_window_exceeded")) as (
        model,
        _,
    ):
        assert (await model.complete(request())).stop_reason == "length"


async def test_usage_that_never_comes_is_not_waited_for() -> None:
    async def unending(exchange: Any) -> None:
        await exchange.head()
        await exchange.event(
            {"choices": [{"index": 0, "delta": {"content": "Done."}, "finish_reason": "stop"}]}
        )
        await exchange.until_dropped()

    async with asked("openai", unending, deadlines=replace(PATIENT, trailer=0.1)) as (model, _):
        assert text_of((await model.complete(request())).content) == "Done."


async def test_nobody_listening_is_a_network_error() -> None:
    unused = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = unused.sockets[0].getsockname()[1]
    unused.close()
    await unused.wait_closed()
    model = model_at(f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ModelError) as caught:
        await model.complete(request())
    await model.close()
    assert caught.value.kind == "network"
    assert "could not be reached" in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "reply",
    [hang_before_headers, hang_in_the_stream, drip_slowly, error(429, "wait", retry_after="600")],
    ids=["before headers", "in the stream", "dripping", "in the pause before a retry"],
)
async def test_a_request_can_be_cancelled_wherever_it_is(provider: Provider, reply: Reply) -> None:
    deltas: list[Delta] = []
    async with asked(provider, reply, retries=Retries(longest_pause=1_000)) as (model, server):
        task = asyncio.create_task(model.complete(request(), deltas.append))
        await server.until(lambda: bool(server.requests))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)
        count = len(deltas)
        if reply in (hang_before_headers, hang_in_the_stream, drip_slowly):
            await server.until(lambda: server.dropped == 1)
        server.script[:] = [answer("still usable")]
        assert text_of((await model.complete(request())).content) == "still usable"
        assert len(deltas) == count


async def continue_for_ever(exchange: Exchange) -> None:
    with contextlib.suppress(ConnectionError):
        while True:
            await exchange.raw(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
            await asyncio.sleep(0.01)


async def test_interim_responses_without_end_are_no_answer() -> None:
    async with asked(
        "openai", hurried(continue_for_ever), retries=Retries(tries=1), deadlines=Deadlines()
    ) as (model, _):
        with pytest.raises(ModelError, match="did not begin to answer"):
            await model.complete(request())


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_timeout_of_the_caller_s_own_stays_the_caller_s(provider: Provider) -> None:
    async with asked(provider, hurried(hang_before_headers)) as (model, _):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await model.complete(request())


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_certificates_that_cannot_be_read_are_named(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "certificates.pem"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    model = model_at("https://model.invalid/v1")
    assert (await model.limits()).source != "server"
    with pytest.raises(ModelError, match="the certificates that SSL_CERT_FILE or") as refusal:
        await model.complete(request())
    assert refusal.value.kind == "not-found"


async def test_a_client_that_there_is_no_memory_for_is_no_fault_of_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> None:
        raise ssl.SSLError(1, "[SSL: LIBRARY_HAS_NO_CIPHERS] library has no ciphers")

    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(httpx, "AsyncClient", refuse)
    with pytest.raises(MemoryError):
        await model_at("https://model.invalid/v1").complete(request())
