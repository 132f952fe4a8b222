"""The use cases `coppice/label` and `coppice/pin`."""

from coppice.compaction.sizes import fitted_sizes
from coppice.errors import ContextOverflowError, UnknownEntryError
from coppice.protocol.events import Change
from coppice.protocol.navigation import LabelParams, LabelResult, PinParams, PinResult
from coppice.service.core.context import Context, now
from coppice.service.core.conversation_path import ConversationPath
from coppice.service.window.usage import Counter
from coppice.store.records import NewRecord
from coppice.tokens.size import Size
from coppice.tree.entries import LabelEntry, PinEntry
from coppice.tree.ids import new_entry_id
from coppice.tree.view import pinned_message


class Marking:
    """The use cases `coppice/label` and `coppice/pin`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def label(self, params: LabelParams) -> LabelResult:
        """Sets the label of an entry; an empty one removes it. The leaf's branch records it."""
        name = (params.label or "").strip()
        about = {"id": new_entry_id(), "parent_id": None, "timestamp": now(), "target_id": params.entry_id}
        entry = LabelEntry.model_validate({**about, "label": name} if name else about)
        stored = await self._store(params.conversation_id, entry, "labels")
        assert isinstance(stored, LabelEntry)  # noqa: S101 - what was stored comes back
        return LabelResult(entry=stored)

    async def pin(self, params: PinParams) -> PinResult:
        """Raises ContextOverflowError when the pins alone would leave no room to work in."""
        entry = PinEntry(
            id=new_entry_id(),
            parent_id=None,
            timestamp=now(),
            target_id=params.entry_id,
            pinned=params.pinned,
        )
        stored = await self._store(params.conversation_id, entry, "pins")
        assert isinstance(stored, PinEntry)  # noqa: S101 - what was stored comes back
        return PinResult(entry=stored)

    async def _store(self, conversation_id: str, entry: LabelEntry | PinEntry, change: Change) -> object:
        def write() -> tuple[object, str | None]:
            path = self._context.path(conversation_id)
            if isinstance(entry, PinEntry) and entry.pinned:
                self._refuse_what_does_not_fit(path, entry.target_id)
            store = path.store
            done = store.append(conversation_id, [NewRecord(entry, Size())], modified_at=entry.timestamp)
            return store.entry(conversation_id, entry.id), done.leaf_id

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
