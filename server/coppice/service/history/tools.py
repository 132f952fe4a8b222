"""The tools with which a model looks up what a summary replaced.

The server runs them itself in its own turns; a client with its own loop gets their definitions from
`coppice/historyTools` and has them run by `coppice/callHistoryTool`.
"""

import json
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coppice.errors import UnknownEntryError
from coppice.protocol.base import problems_of
from coppice.protocol.history import (
    READ_TOOL,
    SEARCH_TOOL,
    CallHistoryToolParams,
    CallHistoryToolResult,
    HistoryToolsParams,
    HistoryToolsResult,
    RecallItem,
    RecallParams,
    RecallResult,
)
from coppice.protocol.tools import Tool
from coppice.service.core.progress import Progress
from coppice.service.history.recall import Recall
from coppice.tree.authorship import ADDED
from coppice.tree.messages import TextContent
from coppice.tree.tags import tagged

MAX_RESULT_TOKENS: Final = 4000
"""Tokens of one result, by estimate. The page that tests/benchmarks/recall_tools.py measures."""

_TAG: Final = "history-entry"
_MAX_IDS: Final = 20  # entries a call may read: each gets 200 tokens of a page of 4,000


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SearchArguments(_Arguments):
    """The arguments of `history_search`."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4000,
            description="A question in your own words, or file names, identifiers, commands, error text.",
        ),
    ]
    cursor: Annotated[
        str | None, Field(description="From the end of the page before, for more of the same search.")
    ] = None


class ReadArguments(_Arguments):
    """The arguments of `history_read`."""

    ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]],
        Field(
            min_length=1,
            max_length=_MAX_IDS,
            description="Ids of entries: from a search, or the references [#id] of a summary.",
        ),
    ]
    cursor: Annotated[str | None, Field(description="From the end of the page before, for the rest.")] = None


_QUOTED: Final = (
    f"Each entry is between <{_TAG}> tags: the first line says what it is, the rest is its text, quoted."
)

TOOLS: Final = (
    Tool(
        name=SEARCH_TOOL,
        description="Searches the whole conversation, also what a summary has replaced, and gives the exact "
        "text of what answers a question best: messages, commands, tool results, errors. Newer text comes "
        "before older text that answers equally well. " + _QUOTED,
        input_schema=SearchArguments.model_json_schema(),
    ),
    Tool(
        name=READ_TOOL,
        description=f"Gives the exact and whole text of entries of the conversation by their ids. {_QUOTED}",
        input_schema=ReadArguments.model_json_schema(),
    ),
)


HISTORY_NOTE: Final = (
    f"What the summary leaves out is not lost: {SEARCH_TOOL} finds its exact text by a question or by names, "
    f"and {READ_TOOL} gives whole entries by their ids, also those of references [#id]."
)
"""The sentence before a summary where the tools are offered."""


class HistoryTools:
    """Defines the tools and runs their calls."""

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    async def definitions(self, params: HistoryToolsParams) -> HistoryToolsResult:
        """What a client offers its model."""
        del params
        return HistoryToolsResult(tools=list(TOOLS))

    async def call(
        self, params: CallHistoryToolParams, progress: Progress | None = None
    ) -> CallHistoryToolResult:
        """The result of a call. A mistake of the model is described in the result.

        Raises UnknownConversationError.
        """
        try:
            wanted = _recall_params(params)
        except ValidationError as error:
            return _failure(f"The arguments are not as the tool's schema wants them: {problems_of(error)}.")
        if wanted is None:
            return _failure(f"There is no such tool. Tools that can be called: {SEARCH_TOOL}, {READ_TOOL}.")
        try:
            page = await self._recall.recall(wanted, progress, for_model=True)
        except UnknownEntryError:
            return _failure(
                f"The conversation has no entry of one of these ids. Ids come from {SEARCH_TOOL}."
            )
        return CallHistoryToolResult(content=[TextContent(text=_shown_to_model(page, params.name))])


def _recall_params(params: CallHistoryToolParams) -> RecallParams | None:
    """What a call asks for; None for a tool that is not one of these. Raises ValidationError."""
    common: dict[str, Any] = {
        "conversation_id": params.conversation_id,
        "scope": "conversation",
        "max_tokens": MAX_RESULT_TOKENS,
    }
    if params.name == SEARCH_TOOL:
        search = SearchArguments.model_validate(params.arguments)
        return RecallParams(query=search.query, cursor=search.cursor, **common)
    if params.name == READ_TOOL:
        read = ReadArguments.model_validate(params.arguments)
        return RecallParams(entry_ids=read.ids, cursor=read.cursor, **common)
    return None


def _failure(why: str) -> CallHistoryToolResult:
    return CallHistoryToolResult(content=[TextContent(text=why)], is_error=True)


def _shown_to_model(page: RecallResult, tool: str) -> str:
    """The entries in tags that they cannot close, and how to call `tool` for the next page if there is one.

    The first line of an entry is a JSON object that says what it is, by what the store knows. An entry's
    text, its id or the name of a tool can therefore pass neither for another entry nor for what follows.
    """
    if not page.items:
        return "Nothing was found. Try other words: names of files, functions, commands, or error text."
    parts = [tagged(_TAG, f"{_header(item)}\n{item.text.rstrip()}") for item in page.items]
    if page.next_cursor is not None:
        parts.append(
            f'There is more: call {tool} again with the same arguments and cursor "{page.next_cursor}".'
        )
    return "\n\n".join(parts)


def _header(item: RecallItem) -> str:
    kind = {"type": item.type} if item.role is None else {"role": ADDED if item.attached else item.role}
    facts = {
        "id": item.entry_id,
        "time": item.timestamp,
        **kind,
        "tool": item.tool_name,
        "call": item.call,
        "path": item.path if item.call is None else None,
        "part": item.truncated,
        "branch": None if item.on_current_path else "another",
    }
    lines = {
        name: " ".join(value.split()) if isinstance(value, str) else value
        for name, value in facts.items()
        if value is not None
    }
    return json.dumps(lines, ensure_ascii=False)
