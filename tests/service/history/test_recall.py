"""Recall in a store: what a question finds, in which scope, and in which pages."""

from typing import Any

import pytest
from conftest_service import Client, assistant, tool, turns, user

from coppice.errors import UnknownEntryError

FILLER = [f"Then we talked about bed number {number} and watered it." for number in range(30)]
STORY = [
    user("Please prune the rowan. Never touch the oak by the gate."),
    *tool(
        "c1",
        "bash",
        {"command": "cargo test --package garden"},
        "error[E0308]: mismatched types in pruneRowan",
    ),
    assistant("I gave up on the automatic pruner because it cut living branches; a manual one is used."),
    *tool("c2", "read", {"path": "src/garden/tree_shape.py"}, "def tree_shape(crown): ...", error=True),
    user("我们决定把登录页面的缓存去掉"),
]


async def conversation_with(client: Client, *entries: dict[str, Any]) -> dict[str, Any]:
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=[*entries, *turns(*FILLER)])
    return {"conversationId": conversation}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which tree must not be touched?", "Never touch the oak"),
        (
            "Why was automatic pruning abandoned, and what is used instead?",
            "I gave up on the automatic pruner",
        ),
        ("what did prune_rowan print", "error[E0308]"),
        ("tree shape", "tree_shape"),
        ("cargo", "cargo test"),
        ("登录缓存怎么处理", "登录页面的缓存"),
        ("What was decided about the login page?", "登录页面的缓存"),
        ("类型不匹配是什么报错", "error[E0308]"),
    ],
)
async def test_a_question_finds_what_answers_it(client: Client, question: str, answer: str) -> None:
    about = await conversation_with(client, *STORY)
    page = await client.ask("recall", **about, query=question)
    assert any(answer in item["text"] for item in page["items"][:3])


async def test_a_result_comes_with_its_call(client: Client) -> None:
    about = await conversation_with(client, *STORY)
    items = (await client.ask("recall", **about, query="mismatched types E0308"))["items"]
    assert items[0]["call"] == "cargo test --package garden"
    assert (items[0]["role"], items[0]["toolName"]) == ("toolResult", "bash")
    items = (await client.ask("recall", **about, query="def tree_shape crown"))["items"]
    result = next(item for item in items if item["role"] == "toolResult")
    assert result["path"] == "src/garden/tree_shape.py"


async def test_entries_are_read_whole_in_pages(client: Client) -> None:
    long = "\n".join(f"{number}: the rowan grows" for number in range(2000))
    about = await conversation_with(client, user(long, id="long"), user("short", id="short"))
    asked = about | {"entryIds": ["long", "short"], "maxTokens": 3000}
    page, texts = await client.ask("recall", **asked), {"long": "", "short": ""}
    while True:
        assert sum(item["tokens"] for item in page["items"]) <= 3000
        for item in page["items"]:
            texts[item["entryId"]] += item["text"]
        if "nextCursor" not in page:
            break
        assert page["items"][-1]["truncated"] is True
        page = await client.ask("recall", **asked, cursor=page["nextCursor"])
    assert texts == {"long": long, "short": "short"}


async def test_the_pages_of_a_search_hold_each_hit_once(client: Client) -> None:
    about = await conversation_with(
        client, *(user(f"The rowan number {number} has {number} leaves.") for number in range(30))
    )
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(20):
        page = await client.ask("recall", **about, query="rowan leaves", limit=4, **cursor)
        seen += [item["text"] for item in page["items"]]
        if "nextCursor" not in page:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == len(set(seen)) == 30


async def test_the_scope_bounds_what_is_found(client: Client) -> None:
    about = await conversation_with(client, user("The rowan is mine.", id="root"))
    await client.ask("append", **about, parentId="root", entries=[user("The rowan is theirs.", id="other")])
    elsewhere = await client.conversation("The rowan is everybody's.")
    texts_of = {
        scope: {
            item["text"]
            for item in (await client.ask("recall", **about, query="rowan", scope=scope))["items"]
        }
        for scope in ("path", "conversation", "workspace")
    }
    assert elsewhere != about["conversationId"]
    assert texts_of["path"] == texts_of["conversation"] == {"The rowan is mine.", "The rowan is theirs."}
    assert texts_of["workspace"] == texts_of["path"] | {"The rowan is everybody's."}
    await client.ask("navigate", **about, targetId="other", summarize=False)


async def test_entries_bound_what_is_looked_through(client: Client) -> None:
    about = await conversation_with(
        client, *(user(f"rowan {number}", id=f"r{number}") for number in range(5))
    )
    page = await client.ask("recall", **about, query="rowan", after="r0", before="r3")
    assert {item["entryId"] for item in page["items"]} == {"r1", "r2"}
    newest = await client.ask("recall", **about, before="r3", limit=2)
    assert [item["entryId"] for item in newest["items"]] == ["r2", "r1"]
    with pytest.raises(UnknownEntryError):
        await client.ask("recall", **about, query="rowan", after="nowhere")


async def test_a_summary_is_found_after_what_it_summarizes(client: Client) -> None:
    summary = {"type": "compaction", "summary": "The larch was felled, too.", "firstKeptEntryId": "kept"}
    said = [user("The larch was felled."), user("The yew.", id="kept")]
    about = await conversation_with(client, *said, summary)
    page = await client.ask("recall", **about, query="larch felled")
    assert [item["type"] for item in page["items"]] == ["message", "compaction"]


@pytest.mark.parametrize("question", ["what is it", "", "?!", "的", '"'])
async def test_a_question_without_words_finds_nothing(client: Client, question: str) -> None:
    about = await conversation_with(client, *STORY)
    assert await client.ask("recall", **about, query=question) == {"items": []}


async def test_an_entry_is_read_by_the_short_id_that_a_summary_references(client: Client) -> None:
    about = await conversation_with(client, user("Prune the rowan."))
    entries = (await client.ask("entries", limit=5, **about))["entries"]
    whole = entries[0]["id"]
    page = await client.ask("recall", entryIds=[whole[:8]], **about)
    assert [item["entryId"] for item in page["items"]] == [whole]
    for wrong in (whole[:7], "%" * 8, f"{whole[:8]}zz"):
        with pytest.raises(UnknownEntryError):
            await client.ask("recall", entryIds=[wrong], **about)


@pytest.mark.parametrize("message", ["text", None, ["text"], {"toolCallId": 1}])
async def test_an_entry_with_a_property_named_message_is_recalled(client: Client, message: object) -> None:
    note = {"type": "custom_message", "customType": "note", "content": "rowan", "display": True}
    about = await conversation_with(client, note | {"message": message})
    page = await client.ask("recall", **about, query="rowan")
    assert [(item["type"], item["text"]) for item in page["items"]] == [("custom_message", "rowan")]


@pytest.mark.parametrize("value", [5, ["read"], {"a": 1}])
async def test_properties_that_a_role_does_not_have_mean_nothing(client: Client, value: object) -> None:
    names = ("toolName", "toolCallId", "errorMessage", "isError")
    unknown = dict.fromkeys(names, value)
    ran = {"role": "bashExecution", "command": "grow rowan", "output": "grown", **unknown}
    said = {"role": "user", "content": "The rowan again.", **unknown}
    conversation = await client.conversation()
    entries = [{"type": "message", "message": message} for message in (ran, said)]
    await client.ask("append", conversationId=conversation, entries=entries)
    for question in ({"query": "rowan"}, {}):
        items = (await client.ask("recall", conversationId=conversation, **question))["items"]
        assert {item["role"] for item in items} == {"bashExecution", "user"}
        assert not any("toolName" in item for item in items)
