import assert from "node:assert/strict";
import { test } from "node:test";

import { fromPageMessage, memoryOf, toPageMessage, type ToPage } from "../src/chat/messages";
import type { Conversation, Entry, PromptUpdate } from "../src/protocol.gen";
import { INITIAL, type PanelState, reduce } from "../webview/state/state";

const CONVERSATION: Conversation = {
  id: "c1", workspaceUri: "file:///w", createdAt: "", modifiedAt: "", leafId: null, entryCount: 0,
};

function after(...messages: ToPage[]): PanelState {
  return messages.reduce(reduce, INITIAL);
}

function opened(...messages: ToPage[]): PanelState {
  return after({ type: "shown", conversation: CONVERSATION, entries: [], running: true }, ...messages);
}

function update(update: PromptUpdate, conversationId = "c1"): ToPage {
  return { type: "update", conversationId, update };
}

const REPLY: Entry = {
  id: "a", parentId: null, timestamp: "", type: "message", message: { role: "assistant", content: [{ type: "text", text: "Hello." }] },
};

test("pieces of a reply make its blocks, and the reply takes their place", () => {
  const pieces = [
    update({ kind: "thinking", text: "Hm" }),
    update({ kind: "thinking", text: "m." }),
    update({ kind: "text", text: "Hel" }),
    update({ kind: "text", text: "lo." }),
    update({ kind: "toolCall", toolCallId: "t", name: "read", arguments: {} }),
    update({ kind: "text", text: "!" }),
  ];
  assert.deepEqual(opened(...pieces).shown?.draft, [
    { kind: "thinking", text: "Hmm." },
    { kind: "text", text: "Hello." },
    { kind: "tool", callId: "t", name: "read", call: { arguments: {} } },
    { kind: "text", text: "!" },
  ]);
  const { message } = REPLY;
  assert.equal(message.role, "assistant");
  const replied = opened(...pieces, update({ kind: "message", entryId: "a", message: message }));
  assert.deepEqual(replied.shown?.draft, []);
  assert.equal(replied.shown.items.length, 1);
});

test("a reply that the store and the turn both send is shown once", () => {
  const state = opened(
    { type: "grown", conversationId: "c1", entries: [REPLY] },
    update({ kind: "message", entryId: "a", message: { role: "assistant", content: [] } }),
    { type: "grown", conversationId: "c1", entries: [REPLY] },
  );
  assert.equal(state.shown?.items.length, 1);
});

test("a tool's result keeps the reply that is being written", () => {
  const result: PromptUpdate = { kind: "message", entryId: "r", message: { role: "toolResult", toolCallId: "t", toolName: "read", content: [] } };
  assert.equal(opened(update({ kind: "text", text: "…" }), update(result)).shown?.draft.length, 1);
});

test("the pieces of a reply are dropped when it is tried again, and when the turn ends", () => {
  const begun = update({ kind: "text", text: "Hel" });
  assert.deepEqual(opened(begun, update({ kind: "retry", attempt: 1, strategy: "compacted" })).shown?.draft, []);
  assert.deepEqual(opened(begun, { type: "turn", conversationId: "c1", running: false }).shown?.draft, []);
});

test("a message about another conversation changes nothing", () => {
  const state = opened();
  const others: ToPage[] = [
    update({ kind: "text", text: "x" }, "c2"),
    { type: "grown", conversationId: "c2", entries: [REPLY] },
    { type: "turn", conversationId: "c2", running: false },
    { type: "renamed", conversation: { ...CONVERSATION, id: "c2" } },
  ];
  for (const other of others) assert.equal(reduce(state, other), state, other.type);
});

test("the same notice is shown once, and at most three at a time", () => {
  const notice = (text: string): ToPage => ({ type: "notice", level: "error", text });
  const state = after(notice("a"), notice("b"), notice("a"), notice("c"), notice("d"));
  assert.deepEqual(state.notices.map(({ text }) => text), ["a", "c", "d"]);
  const dismissed = reduce(state, { type: "dismiss", id: state.notices[1]?.id ?? 0 });
  assert.deepEqual(dismissed.notices.map(({ text }) => text), ["a", "d"]);
});

test("a notice goes when another conversation is opened, and stays when the first message makes one", () => {
  const notice: ToPage = { type: "notice", level: "error", text: "No model is set." };
  const shown = (id: string | null): ToPage => ({ type: "shown", conversation: id === null ? null : { ...CONVERSATION, id }, entries: [], running: false });
  assert.equal(after(shown(null), notice, shown("a"), shown("a")).notices.length, 1);
  assert.equal(after(shown("a"), notice, shown("b")).notices.length, 0);
});

test("a model that is offered stays offered until another is, or none", () => {
  const offer = (name?: string): ToPage => ({ type: "modelOffer", name });
  const shown: ToPage = { type: "shown", conversation: null, entries: [], running: false };
  assert.equal(after(offer("Small"), shown).offeredModel, "Small");
  assert.equal(after(offer("Small"), offer("Large")).offeredModel, "Large");
  assert.equal(after(offer("Small"), offer()).offeredModel, undefined);
});

test("the host takes nothing of the page but what the messages allow", () => {
  assert.deepEqual(fromPageMessage({ type: "send", text: "hi", more: 1 }), { type: "send", text: "hi" });
  const refused = [
    undefined, null, "send", {}, { type: "eval" }, { type: "send" }, { type: "send", text: "" }, { type: "send", text: 3 },
    { type: "run", command: "workbench.action.terminal.new" }, { type: "open", conversationId: "" }, { type: "openLink", href: "x".repeat(9000) },
  ];
  for (const value of refused) assert.equal(fromPageMessage(value), undefined, JSON.stringify(value));
});

test("the page passes over what it does not know", () => {
  for (const value of [undefined, {}, { type: "shown" }, { type: "grown", conversationId: "c", entries: [3] }]) {
    assert.equal(toPageMessage(value), undefined);
  }
  assert.equal(toPageMessage({ type: "focus" })?.type, "focus");
});

test("a memory that makes no sense is no memory", () => {
  const memory = { drafts: { c1: "text" }, places: { c1: { entry: "e1", above: 3 } } };
  assert.deepEqual(memoryOf(memory), memory);
  for (const value of [undefined, "x", { drafts: { c1: 3 }, places: {} }, { drafts: {} }]) {
    assert.deepEqual(memoryOf(value), { drafts: {}, places: {} });
  }
});
