import assert from "node:assert/strict";
import { test } from "node:test";

import { contextText } from "../src/documents/context-text";

test("every message is shown word for word, with its speaker and its calls", () => {
  const given = { system: "You are a coding agent.", tools: [{ name: "read_file", description: "Reads a file.", inputSchema: { type: "object" } }, { name: "bare" }] };
  const text = contextText({
    tokens: 23_480,
    messages: [
      { role: "user", content: "<summary>\nKeep `a < b`.\n</summary>" },
      { role: "assistant", content: "I look.", tool_calls: [{ id: "t", type: "function", function: { name: "read", arguments: "{\"path\":\"a\"}" } }] },
      { role: "tool", tool_call_id: "t", content: [{ type: "text", text: "text" }, { type: "image_url" }] },
    ],
  }, given);
  assert.match(text, /^3 messages, 23k tokens\n\n─+ system prompt ─+\nYou are a coding agent.\n\n─+ 2 tools ─+\nread_file\nReads a file.\n{"type":"object"}\n\nbare\n\n─+ user/);
  assert.match(text, /─ user ─+\n<summary>\nKeep `a < b`.\n<\/summary>\n/);
  assert.match(text, /I look.\n\n→ read\({"path":"a"}\)/);
  assert.match(text, /─ tool ─+\ntext\n\[image_url\]\n$/);
});
