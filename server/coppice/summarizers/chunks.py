"""A span of any length through a window of any size: chunk by chunk, each carrying on the summary so far."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from coppice.compaction.asking.prompts import Part
from coppice.compaction.asking.summarizer import SummaryRequest
from coppice.compaction.old_summaries import without_index
from coppice.compaction.span.chunking import Group, grouped, next_chunk
from coppice.compaction.span.serialization import RESULT_CHARS
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.trimming import fit_whole
from coppice.errors import CoppiceError, ModelFailedError, SummaryRejectedError
from coppice.models.chat import ModelError
from coppice.summarizers.client import NoFormatError, SummaryClient
from coppice.summarizers.offline import summarize_offline, turn_by_rule
from coppice.summarizers.progress import Span, SummaryProgress
from coppice.summarizers.stats import SummaryStats
from coppice.tokens.budget import leading
from coppice.tree.messages import Message

_PREVIOUS_SHARE: Final = 0.4  # share of a request for the summary so far (guess)
_MOST_SHRINKS: Final = 6  # attempts to fit a request into the real window (guess)
_SHORTER_RESULTS: Final = (RESULT_CHARS, 700, 250)
_HOPELESS: Final = frozenset({"auth", "quota", "not-found"})
_MOST_FAILURES: Final = 2  # parts in a row after which rules write the rest (guess)


class Chunked:
    """Summarizes the parts of `request` with `client`, and by rule what the model fails at.

    A model that cannot keep to the format is asked for sentences, and rules make the structure round them.
    """

    def __init__(
        self, client: SummaryClient, request: SummaryRequest, stats: SummaryStats, most_chunks: int
    ) -> None:
        self._client = client
        self._request = request
        self._stats = stats
        self._most_chunks = most_chunks
        spans = [messages for messages in (request.history, request.turn_prefix) if messages]
        self._progress = SummaryProgress(request.report, len(spans))

    async def summarize(
        self, messages: Sequence[Message], part: Part, before: Summary, share: float = 1.0
    ) -> Summary:
        """The summary of `before` and `messages` together; constraints and sizes are not checked yet.

        Without messages it is `before`. `share` is the part of the target length that it may have.
        A chunk that fails is summarized offline once another has succeeded. Raises ModelError or
        SummaryRejectedError when the first one fails; one answer that is no summary is let pass.
        """
        if not messages:
            return before
        span = Span(part, await asyncio.to_thread(self._groups, messages), before, share)
        self._progress.add(span)
        await self._leave_the_oldest(span)
        while span.groups:
            window, room = self._client.template.window, self._client.template.room
            previous = await asyncio.to_thread(self._previous, span, room)
            left = room - self._client.measure(previous or "")
            text, taken = await asyncio.to_thread(next_chunk, span.groups, left, self._client.measure)
            self._progress.begin(span, taken, left)
            try:
                span.summary = await self._by_model(span, text, taken, previous)
            except (ModelFailedError, SummaryRejectedError) as error:
                failed = await self._shrunk(span, window) if _was_too_big(error) else error
                if failed is not None:
                    await self._by_rule_after(span, taken, failed)
                continue
            self._progress.finish(span, taken)
            span.by_model += 1
            span.failures = 0
            self._stats.chunks += 1
        if part == "turn":
            return replace(span.summary, turn=(*span.summary.turn, *span.sentences))
        return replace(span.summary, context=(*span.sentences, *span.summary.context))

    async def summarize_turn(self, before: Summary, share: float) -> Summary:
        """The early part of the turn in a few lines, after those of `before`.

        By rule where the model fails: it matters less than the history. Lines beyond its limit are left out.
        """
        request = self._request
        if not request.turn_prefix:
            return Summary()
        try:
            turn = await self.summarize(request.turn_prefix, "turn", Summary(turn=before.turn), share)
        except (ModelFailedError, SummaryRejectedError) as error:
            self._stats.warnings.append(f"The early part of the turn was summarized offline: {error}")
            turn = await asyncio.to_thread(turn_by_rule, request)
        limit = request.max_turn_prefix_tokens
        if limit is None:
            return turn
        lines = leading(turn.turn, limit, lambda line: request.count_tokens(f"- {line}\n"))
        return Summary(turn=tuple(lines))

    async def _by_model(self, span: Span, text: str, taken: int, previous: str | None) -> Summary:
        """The summary with the next chunk in it, whose sentences are the span's."""
        on_share = partial(self._progress.receive, span)
        rejected: NoFormatError | None = None
        if span.keeps_format is not False:
            try:
                answer = await self._client.ask(span.part, text, previous, on_share, span.share)
            except NoFormatError as error:
                span.keeps_format = bool(span.keeps_format)
                rejected = error
            else:
                span.keeps_format = True
                return _carried(answer, span)
        try:
            span.sentences += await self._client.ask_in_sentences(text, on_share)
        except SummaryRejectedError as error:
            raise rejected or error from None
        return await self._with_rules(span, taken)

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
        span.groups = await asyncio.to_thread(self._groups, messages)
        await self._leave_the_oldest(span)
        return None

    def _groups(self, messages: Sequence[Message]) -> list[Group]:
        """The groups, with tool results shorter where there would be too many chunks."""
        groups: list[Group] = []
        for result_chars in _SHORTER_RESULTS:
            groups = grouped(messages, self._client.measure, result_chars)
            if sum(group.tokens for group in groups) <= self._most_tokens():
                break
        return groups

    def _most_tokens(self) -> int:
        return int(self._most_chunks * self._client.template.room * (1 - _PREVIOUS_SHARE))

    async def _leave_the_oldest(self, span: Span) -> None:
        """Summarizes offline what would need more requests than are allowed, the oldest first."""
        room = self._client.template.room
        kept = leading(span.groups[::-1], self._most_tokens(), lambda group: min(group.tokens, room))
        first = len(span.groups) - max(1, len(kept))
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
        span.summary = await self._with_rules(span, taken)
        self._progress.finish(span, taken)
        self._stats.chunks += 1
        self._stats.chunks_by_rule += 1

    async def _with_rules(self, span: Span, taken: int) -> Summary:
        """The summary with the first groups in it, summarized offline."""
        messages = [message for group in span.groups[:taken] for message in group.messages]
        following = [message for group in span.groups[taken:] for message in group.messages]
        turn = span.part == "turn"
        request = replace(
            self._request,
            history=() if turn else messages,
            turn_prefix=messages if turn else (),
            kept=following or self._request.kept,
            previous_summary=None if turn else span.summary.render(),
            ledger=None,
            target_tokens=None,
        )
        if turn:
            by_rule = await asyncio.to_thread(turn_by_rule, request)
            return Summary(turn=(*span.summary.turn, *by_rule.turn))
        return parse_summary(await asyncio.to_thread(summarize_offline, request))

    def _previous(self, span: Span, room: int) -> str | None:
        """The summary so far as the model is shown it: without the index, which is made anew in the end."""
        limit = int(room * _PREVIOUS_SHARE)
        if span.part == "turn":
            return "\n".join(f"- {line}" for line in span.summary.turn)[: limit * 3] or None
        shown = without_index(span.summary)
        return None if shown == Summary() else fit_whole(shown, limit, self._client.measure) or None


def _carried(answer: Summary, span: Span) -> Summary:
    """Keeps the request of a turn when the model dropped it from a later part."""
    if span.part != "turn":
        return answer
    earlier = span.summary.turn
    kept = [line for line in earlier if line.startswith("Request:") and line not in answer.turn]
    return Summary(turn=(*kept, *answer.turn))


def _was_too_big(error: CoppiceError) -> bool:
    return isinstance(error, ModelError) and error.kind == "overflow"
