import assert from "node:assert/strict";
import { test } from "node:test";

import { fileGroups, gitUpdates } from "../src/files/model";

test("files are grouped by kind of change, with the source of each", () => {
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

test("what git replaced is one line, the newest first, and none of the files", () => {
  const files = {
    modifiedFiles: [],
    readFiles: [],
    deletedFiles: [],
    records: [],
    gitUpdates: [
      { action: "checkout" as const, target: "feature-x", commit: "26c4206e26c4206e", files: 400 },
      { action: "pull" as const, commit: "26c4206e26c4206e", files: 1 },
      { action: "reset" as const, commit: "26c4206e26c4206e", files: 2 },
    ],
  };
  assert.deepEqual(fileGroups(files), []);
  assert.deepEqual(gitUpdates(files).map(({ title }) => title), [
    "Reset to 26c4206e, 2 files",
    "Pulled, 1 file",
    "Checked out feature-x, 400 files",
  ]);
});
