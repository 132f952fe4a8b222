import assert from "node:assert/strict";
import { test } from "node:test";

import { allFiles, fileGroups, gitUpdates } from "../src/files/model";

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

test("files that come in pages are shown together", async () => {
  const pages = ["a", "b", "c"].map((path, index) => ({
    modifiedFiles: [`${path}/new.ts`],
    readFiles: [`${path}/README.md`],
    deletedFiles: [`${path}/old.ts`],
    records: [{ path: `${path}/new.ts`, reads: 0, writes: index + 1, sources: ["tool" as const] }],
    ...(path === "c" ? {} : { nextCursor: path }),
  }));
  const asked: (string | null)[] = [];
  const files = await allFiles((cursor) => {
    asked.push(cursor);
    const page = pages[asked.length - 1];
    assert(page);
    return Promise.resolve(page);
  });
  assert.deepEqual(asked, [null, "a", "b"]);
  assert.deepEqual(files.modifiedFiles, ["a/new.ts", "b/new.ts", "c/new.ts"]);
  assert.deepEqual(files.readFiles, ["a/README.md", "b/README.md", "c/README.md"]);
  assert.deepEqual(files.deletedFiles, ["a/old.ts", "b/old.ts", "c/old.ts"]);
  assert.deepEqual(files.records.map(({ writes }) => writes), [1, 2, 3]);
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
