import assert from "node:assert/strict";
import { test } from "node:test";

import { ChangedFiles } from "../src/branches/changed";

/** Answers of the reader, given one by one. */
class Reader {
  readonly asked: string[] = [];
  #answer: ((text: string | undefined) => void) | undefined;
  #fail: ((error: Error) => void) | undefined;
  readonly changed: string[] = [];
  readonly files = new ChangedFiles(
    (id) => {
      this.asked.push(id);
      return new Promise((resolve, reject) => {
        this.#answer = resolve;
        this.#fail = reject;
      });
    },
    (id) => { this.changed.push(id); },
  );

  async answer(text: string | undefined): Promise<void> {
    this.#answer?.(text);
    await new Promise(setImmediate);
  }

  async fail(): Promise<void> {
    this.#fail?.(new Error("no Git"));
    await new Promise(setImmediate);
  }
}

test("rows are read one after the other, each once, and drawn again when they are read", async () => {
  const reader = new Reader();
  for (const id of ["a", "b", "a"]) assert.equal(reader.files.of(id), undefined);
  assert.deepEqual(reader.asked, ["a"]);
  await reader.answer("1 file +1");
  assert.deepEqual(reader.asked, ["a", "b"]);
  await reader.answer(undefined);
  assert.equal(reader.files.of("a"), "1 file +1");
  assert.equal(reader.files.of("b"), undefined);
  assert.deepEqual([reader.asked, reader.changed], [["a", "b"], ["a"]]);
});

test("what is read again stays in sight until then, and is not drawn again where it is the same", async () => {
  const reader = new Reader();
  reader.files.of("a");
  await reader.answer("1 file +1");
  reader.files.readAgain(["a", "never shown"]);
  assert.deepEqual(reader.asked, ["a", "a"]);
  assert.equal(reader.files.of("a"), "1 file +1");
  // The branch goes on while it is read.
  reader.files.readAgain(["a"]);
  await reader.answer("1 file +1");
  assert.deepEqual(reader.changed, ["a"]);
  await reader.answer("2 files +3");
  assert.deepEqual([reader.asked.length, reader.changed, reader.files.of("a")], [3, ["a", "a"], "2 files +3"]);
});

test("a row that cannot be read shows nothing and holds up no other; nothing is left of a conversation that was left", async () => {
  const reader = new Reader();
  reader.files.of("a");
  reader.files.of("b");
  await reader.fail();
  await reader.answer("1 file +1");
  assert.deepEqual([reader.files.of("a"), reader.files.of("b")], [undefined, "1 file +1"]);
  reader.files.readAgain(["b"]);
  reader.files.clear();
  await reader.answer("2 files +3");
  assert.deepEqual(reader.changed, ["b"]);
});
