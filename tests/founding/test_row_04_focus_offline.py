"""Row 4: without a model, the focus decides what comes first, and the outcome reports what it found."""

from dataclasses import replace

from talk import edit, reply, request, run, user

from coppice.summarizers.offline import OfflineSummarizer
from coppice.tree.messages import Message

PARTS = ["reader", "writer", "cursor", "ledger", "parser", "cache", "queue", "router", "socket", "branch"]


def session() -> list[Message]:
    return [
        user("Build the shop"),
        *(
            message
            for one in PARTS
            for other in PARTS
            for message in (
                reply(f"The {one} keeps {other}_lock because {one}_{other} would block."),
                *edit(f"src/{one}/{other}.py"),
                *run(f"make {one}-{other}", "ok"),
            )
        ),
    ]


async def test_what_matches_the_focus_gets_the_room() -> None:
    wanted = request(session(), max_tokens=500)
    plain = await OfflineSummarizer().summarize(wanted)
    focused = await OfflineSummarizer().summarize(replace(wanted, instructions="everything on cursor_parser"))
    assert "cursor_parser would block" not in plain.text
    assert "cursor_parser would block" in focused.text
    assert focused.details["focusMatches"] >= 1


async def test_a_focus_that_matches_nothing_is_reported() -> None:
    written = await OfflineSummarizer().summarize(replace(request(session()), instructions="kubernetes"))
    assert written.details["focusMatches"] == 0
    assert written.warnings == ("Nothing in the summarized messages matches the focus that was asked for.",)
