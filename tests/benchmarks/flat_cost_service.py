"""What is measured from end to end: requests, as a front end makes them of the service.

Params are validated and the result is made into JSON values, as for an answer on the wire; what is missing is
the wire itself.
"""

import asyncio
import os
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from flat_cost_operations import PAGE

from coppice.protocol.base import WireModel
from coppice.protocol.methods import METHODS
from coppice.service.core.progress import NoProgress
from coppice.service.methods import Dispatcher
from coppice.service.service import Service
from coppice.store.store import Store

WORKSPACE: Final = "file:///garden"
SHORT_BRANCH: Final = 20


@dataclass
class Requests:
    """A started service on the store at `url`. `near_id` is a reply some 20 entries above the leaf."""

    url: str
    conversation_id: str
    far_id: str
    message: dict[str, Any]
    nodes: int
    near_id: str = ""
    _loop: asyncio.Runner = field(default_factory=asyncio.Runner)
    _config: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)

    def __post_init__(self) -> None:
        os.environ["COPPICE_STORAGE_URL"] = self.url
        os.environ["COPPICE_CONFIG_DIRECTORY"] = self._config.name
        self._service = Service()
        # The store is opened for the service, so that its indexer does not run during the measurement.
        store = Store.open(self.url, server_id=self._service.stores.server_id, index_idle_seconds=None)
        self._service.stores._open[self.url] = store
        self._loop.run(self._service.start([WORKSPACE], {}))
        self.near_id = self._near()

    def ask(self, method: str, **params: Any) -> Any:
        return self._loop.run(self._ask(method, {"conversationId": self.conversation_id, **params}))

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        spec = METHODS[f"coppice/{method}"]
        given = spec.params.model_validate(params)
        result: WireModel = await Dispatcher(self._service).call(spec, given, NoProgress())
        return result.model_dump(mode="json", by_alias=True)

    def _near(self) -> str:
        """Read from the context, whose last messages are the path's."""
        shown = [one for one in self.ask("context")["messages"] if "entryId" in one]
        replies = [one["entryId"] for one in shown[:-SHORT_BRANCH] if one["role"] == "assistant"]
        return str(replies[-1])

    def close(self) -> None:
        self._loop.run(self._service.close())
        self._loop.close()
        self._config.cleanup()


def usage(requests: Requests) -> object:
    return requests.ask("usage")


def context(requests: Requests) -> object:
    return requests.ask("context")


def compact_preview(requests: Requests) -> object:
    return requests.ask("compactPreview")


def branches(requests: Requests) -> object:
    return requests.ask("tree", mode="branches", limit=PAGE)


def same_branches(requests: Requests) -> object:
    return requests.ask("tree", mode="branches", limit=requests.nodes)


def navigate_preview(requests: Requests) -> object:
    return requests.ask("navigatePreview", targetId=requests.near_id)


def navigate_near(requests: Requests) -> object:
    """A few entries back, and forth again."""
    return _there_and_back(requests, requests.near_id)


def navigate_far(requests: Requests) -> object:
    """To the beginning of the conversation, and back again."""
    return _there_and_back(requests, requests.far_id)


def _there_and_back(requests: Requests, target_id: str) -> object:
    leaf_id = requests.ask("conversation/get")["conversation"]["leafId"]
    requests.ask("navigate", targetId=target_id)
    back = requests.ask("navigate", targetId=leaf_id)
    assert back["leafId"] == leaf_id
    return back


def append(requests: Requests) -> object:
    return requests.ask("append", entries=[{**requests.message, "id": secrets.token_hex(8)}])


REQUESTS: Final[dict[str, Callable[[Requests], object]]] = {
    "request: usage": usage,
    "request: context": context,
    "request: compactPreview": compact_preview,
    "request: tree, mode branches, first page": branches,
    "request: tree, mode branches, as many nodes": same_branches,
    "request: navigatePreview, a short branch": navigate_preview,
    "request: navigate 20 entries back and forth": navigate_near,
    "request: navigate to the root's end and back": navigate_far,
    "request: append": append,
}
