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

What the user typed during a turn has no links; it is put after what was recorded last, and what follows
hangs on it.

A compaction boundary and the summary after it are one entry, which hangs on the boundary's logical parent.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coppice.formats.claude_harness import Author
from coppice.formats.claude_records import CallPlace, Record
from coppice.formats.entry_index import ROOT, break_cycles, in_order


@dataclass(slots=True)
class Node:
    """An entry to be. `records` are the parts it is made of; `result` is which tool result of a record it is,
    `author` whose part of a user record.

    `base` is the index of the record it hangs on (ROOT at a root), unless `after` names a node. `reply` is
    the node of the reply that it is, or answers.
    """

    id: str
    records: list[Record]
    result: int | None = None
    author: Author = "user"
    base: int = ROOT
    after: int | None = None
    reply: int | None = None


class Tree:
    """The tree of `records`, which come in the order of the file.

    `links[index]` is the recorded parent of each record that has a uuid, `calls` names the record that made
    a tool call, `summaries` maps the index of each boundary to its summary, and `logical_parents` the index
    of a boundary to the index of the record it continues. `check` is called for each record and may raise.

    `parents[n]` is the position of node n's parent in `nodes`, or ROOT; `node_of` maps the index of a record
    to its last node; `leaf` is the end of the branch on which the last record lies.
    """

    def __init__(
        self,
        records: Sequence[Record],
        links: "array[int]",
        calls: dict[str, CallPlace],
        summaries: dict[int, Record],
        logical_parents: dict[int, int],
        *,
        check: Callable[[], None],
    ) -> None:
        self.nodes: list[Node] = []
        self.node_of: dict[int, int] = {}
        self._links = links
        self._calls = calls
        self._summaries = summaries
        self._logical_parents = logical_parents
        self._nearest = _nearest_kept(links, {record.index for record in records})
        self._replies: dict[str, int] = {}
        self._queued: dict[tuple[str, int], int] = {}
        joined = {summary.index for summary in summaries.values()}
        for record in records:
            check()
            match record.kind:
                case "assistant":
                    self._add_reply(record)
                case "user" | "attachment":
                    self._add_user(record)
                case "queued":
                    self._add_queued(record)
                case "stored":
                    self._add(Node(record.uuid, [record]), record)
                case _ if record.index not in joined:
                    self._add_compaction(record)
        self._last_result: dict[int, int] = {}
        self.parents = self._placed()
        self.cut_circles = break_cycles(self.parents)
        self.leaf = self._end_of_branch(self.node_of[records[-1].index]) if self.nodes else None

    def _add_reply(self, record: Record) -> None:
        base = self._base_of(record)
        reply = None if record.message_id is None else self._replies.get(record.message_id)
        if reply is not None and (base == ROOT or self._reply_at(base) == reply):
            self.nodes[reply].records.append(record)
            self.node_of[record.index] = reply
            return
        position = self._add(Node(record.uuid, [record], base=base), record)
        self.nodes[position].reply = position
        if record.message_id is not None:
            self._replies[record.message_id] = position

    def _add_user(self, record: Record) -> None:
        base, before = self._base_of(record), None
        for number in range(len(record.results) + len(record.authors)):
            entry_id = f"{record.uuid}#{number}" if number else record.uuid
            node = Node(entry_id, [record], base=base, after=before)
            if number < len(record.results):
                place = self._calls.get(record.results[number])
                node.result, node.reply = number, None if place is None else self.node_of.get(place.index)
            else:
                node.author = record.authors[number - len(record.results)]
            before = self._add(node, record)

    def _add_queued(self, record: Record) -> None:
        """No record names it: what comes later, and hung on the same place, hangs on it."""
        base = self._base_of(record)
        self._add(Node(record.uuid, [record], author=record.authors[0], base=base), record)
        self._queued[self._place_of(base)] = record.index

    def _add_compaction(self, record: Record) -> None:
        base = self._base_of(record)
        if base == ROOT and record.index in self._logical_parents:
            base = self._nearest[self._logical_parents[record.index]]
        before = len(self.nodes) - 1 if base == ROOT and self.nodes else None
        summary = self._summaries.get(record.index)
        records = [record] if summary is None else [record, summary]
        position = self._add(Node(record.uuid, records, base=base, after=before), record)
        if summary is not None:
            self.node_of[summary.index] = position

    def _add(self, node: Node, record: Record) -> int:
        self.node_of[record.index] = len(self.nodes)
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _base_of(self, record: Record) -> int:
        link = self._links[record.index]
        base = ROOT if link == ROOT else self._nearest[link]
        if base == ROOT or record.results or self._continues(record, base):
            return base
        return self._after_queued(base)

    def _after_queued(self, base: int) -> int:
        """The last of the queued messages that hang on `base` and on one another, or itself."""
        passed: list[tuple[str, int]] = []
        while (place := self._place_of(base)) in self._queued:
            passed.append(place)
            base = self._queued[place]
        # The next walk from there takes one step.
        self._queued |= dict.fromkeys(passed, base)
        return base

    def _continues(self, record: Record, base: int) -> bool:
        """Whether a record is a further part of the reply that it hangs on."""
        reply = self._reply_at(base)
        return (
            reply is not None
            and record.message_id is not None
            and self._replies.get(record.message_id) == reply
        )

    def _place_of(self, index: int) -> tuple[str, int]:
        """The same for a reply and for its results."""
        reply = self._reply_at(index)
        return ("record", index) if reply is None else ("reply", reply)

    def _reply_at(self, index: int) -> int | None:
        """The reply that the record with this index is a part of or answers."""
        position = self.node_of.get(index)
        return None if position is None else self.nodes[position].reply

    def _placed(self) -> "array[int]":
        """The parents of the nodes; which result is the last of each reply is known afterwards."""
        parents = array("q", [ROOT]) * len(self.nodes)
        for position, node in enumerate(self.nodes):
            if node.result is not None and node.reply is not None:
                parents[position] = self._last_result.get(node.reply, node.reply)
                self._last_result[node.reply] = position
        for position, node in enumerate(self.nodes):
            if node.result is None or node.reply is None:
                before = node.after if node.after is not None else self.node_of.get(node.base)
                parents[position] = ROOT if before is None else self._after_results(before)
        return parents

    def _after_results(self, position: int) -> int:
        reply = self.nodes[position].reply
        return position if reply is None else self._last_result.get(reply, position)

    def _end_of_branch(self, position: int) -> int:
        last_child = {parent: child for child, parent in enumerate(self.parents)}
        leaf = self._after_results(position)
        while leaf in last_child:
            leaf = last_child[leaf]
        return leaf


def open_end(tree: Tree) -> frozenset[int]:
    """The nodes that further records may change: an unfinished reply at the end, with its results."""
    last = len(tree.nodes) - 1
    reply = tree.nodes[last].reply if tree.nodes else None
    if reply is None or any(part.ended for part in tree.nodes[reply].records):
        return frozenset()
    return frozenset(at for at in range(reply, last + 1) if tree.nodes[at].reply == reply)


def _nearest_kept(links: "array[int]", kept_indexes: set[int]) -> "array[int]":
    """For each record itself, if kept, else its nearest kept ancestor; ROOT where there is none."""
    nearest = array("q", [ROOT]) * len(links)
    for index in in_order(links):
        if index in kept_indexes:
            nearest[index] = index
        elif links[index] != ROOT:
            nearest[index] = nearest[links[index]]
    return nearest
