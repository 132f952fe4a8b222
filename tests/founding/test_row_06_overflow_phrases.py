"""Overflow is recognized by "too many tokens" and "token limit exceeded", unless a rate is meant."""

from pathlib import Path

import pytest
from lsp.panel import chatting
from models.provider_window import ScriptedReply


@pytest.mark.parametrize(
    ("message", "is_overflow"),
    [
        ("Too many tokens: 210000", True),
        ("token limit exceeded", True),
        ("Context size has been exceeded.", True),
        ("Too many tokens in the last minute, try again in 20 s", False),
        ("Daily token limit exceeded", False),
    ],
)
async def test_an_overflow_is_recognized_by_its_words(
    tmp_path: Path, message: str, *, is_overflow: bool
) -> None:
    async with chatting(tmp_path, ScriptedReply("Yes.")) as panel:
        await panel.append_turns(3_000)
        done = await panel.ask("recover", error={"message": message, "status": 400})
        assert (done["action"] != "not-overflow") is is_overflow
