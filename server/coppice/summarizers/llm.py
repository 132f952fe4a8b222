"""Summaries that a model writes."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, Literal

from coppice.compaction.asking.prompts import Prompts
from coppice.compaction.asking.summarizer import (
    CountTokens,
    SummaryRequest,
    WrittenSummary,
    cautious,
    without_progress,
)
from coppice.compaction.checking.contradictions import contradicted
from coppice.compaction.checking.correcting import corrected, lines_to_correct
from coppice.compaction.checking.verification import Claim, unsupported
from coppice.compaction.span.chunking import grouped
from coppice.compaction.span.serialization import transcript
from coppice.compaction.summary import SPLIT_TURN_HEADING
from coppice.compaction.summary_parser import parse_summary
from coppice.compaction.text.sentences import clip
from coppice.compaction.trimming import fit_whole
from coppice.compaction.writing.document import narrative_in
from coppice.compaction.writing.references import entries_in, short_ids
from coppice.errors import ModelFailedError, SummaryRejectedError
from coppice.models.chat import ChatModel
from coppice.protocol.ledger import WorkLedger
from coppice.recovery.request_size import LEAST_SUMMARY
from coppice.summarizers.chunks import Chunked
from coppice.summarizers.client import SummaryClient
from coppice.summarizers.computing import Compute, in_thread
from coppice.summarizers.offline import ledger_for, turn_by_rule
from coppice.summarizers.progress import Span, SummaryProgress
from coppice.summarizers.stats import SummaryStats
from coppice.tokens.budget import leading
from coppice.tree.messages import Message

MOST_CHUNKS: Final = 24  # requests of one summary (guess)
_SMALL_WINDOW: Final = 32_768
"""Tokens of a window up to which a split turn that does not fit one request is summarized apart (guess)."""
_STATEMENT_CHARS: Final = 200  # characters of the statement that a reported claim is in, as the protocol says
_MOST_UNSUPPORTED: Final = 50  # claims that are reported: at most 10 kB of statements in an entry
_RULE: Final = f"\n\n---\n\n{SPLIT_TURN_HEADING}\n\n"


class ModelSummarizer:
    """Has `model` write the narrative, in one request or in as many as its window makes necessary.

    Its text stays as it is. `seconds` bounds the whole work: when they are over, what is left is summarized
    offline if anything was finished, else the model has failed. A conversation that would take more than
    `most_chunks` requests is summarized offline in its oldest part. `split_turn` says whether a turn's early
    part is in the same text or in one of its own. `compute` is where the conversation and the model's
    answers are worked on. The model is not closed.
    """

    def __init__(
        self,
        model: ChatModel,
        prompts: Prompts | None = None,
        *,
        seconds: float | None = None,
        most_chunks: int = MOST_CHUNKS,
        split_turn: Literal["together", "separate"] = "together",
        compute: Compute = in_thread,
    ) -> None:
        self._model = model
        self._prompts = prompts or Prompts()
        self._seconds = seconds
        self._most_chunks = most_chunks
        self._split_turn = split_turn
        self._compute = compute

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        """The narrative, never more than `request.max_tokens`.

        Raises ModelError when the model could not be asked and SummaryRejectedError when what it wrote was
        no summary. Cancelling stops every request that is under way.
        """
        started = time.monotonic()
        if request.max_tokens < LEAST_SUMMARY:
            raise SummaryRejectedError(
                f"A summary of {request.max_tokens:,} tokens leaves a model no room to write in.",
                maxTokens=request.max_tokens,
            )
        stats = SummaryStats()
        before = narrative_in(request.previous_summary or "")
        ledger = request.ledger
        if ledger is None:
            ledger = await self._compute(ledger_for, without_progress(request))
        deadline = None if self._seconds is None else asyncio.get_running_loop().time() + self._seconds
        client = SummaryClient(
            self._model, self._prompts, request, ledger, stats, deadline=deadline, compute=self._compute
        )
        await client.fit()
        text = await self._written(client, request, before, stats)
        text, claims = await _verified(text, request, ledger, client, stats)
        whole = await self._compute(fitted, text, request.max_tokens, request.count_tokens)
        if not whole:
            raise SummaryRejectedError(
                f"{self._model.name} wrote a summary that does not fit {request.max_tokens:,} tokens.",
                maxTokens=request.max_tokens,
            )
        return WrittenSummary(
            text=whole,
            summarizer=self._model.name,
            warnings=tuple(dict.fromkeys(stats.warnings)),
            details={
                "model": self._model.name,
                **stats.details(),
                "durationMs": int((time.monotonic() - started) * 1000),
                **({"unsupported": _reported(text, claims)} if claims else {}),
            },
        )

    async def _written(
        self, client: SummaryClient, request: SummaryRequest, before: str, stats: SummaryStats
    ) -> str:
        """The narrative of the whole span, with the split turn's early part in it or after it."""
        apart = await self._is_turn_apart(client, request)
        progress = SummaryProgress(request.report, 2 if apart else 1)
        if not apart:
            chunked = Chunked(client, request, stats, self._most_chunks, progress)
            return await chunked.summarize([*request.history, *request.turn_prefix], before)
        narrative, _, turn = before.partition(_RULE)
        of_history = replace(request, kept_messages=[*request.turn_prefix, *request.kept_messages])
        chunked = Chunked(client, of_history, stats, self._most_chunks, progress)
        first = asyncio.create_task(
            chunked.summarize(request.history, narrative) if request.history else _unchanged(narrative)
        )
        second = asyncio.create_task(_turn_summary(client, request, turn, stats, progress))
        try:
            await asyncio.gather(first, second)
        except BaseException:
            # A task group would raise the failure of one part where a cancel comes while the other ends.
            first.cancel()
            second.cancel()
            await asyncio.gather(first, second, return_exceptions=True)
            raise
        return f"{first.result()}{_RULE}{second.result()}" if second.result() else first.result()

    async def _is_turn_apart(self, client: SummaryClient, request: SummaryRequest) -> bool:
        """Whether the turn's early part gets a request of its own, which it must fit.

        As it is set, and in a small window that the whole span does not fit.
        """
        if not request.turn_prefix or not (request.history or request.previous_summary):
            return False
        room = client.template.room
        turn = await self._compute(grouped_tokens, request.turn_prefix, client.measure)
        if turn > room:
            return False
        if self._split_turn == "separate":
            return True
        if client.template.window > _SMALL_WINDOW:
            return False
        return turn + await self._compute(grouped_tokens, request.history, client.measure) > room


async def _unchanged(text: str) -> str:
    return text


async def _turn_summary(
    client: SummaryClient,
    request: SummaryRequest,
    before: str,
    stats: SummaryStats,
    progress: SummaryProgress,
) -> str:
    """The early part of the turn in labelled lines, those that fit its limit.

    By rule where the model fails: it matters less than the history.
    """
    groups = await client.compute(grouped, request.turn_prefix, client.measure)
    span = Span("turn", groups, [])
    progress.add(span)
    progress.begin(span, len(groups), client.template.room)
    conversation = "\n\n".join(group.text for group in groups)
    try:
        text = await client.ask("turn", conversation, before, lambda share: progress.receive(span, share))
    except (ModelFailedError, SummaryRejectedError) as error:
        stats.warnings.append(f"The early part of the turn was summarized offline: {error}")
        turn = await client.compute(turn_by_rule, without_progress(request))
        text = "\n".join(f"- {line}" for line in turn.turn)
    else:
        stats.chunks += 1
    progress.finish(span, len(groups))
    # The request of a turn that was split before is not in its messages.
    requests = [line for line in before.splitlines() if line.startswith("- Request:") and line not in text]
    lines = [*requests, *text.splitlines()]
    limit = request.max_turn_prefix_tokens
    shown = lines if limit is None else leading(lines, limit, lambda line: request.count_tokens(f"{line}\n"))
    return "\n".join(shown)


async def _verified(
    text: str, request: SummaryRequest, ledger: WorkLedger, client: SummaryClient, stats: SummaryStats
) -> tuple[str, list[Claim]]:
    """The text after the model has corrected its names once, and the claims that nothing shows, or that the
    state contradicts.
    """
    messages = [*request.history, *request.turn_prefix, *request.kept_messages]
    texts = [client.template.facts, request.previous_summary or "", request.instructions or ""]

    async def look(text: str) -> list[Claim]:
        return await client.compute(unsupported_claims, text, messages, texts, ledger)

    claims = await look(text)
    lines = lines_to_correct(text, claims)
    if not lines:
        return text, claims
    answer = await client.correct(text, lines)
    better = await client.compute(corrected, text, answer or "", claims)
    if better == text:
        return text, claims
    stats.repaired.append("corrected names")
    return better, await look(better)


def unsupported_claims(
    text: str, messages: Sequence[Message], texts: Sequence[str], ledger: WorkLedger
) -> list[Claim]:
    """The claims of `text` that neither a message nor one of the texts shows, and those that the state of
    `ledger` contradicts. CPU-bound.
    """
    evidence = chain((transcript([each]) for each in messages), texts)
    return [*unsupported(text, evidence, _references(ledger)), *contradicted(text, ledger.state)]


def _references(ledger: WorkLedger) -> frozenset[str]:
    entries = entries_in(ledger)
    return frozenset((*entries, *short_ids(entries).values()))


def _reported(text: str, claims: Sequence[Claim]) -> list[dict[str, Any]]:
    lines = text.splitlines()
    return [
        {
            "kind": claim.kind,
            "text": claim.text,
            "statement": clip(lines[claim.line], _STATEMENT_CHARS),
            "shown": claim.shown,
        }
        for claim in claims[:_MOST_UNSUPPORTED]
    ]


def fitted(text: str, max_tokens: int, count_tokens: CountTokens) -> str:
    """The text as it is, or over the hard limit the more important lines of each section; empty where not
    even its headings fit. CPU-bound.
    """
    count = cautious(count_tokens)
    return text if count(text) <= max_tokens else fit_whole(parse_summary(text), max_tokens, count)


def grouped_tokens(messages: Sequence[Message], measure: CountTokens) -> int:
    """The tokens of the messages as a summarizer is given them. CPU-bound."""
    return sum(group.tokens for group in grouped(messages, measure))
