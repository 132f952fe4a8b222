"""Questions and histories as an attacker would choose them."""

import time

import pytest
from conftest_service import Client, user

from coppice.service.history.pieces import pieces_of
from coppice.service.history.query import StemCounter, parse_query

HOSTILE = ("A", "Aa", "aA", "1a", "_", " ", "\n", "压", "é", "a_", "ﬃ", '"', "'", "*", "\u0301", "AbC ", "𝔄")


@pytest.mark.parametrize("unit", HOSTILE)
def test_cutting_a_text_into_stems_is_linear(unit: str) -> None:
    taken = []
    for length in (50_000, 400_000):
        text = unit * (length // len(unit))
        started = time.process_time()
        counter = StemCounter(parse_query(text[:4000]))
        for piece in pieces_of(text):
            counter.count(piece)
        taken.append(time.process_time() - started)
    assert taken[1] < 30 * max(taken[0], 0.02)


@pytest.mark.parametrize("unit", HOSTILE)
async def test_a_hostile_history_is_searched(client: Client, unit: str) -> None:
    conversation = await client.conversation()
    hostile = unit * (250_000 // len(unit))
    await client.ask("append", conversationId=conversation, entries=[user(hostile), user("the rowan")])
    page = await client.ask("recall", conversationId=conversation, query=f"rowan {unit * 100}")
    assert any("rowan" in item["text"] for item in page["items"])
    assert sum(item["tokens"] for item in page["items"]) <= 4000
