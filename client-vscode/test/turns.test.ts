import assert from "node:assert/strict";
import { test } from "node:test";

import { turns } from "../src/models/turns";

test("two sides take turns, the system prompt first", () => {
  const said = turns(
    [
      { role: "user", content: "Hello" },
      { role: "developer", content: "Be brief." },
      { role: "assistant", content: [{ type: "thinking", thinking: "hm" }, { type: "text", text: "Hi." }] },
      { role: "user", content: [{ type: "text", text: "And this?" }, { type: "image", data: "", mimeType: "image/png" }] },
    ],
    "You are kind.",
  );
  assert.deepEqual(said, [
    { role: "user", text: "You are kind.\n\nHello\n\nBe brief." },
    { role: "assistant", text: "Hi." },
    { role: "user", text: "And this?\n\n[An image]" },
  ]);
});

test("tools that were used are told in words", () => {
  const said = turns([
    { role: "assistant", content: [{ type: "toolCall", id: "1", name: "read", arguments: { path: "a" } }] },
    { role: "toolResult", toolCallId: "1", toolName: "read", content: [{ type: "text", text: "text of a" }] },
  ]);
  assert.deepEqual(said, [
    { role: "assistant", text: '[Called read with {"path":"a"}]' },
    { role: "user", text: "[Result of read]\ntext of a" },
  ]);
});

test("what says nothing is no turn", () => {
  assert.deepEqual(turns([{ role: "assistant", content: [] }, { role: "user", content: " " }]), []);
});
