"""Whatever a conversation holds, and whatever the window: it comes to fit, or what cannot is reported.

The conversation is a model of one, without a store; cutting, truncating and deciding are the real ones.
A summary is as long as it may be, and a model refuses every view that does not fit.
"""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coppice.compaction.span.cut import find_cut
from coppice.compaction.span.sizes import Sizes, fitted_sizes
from coppice.recovery.decision import (
    Compact,
    Fail,
    Retry,
    State,
    compacted,
    gave_up_compacting,
    looked_for_results,
    overflowed,
)
from coppice.recovery.request_size import RequestSize
from coppice.recovery.truncation import plan, result_limit
from coppice.service.window.fitting import Fit, Pinned, fitted_cut
from coppice.service.window.measuring import least_tokens, measured_of, tail_start
from coppice.settings import CompactionSettings
from coppice.store.schema.records import EntryRow
from coppice.tokens.size import Size
from coppice.tree.messages import (
    AssistantMessage,
    Message,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from coppice.tree.view import ViewMessage

pytestmark = pytest.mark.slow

CASES = 10_000
SMALLEST_WINDOW = 4_000
TEXT = "line of text\n" * 32_000


def tokens_of(message: Message) -> int:
    """A quarter of the characters, as the estimate has it for plain letters."""
    content = (
        message.content if isinstance(message, UserMessage | AssistantMessage | ToolResultMessage) else ""
    )
    if isinstance(content, str):
        return -(-len(content) // 4)
    return -(-sum(len(block.text) for block in content if isinstance(block, TextContent)) // 4)


@dataclass(frozen=True)
class Sized:
    message: Message
    tokens: int
    pinned: bool = False


def sized(role: str, chars: int, *, pinned: bool) -> Sized:
    text = TEXT[:chars]
    message: Message
    match role:
        case "user":
            message = UserMessage(content=text)
        case "assistant":
            message = AssistantMessage(content=[TextContent(text=text)])
        case "call":
            called = ToolCall(id="c", name="run", arguments={})
            message = AssistantMessage(content=[TextContent(text=text[:200]), called])
        case _:
            message = ToolResultMessage(tool_call_id="c", tool_name="run", content=[TextContent(text=text)])
    return Sized(message, tokens_of(message), pinned)


@dataclass
class Conversation:
    """What is kept, the size of the summary before it, and the pins from before that."""

    messages: list[Sized]
    window: int
    overhead: int
    summary: int = 0
    pins: list[int] = field(default_factory=list)
    just_compacted: bool = False

    @property
    def rows(self) -> list[EntryRow]:
        return [
            EntryRow(str(place), place, "message", each.message.role, Size(), "")
            for place, each in enumerate(self.messages)
        ]

    @property
    def tokens(self) -> list[int]:
        return [each.tokens for each in self.messages]

    @property
    def sizes(self) -> Sizes:
        return fitted_sizes(CompactionSettings(), self.window)

    @property
    def pinned(self) -> list[Pinned]:
        before = [Pinned(-1, size) for size in self.pins]
        return [*before, *(Pinned(i, each.tokens) for i, each in enumerate(self.messages) if each.pinned)]

    def measured(self) -> RequestSize:
        tail = tail_start(self.rows, self.tokens)
        return measured_of(
            self.summary + sum(self.pins) + sum(self.tokens),
            self.sizes,
            self.rows,
            self.tokens,
            self.pinned,
            tail=tail,
            least_of_tail=least_tokens(
                [(each.message, each.tokens, each.pinned) for each in self.messages[tail:]], tokens_of
            ),
            summary=self.summary,
            overhead_tokens=self.overhead,
            stated_window=self.window,
        )

    def compact(self, halvings: int) -> bool:
        """Whether a compaction was made; its summary takes all it may, and less than what it replaces."""
        measured = self.measured()
        fit = Fit(self.window, measured.target, measured.tail, halvings)
        fitted = fitted_cut(self.rows, self.tokens, self.sizes, fit, self.pinned)
        if fitted is None:
            return False
        cut, sizes = fitted
        gone = self.messages[: cut.first_kept]
        replaced = self.summary + sum(each.tokens for each in gone)
        self.summary = max(1, min(sizes.max_summary, replaced - 1))
        self.pins += [each.tokens for each in gone if each.pinned]
        self.messages = self.messages[cut.first_kept :]
        return True

    def truncate(self) -> int:
        measured = self.measured()
        cuts = plan(
            [ViewMessage("pinned" if each.pinned else None, each.message) for each in self.messages],
            limit=result_limit(self.window),
            excess=measured.view_tokens - measured.target,
            count_tokens=tokens_of,
            pinned={"pinned"},
        )
        for place, message in cuts.items():
            self.messages[place] = replace(self.messages[place], message=message, tokens=tokens_of(message))
        return len(cuts)


def recovered(conversation: Conversation, state: State) -> tuple[State, Retry | Fail, int]:
    """One round, as the service runs it, and how many steps it took."""
    state, then = overflowed(state, conversation.measured())
    steps = 0
    while not isinstance(then, Retry | Fail):
        steps += 1
        if isinstance(then, Compact):
            made = conversation.compact(then.halvings)
            measured = conversation.measured()
            state, then = compacted(state, measured) if made else gave_up_compacting(state, measured, "")
        else:
            count = conversation.truncate()
            state, then = looked_for_results(state, conversation.measured(), count)
    return state, then, steps


SHORT, MIDDLING, GIANT = st.integers(0, 2_000), st.integers(0, 24_000), st.integers(0, 400_000)
SIZES_OF_MESSAGES = {
    "short": (SHORT, 60),
    "middling": (MIDDLING, 25),
    "giant": (GIANT, 8),
    "mixed": (st.one_of(SHORT, MIDDLING, GIANT), 25),
}
roles = st.sampled_from(["user", "assistant", "call", "result", "result", "result"])
overheads = st.sampled_from([0, 0, 0, 500, 2_000])
summaries = st.sampled_from([0, 0, 300, 3_000])


def histories(kind: str) -> st.SearchStrategy[list[Sized]]:
    chars, most = SIZES_OF_MESSAGES[kind]
    pinned = st.sampled_from([False] * 9 + [True])
    return st.lists(st.builds(sized, roles, chars, pinned=pinned), min_size=1, max_size=most)


@st.composite
def overflowing(draw: st.DrawFn, kind: str, *, by_far: bool) -> Conversation:
    """A conversation that does not fit its window: a little too large, or too large `by_far`."""
    history, overhead, summary = [*draw(histories(kind))], draw(overheads), draw(summaries)
    size = summary + overhead + sum(each.tokens for each in history)
    if (missing := SMALLEST_WINDOW - size) > 0:
        speaker = draw(st.sampled_from(["user", "assistant", "result"]))
        history.append(sized(speaker, 4 * missing, pinned=False))
        size = SMALLEST_WINDOW
    half = max(SMALLEST_WINDOW, size // 2)
    window = draw(st.integers(SMALLEST_WINDOW, half) if by_far else st.integers(half, size))
    return Conversation(history, window, overhead, summary)


@pytest.mark.parametrize("by_far", [False, True])
@pytest.mark.parametrize("kind", SIZES_OF_MESSAGES)
def test_every_history_comes_to_fit_or_reports_what_alone_does_not(kind: str, *, by_far: bool) -> None:
    @settings(max_examples=CASES // (2 * len(SIZES_OF_MESSAGES)))
    @given(overflowing(kind, by_far=by_far))
    def holds(conversation: Conversation) -> None:
        window, before = conversation.window, conversation.measured()
        _, then, steps = recovered(conversation, State())
        assert steps <= 4
        if isinstance(then, Retry):
            assert conversation.measured().view_tokens < window
            if before.least_request < window:
                assert conversation.measured().fits
        else:
            assert before.least_request >= window, then.message
            assert f"{conversation.measured().least_request:,} tokens at least" in then.message

    holds()


@settings(max_examples=500)
@given(overflowing("mixed", by_far=True))
def test_a_provider_that_refuses_everything_is_not_asked_for_ever(conversation: Conversation) -> None:
    state, tries = State(), 0
    while True:
        state, then, _ = recovered(conversation, state)
        if isinstance(then, Fail):
            break
        tries += 1
        assert tries <= 4


@settings(max_examples=300)
@given(histories("mixed"))
def test_no_cut_keeps_less_than_the_tail_of_the_floor(history: list[Sized]) -> None:
    conversation = Conversation(history, SMALLEST_WINDOW, 0)
    tail = sum(conversation.tokens[tail_start(conversation.rows, conversation.tokens) :])
    for keep in (1, 100, 3_000):
        cut = find_cut(conversation.rows, conversation.tokens, keep)
        assert cut is None or cut.kept_tokens >= tail
