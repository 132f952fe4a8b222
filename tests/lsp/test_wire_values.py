"""The pure parts of the wire: framing, JSON, envelopes, what a client says about itself."""

import asyncio
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.lsp import codec, envelope, framing
from coppice.lsp.client import read_client
from coppice.tree.nesting import MAX_DEPTH

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read_all(data: bytes) -> list[bytes]:
    async def read() -> list[bytes]:
        reader = asyncio.StreamReader(limit=framing.MAX_HEADER_BYTES)
        reader.feed_data(data)
        reader.feed_eof()
        bodies = []
        while (body := await framing.read_message(reader)) is not None:
            bodies.append(body)
        return bodies

    return asyncio.run(read())


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_whatever_bodies_are_framed_come_out_again(bodies: list[bytes]) -> None:
    assert read_all(b"".join(map(framing.frame, bodies))) == bodies


@given(st.binary(max_size=300))
def test_any_bytes_are_messages_or_a_framing_error(data: bytes) -> None:
    with contextlib.suppress(framing.FramingError):
        assert all(isinstance(body, bytes) for body in read_all(data))


@given(JSON)
def test_json_is_written_as_it_was_read(value: Any) -> None:
    assert codec.decode(codec.encode(value, str)) == value


@given(st.binary(max_size=100))
def test_any_body_is_json_or_a_parse_error(body: bytes) -> None:
    with contextlib.suppress(codec.NotJSONError):
        json.dumps(codec.decode(body), allow_nan=False)


@given(st.text(alphabet=st.characters(categories=["Cs", "L", "So"])))
def test_any_text_can_be_written_and_is_repaired_alike_on_both_ways(text: str) -> None:
    written = codec.encode([text], str)
    assert codec.decode(json.dumps([text]).encode()) == json.loads(written)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_null_wherever_it_is(bad: float) -> None:
    assert json.loads(codec.encode({"a": [bad, {"b": bad}], "c": 1.5}, str)) == {
        "a": [None, {"b": None}],
        "c": 1.5,
    }


def test_a_message_may_nest_as_deep_as_the_limit() -> None:
    at_limit = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert codec.decode(at_limit)
    with pytest.raises(codec.TooDeepError):
        codec.decode(b"[" + b"[1]," * 200 + at_limit + b"]")


def test_a_wide_message_is_not_deep() -> None:
    assert len(codec.decode(json.dumps([[{}]] * 10_000).encode())) == 10_000


@given(JSON)
def test_every_value_has_an_envelope(value: Any) -> None:
    assert isinstance(envelope.judge(value), envelope.Request | envelope.Invalid | envelope.Response)


@given(JSON, JSON, JSON)
def test_every_call_has_an_envelope(request_id: Any, method: Any, params: Any) -> None:
    judged = envelope.judge({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    usable = (
        isinstance(request_id, int | str) and not isinstance(request_id, bool) and isinstance(method, str)
    )
    assert isinstance(judged, envelope.Request) == usable


@given(
    st.dictionaries(
        st.sampled_from(
            ["processId", "rootUri", "rootPath", "workspaceFolders", "capabilities", "initializationOptions"]
        ),
        JSON,
    )
)
def test_any_client_can_introduce_itself(params: dict[str, Any]) -> None:
    client = read_client(params)
    assert all(isinstance(folder, str) for folder in client.folders)
    assert client.process_id is None or client.process_id > 0


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        (
            {
                "workspaceFolders": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b", "name": "b"}],
                "rootUri": "file:///c",
            },
            ["file:///a", "file:///b"],
        ),
        ({"workspaceFolders": None, "rootUri": "file:///c", "rootPath": "/d"}, ["file:///c"]),
        ({"workspaceFolders": [], "rootUri": "file:///c"}, ["file:///c"]),
        ({"rootPath": "/d"}, ["file:///d"]),
        ({}, []),
    ],
)
def test_folders_come_from_the_newest_property_the_client_knows(
    params: dict[str, Any], folders: list[str]
) -> None:
    assert read_client(params).folders == folders


def test_options_of_the_wrong_type_are_reported_and_the_others_hold() -> None:
    client = read_client(
        {"initializationOptions": {"hooks": {"willCompact": 1}, "sampling": True, "more": 1}}
    )
    assert client.options.sampling
    assert client.options.hooks is None
    assert client.problems == ["initializationOptions.hooks: it has the wrong type; it was ignored."]


def test_the_editors_section_lies_over_what_it_sent_at_first() -> None:
    initial = {"compaction": {"enabled": False, "reserveTokens": 1}, "tokens": {"counter": "auto"}}
    client = read_client({"initializationOptions": {"settings": initial}})
    merged = client.settings_with({"compaction": {"reserveTokens": 2}, "tokens": "?", "model": {}})
    assert merged == {"compaction": {"enabled": False, "reserveTokens": 2}, "tokens": "?", "model": {}}
    assert client.settings_with(None) == initial
    assert client.settings_with([]) == initial
