"""The threads of a server share one heap: what one has freed, any other can use."""

import platform
import re
from pathlib import Path

import pytest
from lsp.raw_client import RawServer

RESERVED = 32 * 2**20
"""Less than the GNU C library reserves for each further heap, and more than anything else reserves."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="Only the GNU C library makes several heaps.")
def test_threads_reserve_no_heaps_of_their_own(tmp_path: Path) -> None:
    with RawServer(tmp_path) as server:
        server.initialize({})
        made = server.result("coppice/conversation/create", {})["conversation"]["id"]
        asked = [server.start_request("coppice/usage", {"conversationId": made}) for _ in range(32)]
        assert all("result" in server.answer(request) for request in asked)
        assert reserved_by(server.process.pid) == []


def reserved_by(process: int) -> list[int]:
    """The sizes of the anonymous mappings that hold addresses for later."""
    maps = Path(f"/proc/{process}/maps").read_text(encoding="ascii")
    ranges = re.findall(r"^(\w+)-(\w+) ---p 00000000 00:00 0 *$", maps, re.MULTILINE)
    sizes = (int(end, 16) - int(start, 16) for start, end in ranges)
    return [size for size in sizes if size >= RESERVED]
