"""A span of any length through a window of any size: in one request, or in parts that the last one joins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from coppice.compaction.asking.prompts import Part
from coppice.compaction.asking.summarizer import CountTokens, SummaryRequest, without_progress
from coppice.compaction.span.chunking import Group, grouped, leading_groups, shortened_group
from coppice.compaction.span.serialization import RESULT_CHARS
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.trimming import fit_whole
from coppice.errors import CoppiceError, ModelFailedError, SummaryRejectedError
from coppice.models.chat import ModelError
from coppice.summarizers.client import NoFormatError, SummaryClient
from coppice.summarizers.offline import summarize_offline
from coppice.summarizers.progress import Span, SummaryProgress
from coppice.summarizers.stats import SummaryStats
from coppice.tokens.budget import leading
from coppice.tree.messages import Message

_PREVIOUS_SHARE: Final = 0.4  # share of a request for the texts so far (guess)
_MOST_SHRINKS: Final = 6
"""Attempts to fit a request into the real window. Six halvings of 200,000 tokens leave 3,125."""
_RESULT_CHARS: Final = (8_000, RESULT_CHARS, 700, 250)
"""Characters of a tool result. What was cut away at 2,000 caused three of five false or stale statements that
readers saw in a large model's summaries of four sessions; at 8,000 these have 67,000 to 103,000 tokens.
"""
_HOPELESS: Final = frozenset({"auth", "quota", "not-found"})
_MOST_FAILURES: Final = 2  # parts in a row after which rules write the rest (guess)


class Chunked:
    """Summarizes the parts of `request` with `client`, and by rule what the model fails at.

    A model that cannot keep to the format is asked for sentences, and rules make the structure round them.
    """

    def __init__(
        self,
        client: SummaryClient,
        request: SummaryRequest,
        stats: SummaryStats,
        most_chunks: int,
        progress: SummaryProgress,
    ) -> None:
        self._client = client
        self._request = request
        self._stats = stats
        self._most_chunks = most_chunks
        self._progress = progress

    async def summarize(self, messages: Sequence[Message], before: str) -> str:
        """One text in the format about `messages`, and about what `before` covers.

        The text of a part is put after those before it, and the last request sees them all. Where they would
        take too much of the window, each request writes one new text instead.

        A part that fails is summarized offline once another has succeeded. Raises ModelError or
        SummaryRejectedError when the first one fails; one answer that is no summary is let pass.
        """
        groups = await self._groups(messages)
        span = Span(self._request.kind, groups, [before] if before else [])
        self._progress.add(span)
        await self._leave_the_oldest(span)
        while span.groups:
            window, room = self._client.template.window, self._client.template.room
            previous = await self._client.compute(
                shown_texts, span.texts, room, self._client.template.answer_tokens, self._client.measure
            )
            left = room - previous.tokens
            text, taken = await self._next(span.groups, left)
            self._progress.begin(span, taken, left)
            try:
                await self._by_model(span, text, taken, previous.text, adds=previous.has_room)
            except (ModelFailedError, SummaryRejectedError) as error:
                failed = await self._shrunk(span, window) if _was_too_big(error) else error
                if failed is not None:
                    await self._by_rule_after(span, taken, failed)
                continue
            self._progress.finish(span, taken)
            span.by_model += 1
            span.failures = 0
            self._stats.chunks += 1
        if len(span.texts) == 1 and not span.sentences:
            return span.texts[0]
        return await self._client.compute(joined, span.texts, span.sentences)

    async def _next(self, groups: Sequence[Group], room: int) -> tuple[str, int]:
        """The text of the first groups that fit, or of the first one shortened, and how many those are."""
        taken = leading_groups(groups, room)
        if taken:
            return "\n\n".join(group.text for group in groups[:taken]), taken
        compute, measure = self._client.compute, self._client.measure
        return await compute(shortened_group, groups[0], room, measure), 1

    async def _by_model(self, span: Span, text: str, taken: int, previous: str, *, adds: bool) -> None:
        """Writes the next part; its sentences where the model does not keep to the format.

        With `adds` the text of a part that is not the last one is put after those before it.
        """
        on_share = partial(self._progress.receive, span)
        rejected: NoFormatError | None = None
        if span.keeps_format is not False:
            is_last = taken == len(span.groups)
            adds = adds and not is_last
            part: Part = span.part if is_last else "addition" if adds else "earlier"
            try:
                answer = await self._client.ask(part, text, previous, on_share)
            except NoFormatError as error:
                span.keeps_format = bool(span.keeps_format)
                rejected = error
            else:
                span.keeps_format = True
                span.texts = [*span.texts, answer] if adds else [answer]
                return
        try:
            span.sentences += await self._client.ask_in_sentences(text, on_share)
        except SummaryRejectedError as error:
            raise rejected or error from None
        await self._with_rules(span, taken)

    async def _shrunk(self, span: Span, window: int) -> CoppiceError | None:
        """Cuts what is left for a smaller window; returns an error when that does not end."""
        span.shrinks += 1
        if span.shrinks > _MOST_SHRINKS:
            return ModelError(
                f"{self._client.name} takes no request of {window:,} tokens. Set the `contextWindow` it has.",
                kind="overflow",
            )
        try:
            await self._client.shrink(window)
        except SummaryRejectedError as error:
            return error
        messages = [message for group in span.groups for message in group.messages]
        span.groups = await self._groups(messages)
        await self._leave_the_oldest(span)
        return None

    async def _groups(self, messages: Sequence[Message]) -> list[Group]:
        compute, measure = self._client.compute, self._client.measure
        return await compute(
            fitting_groups, messages, measure, self._client.template.room, self._most_tokens()
        )

    def _most_tokens(self) -> int:
        return int(self._most_chunks * self._client.template.room * (1 - _PREVIOUS_SHARE))

    async def _leave_the_oldest(self, span: Span) -> None:
        """Summarizes offline what would need more requests than are allowed, the oldest first."""
        room = self._client.template.room
        newest = leading(span.groups[::-1], self._most_tokens(), lambda group: min(group.tokens, room))
        first = len(span.groups) - max(1, len(newest))
        if first <= 0:
            return
        count = sum(len(group.messages) for group in span.groups[:first])
        self._stats.warnings.append(
            f"The window of {self._client.name} is small for this conversation; its {count:,} oldest"
            " messages were summarized offline."
        )
        await self._by_rule(span, first)

    async def _by_rule_after(self, span: Span, taken: int, error: CoppiceError) -> None:
        """Summarizes the chunk offline, or all that is left when the model cannot succeed.

        Raises `error` when the model has summarized nothing yet; one answer that is no summary is accepted.
        """
        is_slip = isinstance(error, SummaryRejectedError)
        if not span.by_model and not (is_slip and not span.failures and len(span.groups) > taken):
            raise error
        span.failures += 1
        hopeless = isinstance(error, ModelError) and error.kind in _HOPELESS
        reports_now_and_then = is_slip and span.keeps_format is False
        tired = span.failures >= _MOST_FAILURES and not reports_now_and_then
        rest = hopeless or tired or self._client.is_out_of_time()
        self._stats.warnings.append(
            f"{'The rest' if rest else 'A part'} of the conversation was summarized offline: {error}"
        )
        await self._by_rule(span, len(span.groups) if rest else taken)

    async def _by_rule(self, span: Span, taken: int) -> None:
        await self._with_rules(span, taken)
        self._progress.finish(span, taken)
        self._stats.chunks += 1
        self._stats.chunks_by_rule += 1

    async def _with_rules(self, span: Span, taken: int) -> None:
        """Summarizes the first groups offline: after a model's texts, into a text that rules wrote."""
        messages = [message for group in span.groups[:taken] for message in group.messages]
        following = [message for group in span.groups[taken:] for message in group.messages]
        before = "\n\n".join(span.texts)
        adds = bool(span.keeps_format)
        request = replace(
            self._request,
            history=messages,
            turn_prefix=(),
            kept_messages=following or self._request.kept_messages,
            previous_summary=None if adds else before or None,
            ledger=None,
            target_tokens=None,
        )
        text = await self._client.compute(summarize_offline, without_progress(request))
        span.texts = [*span.texts, text] if adds else [text]


def fitting_groups(
    messages: Sequence[Message], measure: CountTokens, room: int, most_tokens: int
) -> list[Group]:
    """The groups, with tool results as long as fits one request, or shorter for not too many. CPU-bound."""
    whole, short, shorter, shortest = (partial(grouped, messages, measure, chars) for chars in _RESULT_CHARS)
    for each in (whole, short):
        groups = each()
        if _size(groups) <= room:
            return groups
    fewer = shorter()
    if _size(fewer) <= room or _size(groups) > most_tokens:
        groups = fewer
    return groups if _size(groups) <= most_tokens else shortest()


@dataclass(frozen=True, slots=True)
class ShownTexts:
    """The texts so far as the model is shown them; `has_room` says that there is room for another."""

    text: str
    tokens: int
    has_room: bool


def shown_texts(texts: Sequence[str], room: int, answer_tokens: int, measure: CountTokens) -> ShownTexts:
    """The texts whole, or the more important lines of each section. CPU-bound."""
    limit = int(room * _PREVIOUS_SHARE)
    text = "\n\n".join(texts)
    tokens = measure(text)
    if tokens <= limit:
        return ShownTexts(text, tokens, has_room=tokens + answer_tokens <= room * _PREVIOUS_SHARE)
    text = fit_whole(parse_summary(text), limit, measure)
    return ShownTexts(text, measure(text), has_room=False)


def joined(texts: Sequence[str], sentences: Sequence[str]) -> str:
    """The texts joined by sections, with the sentences as context. CPU-bound."""
    summary = parse_summary("\n\n".join(texts))
    return replace(summary, context=(*sentences, *summary.context)).render()


def _size(groups: Sequence[Group]) -> int:
    return sum(group.tokens for group in groups)


def _was_too_big(error: CoppiceError) -> bool:
    return isinstance(error, ModelError) and error.kind == "overflow"
