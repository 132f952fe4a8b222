"""What a turn tells while it is at work: what it waits for, and a reply piece by piece."""

from coppice.models.chat import Delta
from coppice.service.jobs import SharedProgress, Step
from coppice.service.messages.base import WireModel
from coppice.service.messages.prompt import CompactionUpdate, TextUpdate, ThinkingUpdate
from coppice.tree.messages import AssistantContent, TextContent, ThinkingContent


class TurnProgress(Step):
    """A turn has no percentage. `compactions` are the entries of those that were made in it."""

    def __init__(self, whole: SharedProgress) -> None:
        super().__init__(whole)
        self.compactions: list[str] = []

    def report(self, stage: str, percentage: int = 0) -> None:
        del percentage
        super().report(stage, 0)

    def partial(self, value: WireModel) -> None:
        if isinstance(value, CompactionUpdate) and value.entry_id is not None:
            self.compactions.append(value.entry_id)
        super().partial(value)


class Draft:
    """The text and the thinking of a reply that is not whole yet; a part of a tool call is no call."""

    def __init__(self, progress: SharedProgress) -> None:
        self._progress = progress
        self._parts: list[tuple[str, list[str]]] = []

    def hear(self, delta: Delta) -> None:
        if delta.kind == "toolCall" or not delta.text:
            return
        told = TextUpdate(text=delta.text) if delta.kind == "text" else ThinkingUpdate(text=delta.text)
        self._progress.partial(told)
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
