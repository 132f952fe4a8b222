"""The work of each method of the protocol."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from coppice.protocol import methods
from coppice.protocol.base import ConversationParams, LongParams, WireModel
from coppice.protocol.methods import LongMethod, Method
from coppice.service.branches import navigating, summarize_span
from coppice.service.compaction import compacting
from coppice.service.core import client_turns
from coppice.service.core.progress import Progress
from coppice.service.recovery import recovering
from coppice.service.service import Service

Params = TypeVar("Params", bound=WireModel)
LongRunningParams = TypeVar("LongRunningParams", bound=LongParams)
Result = TypeVar("Result", bound=WireModel)


class Dispatcher:
    """Calls the use case of a method. mypy holds that it takes the method's params and gives its result."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._work: dict[str, Callable[[Any, Progress], Awaitable[Any]]] = {}
        self._job_kinds: dict[str, str] = {}
        self.bind_short(methods.CREATE, service.conversations.create)
        self.bind_short(methods.LIST, service.conversations.list_all)
        self.bind_short(methods.GET, service.conversations.get)
        self.bind_short(methods.RENAME, service.conversations.rename)
        self.bind_short(methods.SET_MODEL, service.model_choosing.set_model)
        self.bind_short(methods.DELETE, service.conversations.delete)
        self.bind(methods.IMPORT, service.portability.import_)
        self.bind(methods.UPDATE_SOURCES, service.following.update_sources)
        self.bind(methods.EXPORT, service.portability.export)
        self.bind(methods.SEARCH, service.searching.search)
        self.bind(methods.RECALL, service.recall.recall)
        self.bind_short(methods.HISTORY_TOOLS, service.history_tools.definitions)
        self.bind(methods.CALL_HISTORY_TOOL, service.history_tools.call)
        self.bind(methods.FORK, service.forking.fork)
        self.bind_short(methods.APPEND, service.trees.append)
        self.bind_short(methods.ENTRIES, service.trees.entries)
        self.bind_short(methods.TREE, service.trees.tree)
        self.bind_short(methods.OUTLINE, service.trees.outline)
        self.bind_short(methods.BRANCH_END, service.trees.branch_end)
        self.bind_short(methods.CONTEXT, service.views.context)
        self.bind_short(methods.USAGE, service.views.usage)
        self.bind(methods.LEDGER, service.views.ledger)
        self.bind_short(methods.FILES, service.views.files)
        self.bind_short(methods.LABEL, service.labels_and_pins.label)
        self.bind_short(methods.PIN, service.labels_and_pins.pin)
        self.bind(methods.COMPACT_PREVIEW, service.compacting.preview)
        self.bind(methods.COMPACT, service.compacting.compact, job=compacting.JOB)
        self.bind(methods.UNDO_COMPACTION, service.undoing.undo_compaction)
        self.bind_short(methods.NAVIGATE_PREVIEW, service.navigating.preview)
        self.bind(methods.NAVIGATE, service.navigating.navigate, job=navigating.JOB)
        self.bind(methods.SUMMARIZE, service.spans.summarize, job=summarize_span.JOB)
        self.bind(methods.PREPARE_PROMPT, service.thresholds.prepare_prompt)
        self.bind(methods.RECOVER, service.recovering.recover, job=recovering.JOB)
        self.bind_short(methods.TRUNCATE_TOOL_RESULTS, service.truncating.truncate)
        self.bind_short(methods.CLEAR_TOOL_RESULTS, service.clearing.clear)
        self.bind_short(methods.ADD_NOTE, service.notes.add)
        self.bind_short(methods.LIST_NOTES, service.notes.list_all)
        self.bind_short(methods.REPLACE_NOTE, service.notes.replace)
        self.bind_short(methods.REMOVE_NOTE, service.notes.remove)
        self.bind_short(methods.BEGIN_TURN, service.turns.begin)
        self.bind_short(methods.END_TURN, service.turns.end)
        self.bind(methods.PROMPT, service.slash_commands.prompt, job=client_turns.JOB)
        self.bind_short(methods.ASK_NOW, service.prompting.ask_now)
        self.bind_short(methods.MODEL, service.model_choosing.model)
        self.bind_short(methods.CANCEL, service.compacting.cancel)

    def bind(
        self,
        method: LongMethod[LongRunningParams, Result],
        work: Callable[[LongRunningParams, Progress], Awaitable[Result]],
        *,
        job: str | None = None,
    ) -> None:
        """Have `work` carry out `method`. `job` is the kind of the job that it runs, if any."""
        self._work[method.name] = work
        if job is not None:
            self._job_kinds[method.name] = job

    def bound(self) -> frozenset[str]:
        """The names of the methods that can be called."""
        return frozenset(self._work)

    async def call(self, method: Method[Params, Result], params: Params, progress: Progress) -> Result:
        """The method's result. Raises CoppiceError; can be cancelled."""
        with contextlib.ExitStack() as ending:
            if isinstance(params, ConversationParams):
                self.service.changes_elsewhere.note_asked(params.conversation_id)
                if (kind := self._job_kinds.get(method.name)) is not None:
                    ending.enter_context(self.service.jobs.coming(params.conversation_id, kind))
            if method.flush_file_events or method.activates_conversation:
                await self.service.tracking.record()
            if method.activates_conversation and isinstance(params, ConversationParams):
                await self.service.tracking.open(params.conversation_id)
            result: Result = await self._work[method.name](params, progress)
            return result

    def bind_short(self, method: Method[Params, Result], work: Callable[[Params], Awaitable[Result]]) -> None:
        """Have `work` carry out `method`, which reports no progress."""
        self._work[method.name] = lambda params, _progress: work(params)
