"""The workspaces that have conversations stored, also those that no client has open."""

from contextlib import closing
from typing import Final

from coppice.errors import CoppiceError
from coppice.service.core.conversation_index import ConversationIndex
from coppice.settings import Settings, data_directory
from coppice.store.engines.choosing import name_of
from coppice.store.schema.records import ConversationRecord
from coppice.store.search.recalling import SHORTEST_PREFIX
from coppice.store.store import Store
from coppice.store.tree.location import databases_in

_SERVER_ID: Final = "overview"
MOST_NAMED: Final = 1000
"""Conversations among which a prefix of an id is looked for: the longest page of a list."""


def databases(settings: Settings) -> list[str]:
    """The URLs of the stores that exist: the configured one, or each workspace's file."""
    if settings.storage.url is not None:
        return [settings.storage.url]
    return databases_in(data_directory(settings))


def newest_conversations(settings: Settings, limit: int) -> tuple[list[ConversationRecord], list[str]]:
    """The conversations of every workspace, newest first, and a sentence for each store that failed."""
    newest: list[ConversationRecord] = []
    problems: list[str] = []
    for url in databases(settings):
        try:
            with _opened(url) as store:
                records, _ = store.conversations(limit=limit)
        except CoppiceError as error:
            problems.append(f"{name_of(url)}: {error}")
            continue
        newest += records
    newest.sort(key=lambda each: (each.modified_at, each.id), reverse=True)
    return newest[:limit], problems


def workspace_of(settings: Settings, conversation_id: str) -> str | None:
    """The URI of the workspace that `conversation_id` belongs to, or None where none is found."""
    urls = databases(settings)
    if settings.storage.url is None:
        holder, _ = ConversationIndex().find(conversation_id, urls)
        urls = [] if holder is None else [holder]
    for url in urls:
        try:
            with _opened(url) as store:
                return store.conversation(conversation_id).workspace_uri
        except CoppiceError:
            continue
    return None


def conversations_named(settings: Settings, prefix: str) -> list[ConversationRecord]:
    """Those of the newest conversations whose ids begin with `prefix`; none where that is too short."""
    if len(prefix) < SHORTEST_PREFIX:
        return []
    return [each for each in newest_conversations(settings, MOST_NAMED)[0] if each.id.startswith(prefix)]


def damages(url: str) -> list[str]:
    """What is wrong with the store at `url`: that it does not open, or what its own check finds."""
    try:
        with _opened(url) as store:
            return store.damages()
    except CoppiceError as error:
        return [str(error)]


def _opened(url: str) -> closing[Store]:
    return closing(Store.open(url, server_id=_SERVER_ID))
