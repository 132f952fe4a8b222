import json
from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.models.chat import Delta
from coppice.models.providers.answer import LARGEST_ANSWER, AnswerBuilder
from coppice.models.providers.answer_fault import AnswerFaultError
from coppice.models.providers.error_response import error_response_of
from coppice.models.providers.events import LARGEST_EVENT, EventLines
from coppice.models.providers.failures import kind_of
from coppice.models.providers.openai_stream import ThinkTag

TEXTS = st.text(alphabet="ab<>/think \n", max_size=40)


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(ends)]


def read(chunks: Iterable[bytes]) -> list[str]:
    lines = EventLines()
    return [*(data for chunk in chunks for data in lines.feed(chunk)), *lines.end()]


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8")), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 10_000), max_size=12),
    st.booleans(),
)
def test_events_are_the_same_however_they_are_cut(
    payloads: list[str],
    newline: str,
    places: list[int],
    has_end: bool,  # noqa: FBT001 - drawn
) -> None:
    lines = [line for data in payloads for line in (": note", "event: x", f"data: {data}", "")]
    stream = newline.join(lines) + (newline if has_end else "")
    assert read(cut(stream.encode(), places)) == payloads


def test_data_over_several_lines_is_one_event() -> None:
    assert read([b"data: a\ndata:b\ndata\n\n"]) == ["a\nb\n"]


@pytest.mark.parametrize("chunk", [b"data: " + b"a" * 65_536, b"data: " + b"a" * 1000 + b"\n"])
def test_an_event_without_an_end_is_refused(chunk: bytes) -> None:
    lines = EventLines()
    fitting = LARGEST_EVENT // len(chunk) - 1
    for _ in range(fitting):
        assert lines.feed(chunk) == []
    with pytest.raises(AnswerFaultError, match="too large"):
        read_on(lines, chunk)


def read_on(lines: EventLines, chunk: bytes) -> None:
    for _ in range(100):
        lines.feed(chunk)


def split(pieces: Iterable[str]) -> tuple[str, str]:
    texts: list[str] = []
    thought: list[str] = []
    tag = ThinkTag(texts.append, thought.append)
    for piece in pieces:
        tag.feed(piece)
    tag.end()
    return "".join(thought), "".join(texts)


@given(TEXTS, st.lists(st.integers(0, 100), max_size=8))
def test_text_without_the_tag_at_its_start_stays_as_it_is(text: str, places: list[int]) -> None:
    if not text.lstrip().startswith("<think>"):
        pieces = [chunk.decode() for chunk in cut(text.encode(), places)]
        assert split(pieces) == ("", text)


@given(
    TEXTS.filter(lambda text: "</think>" not in text + "<" and not text.endswith("<")),
    TEXTS,
    st.lists(st.integers(0, 200), max_size=8),
)
def test_thinking_is_the_same_however_it_is_cut(thinking: str, text: str, places: list[int]) -> None:
    whole = f"<think>{thinking}</think>{text}"
    pieces = [chunk.decode() for chunk in cut(whole.encode(), places)]
    thought, texts = split(pieces)
    assert thought.strip("\n") == thinking.strip("\n")
    assert texts == text.lstrip()


def test_thinking_without_an_end_is_all_thinking() -> None:
    assert split(["<think>never", " done</thi"]) == ("never done</thi", "")


@given(st.lists(st.tuples(st.sampled_from(["text", "thinking"]), st.text(max_size=5)), max_size=20))
def test_an_answer_is_what_was_streamed(pieces: list[tuple[str, str]]) -> None:
    deltas: list[Delta] = []
    builder = AnswerBuilder(deltas.append)
    for kind, piece in pieces:
        (builder.text if kind == "text" else builder.thinking)(piece)
    assert [(each.kind, each.text) for each in deltas] == [pair for pair in pieces if pair[1]]
    blocks = builder.content(complete=True)
    text = "".join(each.text for each in deltas).strip()
    stored = "".join(getattr(block, "text", "") or getattr(block, "thinking", "") for block in blocks)
    assert "".join(stored.split()) == "".join(text.split())


@given(st.one_of(st.none(), st.integers(100, 599)), st.text())
def test_no_error_body_breaks_its_reading(status: int | None, text: str) -> None:
    error_response = error_response_of(status, text)
    assert "\n" not in error_response.message
    assert kind_of(error_response)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["error", "message", "code", "type", "detail", "base_resp", "status_code", "metadata"]
                ),
                inner,
            )
        ),
    )
)
def test_no_json_breaks_its_reading(value: object) -> None:
    error_response = error_response_of(400, json.dumps(value))
    assert kind_of(error_response) in (
        "refused",
        "overflow",
        "quota",
        "auth",
        "rate-limit",
        "not-found",
        "server",
    )


LONG = "x" * 100_000


@pytest.mark.parametrize(
    "feed",
    [
        lambda builder: builder.open_call(LONG, "read"),
        lambda builder: builder.open_call("c1", LONG),
        lambda builder: builder.arguments(builder.open_call("c1", "read"), "", LONG),
        lambda builder: [builder.redacted_thinking(LONG) for _ in range(100)],
        lambda builder: [builder.sign_thinking(LONG) for _ in range(100)],
        lambda builder: [builder.open_call("c" * 1000, "n" * 200) for _ in range(5_000)],
    ],
    ids=["id", "name", "name in pieces", "redacted", "signature", "calls"],
)
def test_every_part_of_an_answer_is_bounded(feed: Callable[[AnswerBuilder], object]) -> None:
    builder = AnswerBuilder(None)
    with pytest.raises(AnswerFaultError):
        feed(builder)
    assert len(str(builder.content(complete=True))) < 2 * LARGEST_ANSWER
