"""The use cases `coppice/label` and `coppice/pin`."""

from typing import TypeVar, cast

from coppice.compaction.span.sizes import fitted_sizes
from coppice.errors import ContextOverflowError, UnknownEntryError
from coppice.protocol.navigation import LabelParams, LabelResult, PinParams, PinResult
from coppice.protocol.notifications import Change
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.window.usage import Counter
from coppice.store.schema.records import NewRecord
from coppice.tokens.size import Size
from coppice.tree.entries import LabelEntry, PinEntry
from coppice.tree.ids import new_entry_id
from coppice.tree.view import pinned_message

LabelOrPin = TypeVar("LabelOrPin", bound=LabelEntry | PinEntry)


def label_entry(
    target_id: str, name: str | None, *, parent_id: str | None = None, timestamp: str | None = None
) -> LabelEntry:
    """The entry that gives `target_id` the label `name`, or removes its label.

    An append sets the parent; an import uses `parent_id`.
    """
    about = {
        "id": new_entry_id(),
        "parent_id": parent_id,
        "timestamp": timestamp or now(),
        "target_id": target_id,
    }
    return LabelEntry.model_validate(about if name is None else {**about, "label": name})


def pin_entry(target_id: str, *, pinned: bool, parent_id: str | None = None) -> PinEntry:
    """The entry that pins or unpins `target_id`; its parent as for `label_entry`."""
    return PinEntry(
        id=new_entry_id(), parent_id=parent_id, timestamp=now(), target_id=target_id, pinned=pinned
    )


class LabelsAndPins:
    """The use cases `coppice/label` and `coppice/pin`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def label(self, params: LabelParams) -> LabelResult:
        """Sets the label of an entry; an empty one removes it. The leaf's branch records it."""
        name = (params.label or "").strip()
        entry = label_entry(params.entry_id, name or None)
        return LabelResult(entry=await self._store(params.conversation_id, entry, "labels"))

    async def pin(self, params: PinParams) -> PinResult:
        """Raises ContextOverflowError when the pins alone would leave no room to work in."""
        entry = pin_entry(params.entry_id, pinned=params.pinned)
        return PinResult(entry=await self._store(params.conversation_id, entry, "pins"))

    async def _store(self, conversation_id: str, entry: LabelOrPin, change: Change) -> LabelOrPin:
        def write() -> tuple[LabelOrPin, str | None]:
            path = self._context.path(conversation_id)
            if isinstance(entry, PinEntry) and entry.pinned:
                self._refuse_what_does_not_fit(path, entry.target_id)
            record = NewRecord(entry, Size())
            done = path.store.append(conversation_id, [record], modified_at=entry.timestamp)
            return cast("LabelOrPin", path.store.entry(conversation_id, entry.id)), done.leaf_id

        stored, leaf_id = await self._context.write(conversation_id, write)
        self._context.announce(conversation_id, leaf_id, change)
        return stored

    def _refuse_what_does_not_fit(self, path: ConversationPath, entry_id: str) -> None:
        """Pins may take what the kept part, the summary and the reserve leave of the window.

        Every pin of the path counts, for a later compaction leaves them all.
        """
        entry = path.store.entry(path.conversation.id, entry_id)
        if pinned_message(entry) is None:
            raise UnknownEntryError(
                "Only messages and summaries can be pinned; a model is not sent this entry.",
                entryId=entry_id,
            )
        if not path.contains(entry_id):
            path = path.to(entry_id)
        pins = [pinned for _, pinned in path.store.pins(path.end)] if path.end is not None else []
        settings = path.settings
        sizes = fitted_sizes(settings.compaction, settings.model.context_window)
        room = sizes.threshold - sizes.keep_recent - sizes.max_summary
        counter = Counter(settings)
        taken = counter.pinned_tokens(pinned for pinned in pins if pinned.id != entry_id)
        size = counter.pinned_tokens([entry])
        if taken + size > room:
            raise ContextOverflowError(
                f"The entry has {size:,} tokens; {taken:,} are pinned already and {room:,} is all there is "
                "room for. Unpin something first.",
                tokens=size,
                pinnedTokens=taken,
                roomTokens=room,
            )
