"""`history_read`: the exact text of entries."""

from collections.abc import Iterator
from typing import Final

from coppice.errors import UnknownEntryError
from coppice.mcp.arguments import ReadArguments
from coppice.mcp.project import Project, label_of
from coppice.mcp.rendering import FRAME_TOKENS, entry_text, framed, may_be_shown
from coppice.redaction import masked_part, with_marks
from coppice.service.history.calls import calls_of_results
from coppice.service.history.recall import head_of
from coppice.store.search.indexing import Scope
from coppice.store.search.recalling import RecallRow, Where
from coppice.tokens.counting import CHARS_PER_TOKEN, estimate_tokens
from coppice.tree.authorship import runs
from coppice.tree.tags import attribute

_AROUND: Final = 3  # entries before and after one, unless a call says how many: question, answer, call
_AT_THE_END: Final = 10
"""Entries of a session's end, unless a call says how many: a page, as recorded ones average 443 tokens."""
_AMBIGUOUS: Final = 6
"""Entries of the same beginning that are listed: as many as eight characters name in one of seven recorded
sessions; in the others four characters name at most four."""


def read_history(project: Project, wanted: ReadArguments) -> str:
    """The entries, and a sentence for each id that names none."""
    store = project.store
    session = project.named(wanted.session) if wanted.session else project.running()
    problems: list[str] = []
    keys: list[int] = []
    if wanted.around is not None:
        for key in _named(project, session, wanted.around, problems):
            before = _AROUND if wanted.before is None else wanted.before
            after = _AROUND if wanted.after is None else wanted.after
            keys += store.recall_neighbours(key, before, after)
    elif wanted.ids:
        for entry_id in wanted.ids:
            keys += _named(project, session, entry_id, problems)
    elif session is not None:
        where = Where(Scope(conversation_id=session))
        keys = [*reversed(store.recall_newest(where, wanted.before or _AT_THE_END))]
    else:
        return "Name what to read: ids of a search, or a session of history_overview."
    rows = [row for row in store.recall_rows(list(dict.fromkeys(keys))) if may_be_shown(row)]
    return "\n".join([*_page(project, rows, wanted), *problems])


def _named(project: Project, session: str | None, entry_id: str, problems: list[str]) -> list[int]:
    """The key of the entry of that id in `session`, or else in the project; a problem where there is none."""
    store = project.store
    if session is not None:
        try:
            return [store.key_of(session, entry_id)]
        except UnknownEntryError:
            pass
    rows = store.entries_named(project.scope, entry_id, _AMBIGUOUS)
    ids = {row.id for row in rows}
    if len(ids) == 1:
        return [rows[0].key]
    if rows:
        problems.append(
            f"Several entries begin with {attribute(entry_id)}: {', '.join(map(attribute, ids))}."
        )
    else:
        problems.append(f"No entry of this project has the id {attribute(entry_id)}.")
    return []


def _page(project: Project, rows: list[RecallRow], wanted: ReadArguments) -> Iterator[str]:
    number, _, offset = (wanted.cursor or "0").partition(":")
    first, start = int(number), int(offset or 0)
    running = project.running()
    calls = calls_of_results(project.store, rows)
    labels: dict[str, str] = {}
    left = wanted.max_tokens
    for place, row in enumerate(rows[first:], start=first):
        if left < FRAME_TOKENS * 2:
            yield f'There is more: call history_read again with cursor "{place}:{start}".'
            return
        if row.conversation_id != running and row.conversation_id not in labels:
            labels[row.conversation_id] = label_of(project.store.conversation(row.conversation_id))
        whole, marks = entry_text(row)
        room = left - FRAME_TOKENS
        part = masked_part(whole, start, start + room * CHARS_PER_TOKEN)
        if estimate_tokens(part) > room:
            part = head_of(part, room)
        stretches = list(runs(part, marks[start : start + len(part)])) or [(False, part)]
        left -= estimate_tokens(part) + FRAME_TOKENS * len(stretches)
        call = calls.get(row.key) if start == 0 else None
        label = labels.get(row.conversation_id)
        for added, stretch in stretches:
            yield framed(row, with_marks(stretch), session=label, call=call, added=added)
        if start + len(part) < len(whole):
            yield f'There is more: call history_read again with cursor "{place}:{start + len(part)}".'
            return
        start = 0
