import assert from "node:assert/strict";
import { test } from "node:test";

import { type Turn, turns } from "../src/models/turns";
import type { Message } from "../src/protocol.gen";

/** `user: a | b`, each part in words. */
function shown(turns: Turn[]): string[] {
  return turns.map(({ role, parts }) => `${role}: ${parts.map((part) => ("text" in part ? part.text : part.name)).join(" | ")}`);
}

const TOOLS: Message[] = [
  { role: "user", content: "Read a." },
  { role: "assistant", content: [{ type: "toolCall", id: "1", name: "read", arguments: { path: "a" } }] },
  { role: "toolResult", toolCallId: "1", toolName: "read", content: [{ type: "text", text: "text of a" }] },
];

test("two sides take turns, the system prompt first", () => {
  const messages: Message[] = [
    { role: "user", content: "Hello" },
    { role: "developer", content: "Be brief." },
    { role: "assistant", content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "Hi." }] },
    { role: "user", content: [{ type: "text", text: "And this?" }, { type: "image", data: "", mimeType: "image/png" }] },
  ];
  assert.deepEqual(shown(turns(messages, "You are kind.", false)), [
    "user: You are kind. | Hello | Be brief.",
    "assistant: Hi.",
    "user: And this? | [An image]",
  ]);
});

test("a model without tools gets earlier tool calls as text", () => {
  assert.deepEqual(shown(turns(TOOLS, undefined, false)), [
    "user: Read a.",
    'assistant: [Called read with {"path":"a"}]',
    'user: <tool-result tool="read">\ntext of a\n</tool-result>',
  ]);
});

test("a model with tools gets calls and results as such", () => {
  const [, called, answered] = turns(TOOLS, undefined, true);
  assert.deepEqual(called?.parts, [{ type: "toolCall", id: "1", name: "read", arguments: { path: "a" } }]);
  assert.deepEqual(answered, { role: "user", parts: [{ type: "toolResult", toolCallId: "1", text: "text of a" }] });
});

test("an empty message is no turn", () => {
  assert.deepEqual(turns([{ role: "assistant", content: [] }, { role: "user", content: " " }], "", false), []);
});
