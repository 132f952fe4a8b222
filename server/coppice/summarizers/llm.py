"""Summaries that a model writes and rules put right."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from coppice.compaction.audit import audit
from coppice.compaction.claims import Evidence, typed_sentences, words_of
from coppice.compaction.ledger.carried_out import carried_out_in
from coppice.compaction.ledger.references import entries_in
from coppice.compaction.prompts import Part, Prompts
from coppice.compaction.split_turn import is_long, merged, turn_share
from coppice.compaction.summarizer import SummaryRequest, WrittenSummary
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.errors import ModelFailedError, SummaryRejectedError
from coppice.models.chat import ChatModel
from coppice.summarizers.chunks import Chunked
from coppice.summarizers.client import SummaryClient
from coppice.summarizers.offline.summarizer import ledger_for, turn_by_rule
from coppice.summarizers.stats import SummaryStats
from coppice.tokens.budget import leading

SMALLEST_SUMMARY: Final = 200
"""In tokens. A budget below it holds little more than the headings, so no model is asked."""

MOST_CHUNKS: Final = 24  # requests of one summary (guess)


class ModelSummarizer:
    """Has `model` write the prose, in as many requests as its window makes necessary, and audits it.

    `seconds` bounds the whole work: when they are over, what is left is summarized offline if anything was
    finished, else the model has failed. A conversation that would take more than `most_chunks` requests is
    summarized offline in its oldest part. The model is not closed.
    """

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts | None = None,
        *,
        seconds: float | None = None,
        most_chunks: int = MOST_CHUNKS,
    ) -> None:
        self._model = model
        self._prompts = prompts or Prompts()
        self._seconds = seconds
        self._most_chunks = most_chunks

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """The audited summary, never more than `request.max_tokens`.

        Raises ModelError when the model could not be asked and SummaryRejectedError when what it wrote was
        no summary. Cancelling stops every request that is under way.
        """
        started = time.monotonic()
        if request.max_tokens < SMALLEST_SUMMARY:
            raise SummaryRejectedError(
                f"A summary of {request.max_tokens:,} tokens leaves a model no room to write in.",
                maxTokens=request.max_tokens,
            )
        stats = SummaryStats()
        evidence = await asyncio.to_thread(_evidence, request)
        long_turn = await asyncio.to_thread(is_long, request)
        asked = request if long_turn else replace(request, kept=[*request.turn_prefix, *request.kept])
        deadline = None if self._seconds is None else asyncio.get_running_loop().time() + self._seconds
        client = SummaryClient(
            self._model, self._prompts, asked, stats, deadline=deadline, ledger=evidence.ledger
        )
        await client.fit()
        chunked = Chunked(client, request, stats, self._most_chunks)
        prose = await _Work(chunked, request, stats, long_turn=long_turn).done()
        audited = await asyncio.to_thread(
            audit,
            prose,
            evidence,
            request.max_tokens,
            request.count_tokens,
            target_tokens=request.target_tokens,
        )
        if not audited.text:
            raise SummaryRejectedError(
                f"{self._model.name} wrote a summary that does not fit {request.max_tokens:,} tokens.",
                maxTokens=request.max_tokens,
            )
        return WrittenSummary(
            text=audited.text,
            summarizer=self._model.name,
            warnings=tuple(dict.fromkeys(stats.warnings)),
            details={
                "model": self._model.name,
                **stats.details(),
                "durationMs": int((time.monotonic() - started) * 1000),
                "audited": dict(audited.counts),
                **({"struck": list(audited.struck)} if audited.struck else {}),
            },
        )


class _Work:
    """The summaries of one request, at once: the history's and the split turn's."""

    def __init__(
        self, chunked: Chunked, request: SummaryRequest, stats: SummaryStats, *, long_turn: bool
    ) -> None:
        self._chunked = chunked
        self._request = request
        self._stats = stats
        self._long_turn = long_turn

    async def done(self) -> Summary:
        """Both summaries: joined by sections where the turn's early part is long, else one after it."""
        long_turn = self._long_turn
        both = bool(self._request.history and self._request.turn_prefix)
        share = await asyncio.to_thread(turn_share, self._request) if both else 1.0
        left = 1 - share if both else 1.0
        history = asyncio.create_task(self._earlier(left) if both and long_turn else self._history(left))
        turn = asyncio.create_task(self._whole_turn(share) if long_turn else self._short_turn(share))
        try:
            await asyncio.gather(history, turn)
        except BaseException:
            for task in (history, turn):
                task.cancel()
            await asyncio.gather(history, turn, return_exceptions=True)
            raise
        if not long_turn:
            return replace(history.result(), turn=self._within_limit(turn.result().turn))
        if both:
            return merged(history.result(), turn.result())
        return turn.result()

    def _within_limit(self, lines: Sequence[str]) -> tuple[str, ...]:
        """The lines of a turn, the first ones where they are too many."""
        limit = self._request.max_turn_prefix_tokens
        if limit is None:
            return tuple(lines)
        return tuple(leading(lines, limit, lambda line: self._request.count_tokens(f"- {line}\n")))

    async def _history(self, share: float) -> Summary:
        """The history's summary; with nothing new the previous one is carried on as it is."""
        previous = parse_summary(self._request.previous_summary or "")
        if not self._request.history:
            return previous
        return await self._chunked.summarize(self._request.history, self._request.kind, previous, share)

    async def _earlier(self, share: float) -> Summary:
        previous = parse_summary(self._request.previous_summary or "")
        part: Part = "branch" if self._request.kind == "branch" else "earlier"
        return await self._chunked.summarize(self._request.history, part, previous, share)

    async def _whole_turn(self, share: float) -> Summary:
        """The early part in the full format; without history it carries the previous summary on."""
        previous = Summary() if self._request.history else parse_summary(self._request.previous_summary or "")
        return await self._chunked.summarize(self._request.turn_prefix, self._request.kind, previous, share)

    async def _short_turn(self, share: float) -> Summary:
        """The early part in a few lines, by rule where the model fails: it matters less than the history."""
        if not self._request.turn_prefix:
            return Summary()
        previous = parse_summary(self._request.previous_summary or "")
        before = () if self._request.history else previous.turn
        try:
            turn = Summary(turn=before)
            return await self._chunked.summarize(self._request.turn_prefix, "turn", turn, share)
        except (ModelFailedError, SummaryRejectedError) as error:
            self._stats.warnings.append(f"The early part of the turn was summarized offline: {error}")
            return await asyncio.to_thread(turn_by_rule, self._request)


def _evidence(request: SummaryRequest) -> Evidence:
    covered = [*request.history, *request.turn_prefix]
    ledger = ledger_for(request)
    previous = parse_summary(request.previous_summary or "")
    return Evidence(
        ledger=ledger,
        previous=previous,
        typed=typed_sentences(covered),
        words=words_of(covered),
        entries=entries_in(ledger),
        done=carried_out_in([*covered, *request.kept], previous.constraints),
    )
