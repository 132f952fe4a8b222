"""Requests about one conversation, and the conversation they are about."""

from typing import Any

from lsp.editor import Editor, assistant, user

CHANGED = "coppice/conversationChanged"


def tool(number: int, name: str, path: str, output: str = "done") -> list[dict[str, Any]]:
    call = {"type": "toolCall", "id": f"call{number}", "name": name, "arguments": {"path": path}}
    result = {
        "role": "toolResult",
        "toolCallId": f"call{number}",
        "toolName": name,
        "content": [{"type": "text", "text": output}],
        "isError": False,
    }
    reply = {"role": "assistant", "content": [call], "stopReason": "toolUse"}
    return [{"type": "message", "message": reply}, {"type": "message", "message": result}]


async def two_turns(editor: Editor) -> tuple[str, list[str]]:
    """A conversation whose second turn edits one file and reads another; the ids of its entries."""
    made = await editor.ask("coppice/conversation/create", {})
    conversation_id = str(made["conversation"]["id"])
    entries = [user("first question"), assistant("first answer"), user("second question")]
    entries += [*tool(1, "edit", "src/a.py"), *tool(2, "read", "src/b.py"), assistant("second answer")]
    return conversation_id, (await editor.append(conversation_id, entries))["entryIds"]


class Walk:
    """Requests about one conversation."""

    def __init__(self, editor: Editor, conversation_id: str) -> None:
        self.editor = editor
        self.about = {"conversationId": conversation_id}

    async def ask(self, method: str, **params: Any) -> Any:
        return await self.editor.ask(f"coppice/{method}", {**self.about, **params})

    async def leaf(self) -> str | None:
        leaf_id: str | None = (await self.ask("conversation/get"))["conversation"]["leafId"]
        return leaf_id

    async def shown(self) -> list[str | None]:
        """The entries of the view."""
        return [one.get("entryId") for one in (await self.ask("context"))["messages"]]

    async def state(self) -> tuple[Any, Any]:
        return await self.ask("tree", limit=1000), await self.ask("conversation/get")


async def begin(editor: Editor) -> tuple[Walk, list[str]]:
    conversation_id, ids = await two_turns(editor)
    editor.open_gate()
    return Walk(editor, conversation_id), ids


async def ids_to(walk: Walk, leaf_id: str) -> list[str]:
    page = await walk.ask("entries", leafId=leaf_id, limit=1000)
    return [entry["id"] for entry in page["entries"]]


async def closed_gate(editor: Editor) -> tuple[Walk, list[str]]:
    conversation_id, ids = await two_turns(editor)
    return Walk(editor, conversation_id), ids
