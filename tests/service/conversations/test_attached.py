"""What an application put into a user's message is marked where the entries are read."""

from typing import Any

from conftest_service import Client, user

TYPED = "Why 😀? "
REMINDER = "<system-reminder>\nBe quick.\n</system-reminder>"


async def attached(client: Client, *contents: Any) -> list[list[tuple[int, str]]]:
    """Of each message the number of the text and the part of it that is marked."""
    about = {"conversationId": await client.conversation()}
    entries = [{**user(""), "message": {"role": "user", "content": content}} for content in contents]
    await client.ask("append", **about, entries=entries)
    page = await client.ask("entries", **about)
    marked = []
    for entry in page["entries"]:
        content = entry["message"]["content"]
        texts = (
            [content] if isinstance(content, str) else [each["text"] for each in content if "text" in each]
        )
        units = [text.encode("utf-16-le") for text in texts]
        marked.append(
            [
                (each["block"], units[each["block"]][2 * each["start"] : 2 * each["end"]].decode("utf-16-le"))
                for each in page.get("attached", {}).get(entry["id"], [])
            ]
        )
    return marked


async def test_the_parts_that_are_not_the_user_s_are_marked(client: Client) -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    texts = [
        {"type": "text", "text": text} for text in (REMINDER, f"{TYPED}\n{REMINDER}\nAnd 😀?\n{REMINDER}")
    ]
    assert await attached(client, f"{TYPED}\n{REMINDER}", [image, *texts], TYPED) == [
        [(0, REMINDER)],
        [(0, REMINDER), (1, REMINDER + f"\nAnd 😀?\n{REMINDER}")],
        [],
    ]


async def test_a_page_on_which_all_is_the_user_s_marks_nothing(client: Client) -> None:
    about = {"conversationId": await client.conversation()}
    await client.ask("append", **about, entries=[user(f"What is <system-reminder>? {TYPED}")])
    assert "attached" not in await client.ask("entries", **about)
