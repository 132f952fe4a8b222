"""How far a summary is that takes several requests."""

from dataclasses import dataclass, field

from coppice.compaction.chunking import Group
from coppice.compaction.summarizer import OnProgress
from coppice.compaction.summary import Summary


@dataclass(slots=True)
class Span:
    """What is still to be told, and what is told of it so far: `told`, and beside it `sentences`.

    `keeps_format` is None until the model has shown whether it can.

    `tokens_done` are those of the groups that are told, and `parts_done` in how many parts they were;
    `asked` are the groups of the part under way, `heard` how much of its answer has come, from 0 to 1, and
    `parts_left` how many parts are likely to follow.
    """

    groups: list[Group]
    told: Summary
    sentences: list[str] = field(default_factory=list)
    by_model: int = 0
    keeps_format: bool | None = None
    shrinks: int = 0
    failures: int = 0
    tokens_done: int = 0
    parts_done: int = 0
    asked: int = 0
    heard: float = 0.0
    parts_left: int = 0

    def parts(self) -> int:
        """The parts that are done, under way and likely to follow; one at least while anything is left."""
        return self.parts_done + max((self.asked > 0) + self.parts_left, bool(self.groups))

    def tokens_heard(self) -> float:
        return self.tokens_done + self.heard * _tokens(self.groups[: self.asked])

    def tokens_in_all(self) -> int:
        return self.tokens_done + _tokens(self.groups)


class Portions:
    """The `count` spans of one summary, which may be under way at once, and who is told how far they are."""

    def __init__(self, report: OnProgress, count: int) -> None:
        self._report = report
        self._count = count
        self._spans: list[Span] = []

    def join(self, span: Span) -> None:
        self._spans.append(span)

    def asks(self, span: Span, count: int, room: int) -> None:
        """The first `count` groups are asked for; what is left goes in parts of about `room` tokens."""
        span.asked, span.heard = count, 0.0
        span.parts_left = -(-_tokens(span.groups[count:]) // max(1, room))
        self._tell()

    def hears(self, span: Span, share: float) -> None:
        """So much of the answer has come, from 0 to 1."""
        span.heard = share
        self._tell()

    def told(self, span: Span, count: int) -> None:
        """The first `count` groups are told, as one part."""
        span.tokens_done += _tokens(span.groups[:count])
        span.parts_done += 1
        span.asked, span.heard = 0, 0.0
        del span.groups[:count]
        if not span.groups:
            span.parts_left = 0
        self._tell()

    def _tell(self) -> None:
        done = sum(span.parts_done for span in self._spans)
        parts = sum(span.parts() for span in self._spans) + self._count - len(self._spans)
        in_all = sum(span.tokens_in_all() for span in self._spans)
        heard = sum(span.tokens_heard() for span in self._spans)
        said = f"Summarizing, part {min(done + 1, parts)} of {parts}" if parts > 1 else "Summarizing"
        self._report(said, heard / in_all if in_all else 0.0)


def _tokens(groups: list[Group]) -> int:
    return sum(group.tokens for group in groups)
