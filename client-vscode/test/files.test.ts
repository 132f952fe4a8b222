import assert from "node:assert/strict";
import { test } from "node:test";

import { fileGroups } from "../src/files/model";

test("files stand under what became of them, with who saw it", () => {
  const groups = fileGroups({
    modifiedFiles: ["src/new.ts"],
    readFiles: ["README.md"],
    deletedFiles: [],
    records: [
      { path: "src/new.ts", reads: 1, writes: 2, sources: ["tool", "editor"], renamedFrom: "src/old.ts" },
      { path: "README.md", reads: 1, writes: 0, sources: ["tool"] },
    ],
  });
  assert.deepEqual(groups.map(({ title }) => title), ["Modified", "Read"]);
  assert.deepEqual(groups[0]?.files, [
    { kind: "modified", path: "src/new.ts", description: "2 writes · 1 read · tool, editor · was src/old.ts" },
  ]);
});

test("a file without a record is shown all the same", () => {
  const [group] = fileGroups({ modifiedFiles: [], readFiles: [], deletedFiles: ["gone"], records: [] });
  assert.deepEqual(group, { kind: "deleted", title: "Deleted", files: [{ kind: "deleted", path: "gone", description: "" }] });
});
