"""The progress of a summary that takes several requests."""

from dataclasses import dataclass, field

from coppice.compaction.asking.prompts import Part
from coppice.compaction.asking.summarizer import OnProgress
from coppice.compaction.span.chunking import Group


@dataclass(slots=True)
class Span:
    """The groups that are still to be summarized, and the result so far: `texts`, oldest first, `sentences`.

    `part` is what the last request is for; `keeps_format` is None until the model has answered once.

    `tokens_done` are those of the groups that are summarized, `parts_done` the number of parts they were in;
    `asked` is the number of groups in the part under way, `received` the share of its answer that has
    arrived, from 0 to 1, and `parts_left` the number of parts that are likely to follow.
    """

    part: Part
    groups: list[Group]
    texts: list[str]
    sentences: list[str] = field(default_factory=list)
    by_model: int = 0
    keeps_format: bool | None = None
    shrinks: int = 0
    failures: int = 0
    tokens_done: int = 0
    parts_done: int = 0
    asked: int = 0
    received: float = 0.0
    parts_left: int = 0

    def parts(self) -> int:
        """The parts that are done, under way and likely to follow; one at least while anything is left."""
        return self.parts_done + max((self.asked > 0) + self.parts_left, bool(self.groups))

    def tokens_received(self) -> float:
        """Tokens of the span that are summarized, the request under way counted by its share."""
        return self.tokens_done + self.received * _tokens(self.groups[: self.asked])

    def tokens_in_all(self) -> int:
        """Tokens of the span."""
        return self.tokens_done + _tokens(self.groups)


class SummaryProgress:
    """The progress of the `count` spans of one summary, which may be under way at once."""

    def __init__(self, report: OnProgress, count: int) -> None:
        self._report = report
        self._count = count
        self._spans: list[Span] = []

    def add(self, span: Span) -> None:
        """Counts a further span; the share that was reached may go down by it."""
        self._spans.append(span)

    def begin(self, span: Span, count: int, room: int) -> None:
        """The first `count` groups are sent; the rest follows in parts of about `room` tokens."""
        span.asked, span.received = count, 0.0
        span.parts_left = -(-_tokens(span.groups[count:]) // max(1, room))
        self._notify()

    def receive(self, span: Span, share: float) -> None:
        """This share of the answer has arrived, from 0 to 1."""
        span.received = share
        self._notify()

    def finish(self, span: Span, count: int) -> None:
        """The first `count` groups are summarized, as one part."""
        span.tokens_done += _tokens(span.groups[:count])
        span.parts_done += 1
        span.asked, span.received = 0, 0.0
        del span.groups[:count]
        if not span.groups:
            span.parts_left = 0
        self._notify()

    def _notify(self) -> None:
        done = sum(span.parts_done for span in self._spans)
        parts = sum(span.parts() for span in self._spans) + self._count - len(self._spans)
        in_all = sum(span.tokens_in_all() for span in self._spans)
        received = sum(span.tokens_received() for span in self._spans)
        text = f"Summarizing, part {min(done + 1, parts)} of {parts}" if parts > 1 else "Summarizing"
        self._report(text, received / in_all if in_all else 0.0)


def _tokens(groups: list[Group]) -> int:
    return sum(group.tokens for group in groups)
