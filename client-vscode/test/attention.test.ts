/** The notifications of a window that nobody looks at lead to the conversation that they are about. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import type { ApprovalRequest } from "../src/approvals/approval";
import { Approvals } from "../src/approvals/approvals";
import { callForAttention } from "../src/chat/attention";
import type { ChatAccess } from "../src/chat/feature";
import { window, workspace } from "./agent/vscode";

function request(conversationId: string): ApprovalRequest {
  return { conversationId, toolCallId: "t", tool: "run_command", title: `Run a command of ${conversationId}`, scope: null, details: [] };
}

/** A window with the conversation `seen` in sight, in which every notification is answered, or none. */
function windowWith({ seen, isAnswered = true }: { seen?: string; isAnswered?: boolean }) {
  const texts: string[] = [];
  const shown: string[] = [];
  window.answer = (text) => {
    texts.push(text);
    return isAnswered ? "Show Chat" : undefined;
  };
  const approvals = new Approvals({ read: () => undefined, write: () => undefined });
  let end: Parameters<ChatAccess["onTurnEnd"]>[0] = () => undefined;
  const chat = { show: (id: string) => { shown.push(id); }, isSeen: (id: string) => id === seen } as unknown as Parameters<typeof callForAttention>[0];
  callForAttention(chat, approvals, { onTurnEnd: (listener) => { end = listener; } });
  // An answer arrives after the microtasks of the notification.
  const answered = () => new Promise((resolve) => { setImmediate(resolve); });
  return { approvals, texts, shown, end, answered };
}

afterEach(() => {
  window.answer = () => undefined;
  window.state.focused = false;
  workspace.settings = {};
});

test("the notification of a question leads to the conversation that waits, once for each question", async () => {
  const { approvals, texts, shown, answered } = windowWith({ seen: "a" });
  for (const id of ["b", "a"]) void approvals.approve(request(id), "always");
  await answered();
  assert.deepEqual(shown, ["b", "a"]);
  assert.deepEqual(texts, ["b", "a"].map((id) => `Coppice waits for your approval: Run a command of ${id}`));
});

test("in a window with the focus only a conversation out of sight is called out, and an unanswered notification leads nowhere", async () => {
  window.state.focused = true;
  const { approvals, texts, shown, end, answered } = windowWith({ seen: "a", isAnswered: false });
  for (const id of ["a", "b"]) void approvals.approve(request(id), "always");
  end({ conversationId: "b", isDone: true, isElsewhere: false });
  await answered();
  assert.deepEqual([texts.map((text) => text.slice(-1)), shown], [["b"], []]);
});

test("the end of a turn leads to its conversation, and where the user wants no notification there is none", async () => {
  const { texts, shown, end, answered } = windowWith({});
  end({ conversationId: "a", isDone: true, isElsewhere: false });
  end({ conversationId: "b", isDone: false, isElsewhere: false });
  end({ conversationId: "c", isDone: true, isElsewhere: true });
  await answered();
  assert.deepEqual(shown, ["a", "b"]);
  assert.deepEqual(texts, ["Coppice: the reply is complete.", "Coppice: the turn has ended before it was done."]);
  workspace.settings = { "coppice.chat.notify": false };
  end({ conversationId: "a", isDone: true, isElsewhere: false });
  await answered();
  assert.equal(texts.length, 2);
});
