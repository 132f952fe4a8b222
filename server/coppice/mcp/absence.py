"""What a search that finds nothing states: how much was looked through."""

from collections.abc import Iterator
from contextlib import suppress

from coppice.errors import CoppiceError
from coppice.mcp.arguments import SearchArguments
from coppice.mcp.project import Project
from coppice.mcp.rendering import safe
from coppice.store.search.indexing import Scope
from coppice.store.search.sessions import Extent
from coppice.store.store import Store


def searched(project: Project, scope: str) -> Iterator[tuple[Store, Scope]]:
    """The stores that a search of the project, or of "all", looks through, with what it does in each."""
    others = project.others() if scope == "all" else iter(())
    own = project.store, project.scope
    for store, others_scope in others:
        # A store that is shared holds the project too.
        if store is own[0]:
            own = store, others_scope
        else:
            yield store, others_scope
    yield own


def no_more(total: int, cut: int | None, place: str) -> str:
    """The sentence for a page after the last one; `cut` as for `nothing`."""
    are = f"{total:,} relevant places in {place} are" if total != 1 else f"One relevant place in {place} is"
    text = f"There are no more: {are} on the pages before."
    if cut is not None:
        text += (
            f" They are among the {cut:,} best and newest places that hold words of the query; there are "
            "more, which rarer words, or since and until, would find."
        )
    return text


def nothing(
    project: Project, wanted: SearchArguments, running: str | None, looked_in: str, cut: int | None
) -> str:
    """The sentence for a search that found nothing; `cut` are the places looked at, where there are more."""
    query = repr(safe(wanted.query[:200]))
    filters = [name for name in ("path", "kind", "role") if getattr(wanted, name)]
    if cut is not None and filters:
        return (
            f"Nothing with this {' and '.join(filters)} is among the {cut:,} best and newest places "
            f"that hold words of {query}, and there are more. Use rarer words, or since and until."
        )
    places = searched(project, looked_in)
    if looked_in == "session" and running is not None:
        places = iter([(project.store, Scope(conversation_id=running))])
    extents = []
    for store, scope in places:
        with suppress(CoppiceError):
            extents.append(store.extent(scope, wanted.agent, wanted.since, wanted.until))
    more = " Those of other times are counted too." if any(each.is_of_any_time for each in extents) else ""
    more += ' Scope "project" looks further.' if looked_in == "session" else ""
    is_bounded = wanted.agent or wanted.since or wanted.until
    if not is_bounded and not any(each.conversations for each in extents):
        more = " Nothing of this project is stored yet."
    return f"Nothing found for {query} in {_sized(extents)}.{more}"


def _sized(extents: list[Extent]) -> str:
    conversations = sum(each.conversations for each in extents)
    entries = sum(each.entries for each in extents)
    first = min((each.since for each in extents if each.since), default=None)
    since = f" since {first[:10]}" if first else ""
    return f"{conversations:,} conversation{'s' * (conversations != 1)}, {entries:,} entries{since}"
