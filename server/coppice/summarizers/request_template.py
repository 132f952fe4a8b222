"""A request for a summary without its conversation, made to fit the window of a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from coppice.compaction.asking.prompts import Part, Prompts
from coppice.compaction.asking.summarizer import CountTokens, SummaryRequest
from coppice.compaction.span.serialization import serialize
from coppice.compaction.text.sentences import clip
from coppice.compaction.writing.references import entries_in, short_ids
from coppice.compaction.writing.state_lines import fitting_lines
from coppice.models.chat import ModelLimits
from coppice.protocol.ledger import WorkLedger
from coppice.tokens.counting import CHARS_PER_TOKEN
from coppice.tree.messages import Message

FEWEST_WORDS: Final = 80
"""Words that are asked for at the least (guess)."""

_SAFETY: Final = 1.25
"""How much longer a text may be for the model's tokenizer than for ours."""

_ANSWER_SHARE: Final = 3  # the window divided by this bounds an answer (guess)
_TEMPLATE_TOKENS: Final = 128  # tokens of a chat template; that of gpt-oss, a long one, has 89
_FOCUS_SHARE: Final = 10  # the window divided by this bounds the focus (guess)
_WORDS_PER_TOKEN: Final = 0.5
"""A large model's answers in English to eight of these requests had 0.43 to 0.56, on average 0.50."""
_PROSE_SHARE: Final = 0.9
"""Share of the room that is asked for: an answer of 0.45 words a token still fits."""
_FACTS_SHARE: Final = 12
"""The window divided by this bounds the facts that a request carries (guess)."""
_MOST_FACTS_TOKENS: Final = 2_000
"""Tokens of the facts in a request. At 82 points of six recorded sessions they had at most 1,556."""
_AFTERWARDS_SHARE: Final = 24
"""The window divided by this bounds the newest messages after the span that a request carries (guess)."""
_MOST_AFTERWARDS_TOKENS: Final = 3_000
"""Tokens of them: a reply and its results. Of 1,773 recorded replies 99 % have at most 2,048."""
_AFTERWARDS_RESULT_CHARS: Final = 700
"""Characters of a tool result in them. Of 1,965 recorded results 57 % are shorter."""
_SMALLEST_ROOM: Final = 256  # tokens; a smaller window holds no part of a conversation (guess)


def measure_with(count_tokens: CountTokens) -> CountTokens:
    """Tokens by `count_tokens` or by UTF-8 bytes, whichever is more: some tokenizers know one alphabet."""
    return partial(_measured, count_tokens)


def _measured(count_tokens: CountTokens, text: str) -> int:
    return max(count_tokens(text), -(-len(text.encode("utf-8", "surrogatepass")) // CHARS_PER_TOKEN))


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """What the requests for the parts of one summary share, for a model with a `window` of so many tokens.

    `answer_tokens` bounds an answer, `words` is the length that is asked for; `room` is how many tokens of
    conversation and previous summary fit in a request with the answer and all else.
    """

    request: SummaryRequest
    prompts: Prompts
    window: int
    answer_tokens: int
    words: int
    focus: str | None
    facts: str
    afterwards: str
    room: int = 0

    @property
    def is_too_small(self) -> bool:
        """Whether no part of a conversation fits."""
        return self.room < _SMALLEST_ROOM

    def exceeds_window(self, texts: Sequence[str], tokens: int) -> bool:
        """Whether a request of `texts` and an answer of `tokens` may be too long. CPU-bound."""
        asked = sum(map(measure_with(self.request.count_tokens), (self.prompts.system, *texts)))
        return int((self.window - tokens) / _SAFETY) < asked + _TEMPLATE_TOKENS

    def text(self, part: Part, conversation: str, previous: str) -> str:
        """A request. The facts and the newest kept messages go with the newest part."""
        is_newest = part in ("history", "branch")
        return self.prompts.request(
            part,
            conversation,
            previous=previous,
            facts=self.facts if is_newest else "",
            afterwards=self.afterwards if is_newest else "",
            focus=self.focus,
            replace_instructions=self.request.replace_instructions,
            words=self.words,
        )


@dataclass(frozen=True, slots=True)
class Carried:
    """What the requests for the newest part carry besides it: facts, and the newest messages after it."""

    facts: str
    afterwards: str


def carried(
    window: int, ledger: WorkLedger, messages: Sequence[Message], count_tokens: CountTokens
) -> Carried:
    """As much of both as has its place in a window of so many tokens. CPU-bound."""
    room = min(_MOST_FACTS_TOKENS, window // _FACTS_SHARE)
    lines = fitting_lines(ledger.state, room, measure_with(count_tokens), short_ids(entries_in(ledger)))
    return Carried("\n".join(lines), _newest_of(messages, window))


def template_for(
    limits: ModelLimits, prompts: Prompts, request: SummaryRequest, carried: Carried
) -> RequestTemplate:
    """The template for a model of these limits; a small one gets no newest messages, then no facts either."""
    measure = measure_with(request.count_tokens)
    window, longest = limits.context_window, request.max_tokens
    answer_tokens = max(1, min(longest, limits.max_output_tokens or longest, window // _ANSWER_SHARE))
    prose = min(_PROSE_SHARE * min(longest, request.target_tokens or longest), answer_tokens)
    whole = RequestTemplate(
        request,
        prompts,
        window,
        answer_tokens,
        words=max(FEWEST_WORDS, int(prose * _WORDS_PER_TOKEN)),
        focus=clip(request.instructions or "", window // _FOCUS_SHARE * CHARS_PER_TOKEN) or None,
        facts=carried.facts,
        afterwards=carried.afterwards,
    )
    shorter = replace(whole, afterwards="")
    parts: tuple[Part, ...] = (request.kind, "earlier", "addition", "turn")
    for each in (whole, shorter, replace(shorter, facts="")):
        own = max(measure(each.text(part, "", "-")) for part in parts)
        frame = own + measure(prompts.system + prompts.retry) + _TEMPLATE_TOKENS
        template = replace(each, room=int((window - answer_tokens) / _SAFETY) - frame)
        if not template.is_too_small:
            break
    return template


def _newest_of(messages: Sequence[Message], window: int) -> str:
    """The end of what stays after the span: the model must not call undone what was done there."""
    tokens = min(_MOST_AFTERWARDS_TOKENS, window // _AFTERWARDS_SHARE)
    text = serialize(messages, _AFTERWARDS_RESULT_CHARS)
    left_out = len(text) - tokens * CHARS_PER_TOKEN
    if left_out <= 0:
        return text
    # On the line of the mark: at the beginning of one, what is cut could be a speaker's.
    return f"[… {left_out} characters left out …] {text[left_out:]}"
