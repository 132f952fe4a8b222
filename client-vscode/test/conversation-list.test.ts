import assert from "node:assert/strict";
import { test } from "node:test";

import { conversationOf } from "../src/conversation-list/commands";
import { description, loss, title } from "../src/conversation-list/model";
import type { Conversation } from "../src/protocol.gen";

const conversation: Conversation = {
  id: "c1",
  workspaceUri: "file:///home/a/shop",
  createdAt: "2026-11-12T12:00:00Z",
  modifiedAt: "2026-11-20T12:00:00Z",
  leafId: "e9",
  entryCount: 42,
  firstMessage: "Read the\n  prices",
};

test("a conversation is called as its user says, or else by the first request", () => {
  assert.equal(title(conversation), "Read the prices");
  assert.equal(title({ ...conversation, name: "Prices" }), "Prices");
  assert.equal(title({ ...conversation, firstMessage: "" }), "New conversation");
});

test("the folder is named where the window has several", () => {
  const now = Date.parse("2026-11-20T14:00:00Z");
  const shop = { name: "shop", uri: "file:///home/a/shop" };
  assert.equal(description(conversation, [shop], now), "2 hours ago · 42 entries");
  assert.equal(description(conversation, [shop, { name: "api", uri: "file:///home/a/api" }], now), "shop · 2 hours ago · 42 entries");
});

test("deleting says how much is lost, and what stays", () => {
  const text = loss(conversation, 3);
  assert.match(text, /^Its 42 entries, on 3 branches, from Nov 12, 2026 to Nov 20, 2026 are deleted/);
  assert.match(text, /cannot be undone/);
  assert.match(loss({ ...conversation, entryCount: 1, modifiedAt: conversation.createdAt }, 1), /^Its 1 entry of Nov 12, 2026 /);
});

test("a command takes the row that it was called on, and nothing else that VS Code gives", () => {
  assert.equal(conversationOf(conversation), "c1");
  for (const other of [undefined, null, "c1", { id: 1, workspaceUri: "" }, { handle: "x" }]) assert.equal(conversationOf(other), undefined);
});
