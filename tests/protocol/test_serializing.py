"""What serializing a message costs, counted: a page has hundreds of models in one another."""

from typing import Any

import pytest
from pydantic import BaseModel

from coppice.protocol.trees import AttachedRange
from coppice.tree.messages import TextContent


@pytest.mark.parametrize("value", [AttachedRange(block=0, start=1, end=2), TextContent(text="So it is.")])
def test_the_fields_of_a_class_are_gone_through_once(
    value: BaseModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = value.model_dump(by_alias=True)

    class Unread(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError

    monkeypatch.setattr(type(value), "__pydantic_fields__", Unread(type(value).model_fields))
    assert value.model_dump(by_alias=True) == first
