"""How the pieces that were found are shown: joined, and each text once."""

from itertools import permutations
from typing import cast

from conftest_service import Client, assistant, tool, turns, user

from coppice.service.history.search import _ranked
from coppice.store.store import Store

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


async def test_a_file_that_was_read_twice_is_shown_once(client: Client) -> None:
    listing = "\n".join(f"{number:6}→def plant_rowan_{number}(garden): return" for number in range(4))
    calls = [each for name in "ab" for each in tool(f"c{name}", "read", {"path": "a.py"}, listing)]
    texts = await texts_of_hits(client, *calls, query="where is plant_rowan defined?")
    assert sum("plant_rowan_2" in text for text in texts) == 1


async def test_prose_comes_before_output_that_holds_the_same_words(client: Client) -> None:
    output = tool("c1", "bash", {"command": "ls"}, "pruning pruning rowan")
    texts = await texts_of_hits(client, assistant("Pruning the rowan waits."), *output, query="rowan pruning")
    assert texts[0] == "Pruning the rowan waits."


async def test_rare_words_count_more_than_frequent_ones(client: Client) -> None:
    texts = await texts_of_hits(client, user("A rowan."), user("A bed, watered."), query="rowan bed watered")
    assert texts[0] == "A rowan."


async def test_a_result_gains_from_its_call_and_the_newer_comes_first(client: Client) -> None:
    output = tool("c1", "bash", {"command": "fell --rowan --larch"}, "the larch fell")
    alone = tool("c2", "bash", {"command": "date"}, "the larch stood")
    texts = await texts_of_hits(client, *output, *alone, query="rowan larch")
    assert [text.splitlines()[1] for text in texts if text.startswith("bash\nthe")] == [
        "the larch fell",
        "the larch stood",
    ]
    texts = await texts_of_hits(client, user("A yew, old."), user("A yew, new."), query="yew")
    assert texts == ["A yew, new.", "A yew, old."]


async def test_words_that_a_question_is_asked_with_are_not_looked_for(client: Client) -> None:
    answer = assistant("The nightly deploy was abandoned: it broke the certificate.")
    chat = [
        user("我们为什么要这个？"),
        user("为什么不行"),
        user("那是为什么"),
        user("I don't, I can't, that's it."),
    ]
    for question in (
        "我们为什么放弃了部署？",
        "Why didn't the deploy work?",
        "What's with the certificate?",
    ):
        assert (await texts_of_hits(client, answer, *chat, query=question))[0].startswith("The nightly")


async def test_what_the_user_wrote_around_an_attachment_is_not_one_text(client: Client) -> None:
    inside = "\n".join(f"The rowan number {number} is in the selection." for number in range(8))
    text = f"Never fell the rowan.\n<ide_selection>{inside}</ide_selection>\nThe rowan, unless I say so."
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=[user(text)])
    items = (await client.ask("recall", conversationId=conversation, query="rowan"))["items"]
    own = [item["text"].strip() for item in items if not item.get("attached")]
    assert own == ["Never fell the rowan.", "The rowan, unless I say so."]


async def test_a_text_without_its_blanks_is_a_part(client: Client) -> None:
    text = f"{'rowan ' * 60}{' ' * 900}{'larch ' * 60}"
    conversation = await client.conversation()
    await client.ask("append", conversationId=conversation, entries=[user(text)])
    [item] = (await client.ask("recall", conversationId=conversation, query="rowan larch"))["items"]
    assert item["truncated"] is True


class _Branches:
    """A store with an entry and its two children, given in some order."""

    def __init__(self, order: tuple[int, ...]) -> None:
        self._order = order

    def recall_parents_and_roles(self, keys: list[int]) -> dict[int, tuple[int | None, str]]:
        assert sorted(keys) == sorted(self._order)
        return {key: (1 if key > 1 else None, "user") for key in self._order}


def test_of_several_branches_the_best_counts_whatever_their_order() -> None:
    scores = {128: 5.0, 256: 1.0, 384: 3.0}
    ranked = [_ranked(scores, cast(Store, _Branches(order))) for order in permutations((1, 2, 3))]
    assert all(each == ranked[0] for each in ranked)
    assert ranked[0][0] == (19.5, 128)
