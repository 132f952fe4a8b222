import assert from "node:assert/strict";
import { test } from "node:test";

import { pickConversation } from "../src/commands/pickers";
import { conversationOf } from "../src/conversation-list/commands";
import { agent, description, isBegun, loss, title } from "../src/conversation-list/model";
import { Sources } from "../src/conversation-list/sources";
import type { Conversation } from "../src/protocol.gen";
import { window } from "./agent/vscode";

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

test("a session of another agent says whose it was", () => {
  const codex = { ...conversation, source: { format: "codex" } };
  assert.equal(agent(codex), "Codex");
  assert.equal(description(codex, [], Date.parse("2026-11-20T14:00:00Z")), "Codex · 2 hours ago · 42 entries");
  assert.equal(agent({ ...conversation, source: { format: "coppice" } }), undefined);
});

/** A server that answers, or fails, when it is told to. */
function server(): { request: () => Promise<never>; isAvailable: boolean; asked: number; answer: (problems: string[]) => void; fail: () => void } {
  const made = { isAvailable: true, asked: 0, answer: (_: string[]) => { /* Nobody asks yet. */ }, fail: () => { /* Nobody asks yet. */ }, request: () => {
    made.asked += 1;
    return new Promise<never>((resolve, reject) => {
      made.answer = (problems) => { resolve({ read: 1, created: 1, extended: 0, problems } as never); };
      made.fail = () => { reject(new Error("gone")); };
    });
  } };
  return made;
}

test("the sessions of other agents are read once at a time, and not again at once", async () => {
  const made = server();
  const lines: string[] = [];
  const sources = new Sources(made, { warn: (line) => lines.push(line) });
  const both = Promise.all([sources.read(), sources.read()]);
  made.answer(["a.jsonl: no session"]);
  await both;
  await sources.read();
  assert.equal(made.asked, 1);
  assert.deepEqual(lines, ["Sessions of other agents: a.jsonl: no session"]);
});

test("sessions that cannot be read are a line in the log, and without a server none are read", async () => {
  const made = server();
  const lines: string[] = [];
  const reading = new Sources(made, { warn: (line) => lines.push(line) }).read();
  made.fail();
  await reading;
  assert.match(lines.join(""), /could not be read: Error: gone/);
  made.isAvailable = false;
  await new Sources(made, { warn: () => { /* Nothing comes. */ } }).read();
  assert.equal(made.asked, 1);
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

test("a conversation that nobody wrote into or named is no row", () => {
  assert.deepEqual([conversation, { ...conversation, entryCount: 0 }, { ...conversation, entryCount: 0, name: "Later" }].map(isBegun), [true, false, true]);
});

test("a conversation that nobody wrote into is no row where one is opened", async () => {
  const empty = { ...conversation, firstMessage: "", entryCount: 0 };
  await pickConversation({ request: () => Promise.resolve({ conversations: [conversation, empty] }) } as never, undefined);
  assert.deepEqual(window.shown.at(-1), ["Read the prices"]);
});
