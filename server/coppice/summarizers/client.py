"""Asking a model for one summary: measured before it is sent, judged when it comes, asked once more."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from coppice.compaction.ledger.fitting import facts_text
from coppice.compaction.plain_report import reported_sentences
from coppice.compaction.prompts import Part, Prompts
from coppice.compaction.serialization import serialize
from coppice.compaction.summarizer import CountTokens, SummaryRequest
from coppice.compaction.summary import Summary
from coppice.compaction.text.sentences import clip
from coppice.compaction.validation import validate
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ChatModel, ChatRequest, Delta, ModelError, ModelLimits, OnDelta
from coppice.protocol.ledger import WorkLedger
from coppice.summarizers.concurrency import SideBySide
from coppice.summarizers.stats import SummaryStats
from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.messages import AssistantMessage, TextContent, UserMessage, text_of
from coppice.tree.view import ViewMessage

SAFETY: Final = 1.25
"""How much longer a text may be for the model's tokenizer than for ours."""

_ANSWER_SHARE: Final = 3  # the window divided by this bounds an answer (guess)
_TEMPLATE_TOKENS: Final = 128  # tokens of a chat template (guess)
_FOCUS_SHARE: Final = 10  # the window divided by this bounds the focus (guess)
_MOST_CHARS_PER_TOKEN: Final = 8
"""An answer that is longer for the tokens it was given is cut there: some servers know no limit (guess)."""
_CHARS_ALWAYS_READ: Final = 100_000
"""An answer of this length is never cut (guess: it is checked in a second)."""
_BYTES_PER_TOKEN: Final = 4  # UTF-8 bytes; of Chinese no tokenizer needs more tokens (guess)
_WORDS_PER_TOKEN: Final = 0.5
"""A large model's answers in English to eight of these requests had 0.43 to 0.56, on average 0.50."""
_PROSE_SHARE: Final = 0.9
"""Share of the target that is asked for: the audit adds up to a tenth of the answer."""
_FEWEST_WORDS: Final = 80  # words that are asked for (guess)
_CHARS_PER_WORD: Final = 7  # of English prose, with the space (guess)
_NEARLY: Final = 0.95  # share that progress shows at most before the answer's end
_SENTENCES_TOKENS: Final = 200  # tokens of an answer in plain sentences (guess)
_FACTS_SHARE: Final = 12
"""The window divided by this bounds the facts that a request carries (guess)."""
_MOST_FACTS_TOKENS: Final = 2_000  # tokens of facts in a request (guess)
_AFTERWARDS_SHARE: Final = 24
"""The window divided by this bounds the newest messages after the span that a request carries (guess)."""
_MOST_AFTERWARDS_TOKENS: Final = 3_000  # tokens of them (guess: the edit of one file, and its result)
_AFTERWARDS_RESULT_CHARS: Final = 700  # characters of a tool result in them (guess)
_SMALLEST_ROOM: Final = 256  # tokens; a smaller window holds no part of a conversation (guess)
_ATTEMPTS: Final = 2  # requests for one part (guess)
_WORTH_ASKING_AGAIN: Final = frozenset({"cut-off", "bad-answer"})


class NoFormatError(SummaryRejectedError):
    """The model wrote text, but no summary in the format."""


class _AnswerProgress:
    """Estimates the share of an answer that has arrived from its length."""

    def __init__(self, words: int, on_share: Callable[[float], None]) -> None:
        self._expected = words * _CHARS_PER_WORD
        self._on_share = on_share
        self._received = 0

    def __call__(self, delta: Delta) -> None:
        if delta.kind == "text":
            self._received += len(delta.text)
            self._on_share(min(_NEARLY, self._received / self._expected))


def measure_with(count_tokens: CountTokens) -> CountTokens:
    """Tokens by `count_tokens` or by the bytes, whichever is more: some tokenizers know one alphabet only."""
    return lambda text: max(
        count_tokens(text), -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
    )


class SummaryClient:
    """Asks `model` for the summaries of one request. `deadline` is a time of the running loop.

    `answer_tokens` bounds an answer; `room` is how many tokens of conversation and previous summary fit
    in a request with the answer and the prompt. Both follow from `window`, which shrinks when the model turns
    out to have a smaller one.
    """

    window: int
    answer_tokens: int
    room: int

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts,
        request: SummaryRequest,
        stats: SummaryStats,
        *,
        deadline: float | None,
        ledger: WorkLedger | None = None,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._request = request
        self._stats = stats
        self._deadline = deadline
        self._side_by_side = SideBySide()
        self._leaks = prompts.leaks()
        self._ledger = ledger or WorkLedger()
        self._facts = ""
        self._afterwards = ""
        self._target = min(request.max_tokens, request.target_tokens or request.max_tokens)
        self.measure = measure_with(request.count_tokens)

    async def fit(self) -> None:
        """Takes the model's limits. Raises SummaryRejectedError when nothing can be summarized in them."""
        self._fit(await self._model.limits())

    async def shrink(self, window: int) -> None:
        """Takes the window that the model reports now, or half, after a request of `window` was too long."""
        limits = await self._model.limits()
        if self.window == window:
            smaller = limits.context_window if limits.context_window < window else window // 2
            self._fit(replace(limits, context_window=smaller))

    def _fit(self, limits: ModelLimits) -> None:
        self.window = limits.context_window
        longest = self._request.max_tokens
        self.answer_tokens = max(
            1, min(longest, limits.max_output_tokens or longest, self.window // _ANSWER_SHARE)
        )
        focus_chars = self.window // _FOCUS_SHARE * CHARS_PER_TOKEN
        self._focus = clip(self._request.instructions or "", focus_chars) or None
        prose = min(_PROSE_SHARE * self._target, self.answer_tokens)
        self._words = max(_FEWEST_WORDS, int(prose * _WORDS_PER_TOKEN))
        budget = min(_MOST_FACTS_TOKENS, self.window // _FACTS_SHARE)
        facts, afterwards = facts_text(self._ledger, budget, self.measure), self._newest_of_kept()
        parts: tuple[Part, ...] = (self._request.kind, "earlier", "turn")
        for self._facts, self._afterwards in ((facts, afterwards), (facts, ""), ("", "")):
            own = max(self.measure(self._text(part, "", "-")) for part in parts)
            frame = own + self.measure(self._prompts.system + self._prompts.retry) + _TEMPLATE_TOKENS
            self.room = int((self.window - self.answer_tokens) / SAFETY) - frame
            if self.room >= _SMALLEST_ROOM:
                break
        if self.room < _SMALLEST_ROOM:
            raise SummaryRejectedError(
                f"{self.name} has a window of {self.window:,} tokens, too small to summarize in. "
                "Name a larger model in `summarizer.*`, or set its `contextWindow` if it has more.",
                contextWindow=self.window,
            )

    @property
    def name(self) -> str:
        """The model's name, with its provider."""
        return self._model.name

    def is_out_of_time(self) -> bool:
        """Whether the deadline of the whole summary has passed."""
        return self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline

    async def ask(
        self,
        part: Part,
        conversation: str,
        previous: str | None,
        on_share: Callable[[float], None],
        share: float = 1.0,
    ) -> Summary:
        """The model's summary of `conversation`, mended where it had to be.

        `on_share` is called with the share of the answer that has arrived, from 0 to 1, as an estimate.
        `share` is the part of the target length that the answer may have; the facts go with the newest part.

        Raises ModelError, and SummaryRejectedError when two answers were none: NoFormatError when the model
        did write.
        """
        longest = self._request.max_turn_prefix_tokens if part == "turn" else None
        first = self._text(part, conversation, previous, share)
        text, problem, came_empty = first, "", True
        material = "\n".join((conversation, previous or ""))
        for attempt in range(_ATTEMPTS):
            try:
                message = await self._complete(text, longest, _AnswerProgress(self._words, on_share))
            except ModelError as error:
                if error.kind not in _WORTH_ASKING_AGAIN or attempt + 1 == _ATTEMPTS:
                    raise
                problem = "It broke off."
                continue
            validation = await asyncio.to_thread(validate, message, part, self._leaks, material)
            if validation.summary is not None:
                self._stats.repaired += validation.repaired
                return validation.summary
            problem, came_empty = validation.problem, not text_of(message.content).strip()
            self._stats.repaired.append("asked again")
            text = self._prompts.again(first, problem)
        text = f"{self.name} was asked {_ATTEMPTS} times and wrote no summary. {problem}"
        if came_empty:
            raise SummaryRejectedError(text, problem=problem)
        raise NoFormatError(text, problem=problem)

    async def ask_in_sentences(self, conversation: str, on_share: Callable[[float], None]) -> tuple[str, ...]:
        """What the model reports of `conversation` when no format is asked for: sentences that hold.

        Raises ModelError, and SummaryRejectedError when not one of them does.
        """
        text = self._prompts.in_sentences(conversation, focus=self._focus)
        progress = _AnswerProgress(_FEWEST_WORDS, on_share)
        message = await self._complete(text, _SENTENCES_TOKENS, progress, temperature=0.0)
        sentences = await asyncio.to_thread(reported_sentences, message, self._leaks, conversation)
        if not sentences:
            raise SummaryRejectedError(f"{self.name} reported nothing that the conversation bears out.")
        self._stats.sentences += len(sentences)
        self._stats.repaired.append("reported in sentences")
        return sentences

    def _newest_of_kept(self) -> str:
        """The end of what stays after the span: the model must not call undone what was done there."""
        tokens = min(_MOST_AFTERWARDS_TOKENS, self.window // _AFTERWARDS_SHARE)
        text = serialize(self._request.kept, _AFTERWARDS_RESULT_CHARS)
        left_out = max(0, len(text) - tokens * CHARS_PER_TOKEN)
        return f"[… {left_out} characters left out …]\n{text[left_out:]}" if left_out else text

    def _text(self, part: Part, conversation: str, previous: str | None, share: float = 1.0) -> str:
        is_newest = part in ("history", "branch")
        return self._prompts.request(
            part,
            conversation,
            previous=previous,
            facts=self._facts if is_newest else "",
            afterwards=self._afterwards if is_newest else "",
            focus=self._focus,
            replace_instructions=self._request.replace_instructions,
            words=max(_FEWEST_WORDS, int(share * self._words)),
        )

    async def _complete(
        self, text: str, longest: int | None, on_delta: OnDelta, *, temperature: float | None = None
    ) -> AssistantMessage:
        request = ChatRequest(
            messages=[ViewMessage(None, UserMessage(content=text))],
            max_tokens=min(self.answer_tokens, longest or self.answer_tokens),
            system=self._prompts.system,
            purpose="summary",
            temperature=temperature,
        )
        limit = asyncio.timeout_at(self._deadline)
        try:
            async with limit:
                message = await self._undisturbed(request, on_delta)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ModelError(
                f"{self.name} did not write the summary within the time it was given.", kind="timeout"
            ) from None
        if message.failed:
            raise ModelError(f"{self.name} gave up on its answer.", kind="bad-answer")
        return _cut_at(message, max(request.max_tokens * _MOST_CHARS_PER_TOKEN, _CHARS_ALWAYS_READ))

    async def _undisturbed(self, request: ChatRequest, on_delta: OnDelta) -> AssistantMessage:
        """The answer. One that another request of ours may have interrupted is asked for again, alone."""
        await self._side_by_side.may_begin()
        with self._side_by_side.visit() as visit:
            try:
                message = await self._answered(request, on_delta)
            except ModelError as error:
                if error.kind != "cut-off" or not visit.is_shared:
                    raise
            else:
                if not (visit.is_shared and _came_empty(message)):
                    return message
        self._side_by_side.go_on_one_at_a_time()
        self._stats.repaired.append("asked one at a time")
        await self._side_by_side.may_begin()
        with self._side_by_side.visit():
            return await self._answered(request, on_delta)

    async def _answered(self, request: ChatRequest, on_delta: OnDelta) -> AssistantMessage:
        message = (await self._model.complete(request, on_delta)).message
        self._stats.count_usage(message)
        return message


def _cut_at(message: AssistantMessage, limit: int) -> AssistantMessage:
    """`message`, with its text cut off after `limit` characters, as if the model had stopped there."""
    text = text_of(message.content)
    if len(text) <= limit:
        return message
    return message.model_copy(update={"content": [TextContent(text=text[:limit])], "stop_reason": "length"})


def _came_empty(message: AssistantMessage) -> bool:
    stopped = message.stop_reason == "stop" and not message.tool_calls
    return stopped and not text_of(message.content).strip()
