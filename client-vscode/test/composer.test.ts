import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import type { ChatAccess } from "../src/chat/feature";
import type { ToPage } from "../src/chat/messages";
import { MessageQueue } from "../src/chat/queue";
import type { Attachment } from "../src/context/attachment";
import { attachmentBlock, readAttachmentBlock } from "../src/context/blocks";
import { messageContent } from "../src/context/content";
import { slashCommand, triggerAt } from "../webview/composer/trigger";
import { Disk } from "./agent/disk";

for (const [text, expected] of [
  ["look at @src/a", { kind: "mention", start: 8, query: "src/a" }],
  ["@", { kind: "mention", start: 0, query: "" }],
  ["a@b", undefined],
  ["@a b", undefined],
  ["/com", { kind: "slash", query: "com" }],
  ["say /com", undefined],
] as const) {
  test(`${JSON.stringify(text)} completes ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(triggerAt(text, text.length), expected);
  });
}

test("a command has the rest of the text as its argument, and a path is none", () => {
  assert.deepEqual(slashCommand("/compact the API\nand tests"), { command: "compact", argument: "the API\nand tests" });
  assert.equal(slashCommand("/usr/bin/env is there"), undefined);
});

test("what is attached goes to the model in tags that it cannot close, and is read back from them", async () => {
  await using disk = await Disk.with({ "shop/a.py": "one\n</attachment>two\nthree\n" });
  const attachments: Attachment[] = [
    { kind: "lines", path: "a.py", start: 2, end: 3, name: "f" },
    { kind: "file", path: "../../etc/passwd" },
    { kind: "file", path: "gone" },
    { kind: "problems" },
    { kind: "image", name: "p", mimeType: "image/png", data: "AAAA" },
  ];
  const sources = { folders: disk.folders, read: (path: string) => disk.read(path), problems: () => ["a.py:1:1: Error: no"] };
  const content = await messageContent("Look.", attachments, sources);
  assert.ok(Array.isArray(content));
  const blocks = content.map((part) => (part.type === "text" ? readAttachmentBlock(part.text) : undefined));
  assert.deepEqual(content[0], { type: "text", text: "Look." });
  assert.deepEqual(blocks[1], { title: "f (a.py:2-3)", text: "&lt;/attachment>two\nthree" });
  assert.match(blocks[2]?.text ?? "", /outside of the workspace/);
  assert.match(blocks[3]?.text ?? "", /does not exist/);
  assert.match(blocks[4]?.text ?? "", /Error: no/);
  assert.equal(content[5]?.type, "image");
  assert.equal(await messageContent("Look.", [], sources), "Look.");
});

test("an attached link to a secret, control or ignored file is not followed, and what is named itself is attached", async () => {
  const secrets = { "shop/.env": "KEY=needle\n", "shop/.ssh/key": "needle\n", "shop/.git/config": "needle\n", "shop/build/out": "needle\n", "shop/build/.env.local": "needle\n" };
  await using disk = await Disk.with({ ...secrets, "shop/.gitignore": "build/\nlocal/\n", "shop/docs/notes.md": "plain\n", "shop/local/a": "x\n" });
  const links = { "NOTES.md": ".env", "docs/keys": "../.ssh", "docs/config": "../.git/config", "out.txt": "build/out", "build/notes": ".env.local", "twice.md": "NOTES.md", "README.md": "docs/notes.md", "local/out": "../build/out", ".env.shared": ".env" };
  for (const [name, to] of Object.entries(links)) await symlink(to, join(disk.root, "shop", name));
  const sources = { folders: disk.folders, read: (path: string) => disk.read(path), problems: () => [] };
  const attached = async (attachment: Attachment): Promise<string> => JSON.stringify(await messageContent("Look.", [attachment], sources));
  for (const path of ["NOTES.md", "docs/keys/key", "docs/config", "out.txt", "build/notes", "twice.md", "docs/../NOTES.md", join(disk.root, "shop/NOTES.md")]) {
    for (const text of [await attached({ kind: "file", path }), await attached({ kind: "lines", path, start: 1, end: 1 })]) {
      assert.ok(!text.includes("needle"), path);
      assert.match(text, /is a link to .*, which has to be named itself/, path);
    }
  }
  for (const path of [".env", ".ssh/key", "build/out", "local/out", ".env.shared"]) assert.match(await attached({ kind: "file", path }), /needle/, path);
  assert.match(await attached({ kind: "file", path: "README.md" }), /plain/);
});

test("text that only looks like an attachment is none", () => {
  assert.equal(readAttachmentBlock("<attachment title=\"x\">\nno end"), undefined);
  assert.deepEqual(readAttachmentBlock(attachmentBlock('a"b', "")), { title: "a'b", text: "" });
});

function chat() {
  const ran: string[] = [];
  const posted: ToPage[] = [];
  let ended: Parameters<ChatAccess["onTurnEnd"]>[0] = () => undefined;
  const state = { running: true, stopped: 0 };
  const access: ChatAccess = {
    post: (message) => { posted.push(message); },
    putDraft: (conversationId, text) => { posted.push({ type: "draft", conversationId, text }); },
    isRunning: () => state.running,
    run: (_id, outgoing) => { ran.push("text" in outgoing ? outgoing.text : ""); },
    stop: () => { state.stopped += 1; return Promise.resolve(); },
    onTurnEnd: (listener) => { ended = listener; },
    whenIdle: () => Promise.resolve(),
  };
  const queue = new MessageQueue(access, { take: () => [], restore: () => undefined });
  const waiting = () => posted.findLast((message) => message.type === "queue")?.messages ?? [];
  return { queue, ran, posted, state, waiting, end: (isDone: boolean) => { ended({ conversationId: "c", isDone, isElsewhere: false }); } };
}

test("messages that are sent during a turn follow it, one by one", async () => {
  const { queue, ran, waiting, end } = chat();
  for (const text of ["one", "two"]) assert.ok(await queue.handle({ type: "send", text }, "c"));
  assert.deepEqual(waiting().map(({ text }) => text), ["one", "two"]);
  end(true);
  assert.deepEqual(ran, ["one"]);
  end(true);
  assert.deepEqual([ran, waiting()], [["one", "two"], []]);
  end(true);
});

test("after a turn that was stopped messages wait, but for the one that it was stopped for", async () => {
  const { queue, ran, state, waiting, end } = chat();
  for (const text of ["one", "two"]) await queue.handle({ type: "send", text }, "c");
  end(false);
  assert.deepEqual(ran, []);
  await queue.handle({ type: "queued", id: waiting()[1]?.id ?? "", action: "now" }, "c");
  assert.equal(state.stopped, 1);
  end(false);
  assert.deepEqual([ran, waiting().map(({ text }) => text)], [["two"], ["one"]]);
  state.running = false;
  await queue.handle({ type: "queued", id: waiting()[0]?.id ?? "", action: "now" }, "c");
  assert.deepEqual(ran, ["two", "one"]);
});

test("a message that waits can be edited and removed", async () => {
  const { queue, posted, state, waiting } = chat();
  for (const text of ["one", "two"]) await queue.handle({ type: "send", text }, "c");
  await queue.handle({ type: "queued", id: waiting()[0]?.id ?? "", action: "edit" }, "c");
  assert.deepEqual(posted.at(-1), { type: "draft", conversationId: "c", text: "one" });
  await queue.handle({ type: "queued", id: waiting()[0]?.id ?? "", action: "remove" }, "c");
  assert.deepEqual(waiting(), []);
  state.running = false;
  assert.equal(await queue.handle({ type: "send", text: "three" }, "c"), false);
});
