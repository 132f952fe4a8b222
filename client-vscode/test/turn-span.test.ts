import assert from "node:assert/strict";
import { test } from "node:test";

import { newestTurn } from "../src/chat/turn-span";
import type { Entry, Message } from "../src/protocol.gen";

function entry(id: string, message: Message): Entry {
  return { id, parentId: null, timestamp: "", type: "message", message };
}

function asked(id: string, workspaceState?: string): Entry {
  return entry(id, { role: "user", content: id, ...(workspaceState === undefined ? {} : { workspaceState }) });
}

function edited(toolCallId: string, workspaceState?: string, isEdit = true): Entry {
  const details = isEdit ? { change: { path: "a.py", patch: "", before: null, after: "x" } } : undefined;
  return entry(`r-${toolCallId}`, { role: "toolResult", toolCallId, toolName: "edit_file", content: [], details, ...(workspaceState === undefined ? {} : { workspaceState }) });
}

const REPLY = entry("a", { role: "assistant", content: [{ type: "text", text: "Done." }] });

/** The turn of a path that is read in pages of `size` entries. */
function turnOf(path: readonly Entry[], size = 100): ReturnType<typeof newestTurn> {
  const request = (_method: string, { before }: { before?: string }) => {
    const end = before === undefined ? path.length : path.findIndex(({ id }) => id === before);
    const from = Math.max(0, end - size);
    return Promise.resolve({ entries: path.slice(from, end), ...(from === 0 ? {} : { nextBefore: path[from]?.id }) });
  };
  return newestTurn({ request } as never, "c");
}

test("a turn goes from the state at its message to that after its last change, across pages", async () => {
  const path = [asked("u1", "s0"), edited("t1", "s1"), asked("u2", "s2"), edited("t2", "s3"), edited("t3", undefined, false), edited("t4", "s4"), edited("t5", "s5", false), REPLY];
  const turn = { entryId: "u2", leafId: "a", from: "s2", to: "s5", toolCallIds: ["t4", "t2"] };
  assert.deepEqual(await turnOf(path), turn);
  assert.deepEqual(await turnOf(path, 2), turn);
});

test("a turn without changes, or whose states were not recorded, is none", async () => {
  assert.equal(await turnOf([]), undefined);
  assert.equal(await turnOf([asked("u1", "s0"), edited("t1", "s1"), asked("u2", "s1"), REPLY]), undefined);
  assert.equal(await turnOf([asked("u1", "s0"), edited("t1", "s0"), REPLY]), undefined);
  assert.equal(await turnOf([asked("u1"), edited("t1", "s1"), REPLY]), undefined);
  assert.equal(await turnOf([edited("t1", "s1"), REPLY]), undefined);
});
