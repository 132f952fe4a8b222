/** Branches whose states of the files were not recorded. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { BranchFiles } from "../src/chat/branch-files";
import type { WorkspaceSnapshots } from "../src/snapshots/workspace";
import { window, workspace as editor } from "./agent/vscode";
import { Workspace } from "./snapshots/recorded";

/** Goes to another branch three times; gives what the user was shown. */
async function moves(snapshots: WorkspaceSnapshots, at: () => object = () => ({ leafId: "leaf", state: undefined })): Promise<string[]> {
  const notices: string[] = [];
  window.answer = (message) => { notices.push(message); return undefined; };
  const states = { at: () => Promise.resolve().then(at) };
  const files = new BranchFiles(undefined as never, { onNotification: () => undefined } as never, snapshots, states as never, undefined as never, undefined as never);
  let moved = 0;
  for (const target of ["one", "two", "three"]) await files.move("c", target, () => Promise.resolve({ cancelled: false, leafId: String(moved += 1) } as never));
  assert.equal(moved, 3);
  return notices;
}

const REASONS: [string, (workspace: Workspace) => WorkspaceSnapshots, RegExp][] = [
  ["too many files", (workspace) => workspace.open({ files: 1 }), /branch\. Their state was not recorded\. Too many files have changed\.$/],
  ["too much in them", (workspace) => workspace.open({ added: 1 }), /branch\. Their state was not recorded\. Too much has changed\.$/],
  ["no time", (workspace) => workspace.open({}, 1), /branch\. Their state was not recorded\. It took longer than 0\.001 seconds\.$/],
];

for (const [name, open, notice] of REASONS) {
  test(`that files do not go along is said once, with the reason: ${name}`, async () => {
    await using workspace = await Workspace.with({ "a": "11", "b": "22" });
    const snapshots = open(workspace);
    assert.equal(await snapshots.take("c"), undefined);
    editor.settings["coppice.chat.branchFiles"] = "never";
    assert.deepEqual(await moves(snapshots), []);
    editor.settings = {};
    const notices = await moves(snapshots);
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? "", notice);
    await snapshots.planAlong("c", []).catch(() => undefined); // What is being recorded ends before its folder goes.
  });
}

test("that files do not go along is said with the reason: no Git, before the first message and where a plan fails", async () => {
  await using workspace = await Workspace.with({ "a": "1" });
  const path = process.env["PATH"];
  process.env["PATH"] = workspace.root;
  try {
    const snapshots = workspace.open();
    await snapshots.readAhead();
    assert.match((await moves(snapshots)).join(), /branch\. Their state was not recorded\. Git cannot be run: there is none[^.]*\.$/);
    assert.match((await moves(workspace.open(), () => ({ leafId: "leaf", state: "x" }))).join(), /another branch\. Git cannot be run/);
  } finally {
    process.env["PATH"] = path;
  }
});

test("where nothing failed a branch without states is gone to without a word", async () => {
  await using workspace = await Workspace.with({ "a": "1" });
  await workspace.take();
  assert.deepEqual(await moves(workspace.snapshots), []);
  const snapshots = workspace.open({ files: 1 });
  await workspace.write({ "b": "2", "c": "3" });
  await snapshots.readAhead();
  assert.match(snapshots.failure ?? "", /Too many/);
  await workspace.write({ "b": null });
  assert.notEqual(await snapshots.take("c"), undefined);
  assert.deepEqual(await moves(snapshots), []);
});
