// The client in docs/examples talks to the server of this checkout.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { chat } from "../../docs/examples/chat";

const command = resolve("..", ".venv", "bin", "coppice");
const skip = existsSync(command) || process.env["CI"] ? false : "needs the checkout's .venv";

test("the example chats, and the model sees what was said before", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "coppice-example-"));
  process.env["COPPICE_STORAGE_DIRECTORY"] = folder;
  const asked: (readonly object[])[] = [];
  const inputs = Readable.from(["Plant an oak.", "And a beech."]);
  const model = (messages: readonly object[]) => {
    asked.push(messages);
    return Promise.resolve(`Answer ${messages.length}.`);
  };
  const answers: string[] = [];
  for await (const answer of chat(folder, inputs, model, command)) answers.push(answer);
  rmSync(folder, { recursive: true });
  assert.deepEqual(answers, ["Answer 1.", "Answer 3."]);
  const contents = asked[1]?.map((message) => ("content" in message ? message.content : undefined));
  assert.deepEqual(contents, ["Plant an oak.", "Answer 1.", "And a beech."]);
});
