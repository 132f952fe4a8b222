"""What is cut off tool results, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coppice.recovery.truncation import (
    LEAST_CHARS,
    LEAST_LIMIT,
    is_left_out,
    plan,
    result_limit,
    text_length,
    truncated,
)
from coppice.tree.messages import ImageContent, TextContent, ToolResultMessage, UserContent, UserMessage
from coppice.tree.view import ViewMessage

IMAGE = ImageContent(data="iVBORw0KGgo=", mime_type="image/png")


def result(*blocks: str | ImageContent) -> ToolResultMessage:
    content: list[UserContent] = [TextContent(text=b) if isinstance(b, str) else b for b in blocks]
    return ToolResultMessage(tool_call_id="c", tool_name="bash", content=content)


def texts(message: ToolResultMessage) -> list[str]:
    return [block.text for block in message.content if isinstance(block, TextContent)]


def tokens(message: ToolResultMessage) -> int:
    return text_length(message) // 4


def shown(message: ToolResultMessage, *, pinned: bool = False) -> ViewMessage:
    return ViewMessage("pinned" if pinned else None, message)


lines = st.lists(st.text(st.sampled_from("ab \n漢🌱"), max_size=60), max_size=120).map("\n".join)
blocks = st.lists(st.one_of(lines, st.just(IMAGE)), max_size=6)
results = st.builds(lambda made: result(*made), blocks)
long_results = st.builds(lambda made: result("begin " * 50, *made), blocks)
limits = st.integers(0, 6_000)


@pytest.mark.parametrize(
    ("window", "limit"),
    [
        (1, LEAST_LIMIT),
        (1_000, LEAST_LIMIT),
        (4_000, 4_800),
        (8_000, 9_600),
        (200_000, 240_000),
        (333_334, 400_000),
        (10**7, 400_000),
    ],
)
def test_a_result_may_have_three_tenths_of_the_window(window: int, limit: int) -> None:
    assert result_limit(window) == limit


def test_a_result_within_the_limit_is_the_same_object() -> None:
    whole = result("x" * 4_000, IMAGE)
    assert truncated(whole, 4_000) is whole


def test_what_is_cut_off_is_reported_to_the_character() -> None:
    cut = truncated(result("x" * 10_000), 4_000)
    (text,) = texts(cut)
    head, _, note = text.partition("\n\n")
    missing = f"{10_000 - len(head):,} characters of this tool result were left out."
    assert note == f"[{missing} Read them in parts (an offset and a limit, or by section).]"
    assert 3_850 < len(text) <= 4_000


def test_a_cut_falls_on_a_newline_in_the_last_fifth() -> None:
    text = "x" * 3_300 + "\n" + "y" * 10_000
    assert texts(truncated(result(text), 4_000))[0].startswith("x" * 3_300 + "\n\n[")


def test_a_newline_before_the_last_fifth_is_no_reason_to_lose_more() -> None:
    text = "x" * 2_000 + "\n" + "y" * 10_000
    assert len(texts(truncated(result(text), 4_000))[0]) > 3_850


def test_several_blocks_share_the_limit_by_length_and_images_stay_where_they_were() -> None:
    cut = truncated(result("a" * 30_000, IMAGE, "b" * 10_000), 4_220)
    first, image, second = cut.content
    assert image == IMAGE
    assert isinstance(first, TextContent)
    assert isinstance(second, TextContent)
    assert first.text == "a" * 3_000
    assert second.text.startswith("b" * 1_000 + "\n\n[36,000 characters")


def test_a_second_cut_counts_what_the_first_one_left_out() -> None:
    once = truncated(result("x" * 50_000), 9_000)
    twice = truncated(once, 3_000)
    assert texts(twice) == texts(truncated(result("x" * 50_000), 3_000))


@given(message=results, limit=limits)
def test_a_result_never_has_more_than_its_limit_and_the_room_for_the_note(
    message: ToolResultMessage, limit: int
) -> None:
    assert text_length(truncated(message, limit)) <= max(limit, 220)


@given(message=results, limit=limits)
def test_truncating_a_truncated_result_changes_nothing(message: ToolResultMessage, limit: int) -> None:
    once = truncated(message, limit)
    assert truncated(once, limit) is once


@given(message=results, limit=limits)
def test_images_and_everything_but_the_text_stay(message: ToolResultMessage, limit: int) -> None:
    cut = truncated(message, limit)
    assert [b for b in cut.content if b == IMAGE] == [b for b in message.content if b == IMAGE]
    assert cut.model_copy(update={"content": []}) == message.model_copy(update={"content": []})


@given(message=results, limit=limits)
def test_what_is_kept_is_the_beginning_of_each_text(message: ToolResultMessage, limit: int) -> None:
    cut = truncated(message, limit)
    if cut is message:
        return
    before = texts(message)
    for text in texts(cut)[:-1]:
        assert any(whole.startswith(text) for whole in before)
    head = texts(cut)[-1].rpartition("[")[0].removesuffix("\n\n")
    assert any(whole.startswith(head) for whole in before)


@given(
    message=long_results,
    limits_=st.lists(st.integers(0, 5_000), min_size=1, max_size=4),
)
def test_the_kept_and_the_missing_characters_are_the_whole(
    message: ToolResultMessage, limits_: list[int]
) -> None:
    cut = message
    for limit in limits_:
        cut = truncated(cut, limit)
    if cut is message:
        return
    *others, last = texts(cut)
    head, _, note = last.rpartition("[")
    missing = int(note.split(" ")[0].replace(",", ""))
    remaining = sum(map(len, others)) + len(head.removesuffix("\n\n"))
    assert remaining + missing == text_length(message)


def test_the_oldest_go_first_when_many_are_too_long_together() -> None:
    three = [shown(result(letter * 9_000)) for letter in "abc"]
    cuts = plan(three, limit=9_600, excess=1_000, count_tokens=tokens)
    assert list(cuts) == [0]
    assert LEAST_CHARS <= text_length(cuts[0]) <= LEAST_LIMIT


def test_results_are_left_out_when_short_ones_are_still_too_long_the_newest_never() -> None:
    many = [shown(result("x" * 3_000)) for _ in range(10)]
    cuts = plan(many, limit=9_600, excess=10**6, count_tokens=tokens)
    assert [is_left_out(cuts[index]) for index in range(10)] == [True] * 9 + [False]
    assert texts(cuts[9])[0].startswith("x" * LEAST_CHARS)


def test_a_pinned_result_is_never_cut() -> None:
    cuts = plan(
        [shown(result("x" * 90_000), pinned=True), shown(result("y" * 90_000))],
        limit=9_600,
        excess=10**6,
        count_tokens=tokens,
        pinned={"pinned"},
    )
    assert list(cuts) == [1]


views = st.lists(
    st.builds(lambda made, pinned: shown(made, pinned=pinned), results, st.booleans()), max_size=8
)


def size(item: ViewMessage) -> int:
    assert isinstance(item.message, ToolResultMessage)
    return tokens(item.message)


@given(views, st.integers(100, 3_000), st.integers(-500, 4_000))
def test_a_plan_carried_out_leaves_nothing_to_plan(view: list[ViewMessage], limit: int, excess: int) -> None:
    limit = max(limit, LEAST_LIMIT)
    cuts = plan(view, limit=limit, excess=excess, count_tokens=tokens, pinned={"pinned"})
    after = [ViewMessage(item.entry_id, cuts.get(i, item.message)) for i, item in enumerate(view)]
    left = excess - sum(map(size, view)) + sum(map(size, after))
    assert plan(after, limit=limit, excess=left, count_tokens=tokens, pinned={"pinned"}) == {}


@given(views, st.integers(0, 4_000))
def test_a_plan_saves_enough_or_leaves_every_result_at_its_shortest(
    view: list[ViewMessage], excess: int
) -> None:
    cuts = plan(view, limit=10**6, excess=excess, count_tokens=tokens, pinned={"pinned"})
    saved = sum(size(view[i]) - tokens(short) for i, short in cuts.items())
    if saved < excess:
        for index, item in enumerate(view):
            assert isinstance(item.message, ToolResultMessage)
            shortest = truncated(item.message, LEAST_LIMIT if index == len(view) - 1 else 0)
            is_pinned = item.entry_id == "pinned"
            assert is_pinned or tokens(cuts.get(index, item.message)) <= tokens(shortest)


def test_only_results_that_are_not_pinned_are_cut() -> None:
    question = ViewMessage("u", UserMessage(content="look"))
    view = [question, ViewMessage("a", result("a" * 9_000)), ViewMessage("b", result("b" * 9_000))]
    cuts = plan(view, limit=LEAST_LIMIT, excess=0, count_tokens=tokens, pinned={"b"})
    assert list(cuts) == [1]
    assert text_length(cuts[1]) <= LEAST_LIMIT
    assert view[1].message == result("a" * 9_000)
