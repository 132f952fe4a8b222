import assert from "node:assert/strict";
import { test } from "node:test";

import type { AssistantContent, Entry, Message } from "../src/protocol.gen";
import { type Item, withEarlier, withEntries } from "../webview/state/items";

function entry(id: string, message: Message): Entry {
  return { id, parentId: null, timestamp: "", type: "message", message };
}

function userMessage(id: string, content: string): Entry {
  return entry(id, { role: "user", content });
}

function calling(id: string, ...callIds: string[]): Entry {
  const content = callIds.map((callId): AssistantContent => ({ type: "toolCall", id: callId, name: "read", arguments: { path: callId } }));
  return entry(id, { role: "assistant", content });
}

function result(id: string, toolCallId: string, isError = false): Entry {
  return entry(id, { role: "toolResult", toolCallId, toolName: "read", content: [{ type: "text", text: `of ${toolCallId}` }], isError });
}

/** Each item as its id, with the results of its tools. */
function outline(items: readonly Item[]): unknown {
  return items.map((item) =>
    item.kind === "assistant"
      ? [item.id, ...item.blocks.map((block) => (block.kind === "tool" ? (block.result?.text ?? "open") : block.text))]
      : item.id,
  );
}

test("a tool's result is shown in its call, whichever order the results come in", () => {
  const items = withEntries([], [userMessage("u", "go"), calling("a", "c1", "c2"), result("r2", "c2"), result("r1", "c1", true)]);
  assert.deepEqual(outline(items), ["u", ["a", "of c1", "of c2"]]);
  assert.equal(items[1]?.kind === "assistant" && items[1].blocks[0]?.kind === "tool" && items[1].blocks[0].result?.isError, true);
});

test("the same entries again change nothing", () => {
  const entries = [userMessage("u", "go"), calling("a", "c1"), result("r1", "c1"), result("orphan", "elsewhere")];
  const once = withEntries([], entries);
  assert.deepEqual(withEntries(once, entries), once);
});

test("a call id that is used again takes the newest result, and keeps the older one", () => {
  const items = withEntries([], [calling("a1", "c"), result("r1", "c"), calling("a2", "c"), result("r2", "c")]);
  assert.deepEqual(outline(items), [["a1", "of c"], ["a2", "of c"]]);
});

test("a result whose call is on an earlier page goes into it when that page is read", () => {
  const entries = [userMessage("u", "go"), calling("a", "c1", "c2"), result("r1", "c1"), result("r2", "c2"), userMessage("v", "on")];
  for (let cut = 0; cut <= entries.length; cut += 1) {
    const later = withEntries([], entries.slice(cut));
    assert.deepEqual(outline(withEarlier(later, entries.slice(0, cut))), outline(withEntries([], entries)), `cut at ${cut}`);
  }
});

test("metadata and what is not for display are not shown", () => {
  const items = withEntries([], [
    { id: "l", parentId: null, timestamp: "", type: "label", targetId: "x" },
    { id: "f", parentId: null, timestamp: "", type: "file_activity", changes: [] },
    { id: "c", parentId: null, timestamp: "", type: "custom", customType: "x" },
    { id: "h", parentId: null, timestamp: "", type: "custom_message", customType: "x", content: "hidden", display: false },
  ]);
  assert.deepEqual(items, []);
});

test("a context edit shows how much was cleared", () => {
  const [item] = withEntries([], [
    { id: "x", parentId: null, timestamp: "", type: "context_edit", cleared: ["a", "b"], saved: { tokenizer: 24_310, estimate: 25_000 } },
  ]);
  assert.deepEqual(item, { kind: "cleared", id: "x", text: "Cleared 2 old tool results: 24k tokens" });
});

test("a context edit that clears nothing says so, and is none that can be undone", () => {
  const [item] = withEntries([], [{ id: "x", parentId: null, timestamp: "", type: "context_edit", cleared: [], saved: { tokenizer: 0, estimate: 0 } }]);
  assert.deepEqual(item, { kind: "change", id: "x", text: "Cleared tool results are shown again" });
});

test("a compaction shows its numbers, its files and who wrote it", () => {
  const [item] = withEntries([], [
    {
      id: "k", parentId: null, timestamp: "", type: "compaction", summary: "S", tokensBefore: 100, tokensAfter: 10, reason: "manual",
      details: { readFiles: ["a", 3], modifiedFiles: "none", summarizer: "offline" },
    },
  ]);
  assert.deepEqual(item, {
    kind: "compaction", id: "k", summary: "S", tokensBefore: 100, tokensAfter: 10, reason: "manual", writer: "offline", readFiles: ["a"], modifiedFiles: [],
  });
});

test("a command shows how it ended", () => {
  const bash = { role: "bashExecution", command: "make", output: "" } as const;
  const items = withEntries([], [
    entry("1", { ...bash, exitCode: 0 }),
    entry("2", { ...bash, exitCode: 2, truncated: true }),
    entry("3", { ...bash, cancelled: true, excludeFromContext: true }),
  ]);
  assert.deepEqual(
    items.map((item) => item.kind === "bash" && [item.failed, item.remarks.join(", ")]),
    [[false, ""], [true, "exit 2, cut off"], [true, "cancelled, not sent to the model"]],
  );
});

test("ten thousand messages are taken in within a second of the processor", () => {
  const entries = Array.from({ length: 10_000 }, (_, at) => userMessage(`u${at}`, "text"));
  const before = process.cpuUsage();
  assert.equal(withEntries([], entries).length, 10_000);
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});

test("what the server marks in a message as an application's is attached to it, and none of the user's words", () => {
  const reminder = "<system-reminder>\nBe quick. 😀\n</system-reminder>";
  const typed = "Why?";
  const file = '<attachment title="a.py">\nx = 1\n</attachment>';
  const range = (block: number, text: string, before = 0) => ({ block, start: before, end: before + text.length });
  const parts = entry("v", { role: "user", content: [{ type: "text", text: file }, { type: "image", data: "", mimeType: "image/png" }, { type: "text", text: `${reminder}\n${typed}\n` }, { type: "text", text: "Really?" }] });
  const attached = { u: [range(0, reminder, typed.length + 1)], v: [range(0, file), range(1, reminder)] };
  const entries = [userMessage("u", `${typed}\n${reminder}`), parts, userMessage("w", typed)];
  const shown = (items: readonly Item[]) => items.map((item) => item.kind === "user" && [item.text, ...(item.attachments ?? [])]);
  const block = { title: "system-reminder", text: reminder };
  const expected = [[typed, block], [`${typed}\nReally?`, { title: "a.py", text: "x = 1" }, block], [typed]];
  assert.deepEqual(shown(withEntries([], entries, attached)), expected);
  assert.deepEqual(shown(withEarlier([], entries, attached)), expected);
  for (const space of ["", "\n  \n"]) assert.deepEqual(shown(withEntries([], [userMessage("u", `${reminder}${space}`)], { u: [range(0, reminder)] })), [["", block]]);
  const indented = "    x = 1\n  y  ";
  assert.deepEqual(shown(withEntries([], [userMessage("u", `${reminder}\n\n${indented}\n`)], { u: [range(0, reminder)] })), [[indented, block]]);
});
