"""Conversations as read-only documents of an editor."""

from pathlib import Path
from typing import Any

import pytest
from lsp.editor import assistant, user
from lsp.raw_client import RawServer
from preloaded import python

REFRESHES = {"capabilities": {"workspace": {"textDocumentContent": {"dynamicRegistration": False}}}}
CONTENT = "workspace/textDocumentContent"
REFRESH = "workspace/textDocumentContent/refresh"


def conversation(server: RawServer, *entries: dict[str, Any]) -> str:
    made = server.result("coppice/conversation/create", {"name": "Export"})
    talk = str(made["conversation"]["id"])
    if entries:
        server.result("coppice/append", {"conversationId": talk, "entries": list(entries)})
    return talk


def document(server: RawServer, talk: str, name: str) -> str:
    return str(server.result(CONTENT, {"uri": f"coppice:/{talk}/{name}"})["text"])


def test_the_server_offers_its_scheme(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        offered = server.initialize({})["capabilities"]["workspace"]["textDocumentContent"]
        assert offered == {"schemes": ["coppice"]}


def test_the_transcript_has_the_whole_path_and_the_context_what_a_model_sees(tmp_path: Path) -> None:
    settings = {"settings": {"compaction": {"keepRecentTokens": 40}, "tokens": {"counter": "estimate"}}}
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"initializationOptions": settings})
        talk = conversation(
            server, *(make(f"part {n} " + "word " * 40) for n in range(4) for make in (user, assistant))
        )
        server.result("coppice/compact", {"conversationId": talk})
        transcript, context = (document(server, talk, name) for name in ("transcript.md", "context.md"))
        assert transcript.startswith("# Export\n")
        assert transcript.index("part 0") < transcript.index("part 3") < transcript.index("**Compaction**")
        assert context.startswith("# What the model sees\n")
        assert "has been replaced by this summary" in context
        first, last = "## User\n\npart 0 word", "## Assistant\n\npart 3 word"
        assert (first in transcript, first in context) == (True, False)
        assert (last in transcript, last in context) == (True, True)


def test_what_is_written_opens_no_fence_and_no_fold(tmp_path: Path) -> None:
    hostile = "```\n</details>\n<img src=x onerror=alert(1)>\n```` \n# not a heading of ours"
    result = {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "<b>read</b>",
        "content": [{"type": "text", "text": hostile}],
        "isError": False,
    }
    call = {"type": "toolCall", "id": "c", "name": "<b>read</b>", "arguments": {"path": "```"}}
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({})
        talk = conversation(
            server,
            user("</details><img src=x onerror=alert(1)>"),
            {"type": "message", "message": {"role": "assistant", "content": [call], "stopReason": "toolUse"}},
            {"type": "message", "message": result},
        )
        for name in ("context.md", "transcript.md"):
            text = document(server, talk, name)
            assert f"`````\n{hostile}\n`````" in text
            rest = text.replace(hostile, "")
            assert "&lt;/details>&lt;img" in rest
            assert [line for line in rest.splitlines() if "<" in line] == [
                "<details>",
                "<summary>Tool call: &lt;b&gt;read&lt;/b&gt;</summary>",
                "</details>",
                "<details>",
                "<summary>&lt;b&gt;read&lt;/b&gt;: result</summary>",
                "</details>",
            ]


def test_an_empty_conversation_says_so(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({})
        talk = conversation(server)
        assert document(server, talk, "context.md").endswith("*The conversation is empty.*\n")


def test_of_a_very_long_conversation_the_newest_part_is_shown(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({"initializationOptions": {"settings": {"tokens": {"counter": "estimate"}}}})
        talk = conversation(server, *(user(f"part {n} " + "word " * 40_000) for n in range(13)))
        text = document(server, talk, "transcript.md")
        assert len(text) < 2_001_000
        assert "The beginning is left out" in text.split("part", 1)[0]
        assert "part 12 word" in text
        assert "part 1 word" not in text


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("coppice:/{talk}/notes.md", -32602),
        ("coppice:/{talk}", -32602),
        ("coppice://host/{talk}/context.md", -32602),
        ("file:///{talk}/context.md", -32602),
        ("coppice:/../../etc/passwd", -32602),
        (7, -32602),
        ("coppice:/nobody/context.md", -32803),
    ],
)
def test_a_document_that_does_not_exist_is_refused(tmp_path: Path, uri: Any, code: int) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({})
        talk = conversation(server, user("hello"))
        named = uri.format(talk=talk) if isinstance(uri, str) else uri
        assert server.request(CONTENT, {"uri": named})["error"]["code"] == code
        spelled = server.result(CONTENT, {"uri": f"coppice:///{talk}/context%2Emd"})
        assert "hello" in spelled["text"]


def test_a_shown_document_is_refreshed_when_its_conversation_changes(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize(REFRESHES)
        talk, other = conversation(server, user("hello")), conversation(server, user("hello"))
        uri = f"coppice:/{talk}/context.md"
        document(server, talk, "context.md")
        server.result("coppice/append", {"conversationId": other, "entries": [user("elsewhere")]})
        server.result("coppice/append", {"conversationId": talk, "entries": [user("again")]})
        assert server.notification(REFRESH) == {"uri": uri}
        assert "again" in document(server, talk, "context.md")
        server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        server.result("coppice/append", {"conversationId": talk, "entries": [user("unseen")]})
        server.result("shutdown")
        assert [m for m in server.seen if m.get("method") == REFRESH] == []


def test_a_client_that_knows_no_such_documents_is_asked_nothing(tmp_path: Path) -> None:
    with RawServer(tmp_path, python=python()) as server:
        server.initialize({})
        talk = conversation(server, user("hello"))
        document(server, talk, "context.md")
        server.result("coppice/append", {"conversationId": talk, "entries": [user("again")]})
        server.result("shutdown")
        assert [m for m in server.seen if m.get("method") == REFRESH] == []
