"""Asking a model for one summary: measured before it is sent, judged when it comes, asked once more."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from coppice.compaction.facts.sentences import clip
from coppice.compaction.judging import judge
from coppice.compaction.prompts import Part, Prompts
from coppice.compaction.sentences_told import sentences_told
from coppice.compaction.summarizer import CountTokens, SummaryRequest
from coppice.compaction.summary import Summary
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ChatModel, ChatRequest, Delta, ModelError, ModelLimits, OnDelta
from coppice.models.side_by_side import SideBySide
from coppice.models.tally import Tally
from coppice.tree.messages import AssistantMessage, UserMessage, text_of
from coppice.tree.view import ViewMessage

SAFETY: Final = 1.25
"""How much longer a text may be for the model's tokenizer than for ours."""

_ANSWER_SHARE: Final = 3
_TEMPLATE_TOKENS: Final = 128
_FOCUS_SHARE: Final = 10
_CHARS_PER_TOKEN: Final = 4
_BYTES_PER_TOKEN: Final = 4
_WORDS_PER_TOKEN: Final = 0.6
_FEWEST_WORDS: Final = 80
_CHARS_PER_WORD: Final = 7
_NEARLY: Final = 0.95
_SENTENCES_TOKENS: Final = 200
_PROSE_SHARE: Final = 0.4
_SMALLEST_ROOM: Final = 256
_ATTEMPTS: Final = 2
_WORTH_ASKING_AGAIN: Final = frozenset({"cut-off", "bad-answer"})


class NoFormatError(SummaryRejectedError):
    """What the model wrote was text, and no summary in the format."""


class _Listening:
    """Guesses from the length of what has come of an answer how much that is of it."""

    def __init__(self, words: int, hears: Callable[[float], None]) -> None:
        self._expected = words * _CHARS_PER_WORD
        self._hears = hears
        self._heard = 0

    def __call__(self, delta: Delta) -> None:
        if delta.kind == "text":
            self._heard += len(delta.text)
            self._hears(min(_NEARLY, self._heard / self._expected))


def measure_with(count_tokens: CountTokens) -> CountTokens:
    """Tokens by `count_tokens` or by the bytes, whichever is more: some tokenizers know one alphabet only."""
    return lambda text: max(
        count_tokens(text), -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
    )


class Asker:
    """Asks `model` for the summaries of one request. `deadline` is a time of the running loop.

    `answer_tokens` bounds an answer; `room` is how many tokens of conversation and previous summary fit
    beside it and our own words. Both follow from `window`, which shrinks when the model turns out to hold
    less than was said.
    """

    window: int
    answer_tokens: int
    room: int

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts,
        request: SummaryRequest,
        tally: Tally,
        *,
        index_tokens: int,
        deadline: float | None,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._request = request
        self._tally = tally
        self._deadline = deadline
        self._side_by_side = SideBySide()
        self._leaks = prompts.leaks()
        self._prose_tokens = max(int(_PROSE_SHARE * request.max_tokens), request.max_tokens - index_tokens)
        self.measure = measure_with(request.count_tokens)

    async def fit(self) -> None:
        """Takes the model's limits. Raises SummaryRejectedError when nothing can be summarized in them."""
        self._fit(await self._model.limits())

    async def shrink(self, window: int) -> None:
        """Goes on with what the model tells now, or half, after a request within `window` was too big."""
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
        focus_chars = self.window // _FOCUS_SHARE * _CHARS_PER_TOKEN
        self._focus = clip(self._request.instructions or "", focus_chars) or None
        self._words = max(_FEWEST_WORDS, int(min(self._prose_tokens, self.answer_tokens) * _WORDS_PER_TOKEN))
        parts: tuple[Part, ...] = ("history", "turn", "branch")
        own = max(self.measure(self._text(part, "", "-")) for part in parts)
        frame = own + self.measure(self._prompts.system + self._prompts.retry) + _TEMPLATE_TOKENS
        self.room = int((self.window - self.answer_tokens) / SAFETY) - frame
        if self.room < _SMALLEST_ROOM:
            raise SummaryRejectedError(
                f"{self.name} has a window of {self.window:,} tokens, too small to summarize in. "
                "Name a larger model in `summarizer.*`, or set its `contextWindow` if it has more.",
                contextWindow=self.window,
            )

    @property
    def name(self) -> str:
        return self._model.name

    def is_out_of_time(self) -> bool:
        return self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline

    async def ask(
        self, part: Part, conversation: str, previous: str | None, hears: Callable[[float], None]
    ) -> Summary:
        """The model's summary of `conversation`, mended where it had to be.

        `hears` is told how much of the answer has come, from 0 to 1, as far as that can be known.

        Raises ModelError, and SummaryRejectedError when two answers were none: NoFormatError when the model
        did write.
        """
        longest = self._request.max_turn_prefix_tokens if part == "turn" else None
        first = self._text(part, conversation, previous)
        text, problem, came_empty = first, "", True
        material = "\n".join((conversation, previous or ""))
        for attempt in range(_ATTEMPTS):
            try:
                message = await self._complete(text, longest, _Listening(self._words, hears))
            except ModelError as error:
                if error.kind not in _WORTH_ASKING_AGAIN or attempt + 1 == _ATTEMPTS:
                    raise
                problem = "It broke off."
                continue
            judgement = await asyncio.to_thread(judge, message, part, self._leaks, material)
            if judgement.summary is not None:
                self._tally.repaired += judgement.repaired
                return judgement.summary
            problem, came_empty = judgement.problem, not text_of(message.content).strip()
            self._tally.repaired.append("asked again")
            text = self._prompts.again(first, problem)
        said = f"{self.name} was asked {_ATTEMPTS} times and wrote no summary. {problem}"
        if came_empty:
            raise SummaryRejectedError(said, problem=problem)
        raise NoFormatError(said, problem=problem)

    async def ask_in_sentences(self, conversation: str, hears: Callable[[float], None]) -> tuple[str, ...]:
        """What the model reports of `conversation` when no format is asked for: sentences that hold.

        Raises ModelError, and SummaryRejectedError when not one of them does.
        """
        text = self._prompts.in_sentences(conversation, focus=self._focus)
        listening = _Listening(_FEWEST_WORDS, hears)
        message = await self._complete(text, _SENTENCES_TOKENS, listening, temperature=0.0)
        told = await asyncio.to_thread(sentences_told, message, self._leaks, conversation)
        if not told:
            raise SummaryRejectedError(f"{self.name} reported nothing that the conversation bears out.")
        self._tally.sentences += len(told)
        self._tally.repaired.append("told in sentences")
        return told

    def _text(self, part: Part, conversation: str, previous: str | None) -> str:
        return self._prompts.request(
            part,
            conversation,
            previous=previous,
            focus=self._focus,
            replace_instructions=self._request.replace_instructions,
            words=self._words,
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
        return message

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
        self._tally.repaired.append("asked one at a time")
        await self._side_by_side.may_begin()
        with self._side_by_side.visit():
            return await self._answered(request, on_delta)

    async def _answered(self, request: ChatRequest, on_delta: OnDelta) -> AssistantMessage:
        message = (await self._model.complete(request, on_delta)).message
        self._tally.count_usage(message)
        return message


def _came_empty(message: AssistantMessage) -> bool:
    stopped = message.stop_reason == "stop" and not message.tool_calls
    return stopped and not text_of(message.content).strip()
