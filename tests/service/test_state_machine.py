"""Whatever is done to conversations through the service, they say what plain in-memory ones say."""

import asyncio
import itertools
import os
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from conftest_service import Client
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from service.reference_conversation import SUMMARIZED_TYPES, ReferenceConversation, new_entries, speaking

from coppice.compaction.asking.summarizer import SummaryRequest, WrittenSummary
from coppice.errors import (
    NothingToCompactError,
    StaleLeafError,
    SummaryRejectedError,
    UnknownConversationError,
    UnknownEntryError,
)
from coppice.service.service import Service
from coppice.tree.entries import CompactionEntry, Entry, MessageEntry

pytestmark = pytest.mark.slow

SETTINGS = {"compaction": {"keepRecentTokens": 40}, "tokens": {"counter": "estimate"}}
WORKSPACE = "untitled:machine"
KINDS = st.lists(
    st.sampled_from(["user", "assistant", "counted", "edit", "extension", "model", "thinking", "file"]),
    min_size=2,
    max_size=7,
)
ENOUGH = 80
"""Tokens from which on a compaction is likely to find something to cut."""
MARKS = st.sampled_from(["here", "there", None])


class Scripted:
    """Says little, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest) -> WrittenSummary:
        self.asked.append(request)
        return WrittenSummary(f"## Goal\nSummary {len(self.asked)}.", "scripted")


class ServiceMachine(RuleBasedStateMachine):
    """Several conversations, one of which is worked on at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        places = {
            f"COPPICE_{name}_DIRECTORY": str(Path(self.folder.name, name)) for name in ("STORAGE", "CONFIG")
        }
        self.environment = patch.dict(os.environ, places)
        self.environment.start()
        self.loop = asyncio.Runner()
        self.numbers = itertools.count()
        self.summarizer = Scripted()
        self.client = self.started()
        self.talks: dict[str, ReferenceConversation] = {}
        self.here = self.created()

    def started(self) -> Client:
        service = Service(summarizer=self.summarizer)
        self.loop.run(service.start([WORKSPACE], SETTINGS))
        return Client(service)

    def teardown(self) -> None:
        try:
            for conversation_id, talk in self.talks.items():
                self.check_listing(conversation_id, talk)
                for entry_id in list(talk.entries)[::3]:
                    self.check_path(conversation_id, talk, entry_id)
            listed = self.ask("conversation/list", limit=1000)["conversations"]
            assert {one["id"] for one in listed} == set(self.talks)
        finally:
            self.loop.run(self.client.service.close())
            self.loop.close()
            self.environment.stop()
            self.folder.cleanup()

    def ask(self, method: str, **params: Any) -> Any:
        return self.loop.run(self.client.ask(method, **params))

    def call(self, method: str, **params: Any) -> Any:
        """A request about the conversation that is worked on."""
        return self.ask(method, conversationId=self.here, **params)

    @property
    def talk(self) -> ReferenceConversation:
        return self.talks[self.here]

    def created(self) -> str:
        made = str(self.ask("conversation/create")["conversation"]["id"])
        self.talks[made] = ReferenceConversation()
        return made

    def some_entry(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(list(self.talk.entries)))

    def append(self, kinds: list[str], **where: Any) -> None:
        sent = [{"timestamp": "2026-03-01T09:00:00.000Z", **one} for one in new_entries(kinds, self.numbers)]
        position = where.get("parentId", self.talk.leaf)
        done = self.call("append", entries=sent, **where)
        for entry_id, one in zip(done["entryIds"], sent, strict=True):
            self.talk.put({**one, "id": entry_id, "parentId": position})
            self.talk.leaf = position = entry_id
        assert done["leafId"] == self.talk.leaf
        assert done["usage"]["tokens"] == self.talk.tokens(self.talk.leaf)

    @initialize(kinds=KINDS)
    def begin(self, kinds: list[str]) -> None:
        self.append([*kinds, "edit", "user", "assistant", "edit"] * 2)

    @rule(data=st.data())
    def do_something(self, data: st.DataObject) -> None:
        """One rule with weights: hypothesis would leave some rules out of each run, and few runs are made."""
        actions = [self.append_at_the_leaf, self.look_away]
        if self.talk.entries:
            actions += [self.append_elsewhere, self.navigate, self.navigate, self.fork, self.mark]
        if self.talk.tokens(self.talk.leaf) > ENOUGH:
            actions += [self.compact] * 3
        if self.talk.compactions():
            actions += [self.undo_a_compaction] * 3
        data.draw(st.sampled_from(actions))(data)

    def append_at_the_leaf(self, data: st.DataObject) -> None:
        self.append(data.draw(KINDS), expectedLeafId=self.talk.leaf)

    def append_elsewhere(self, data: st.DataObject) -> None:
        kinds = data.draw(KINDS)
        stale = self.some_entry(data)
        if stale != self.talk.leaf:
            with pytest.raises(StaleLeafError) as refusal:
                self.call("append", entries=new_entries(kinds, self.numbers), expectedLeafId=stale)
            assert refusal.value.data["leafId"] == self.talk.leaf
        self.append(kinds, parentId=data.draw(st.sampled_from([None, *self.talk.entries])))

    def navigate(self, data: st.DataObject) -> None:
        talk, target = self.talk, self.some_entry(data)
        summarize, label = data.draw(st.booleans()), data.draw(MARKS)
        ancestor, left = talk.abandoned(target)
        old, (leaf, text) = talk.leaf, talk.destination(target)
        preview = self.call("navigatePreview", targetId=target)
        assert preview["commonAncestorId"] == ancestor
        assert preview["entriesToSummarize"] == [entry.id for entry in left]
        assert preview["leafId"] == old
        asked = len(self.summarizer.asked)
        result = self.call("navigate", targetId=target, summarize=summarize, label=label)
        if target == old:
            assert result == {"leafId": old, "cancelled": False}
            return
        assert result.get("editorText") == text
        entry = result.get("summaryEntry")
        assert (entry is not None) == (summarize and any(one.type in SUMMARIZED_TYPES for one in left))
        assert len(self.summarizer.asked) == asked + (entry is not None)
        if entry is not None:
            assert (entry["fromId"], entry["parentId"]) == (old, leaf)
            assert entry["details"]["modifiedFiles"] == self.files_of(left, ancestor)
            leaf = talk.put(entry).id
        talk.leaf = leaf
        assert result["leafId"] == leaf
        if label:
            talk.mark(target if entry is None else entry["id"], label)

    def files_of(self, left: list[Entry], ancestor: str | None) -> list[str]:
        """The files of what was left; a result counts there though its call was not left."""
        calling = [entry for entry in self.talk.path(ancestor)[-1:] if isinstance(entry, MessageEntry)]
        return self.talk.modified_files(calling + left)

    def fork(self, data: st.DataObject) -> None:
        talk, entry_id = self.talk, self.some_entry(data)
        position = data.draw(st.sampled_from(["before", "at"]))
        made = self.call("conversation/fork", entryId=entry_id, position=position)
        last = entry_id if position == "at" else talk.entries[entry_id].parent_id
        assert made.get("editorText") == (talk.destination(entry_id)[1] if position == "before" else None)
        assert made["conversation"]["parentConversationId"] == self.here
        path = talk.path(last)
        ids = {entry.id for entry in path}
        self.here = made["conversation"]["id"]
        self.talks[self.here] = ReferenceConversation(
            entries={entry.id: entry for entry in path},
            labels={entry: label for entry, label in talk.labels.items() if entry in ids},
            pinned=talk.pinned & ids,
            leaf=last,
        )

    def compact(self, data: st.DataObject) -> None:
        """Sometimes the work goes on, and some of it is marked."""
        if self.compacted() and data.draw(st.booleans()):
            self.mark(data)
            self.append(data.draw(KINDS))
            self.mark(data)

    def compacted(self) -> bool:
        talk, path = self.talk, self.talk.path(self.talk.leaf)
        previous, hidden = talk.cut(path)
        before = deepcopy(self.call("conversation/get"))
        try:
            done = self.call("compact")
        except (NothingToCompactError, SummaryRejectedError):
            assert self.call("conversation/get") == before
            return False
        entry, asked = done["entry"], self.summarizer.asked[-1]
        first_kept = [one.id for one in path].index(entry["firstKeptEntryId"])
        assert entry["parentId"] == talk.leaf
        assert len(asked.history) + len(asked.turn_prefix) == len(speaking(path[hidden:first_kept])) > 0
        assert len(asked.kept_messages) == len(speaking(path[first_kept:]))
        assert asked.previous_summary == (previous.summary if previous is not None else None)
        talk.leaf = talk.put(entry).id
        assert done["tokensAfter"] == talk.tokens(talk.leaf)
        return True

    def undo_a_compaction(self, data: st.DataObject) -> None:
        talk, chosen = self.talk, data.draw(st.sampled_from(self.talk.compactions()))
        if chosen not in talk.ids(talk.leaf):
            with pytest.raises(UnknownEntryError):
                self.call("undoCompaction", compactionId=chosen)
            beyond = [entry for entry in talk.entries if chosen in talk.ids(entry)]
            talk.leaf = talk.destination(beyond[-1])[0]
            assert self.call("navigate", targetId=beyond[-1])["leafId"] == talk.leaf
            if chosen not in talk.ids(talk.leaf):
                return
        path = talk.path(talk.leaf)
        depths = [depth for depth, entry in enumerate(path) if isinstance(entry, CompactionEntry)]
        depth = talk.ids(talk.leaf).index(chosen)
        newest = depth == depths[-1] and data.draw(st.booleans())
        undone = self.call("undoCompaction", **({} if newest else {"compactionId": path[depth].id}))
        since = path[depth + 1 :]
        stored = self.call("entries", limit=1000)["entries"]
        copies = stored[depth:]
        talk.leaf = undone["leafId"]
        self.check_copies([entry.model_dump(mode="json", by_alias=True) for entry in since], copies)
        for original, copy in zip(since, copies, strict=True):
            talk.put(copy)
            talk.mark(copy["id"], talk.labels.get(original.id))
            if original.id in talk.pinned:
                talk.pinned.add(copy["id"])

    def check_copies(self, since: list[dict[str, Any]], copies: list[dict[str, Any]]) -> None:
        """They are what was copied, under new ids, without counts up to the next compaction."""
        renamed = {one["id"]: copy["id"] for one, copy in zip(since, copies, strict=True)}
        assert set(renamed).isdisjoint(renamed.values())
        counted = False
        for one, copy in zip(deepcopy(since), deepcopy(copies), strict=True):
            for own in ("id", "parentId"):
                del one[own], copy[own]
            counted = counted or one["type"] == "compaction"
            if one["type"] == "compaction":
                one["firstKeptEntryId"] = renamed.get(one["firstKeptEntryId"], one["firstKeptEntryId"])
            elif not counted and "usage" in one.get("message", {}):
                one["message"]["usage"] = {"input": 0, "output": 0, "totalTokens": 0}
            assert copy == one

    def mark(self, data: st.DataObject) -> None:
        """Mostly something recent or a summary, as people do."""
        talk, label = self.talk, data.draw(MARKS)
        pinned = data.draw(st.sampled_from([True, True, None, None, False]))
        recent = talk.ids(talk.leaf)[-3:] + talk.compactions()[-2:]
        target = data.draw(
            st.sampled_from(recent or list(talk.entries)) | st.sampled_from(list(talk.entries))
        )
        if pinned is None:
            self.call("label", entryId=target, label=label)
            talk.mark(target, label)
        elif pinned and talk.entries[target].type in ("model_change", "thinking_level_change", "custom"):
            with pytest.raises(UnknownEntryError):
                self.call("pin", entryId=target, pinned=True)
        else:
            self.call("pin", entryId=target, pinned=pinned)
            (talk.pinned.add if pinned else talk.pinned.discard)(target)

    def look_away(self, data: st.DataObject) -> None:
        """The server starts again, or another conversation is gone on with."""
        how = data.draw(st.sampled_from(["restart", "turn", "turn", "delete"]))
        if how == "restart":
            self.loop.run(self.client.service.close())
            self.client = self.started()
        elif how == "delete" and len(self.talks) > 1:
            gone = self.here
            self.call("conversation/delete")
            del self.talks[gone]
            self.here = next(iter(self.talks))
            with pytest.raises(UnknownConversationError):
                self.ask("context", conversationId=gone)
        else:
            self.here = data.draw(st.sampled_from(list(self.talks)))

    @invariant()
    def the_current_path_agrees(self) -> None:
        talk = self.talk
        got = self.call("conversation/get")
        assert got["conversation"]["leafId"] == talk.leaf
        assert got["usage"]["tokens"] == talk.tokens(talk.leaf)
        if talk.leaf is not None:
            self.check_path(self.here, talk, talk.leaf)
        else:
            assert self.call("context")["messages"] == []

    def check_listing(self, conversation_id: str, talk: ReferenceConversation) -> None:
        about, current = {"conversationId": conversation_id, "limit": 1000}, set(talk.ids(talk.leaf))
        nodes = {one["id"]: one for one in self.ask("tree", **about)["nodes"]}
        assert set(talk.entries) <= set(nodes)
        assert {node for node, one in nodes.items() if one["onCurrentPath"]} == current
        assert {node: one["label"] for node, one in nodes.items() if "label" in one} == talk.labels
        assert {node for node, one in nodes.items() if one.get("pinned")} == talk.pinned
        folded = {one["id"]: one for one in self.ask("tree", mode="branches", **about)["nodes"]}
        assert set(talk.labels) <= set(folded) <= set(talk.entries)
        assert sum(one["runLength"] for one in folded.values()) == len(talk.entries)

    def check_path(self, conversation_id: str, talk: ReferenceConversation, entry_id: str) -> None:
        about = {"conversationId": conversation_id, "leafId": entry_id}
        stored = self.ask("entries", limit=1000, **about)["entries"]
        path = talk.path(entry_id)
        assert stored == [entry.model_dump(mode="json", by_alias=True) for entry in path]
        context = self.ask("context", **about)
        assert context["messages"] == talk.context(entry_id)
        assert context["tokens"] == talk.tokens(entry_id)
        opening, _ = talk.cut(path)
        assert context.get("compactionId") == (opening.id if opening is not None else None)
        assert self.ask("files", **about)["modifiedFiles"] == talk.modified_files(path)


TestServiceMachine = ServiceMachine.TestCase
# To shorten what failed takes longer than a test may take, and its timeout would hide the failure.
TestServiceMachine.settings = settings(
    max_examples=40, stateful_step_count=20, derandomize=True, phases=[Phase.generate]
)
