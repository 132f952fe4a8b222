"""How the records of a Claude Code transcript become one tree of entries.

The recorded links describe the stream, not the conversation. Each streamed part of a reply is a record that
hangs on the one before; progress records lie between them, with links of their own; the results of
parallel tool calls hang each on the part that made its call, so that all but one lie on side branches.
Three rules make the conversation's path of it, and leave true branches (a prompt that was taken back and
written again) as they are:

1. A record without a message is passed through: its children hang on its nearest ancestor with one.
2. A part joins the reply with its message id when it hangs on a part of that reply or on one of its results.
   The reply is one entry at the place of its first part.
3. The results of a reply follow it in the order of the file, one after the other; whatever else hung on
   the reply or on one of its results hangs on the last of them. So each call is answered before anything
   else follows.

A compaction boundary and the summary after it are one entry, which hangs on the boundary's logical parent.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from coppice.formats.claude_records import CallPlace, Record
from coppice.formats.forest import ROOT, break_cycles, in_order


@dataclass(slots=True)
class Node:
    """An entry to be. `records` are the parts it is made of; `result` is which tool result of a record it is.

    `base` is the index of the record it hangs on (ROOT at a root), unless `after` names a node.
    """

    id: str
    records: list[Record]
    result: int | None = None
    base: int = ROOT
    after: int | None = None
    reply: int | None = None


@dataclass
class Tree:
    """`parents[n]` is the position of node n's parent in `nodes`, or ROOT."""

    nodes: list[Node] = field(default_factory=list)
    parents: "array[int]" = field(default_factory=lambda: array("q"))
    leaf: int | None = None
    node_of: dict[int, int] = field(default_factory=dict)
    cut_circles: list[int] = field(default_factory=list)


def build_tree(
    records: Sequence[Record],
    links: "array[int]",
    calls: dict[str, CallPlace],
    summaries: dict[int, Record],
    logical_parents: dict[int, int],
) -> Tree:
    """The tree of `records`, which come in the order of the file.

    `links[index]` is the recorded parent of each record that has a uuid, `calls` names the record that made
    a tool call, `summaries` maps the index of each boundary to its summary, and `logical_parents` the index
    of a boundary or summary to the index of the record it continues.
    """
    return _Builder(records, links, calls, summaries, logical_parents).build()


class _Builder:
    def __init__(
        self,
        records: Sequence[Record],
        links: "array[int]",
        calls: dict[str, CallPlace],
        summaries: dict[int, Record],
        logical_parents: dict[int, int],
    ) -> None:
        self._records = records
        self._calls = calls
        self._summaries = summaries
        self._logical_parents = logical_parents
        self._links = links
        self._nearest = _nearest_kept(links, {record.index for record in records})
        self._tree = Tree()
        self._replies: dict[str, int] = {}

    def build(self) -> Tree:
        """Adds the records in their order, then connects the nodes."""
        joined = {summary.index for summary in self._summaries.values()}
        for record in self._records:
            match record.kind:
                case "assistant":
                    self._add_reply(record)
                case "user":
                    self._add_user(record)
                case _ if record.index not in joined:
                    self._add_compaction(record)
        self._place()
        return self._tree

    def _add_reply(self, record: Record) -> None:
        base = self._base_of(record)
        reply = None if record.message_id is None else self._replies.get(record.message_id)
        if reply is not None and base in (ROOT, *self._record_indexes_of(reply, base)):
            self._tree.nodes[reply].records.append(record)
            self._tree.node_of[record.index] = reply
            return
        position = self._add(Node(record.uuid, [record], base=base), record)
        self._tree.nodes[position].reply = position
        if record.message_id is not None:
            self._replies[record.message_id] = position

    def _record_indexes_of(self, reply: int, base: int) -> tuple[int, ...]:
        node = self._tree.node_of.get(base)
        return (base,) if node is not None and self._tree.nodes[node].reply == reply else ()

    def _add_user(self, record: Record) -> None:
        base, before = self._base_of(record), None
        for number, call_id in enumerate(record.results):
            entry_id = record.uuid if number == 0 else f"{record.uuid}#{number}"
            node = Node(entry_id, [record], result=number, base=base, after=before)
            node.reply = self._reply_of_call(call_id)
            before = self._add(node, record)
        if record.has_more:
            number = len(record.results)
            entry_id = record.uuid if number == 0 else f"{record.uuid}#{number}"
            self._add(Node(entry_id, [record], base=base, after=before), record)

    def _add_compaction(self, record: Record) -> None:
        base = self._base_of(record)
        if base == ROOT and record.index in self._logical_parents:
            base = self._nearest[self._logical_parents[record.index]]
        before = len(self._tree.nodes) - 1 if base == ROOT and self._tree.nodes else None
        summary = self._summaries.get(record.index)
        records = [record] if summary is None else [record, summary]
        position = self._add(Node(record.uuid, records, base=base, after=before), record)
        if summary is not None:
            self._tree.node_of[summary.index] = position

    def _add(self, node: Node, record: Record) -> int:
        position = len(self._tree.nodes)
        self._tree.nodes.append(node)
        self._tree.node_of[record.index] = position
        return position

    def _base_of(self, record: Record) -> int:
        link = self._links[record.index]
        return ROOT if link == ROOT else self._nearest[link]

    def _reply_of_call(self, call_id: str) -> int | None:
        place = self._calls.get(call_id)
        return None if place is None else self._tree.node_of.get(place.index)

    def _place(self) -> None:
        tree = self._tree
        last_result: dict[int, int] = {}
        parents = tree.parents = array("q", [ROOT]) * len(tree.nodes)
        for position, node in enumerate(tree.nodes):
            if node.result is not None and node.reply is not None:
                parents[position] = last_result.get(node.reply, node.reply)
                last_result[node.reply] = position
        for position, node in enumerate(tree.nodes):
            if node.result is None or node.reply is None:
                before = node.after if node.after is not None else tree.node_of.get(node.base)
                parents[position] = ROOT if before is None else self._after_results(before, last_result)
        tree.cut_circles = break_cycles(parents)
        tree.leaf = self._leaf(last_result)

    def _after_results(self, position: int, last_result: dict[int, int]) -> int:
        reply = self._tree.nodes[position].reply
        return position if reply is None else last_result.get(reply, position)

    def _leaf(self, last_result: dict[int, int]) -> int | None:
        """The end of the branch on which the last record lies."""
        if not self._tree.nodes:
            return None
        last_child = {parent: position for position, parent in enumerate(self._tree.parents)}
        leaf = self._after_results(self._tree.node_of[self._records[-1].index], last_result)
        while leaf in last_child:
            leaf = last_child[leaf]
        return leaf


def _nearest_kept(links: "array[int]", kept: set[int]) -> "array[int]":
    """For each record itself, if kept, else its nearest kept ancestor; ROOT where there is none."""
    nearest = array("q", [ROOT]) * len(links)
    for index in in_order(links):
        if index in kept:
            nearest[index] = index
        elif links[index] != ROOT:
            nearest[index] = nearest[links[index]]
    return nearest
