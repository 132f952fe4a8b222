"""A value that does not fit is refused by its first problems, however many it has."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from coppice.protocol.base import problems_of
from coppice.protocol.prompt import PromptParams
from coppice.protocol.trees import AppendParams
from coppice.service.notes.note_tools import AddArguments
from coppice.tree.entries import ENTRY

MANY = 1_000
MESSAGE = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (ENTRY, {**MESSAGE, "message": {"role": "user", "content": [0] * MANY, "timestamp": 1}}),
        (ENTRY, {**MESSAGE, "message": {"role": "assistant", "content": [{}] * MANY}}),
        (TypeAdapter(AppendParams), {"conversationId": "c", "entries": [{}] * MANY}),
        (TypeAdapter(PromptParams), {"conversationId": "c", "content": [0] * MANY, "tools": [0] * MANY}),
    ],
)
def test_a_list_is_refused_at_its_first_item_that_does_not_fit(model: TypeAdapter[Any], value: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        model.validate_python(value)
    assert 0 < refused.value.error_count() < 30


def test_a_message_names_ten_problems_and_how_many_there_are_more() -> None:
    with pytest.raises(ValidationError) as refused:
        AddArguments.model_validate({"text": "x", **{f"{'k' * 500}{number}": 1 for number in range(MANY)}})
    message = problems_of(refused.value)
    assert len(message) < 4_000
    assert message.endswith("; and 990 more")
