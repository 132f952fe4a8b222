"""The real server with a summarizer that waits at a gate: for a file whose path is the first argument."""

import asyncio
import sys
from pathlib import Path

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.lsp import features
from coppice.lsp.connection import serve_stdio
from coppice.lsp.server import CoppiceServer
from coppice.protocol.methods import METHODS
from coppice.service.methods import Dispatcher
from coppice.service.service import Service
from coppice.summarizers.offline import OfflineSummarizer


class GatedSummarizer:
    """The offline summarizer, once the gate is open."""

    def __init__(self, gate: Path) -> None:
        self.gate = gate

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        while not self.gate.exists():  # noqa: ASYNC110 - the gate is another process's
            await asyncio.sleep(0.01)
        return await OfflineSummarizer().summarize(request)


def make() -> CoppiceServer:
    gate = Path(sys.argv[1])
    server = CoppiceServer(
        METHODS,
        lambda client: Dispatcher(
            Service(client, summarizer=GatedSummarizer(gate), progress_of=client.progress_of)
        ),
    )
    features.register(server)
    return server


if __name__ == "__main__":
    serve_stdio(make)
