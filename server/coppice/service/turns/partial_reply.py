"""What a running turn reports: what it waits for, and a reply piece by piece."""

from typing_extensions import override

from coppice.models.chat import Delta
from coppice.protocol.base import WireModel
from coppice.protocol.prompt import CompactionUpdate, TextUpdate, ThinkingUpdate
from coppice.service.core.progress import JobProgress, StepProgress
from coppice.tree.messages import AssistantContent, TextContent, ThinkingContent


class TurnProgress(StepProgress):
    """A turn has no percentage. `compactions` are the entries of those that were made in it."""

    def __init__(self, whole: JobProgress) -> None:
        super().__init__(whole)
        self.compactions: list[str] = []

    @override
    def report(self, stage: str, percentage: int = 0) -> None:
        del percentage
        super().report(stage, 0)

    @override
    def partial(self, value: WireModel) -> None:
        if isinstance(value, CompactionUpdate) and value.entry_id is not None:
            self.compactions.append(value.entry_id)
        super().partial(value)


class PartialReply:
    """The text and the thinking of a reply that is not whole yet; a part of a tool call is no call."""

    def __init__(self, progress: JobProgress) -> None:
        self._progress = progress
        self._parts: list[tuple[str, list[str]]] = []

    def add(self, delta: Delta) -> None:
        """Takes in a piece of the reply and reports it. Pieces of tool calls are not reported."""
        if delta.kind == "toolCall" or not delta.text:
            return
        update = TextUpdate(text=delta.text) if delta.kind == "text" else ThinkingUpdate(text=delta.text)
        self._progress.partial(update)
        if not self._parts or self._parts[-1][0] != delta.kind:
            self._parts.append((delta.kind, []))
        self._parts[-1][1].append(delta.text)

    def content(self) -> list[AssistantContent]:
        """The blocks so far; those without a letter are left out."""
        joined = ((kind, "".join(pieces)) for kind, pieces in self._parts)
        return [
            TextContent(text=text) if kind == "text" else ThinkingContent(thinking=text)
            for kind, text in joined
            if text.strip()
        ]
