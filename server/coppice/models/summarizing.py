"""Summaries that a model writes and rules put right."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from coppice.compaction.audit import Evidence, audit, sentences_said
from coppice.compaction.facts.extraction import extract_facts
from coppice.compaction.prompts import Prompts
from coppice.compaction.summarizer import SummaryRequest, WrittenSummary
from coppice.compaction.summary import Summary, parse_summary
from coppice.errors import ModelFailedError, SummaryRejectedError
from coppice.models.asking import Asker
from coppice.models.chat import ChatModel
from coppice.models.chunked import Chunked
from coppice.models.offline.fitting import index_limit
from coppice.models.offline.summarizer import summarize_offline
from coppice.models.tally import Tally

SMALLEST_SUMMARY: Final = 200
"""In tokens. A budget below it holds little more than the headings, so no model is asked."""

MOST_CHUNKS: Final = 24


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
        tally = Tally()
        index_tokens = await asyncio.to_thread(index_limit, request)
        deadline = None if self._seconds is None else asyncio.get_running_loop().time() + self._seconds
        asker = Asker(
            self._model,
            self._prompts,
            request,
            tally,
            index_tokens=index_tokens,
            deadline=deadline,
        )
        await asker.fit()
        work = _Work(Chunked(asker, request, tally, self._most_chunks), request, tally)
        prose, evidence = await work.done(index_tokens)
        audited = await asyncio.to_thread(audit, prose, evidence, request.max_tokens, request.count_tokens)
        if not audited.text:
            raise SummaryRejectedError(
                f"{self._model.name} wrote a summary that does not fit {request.max_tokens:,} tokens.",
                maxTokens=request.max_tokens,
            )
        return WrittenSummary(
            text=audited.text,
            summarizer=self._model.name,
            warnings=tuple(dict.fromkeys(tally.warnings)),
            details={
                "model": self._model.name,
                **tally.details(),
                "durationMs": int((time.monotonic() - started) * 1000),
                "audited": dict(audited.counts),
            },
        )


class _Work:
    """The summaries of one request, at once: the history's, the split turn's, and the one by rule."""

    def __init__(self, chunked: Chunked, request: SummaryRequest, tally: Tally) -> None:
        self._chunked = chunked
        self._request = request
        self._tally = tally

    async def done(self, index_tokens: int) -> tuple[Summary, Evidence]:
        found = asyncio.create_task(asyncio.to_thread(_evidence, self._request, index_tokens))
        history, turn = asyncio.create_task(self._history()), asyncio.create_task(self._turn())
        tasks: tuple[asyncio.Task[Any], ...] = (found, history, turn)
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        evidence, told = found.result(), turn.result()
        lines = evidence.by_rule.turn if told is None else told.turn
        return replace(history.result(), turn=self._within_limit(lines)), evidence

    def _within_limit(self, lines: Sequence[str]) -> tuple[str, ...]:
        """The lines of a turn, the first ones where they are too many."""
        left = self._request.max_turn_prefix_tokens
        if left is None:
            return tuple(lines)
        kept = []
        for line in lines:
            left -= self._request.count_tokens(f"- {line}\n")
            if left < 0:
                break
            kept.append(line)
        return tuple(kept)

    async def _history(self) -> Summary:
        """The history's summary; with nothing new the previous one is carried on as it is."""
        previous = parse_summary(self._request.previous_summary or "")
        if not self._request.history:
            return previous
        return await self._chunked.summarize(self._request.history, self._request.kind, previous)

    async def _turn(self) -> Summary | None:
        """The turn's early part; None when only rules can tell it, which matters less than the history."""
        if not self._request.turn_prefix:
            return Summary()
        previous = parse_summary(self._request.previous_summary or "")
        before = () if self._request.history else previous.turn
        try:
            return await self._chunked.summarize(self._request.turn_prefix, "turn", Summary(turn=before))
        except (ModelFailedError, SummaryRejectedError) as error:
            if not self._request.history:
                raise
            self._tally.warnings.append(f"The early part of the turn was summarized offline: {error}")
            return None


def _evidence(request: SummaryRequest, index_tokens: int) -> Evidence:
    covered = [*request.history, *request.turn_prefix]
    return Evidence(
        facts=extract_facts(covered, request.kept, request.previous_summary, request.instructions),
        by_rule=parse_summary(summarize_offline(request)),
        previous=parse_summary(request.previous_summary or ""),
        said=sentences_said(covered),
        index_tokens=index_tokens,
    )
