import assert from "node:assert/strict";
import { test } from "node:test";

import { type FileError, newErrors } from "../../src/agent/file-errors";
import { Disk } from "./disk";

function error(line: number, message: string, source = "ts 2304"): FileError {
  return { line, column: 5, message, source };
}

test("errors that were there before, and those that only moved, are not new", () => {
  const before = [error(3, "Cannot find name 'x'."), error(9, "Unreachable.")];
  assert.equal(newErrors("a.ts", before, [error(7, "Cannot find name 'x'.")]), "");
  assert.equal(
    newErrors("a.ts", before, [error(7, "Cannot find name 'x'."), error(8, "Cannot find name 'x'."), error(1, "No\nsemicolon.", "")]),
    "The editor shows new errors in a.ts since this edit:\n8:5 Cannot find name 'x'. (ts 2304)\n1:5 No semicolon.",
  );
});

test("of many long errors a model gets ten, and how many more there are", () => {
  const lines = newErrors("a.ts", [], Array.from({ length: 500 }, (_, at) => error(at, `${at} ${"long ".repeat(1000)}`))).split("\n");
  assert.deepEqual([lines.length, lines.at(-1)], [12, "and 490 further errors"]);
  assert.ok(lines.every(({ length }) => length <= 300));
});

test("the result of an edit names the errors that it causes", async () => {
  await using disk = await Disk.with({ "shop/a.ts": "one\n" });
  const edit = { path: "a.ts", edits: [{ oldText: "one", newText: "two" }] };
  disk.errors = [[error(1, "Old.")], [error(1, "Old."), error(1, "Cannot find name 'two'.")]];
  const result = await disk.call("edit_file", edit);
  assert.deepEqual([result.isError, result.text], [false, "Changed a.ts.\nThe editor shows new errors in a.ts since this edit:\n1:5 Cannot find name 'two'. (ts 2304)"]);
  disk.errors = [disk.errors[1], []];
  assert.equal((await disk.call("write_file", { path: "a.ts", content: "three\n" })).text, "Changed a.ts.");
});
