import assert from "node:assert/strict";
import { test } from "node:test";

import { interruptedReply, messageContent } from "../src/chat/resending";
import type { Entry, Message, UserContent } from "../src/protocol.gen";

function entry(message: Message): Entry {
  return { id: "e", parentId: null, timestamp: "", type: "message", message };
}

const IMAGE: UserContent = { type: "image", data: "", mimeType: "image/png" };

test("a message that is sent again keeps its pictures, with its own text or another", () => {
  const content: UserContent[] = [{ type: "text", text: "old" }, IMAGE];
  assert.deepEqual(messageContent(entry({ role: "user", content }), "new"), [{ type: "text", text: "new" }, IMAGE]);
  assert.deepEqual(messageContent(entry({ role: "user", content }), undefined), content);
  assert.equal(messageContent(entry({ role: "user", content: "old" }), "new"), "new");
  assert.throws(() => messageContent(entry({ role: "assistant", content: [] }), "new"), /Only your own/);
});

test("what another application put into a message stays when its text is edited", () => {
  const content: UserContent[] = [{ type: "text", text: "old <reminder>" }, IMAGE, { type: "text", text: "<context>" }];
  const attached = [{ block: 0, start: 4, end: 14 }, { block: 1, start: 0, end: 9 }];
  assert.deepEqual(messageContent(entry({ role: "user", content }), "new", attached), [{ type: "text", text: "new" }, { type: "text", text: "<reminder>" }, IMAGE, { type: "text", text: "<context>" }]);
  assert.deepEqual(messageContent(entry({ role: "user", content: "old <reminder>" }), "new", attached), [{ type: "text", text: "new" }, { type: "text", text: "<reminder>" }]);
});

test("what had come of a reply is kept when the server ends, and says so", () => {
  const reply = interruptedReply([{ kind: "thinking", text: "Hm" }, { kind: "text", text: "Hel" }, { kind: "toolCall", toolCallId: "1", name: "x", arguments: {} }]);
  assert.deepEqual(reply, {
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "thinking", thinking: "Hm" }, { type: "text", text: "Hel" }],
      stopReason: "error",
      errorMessage: "The server ended before the reply was complete.",
    },
  });
});
