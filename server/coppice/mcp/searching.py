"""`history_search`: this session first, then the project, and on request every workspace."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from coppice.errors import CoppiceError, StorageFailedError
from coppice.files.tools import touches_of
from coppice.mcp.arguments import SearchArguments
from coppice.mcp.project import Project, label_of, resume_command
from coppice.mcp.rendering import framed, safe
from coppice.redaction import masked
from coppice.service.history.calls import CallOf, calls_in, calls_of_results
from coppice.service.history.query import stems_asked_for
from coppice.service.history.search import Hit, search
from coppice.store.search.indexing import Scope
from coppice.store.search.recalling import Where
from coppice.store.search.sessions import Extent
from coppice.store.store import Store
from coppice.store.words.stems import stem_text
from coppice.tokens.counting import estimate_tokens

NOISE: Final = 0.35
"""Of the best score of a search: what has less is left out. With the questions of recall_tools.py these are
two fifths of the hits, and no answer of a first page of 1,000 tokens."""
_LITTLE: Final = 0.5
"""Share of a question's words that the best three hits hold below which little was found. A guess."""
_INDEX_SECONDS: Final = 5.0
"""Seconds that a search waits for the index, some 20 MB of text; the rest is indexed later. With as long for
transcripts (project.py) a sixth of the 60 s after which clients made with MCP's own SDK give a request up."""
_INCOMPLETE: Final = "A part of the history is not indexed yet and was not searched; ask again in a moment."
_COMPARED_HITS: Final = 3  # hits that tell whether much was found (guess)

_TOOLS: Final = frozenset({"toolResult", "bashExecution"})
_ROLES: Final = {"user": frozenset({"user"}), "assistant": frozenset({"assistant"}), "tool": _TOOLS}
_ROLES_OF_KIND: Final = {
    "message": frozenset({"user", "assistant"}),
    "command": _TOOLS,
    "edit": frozenset({"assistant"}),
}
_SUMMARIES: Final = frozenset({"compaction", "branch_summary"})
_PLACES: Final = {"session": "this session", "project": "this project", "all": "all projects"}


class _StoreHits(NamedTuple):
    """The hits of one scope, with the store that they are in and the tool calls that hits are results of.

    It is not `complete` where a part of the scope is not in the index yet.
    """

    store: Store
    hits: list[Hit]
    calls: Mapping[int, CallOf]
    complete: bool


def search_history(project: Project, wanted: SearchArguments) -> str:
    """The page of hits as text, or how much was looked through without finding any."""
    stems = stems_asked_for(f"{wanted.query} {wanted.path or ''}")
    if wanted.scope == "all" and not project.allows_others():
        return (
            "Other projects cannot be searched: the user's settings do not allow it "
            '([mcp] otherWorkspaces = true in settings.toml). Use scope "project".'
        )
    running = project.running()
    if wanted.scope == "session" and running is None:
        return 'Which session is running is not known here, or nothing of it is stored. Use scope "project".'
    results, looked_in = _search(project, wanted, stems, running)
    shown = [(each, hit) for each in results for hit in each.hits]
    shown.sort(key=lambda each: -each[1].score)
    first = int((wanted.cursor or "0").split(":")[0])
    if first >= len(shown):
        text = _nothing(project, wanted, running, looked_in, is_end=bool(shown))
    else:
        text = _page(shown, first, wanted, running, looked_in)
    return text if all(each.complete for each in results) else f"{text}\n{_INCOMPLETE}"


def _search(
    project: Project, wanted: SearchArguments, stems: Mapping[str, float], running: str | None
) -> tuple[list[_StoreHits], str]:
    """What was found, and where it was looked for."""
    store = project.store
    if running is not None and wanted.scope in (None, "session"):
        here = _in_scope(store, Scope(conversation_id=running), wanted, stems)
        if wanted.scope == "session" or not _is_little(here.hits, stems):
            return [here], "session"
    # With those of the session among them: hits that hold little of the question shall not fill the page.
    results = [_in_scope(store, project.scope, wanted, stems)]
    if wanted.scope == "all":
        for other, scope in project.others():
            with suppress(CoppiceError):
                results.append(_in_scope(other, scope, wanted, stems))
    return results, wanted.scope or "project"


def _in_scope(store: Store, scope: Scope, wanted: SearchArguments, stems: Mapping[str, float]) -> _StoreHits:
    asked = [
        roles
        for roles in (_ROLES.get(wanted.role or ""), _ROLES_OF_KIND.get(wanted.kind or ""))
        if roles is not None
    ]
    where = Where(
        scope,
        types=_SUMMARIES if wanted.kind == "summary" else None,
        roles=frozenset.intersection(*asked) if asked else None,
        since=wanted.since,
        until=wanted.until,
        agent=wanted.agent,
        failed=wanted.kind == "error",
    )
    complete = _made_searchable(store, scope)
    hits = search(store, stems, where, for_model=True, readable=masked)
    hits = [hit for hit in hits if not (hit.added and wanted.role == "user")]
    hits = [hit for hit in hits if hit.score >= NOISE * hits[0].score]
    calls = calls_of_results(store, [hit.row for hit in hits])
    if wanted.kind == "edit":
        hits = [hit for hit in hits if _changes_files(hit)]
    if wanted.path is not None:
        hits = [hit for hit in hits if _is_about(hit, wanted.path, calls.get(hit.row.key))]
    return _StoreHits(store, hits, calls, complete)


def _made_searchable(store: Store, scope: Scope) -> bool:
    """Whether everything in `scope` is in the index, after some seconds at most."""
    until = time.monotonic() + _INDEX_SECONDS

    def check(_done: int, _total: int) -> None:
        if time.monotonic() > until:
            raise TimeoutError

    try:
        store.make_searchable(scope, check)
    except (TimeoutError, StorageFailedError):
        # What reading finds of a failure is reported by the search.
        return False
    return True


def _is_little(hits: Sequence[Hit], stems: Mapping[str, float]) -> bool:
    """Whether the best hits lack most words of the question."""
    own = {stem for stem, weight in stems.items() if weight == 1.0}
    held = own.intersection(stem_text("\n".join(hit.text for hit in hits[:_COMPARED_HITS])).split())
    return not hits or len(held) < _LITTLE * len(own)


def _changes_files(hit: Hit) -> bool:
    return any(touch.kind != "read" for call in calls_in(hit.row) for touch in touches_of(call, {}))


def _is_about(hit: Hit, path: str, call: CallOf | None) -> bool:
    texts = [hit.text] if call is None else [hit.text, call.arguments, call.path or ""]
    return any(path.casefold() in text.casefold() for text in texts)


def _page(
    shown: list[tuple[_StoreHits, Hit]],
    first: int,
    wanted: SearchArguments,
    running: str | None,
    looked_in: str,
) -> str:
    parts: list[str] = []
    left = wanted.max_tokens
    commands: dict[str, None] = {}
    for result, hit in shown[first:]:
        row = hit.row
        label = command = None
        if row.conversation_id != running:
            record = result.store.conversation(row.conversation_id)
            label, command = label_of(record), resume_command(record)
        part = framed(row, hit.text, session=label, call=result.calls.get(row.key), added=hit.added)
        left -= estimate_tokens(part)
        if parts and left < 0:
            break
        parts.append(part)
        if command:
            commands[command] = None
    last, total = first + len(parts), len(shown)
    number = f"{total}" if len(parts) == total else f"{first + 1} to {last} of {total}"
    more = f' More: cursor "{last}".' if last < total else ""
    earlier = ' Earlier sessions: scope "project".' if looked_in == "session" else ""
    parts.append(f"{number} relevant place{'s' * (total != 1)} in {_PLACES[looked_in]}.{more}{earlier}")
    if commands:
        parts.append(f"The user can resume these sessions with: {'; '.join(commands)}")
    return "\n".join(parts)


def _nothing(
    project: Project, wanted: SearchArguments, running: str | None, looked_in: str, *, is_end: bool
) -> str:
    if is_end:
        return "There are no more."
    store = project.store
    scope = Scope(conversation_id=running) if looked_in == "session" and running else project.scope
    extent = store.extent(scope, wanted.agent)
    more = "" if looked_in == "project" else ' Scope "project" looks further.'
    more = ", and nothing in other projects." if looked_in == "all" else more
    return f"Nothing found for {safe(wanted.query[:200])!r} in {sized(extent)}.{more}"


def sized(extent: Extent) -> str:
    """How much was looked through, as words."""
    if not extent.conversations:
        return "0 conversations: nothing of this project is stored yet"
    since = f" since {extent.since[:10]}" if extent.since else ""
    ending = "s" * (extent.conversations != 1)
    return f"{extent.conversations:,} conversation{ending}, {extent.entries:,} entries{since}"
