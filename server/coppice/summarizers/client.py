"""Asking a model for one summary: judged when it comes, asked once more."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from coppice.compaction.asking.prompts import Part, Prompts
from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.checking.plain_report import reported_sentences
from coppice.compaction.checking.validation import validate
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ChatModel, ChatRequest, Delta, ModelError, ModelLimits, OnDelta, timed_reply
from coppice.protocol.ledger import WorkLedger
from coppice.summarizers.computing import Compute, in_thread
from coppice.summarizers.concurrency import SideBySide
from coppice.summarizers.request_template import (
    FEWEST_WORDS,
    RequestTemplate,
    carried,
    measure_with,
    template_for,
)
from coppice.summarizers.stats import SummaryStats
from coppice.tree.messages import AssistantMessage, TextContent, UserMessage, text_of
from coppice.tree.view import ViewMessage

_MOST_CHARS_PER_TOKEN: Final = 8
"""An answer that is longer for the tokens it was given is cut there: some servers know no limit. Of recorded
texts of models none has more than 5.9."""
_CHARS_ALWAYS_READ: Final = 100_000
"""An answer of this length is never cut: it is checked in 50 ms."""
_CHARS_PER_WORD: Final = 6  # of English prose, with the space: 5.6 in our own documents
_NEARLY: Final = 0.95  # share that progress shows at most before the answer's end
_SENTENCES_TOKENS: Final = 200
"""Tokens of the three sentences that are asked for. Of 3,748 in recorded replies 99.9 % have at most 65."""
_ATTEMPTS: Final = 2
"""Requests for one part. The second states what was wrong with the first; a third could state no more."""
_WORTH_ASKING_AGAIN: Final = frozenset({"cut-off", "bad-answer"})


class NoFormatError(SummaryRejectedError):
    """The model wrote text, but no summary in the format."""


class SummaryClient:
    """Asks `model` for the summaries of one request. `deadline` is a time of the running loop.

    `template` is what its requests share. It follows from the model's window, which shrinks when the model
    turns out to have a smaller one. `compute` is where everything computes that reads the conversation or an
    answer.
    """

    template: RequestTemplate

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts,
        request: SummaryRequest,
        ledger: WorkLedger,
        stats: SummaryStats,
        *,
        deadline: float | None,
        compute: Compute = in_thread,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._request = request
        self._ledger = ledger
        self._stats = stats
        self._deadline = deadline
        self.compute = compute
        self._side_by_side = SideBySide()
        self._leaks = prompts.leaks()
        self._asked = ""
        self.measure = measure_with(request.count_tokens)

    async def fit(self) -> None:
        """Takes the model's limits. Raises SummaryRejectedError when nothing can be summarized in them."""
        await self._fit(await self._model.limits())

    async def shrink(self, window: int) -> None:
        """Takes the window that the model reports now, or half, after a request of `window` was too long."""
        limits = await self._model.limits()
        if self.template.window == window:
            smaller = limits.context_window if limits.context_window < window else window // 2
            await self._fit(replace(limits, context_window=smaller))

    async def _fit(self, limits: ModelLimits) -> None:
        request = self._request
        carried_ = await self.compute(
            carried, limits.context_window, self._ledger, request.kept_messages, request.count_tokens
        )
        self.template = template_for(limits, self._prompts, request, carried_)
        if self.template.is_too_small:
            window = limits.context_window
            raise SummaryRejectedError(
                f"{self.name} has a window of {window:,} tokens, too small to summarize in. "
                "Name a larger model in `summarizer.*`, or set its `contextWindow` if it has more.",
                contextWindow=window,
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
        previous: str,
        on_share: Callable[[float], None],
    ) -> str:
        """The model's text about `conversation`, mended where it had to be.

        `on_share` is called with the share of the answer that has arrived, from 0 to 1, as an estimate.

        Raises ModelError, and SummaryRejectedError when two answers were none: NoFormatError when the model
        did write.
        """
        longest = self._request.max_turn_prefix_tokens if part == "turn" else None
        first = self.template.text(part, conversation, previous)
        text, problem, came_empty = first, "", True
        material = f"{conversation}\n{previous}"
        for attempt in range(_ATTEMPTS):
            try:
                message = await self._complete(text, longest, _growing(self.template.words, on_share))
            except ModelError as error:
                if error.kind not in _WORTH_ASKING_AGAIN or attempt + 1 == _ATTEMPTS:
                    raise
                problem = "It broke off."
                continue
            validation = await self.compute(validate, message, part, self._leaks, material)
            if validation.text is not None:
                self._stats.repaired += validation.repaired
                self._asked = first
                return validation.text
            problem, came_empty = validation.problem, not text_of(message.content).strip()
            self._stats.repaired.append("asked again")
            text = self._prompts.again(first, problem)
        text = f"{self.name} was asked {_ATTEMPTS} times and wrote no summary. {problem}"
        if came_empty:
            raise SummaryRejectedError(text, problem=problem)
        raise NoFormatError(text, problem=problem)

    async def correct(self, text: str, lines: str) -> str | None:
        """The model's answer to the request to correct `lines` of `text`, its answer to the last request.

        None where that does not fit its window, or the model fails: the text is good enough without.
        """
        asked = self._prompts.correction(lines)
        longest = min(self.template.answer_tokens, 2 * self.measure(lines))
        texts = (self._asked, text, asked)
        if await asyncio.to_thread(self.template.exceeds_window, texts, longest):
            return None
        try:
            message = await self._complete(
                asked, longest, lambda _delta: None, before=(_said(self._asked), _answered(text))
            )
        except ModelError:
            return None
        return text_of(message.content)

    async def ask_in_sentences(self, conversation: str, on_share: Callable[[float], None]) -> tuple[str, ...]:
        """What the model reports of `conversation` when no format is asked for: sentences that hold.

        Raises ModelError, and SummaryRejectedError when not one of them does.
        """
        text = self._prompts.in_sentences(conversation, focus=self.template.focus)
        progress = _growing(FEWEST_WORDS, on_share)
        message = await self._complete(text, _SENTENCES_TOKENS, progress, temperature=0.0)
        sentences = await self.compute(reported_sentences, message, self._leaks, conversation)
        if not sentences:
            raise SummaryRejectedError(f"{self.name} reported nothing that the conversation bears out.")
        self._stats.sentences += len(sentences)
        self._stats.repaired.append("reported in sentences")
        return sentences

    async def _complete(
        self,
        text: str,
        longest: int | None,
        on_delta: OnDelta,
        *,
        temperature: float | None = None,
        before: Sequence[ViewMessage] = (),
    ) -> AssistantMessage:
        most = self.template.answer_tokens
        request = ChatRequest(
            messages=[*before, _said(text)],
            max_tokens=min(most, longest or most),
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
        async with self._side_by_side.visit() as visit:
            try:
                message = await self._complete_once(request, on_delta)
            except ModelError as error:
                if error.kind != "cut-off" or not visit.is_shared:
                    raise
            else:
                if not (visit.is_shared and _came_empty(message)):
                    return message
        self._side_by_side.go_on_one_at_a_time()
        self._stats.repaired.append("asked one at a time")
        async with self._side_by_side.visit():
            return await self._complete_once(request, on_delta)

    async def _complete_once(self, request: ChatRequest, on_delta: OnDelta) -> AssistantMessage:
        message = await timed_reply(self._model, request, on_delta)
        self._stats.count_request(message)
        return message


def _said(text: str) -> ViewMessage:
    return ViewMessage(None, UserMessage(content=text))


def _answered(text: str) -> ViewMessage:
    return ViewMessage(None, AssistantMessage(content=[TextContent(text=text)], stop_reason="stop"))


def _growing(words: int, on_share: Callable[[float], None]) -> OnDelta:
    """Reports the share of an answer that has arrived, estimated from its length."""
    received = 0

    def grow(delta: Delta) -> None:
        nonlocal received
        if delta.kind == "text":
            received += len(delta.text)
            on_share(min(_NEARLY, received / (words * _CHARS_PER_WORD)))

    return grow


def _cut_at(message: AssistantMessage, limit: int) -> AssistantMessage:
    """`message`, with its text cut off after `limit` characters, as if the model had stopped there."""
    text = text_of(message.content)
    if len(text) <= limit:
        return message
    return message.model_copy(update={"content": [TextContent(text=text[:limit])], "stop_reason": "length"})


def _came_empty(message: AssistantMessage) -> bool:
    stopped = message.stop_reason == "stop" and not message.tool_calls
    return stopped and not text_of(message.content).strip()
