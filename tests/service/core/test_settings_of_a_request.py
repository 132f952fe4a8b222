"""Settings that a request brings and that cannot be used."""

from conftest_service import Client
from waiting import until


async def test_what_a_request_sets_wrongly_is_reported_once_by_its_name(client: Client) -> None:
    made = await client.conversation(*("words " * 500 for _ in range(80)))
    wrong = {
        "compaction": {"keepRecentTokens": "many", "nope": 1},
        "model": {"baseUrl": "http://127.0.0.1:9"},
    }
    for _ in range(3):
        await client.ask("compactPreview", conversationId=made, settings=wrong)

    await until(lambda: len(client.port.logged) >= 3)
    for name in ("keepRecentTokens", "nope", "baseUrl"):
        assert len([problem for problem in client.port.logged if name in problem]) == 1, client.port.logged
