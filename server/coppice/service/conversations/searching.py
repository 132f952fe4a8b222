"""The use case `coppice/conversation/search`."""

from operator import attrgetter

from coppice.protocol.navigation import SearchHit, SearchParams, SearchResult
from coppice.service.core.progress import Progress
from coppice.service.core.stores import Stores
from coppice.service.core.thread_work import ThreadWork, run_in_thread


class Searching:
    """The use case `coppice/conversation/search`."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def search(self, params: SearchParams, progress: Progress | None = None) -> SearchResult:
        """What was found in one conversation, in one workspace, or in every workspace folder.

        The newest come first: in one store those stored last, of several those with the newest timestamp.

        Raises:
            UnknownConversationError: no open workspace holds `conversation_id`.
        """
        rows = await run_in_thread(lambda thread: self._search(params, thread), progress, title="Searching")
        if progress is not None:
            progress.end(f"{len(rows):,} found")
        return SearchResult(hits=rows)

    def _search(self, params: SearchParams, thread: ThreadWork) -> list[SearchHit]:
        stores = self._stores
        if params.conversation_id is not None:
            return stores.of_conversation(params.conversation_id).search(
                params.query,
                conversation_id=params.conversation_id,
                workspace_uri=params.workspace_uri,
                limit=params.limit,
                report=thread.indexing(),
            )
        folders = [params.workspace_uri] if params.workspace_uri else stores.workspaces()
        rows_of_stores = [
            stores.of_workspace(folder).search(
                params.query,
                workspace_uri=folder,
                limit=params.limit,
                report=thread.indexing(number, len(folders)),
            )
            for number, folder in enumerate(folders)
        ]
        if len(rows_of_stores) == 1:
            return rows_of_stores[0]
        merged = [row for rows in rows_of_stores for row in rows]
        return sorted(merged, key=attrgetter("timestamp"), reverse=True)[: params.limit]
