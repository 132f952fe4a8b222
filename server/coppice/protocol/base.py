"""What all wire messages share: camelCase on the wire, unknown properties ignored, strict types."""

from functools import cache
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, ValidationError, model_serializer

from coppice.tree.base import CamelModel

ProgressToken = int | str

MAX_URI_CHARS: Final = 3 * 4096
"""Characters of a folder's URI: PATH_MAX of Linux, each byte of it percent-encoded."""

_MOST_PROBLEMS: Final = 10  # as many as a person corrects at once
_MOST_NAME_CHARS: Final = 200
"""Characters of the place of a problem, which whoever wrote the message names."""

WorkspaceUri = Annotated[str, Field(max_length=MAX_URI_CHARS)]


class WireModel(CamelModel):
    """A message or a part of one.

    A required property may be null on the wire; an optional one that is None is left out.
    """

    model_config = ConfigDict(extra="ignore")

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        for name, alias in _optional(type(self)):
            if getattr(self, name) is None:
                data.pop(alias, None)
                data.pop(name, None)
        return data


@cache
def _optional(model: type[WireModel]) -> list[tuple[str, str]]:
    """The names of the fields that may be absent, each with its name on the wire."""
    fields = model.model_fields.items()
    return [(name, field.alias or name) for name, field in fields if not field.is_required()]


class ConversationParams(WireModel):
    """Params of a request about one conversation."""

    conversation_id: str


class LongParams(WireModel):
    """Params of a request that takes long: its work-done progress is sent on `workDoneToken`."""

    work_done_token: ProgressToken | None = None


class StreamingParams(LongParams):
    """Params of a request whose result is also sent in parts, on `partialResultToken`."""

    partial_result_token: ProgressToken | None = None


def problems_of(error: ValidationError) -> str:
    """What does not fit the model, and where, for whoever wrote it: the first few problems. The values
    themselves are left out.
    """
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    shown = (f"{'.'.join(map(str, each['loc']))[:_MOST_NAME_CHARS]}: {each['msg']}" for each in problems)
    more = len(problems) - _MOST_PROBLEMS
    return "; ".join(islice(shown, _MOST_PROBLEMS)) + (f"; and {more} more" if more > 0 else "")
