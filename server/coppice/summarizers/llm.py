"""Summaries that a model writes and rules put right."""

import asyncio
import time
from dataclasses import replace
from typing import Final

from coppice.compaction.asking.prompts import Part, Prompts
from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.compaction.checking.audit import audit
from coppice.compaction.checking.claims import Evidence, typed_sentences, words_of
from coppice.compaction.ledger.carried_out import carried_out_in
from coppice.compaction.ledger.references import entries_in
from coppice.compaction.span.split_turn import is_long, merged, turn_share
from coppice.compaction.summary import Summary
from coppice.compaction.summary_parser import parse_summary
from coppice.errors import SummaryRejectedError
from coppice.models.chat import ChatModel
from coppice.summarizers.chunks import Chunked
from coppice.summarizers.client import SummaryClient
from coppice.summarizers.offline import ledger_for
from coppice.summarizers.stats import SummaryStats

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
        client = SummaryClient(self._model, self._prompts, asked, evidence.ledger, stats, deadline=deadline)
        await client.fit()
        chunked = Chunked(client, request, stats, self._most_chunks)
        prose = await _prose(chunked, request, evidence.previous, long_turn=long_turn)
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


async def _prose(chunked: Chunked, request: SummaryRequest, previous: Summary, *, long_turn: bool) -> Summary:
    """The summaries of the history and of the turn's early part, written at once, as one.

    They are joined by sections where the early part is long, else one stands after the other. With nothing
    new in the history the `previous` summary is carried on as it is.
    """
    both = bool(request.history and request.turn_prefix)
    share = await asyncio.to_thread(turn_share, request) if both else 1.0
    part: Part = "earlier" if both and long_turn and request.kind == "history" else request.kind
    earlier = chunked.summarize(request.history, part, previous, 1 - share if both else 1.0)
    before = Summary() if request.history else previous
    newest = (
        chunked.summarize(request.turn_prefix, request.kind, before, share)
        if long_turn
        else chunked.summarize_turn(before, share)
    )
    history, turn = asyncio.create_task(earlier), asyncio.create_task(newest)
    try:
        await asyncio.gather(history, turn)
    except BaseException:
        # A task group would raise the failure of one part where a cancel comes while the other ends.
        history.cancel()
        turn.cancel()
        await asyncio.gather(history, turn, return_exceptions=True)
        raise
    if not long_turn:
        return replace(history.result(), turn=turn.result().turn)
    return merged(history.result(), turn.result()) if both else turn.result()


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
