"""The arguments of the tools. What a model writes nearly right is taken as it is meant."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from coppice.protocol.notes import MAX_NOTE_CHARS

LEAST_TOKENS: Final = 200  # tokens of a result: one hit and its frame
MOST_TOKENS: Final = 20_000
"""Tokens of a result. Claude Code refuses results of more than 25,000."""
SEARCH_TOKENS: Final = 2_000
"""Tokens of a page of a search. With the English questions of recall_tools.py: with the next page 116 of 145
are answered for 2,380 tokens each, with pages of 1,000 tokens 106 for 1,390."""
_MOST_ENTRIES: Final = MOST_TOKENS // LEAST_TOKENS  # entries for which a result has room


def _one_or_several(value: Any) -> Any:
    return value.replace(",", " ").split() if isinstance(value, str) else value


def _without_marks(value: str) -> str:
    """An id without the marks that it is written with in a result or a summary: `[#26c4206e]`."""
    return value.strip().strip("[]#").strip()


def _clamped(least: int, most: int) -> BeforeValidator:
    def clamp(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError("a number is expected")  # noqa: TRY004 - pydantic reports it so
        # No float, which an integer of many digits does not fit into.
        number = float(value) if isinstance(value, str) else value
        return int(max(least, min(most, number)))

    return BeforeValidator(clamp)


def _iso_time(value: str) -> str:
    """A date or a time as the store writes times, in UTC. Raises ValueError for anything else."""
    try:
        moment = datetime.fromisoformat(value.strip())
        moment = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    except (ValueError, OverflowError):
        raise ValueError("an ISO date is expected, 2026-11-23 for instance") from None
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


Id = Annotated[str, AfterValidator(_without_marks), Field(min_length=1, max_length=300)]
Time = Annotated[str, Field(max_length=40), AfterValidator(_iso_time)]
Tokens = Annotated[int, _clamped(LEAST_TOKENS, MOST_TOKENS)]
Neighbours = Annotated[int, _clamped(0, _MOST_ENTRIES)]
Cursor = Annotated[str, Field(pattern=r"^\d{1,9}(:\d{1,9})?$")]
Name = Annotated[str, Field(max_length=300)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


class SearchArguments(_Arguments):
    """Of `history_search`. Without `scope` it is the session, and the project where little is in that."""

    query: Annotated[str, Field(max_length=4000)]
    scope: Literal["session", "project", "all"] | None = None
    path: Annotated[str, Field(max_length=4096)] | None = None
    kind: Literal["message", "command", "edit", "error", "summary"] | None = None
    role: Literal["user", "assistant", "tool"] | None = None
    agent: Name | None = None
    since: Time | None = None
    until: Time | None = None
    cursor: Cursor | None = None
    max_tokens: Tokens = SEARCH_TOKENS


class ReadArguments(_Arguments):
    """Of `history_read`: `ids`, or the neighbours of `around`, or the end of a session."""

    ids: Annotated[list[Id], BeforeValidator(_one_or_several), Field(max_length=_MOST_ENTRIES)] = []
    session: Name | None = None
    around: Id | None = None
    before: Neighbours | None = None
    after: Neighbours | None = None
    cursor: Cursor | None = None
    max_tokens: Tokens = 4000


class OverviewArguments(_Arguments):
    """Of `history_overview`."""

    session: Name | None = None
    agent: Name | None = None
    max_tokens: Tokens = 2400


class NoteArguments(_Arguments):
    """Of `note_add`."""

    text: Annotated[str, AfterValidator(str.strip), Field(min_length=1, max_length=MAX_NOTE_CHARS)]


class NoArguments(_Arguments):
    """Of `note_list`."""
