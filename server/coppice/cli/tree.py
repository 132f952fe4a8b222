"""`coppice tree`: a conversation tree, drawn."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from rich.text import Text

from coppice.cli.plain import plain_line
from coppice.cli.sources import Opened, opened
from coppice.cli.terminal import console, print_row, write_json
from coppice.protocol.trees import TreeNode, TreeParams, TreeResult

_PAGE: Final = 500  # entries a request: half of what one may ask for
_DEEPEST_DRAWN: Final = 24  # levels that are indented: two columns each, 48 of 120
_PREVIEW_CHARS: Final = 72  # characters of a line: a terminal of 120 columns, less 48


Mode = Literal["all", "branches"]


async def show_tree(source: str, workspace: Path | None, mode: Mode, limit: int, *, as_json: bool) -> None:
    """Print at most `limit` nodes of a conversation's tree, the current leaf marked."""
    async with opened(source, workspace) as conversation:
        listing = await _listing(conversation, mode, limit)
    if as_json:
        write_json(listing)
        return
    out = console()
    width = out.width if out.is_terminal else None
    for line in drawn(listing.nodes, listing.leaf_id, width):
        print_row(out, line)
    if not listing.nodes:
        out.print("The conversation is empty.")
    if listing.next_after is not None:
        out.print(f"… there is more; see it with --limit {limit * 2}")


async def _listing(conversation: Opened, mode: Mode, limit: int) -> TreeResult:
    """The first `limit` nodes, read in pages."""
    nodes: list[TreeNode] = []
    after: str | None = None
    while True:
        params = TreeParams(
            conversation_id=conversation.id, mode=mode, limit=min(_PAGE, limit - len(nodes)), after=after
        )
        page = await conversation.service.trees.tree(params)
        nodes += page.nodes
        after = page.next_after
        if after is None or len(nodes) >= limit:
            return page.model_copy(update={"nodes": nodes})


def drawn(nodes: Sequence[TreeNode], leaf_id: str | None, width: int | None = None) -> Iterator[Text]:
    """The tree line by line. An only child is drawn below its parent without indentation.

    Previews are shortened for lines of `width` columns, since marks follow them. `nodes` have parents
    before children; one whose parent is not among them counts as a root.
    """
    ids = {node.id for node in nodes}
    children: dict[str | None, list[TreeNode]] = {}
    for node in nodes:
        children.setdefault(node.parent_id if node.parent_id in ids else None, []).append(node)
    roots = children.get(None, [])
    stack = [(node, "", "") for node in reversed(roots)]
    while stack:
        node, first, rest = stack.pop()
        yield _line(node, first, width, current=node.id == leaf_id)
        below = children.get(node.id, [])
        if len(below) == 1:
            stack.append((below[0], rest, rest))
        else:
            for index, child in reversed(list(enumerate(below))):
                last = index == len(below) - 1
                stack.append((child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  ")))


def _line(node: TreeNode, prefix: str, width: int | None, *, current: bool) -> Text:
    depth = len(prefix) // 3
    if depth > _DEEPEST_DRAWN:
        prefix = f"…{depth} levels… {prefix[-3:]}"
    run = node.run_length or 1
    about = f"{run:,} entries" if run > 1 else f"{node.tokens:,} tokens"
    marks = [
        (f" [{plain_line(node.label, 40)}]", "yellow") if node.label else "",
        (" pinned", "yellow") if node.pinned else "",
        (" ← you are here", "bold green") if current else "",
    ]
    head = Text.assemble(
        (prefix, "dim"),
        ("● " if node.on_current_path else "○ "),
        (plain_line(node.id, 40), "dim"),
        (f" {plain_line(node.role or node.type, 30)} ", "cyan"),
    )
    tail = Text.assemble((f"  ({about})", "dim"), *marks)
    preview = Text(plain_line(node.preview, _PREVIEW_CHARS))
    if width is not None:
        preview.truncate(max(width - head.cell_len - tail.cell_len, 0), overflow="ellipsis")
    return head.append_text(preview).append_text(tail)
