"""How the pieces that were found are shown: joined, and each text once."""

from conftest_service import Client, assistant, tool, turns, user

FILLER = [f"Then we talked about bed number {number} and watered it." for number in range(30)]


async def texts_of_hits(client: Client, *entries: object, query: str) -> list[str]:
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=[*entries, *turns(*FILLER)])
    return [
        item["text"]
        for item in (await client.ask("recall", conversationId=conversation, query=query))["items"]
    ]


async def test_good_pieces_beside_each_other_are_one_text_and_no_more_than_three(client: Client) -> None:
    lines = [f"The rowan number {number} stands in the {number}th row of the garden." for number in range(60)]
    texts = await texts_of_hits(client, user("\n".join(lines)), query="rowan in the row of the garden")
    assert len(texts) > 2
    assert all(len(text) <= 1200 for text in texts)
    assert any(len(text) > 800 for text in texts)
    assert sorted(line for text in texts for line in text.splitlines()) == sorted(lines)


async def test_a_listing_is_shown_once_however_its_lines_are_numbered(client: Client) -> None:
    lines = [f"def plant_rowan_{name}(garden): return garden.plant" for name in "abcd"]
    listings = [
        "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start=1)),
        "\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=40)),
        "\n".join(lines),
    ]
    calls = [
        each for listing in listings for each in tool(f"c{len(listing)}", "read", {"path": "a.py"}, listing)
    ]
    texts = await texts_of_hits(client, *calls, query="where is plant_rowan defined?")
    assert sum("plant_rowan_c" in text for text in texts) == 1


async def test_prose_comes_before_output_that_holds_the_same_words(client: Client) -> None:
    output = tool("c1", "bash", {"command": "ls"}, "pruning pruning rowan")
    texts = await texts_of_hits(client, assistant("Pruning the rowan waits."), *output, query="rowan pruning")
    assert texts[0] == "Pruning the rowan waits."
