"""`history_search`: this session first, then the project, and on request every workspace."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from coppice.errors import CoppiceError, StorageFailedError
from coppice.files.tools import touches_of
from coppice.mcp.absence import no_more, nothing, searched
from coppice.mcp.arguments import SearchArguments
from coppice.mcp.project import Project, label_of, resume_command
from coppice.mcp.rendering import framed
from coppice.redaction import masked
from coppice.service.history.calls import CallOf, calls_in, calls_of_results
from coppice.service.history.query import stems_asked_for
from coppice.service.history.search import Hit, search
from coppice.store.search.indexing import Scope
from coppice.store.search.recalling import RecallRow, Where
from coppice.store.search.search_text import parts_of, whole_text
from coppice.store.store import Store
from coppice.store.words.stems import stem_text
from coppice.tokens.counting import estimate_tokens
from coppice.tree.authorship import authorship

NOISE: Final = 0.35
"""Of the best score of a search: what has less is left out. With the questions of recall_tools.py these are
two fifths of the hits, and no answer of a first page of 1,000 tokens."""
_LITTLE: Final = 0.5
"""Share of a question's words that the best three hits hold below which little was found. A guess."""
_INDEX_SECONDS: Final = 5.0
"""Seconds that a search waits for the index, some 20 MB of text; the rest is indexed later. With as long for
transcripts (project.py) a sixth of the 60 s after which clients made with MCP's own SDK give a request up."""
_INCOMPLETE: Final = "A part of the history is not indexed yet and was not searched; ask again in a moment."
_HUMAN: Final = "u"  # of the marks of `authorship`
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
    """The hits of one scope, with the store that they are in, the tool calls that hits are results of, and by
    the number of a hit the lines for the results of calls in it.

    It is not `complete` where a part of the scope is not in the index yet, and not `is_whole` where only the
    best and the newest of what holds something of the question was looked at.
    """

    store: Store
    hits: list[Hit]
    calls: Mapping[int, CallOf]
    complete: bool
    is_whole: bool
    looked_at: int


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
    shown = [(each, number) for each in results for number in range(len(each.hits))]
    shown.sort(key=lambda each: -each[0].hits[each[1]].score)
    first = int((wanted.cursor or "0").split(":")[0])
    if first >= len(shown):
        cut = None if all(each.is_whole for each in results) else sum(each.looked_at for each in results)
        if shown:
            text = f"{no_more(len(shown), cut, _PLACES[looked_in])}{_earlier(looked_in)}"
        else:
            text = nothing(project, wanted, running, looked_in, cut)
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
    results = []
    for each, scope in searched(project, wanted.scope or "project"):
        try:
            results.append(_in_scope(each, scope, wanted, stems))
        except CoppiceError:
            if each is store:
                raise
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
    if wanted.path and (phrase := stem_text(wanted.path)):
        stems = {**stems, phrase: 1.0}
    ranking = search(
        store, stems, where, for_model=True, readable=masked, accepted=_acceptance(store, wanted)
    )
    hits = [hit for hit in ranking.hits if not (hit.added and wanted.role == "user")]
    hits = [hit for hit in hits if hit.score >= NOISE * hits[0].score]
    calls = calls_of_results(store, [hit.row for hit in hits])
    return _StoreHits(store, hits, calls, complete, ranking.is_whole, ranking.looked_at)


def _acceptance(
    store: Store, wanted: SearchArguments
) -> Callable[[Sequence[RecallRow]], Collection[int]] | None:
    """What tells of entries whether they are wanted, for what the store does not know of them."""
    path = (wanted.path or "").casefold()
    words = frozenset(stems_asked_for(wanted.query))
    if not path and wanted.kind != "edit" and wanted.role != "user":
        return None

    def accepted(rows: Sequence[RecallRow]) -> list[int]:
        if wanted.kind == "edit":
            rows = [row for row in rows if _changes_files(row)]
        if wanted.role == "user":
            rows = [row for row in rows if _is_typed(row, words)]
        calls = calls_of_results(store, rows) if path else {}
        return [row.key for row in rows if not path or _is_about(row, path, words, calls.get(row.key))]

    return accepted


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


def _changes_files(row: RecallRow) -> bool:
    return any(touch.kind != "read" for call in calls_in(row) for touch in touches_of(call, {}))


def _is_about(row: RecallRow, path: str, words: frozenset[str], call: CallOf | None) -> bool:
    """Whether an entry, or the call that it is the result of, names a path, which is in lower case, and both
    together hold one of `words`, if there are any.
    """
    texts = [whole_text(row.type, row.body), *([] if call is None else [call.text, call.path or ""])]
    naming = [text for text in texts if path in text.casefold()]
    if not naming or (words and all(words.isdisjoint(stem_text(text).split()) for text in texts)):
        return False
    # What is masked is found by no part of it. To mask takes longest.
    return any(path in masked(text).casefold() for text in naming)


def _is_typed(row: RecallRow, words: frozenset[str]) -> bool:
    """Whether the user wrote something of an entry, with one of `words` in it, if there are any."""
    parts = parts_of(row.type, row.body)
    marks = authorship(parts)
    own = "".join(char if mark == _HUMAN else " " for char, mark in zip("\n".join(parts), marks, strict=True))
    return bool(own.strip()) and (not words or not words.isdisjoint(stem_text(own).split()))


def _earlier(looked_in: str) -> str:
    return ' Earlier sessions: scope "project".' if looked_in == "session" else ""


def _page(
    shown: list[tuple[_StoreHits, int]],
    first: int,
    wanted: SearchArguments,
    running: str | None,
    looked_in: str,
) -> str:
    parts: list[str] = []
    left = wanted.max_tokens
    commands: dict[str, None] = {}
    for result, number in shown[first:]:
        hit = result.hits[number]
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
    places = f"{total}" if len(parts) == total else f"{first + 1} to {last} of {total}"
    more = f' More: cursor "{last}".' if last < total else ""
    counted = f"{places} relevant place{'s' * (total != 1)} in {_PLACES[looked_in]}."
    parts.append(f"{counted}{more}{_earlier(looked_in)}")
    if commands:
        parts.append(f"The user can resume these sessions with: {'; '.join(commands)}")
    return "\n".join(parts)
