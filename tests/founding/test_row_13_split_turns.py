"""Row 13: a split turn is summarized in one request, or in the two of the documents."""

import pytest
from scripted import GOOD, ScriptedModel, block
from talk import edit, request, user

from coppice.models.chat import ChatRequest
from coppice.summarizers.llm import ModelSummarizer

TURN_REPORT = "- Request: add the exporter\n- Done: began `src/exporter.py`\n- Next: test it"


def writes(call: ChatRequest) -> str:
    return GOOD if "src/importer.py" in block(call, "conversation") else TURN_REPORT


@pytest.mark.parametrize(("split_turn", "requests"), [("together", 1), ("separate", 2)])
async def test_the_setting_decides_how_many_requests_there_are(split_turn: str, requests: int) -> None:
    model = ScriptedModel(writes, seconds=0.05)
    history = [user("Build the importer"), *edit("src/importer.py")]
    turn = [user("Now add the exporter"), *edit("src/exporter.py")]
    summarizer = ModelSummarizer(model, split_turn=split_turn)  # type: ignore[arg-type] # one of the two
    written = await summarizer.summarize(request(history, turn=turn))
    assert len(model.requests) == model.most_running == requests
    assert ("**Turn Context (split turn):**\n\n- Request: add" in written.text) == (requests == 2)
