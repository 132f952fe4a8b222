/** The files of branches that are gone to, and those whose states were not recorded. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { BranchFiles } from "../src/chat/branch-files";
import { FileChanges } from "../src/chat/file-changes";
import type { WorkspaceSnapshots } from "../src/snapshots/workspace";
import { window, workspace as editor } from "./agent/vscode";
import { Workspace } from "./snapshots/recorded";
import { branches, noticesUntil, ONE, TWO, WENT } from "./switching";

/** Goes to another branch three times; gives what the user was shown. */
async function moves(snapshots: WorkspaceSnapshots, at: () => object = () => ({ leafId: "leaf", state: undefined })): Promise<string[]> {
  const notices: string[] = [];
  window.answer = (message) => { notices.push(message); return undefined; };
  const states = { at: () => Promise.resolve().then(at) };
  const memory = { get: (_key: string, usual: unknown) => usual, update: () => Promise.resolve() } as never;
  const files = new BranchFiles(undefined as never, { onNotification: () => undefined } as never, snapshots, states as never, new FileChanges(memory), { of: () => undefined, set: () => Promise.resolve() } as never, memory);
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
    await snapshots.foresee("c", []).catch(() => undefined); // What is being recorded ends before its folder goes.
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

test("a switch with files is undone as one step: the conversation goes back with them, and what the user wrote since stays", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go } = await branches(workspace, "both");
  await workspace.write({ "own": "mine\n" });
  const before = await workspace.files();
  let undo = (_answer: string): void => undefined;
  const shown = noticesUntil(/^Went/, [new Promise((resolve) => { undo = resolve; }), "Undo"]);
  await go("one");
  assert.deepEqual([conversation.leafId, await workspace.files()], ["one", { "notes": "one\n\n\n\nend\n", "only-one": "x\n", "own": "mine\n" }]);
  await workspace.write({ "notes": "one\n\n\n\nend, later\n" });
  // Refused while a turn runs, it can be tried again, and the undoing can be undone.
  conversation.runs = true;
  setImmediate(() => { undo("Undo"); });
  const running = window.answer;
  window.answer = (message) => { conversation.runs = false; return running(message); };
  assert.deepEqual(await shown, [WENT, "A turn is running, so no file was changed. Try again when it has ended.", WENT]);
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", { ...before, "notes": "two\n\n\n\nend, later\n" }]);
  assert.deepEqual(conversation.offers, ["branch"], "nothing is asked again");
});

const STAYED = "changed meanwhile or could not be written, and stayed:";

test("what the user changed since a switch and nothing can merge stays when it is undone, and is named", async () => {
  for (const choice of ["both", "files"] as const) {
    for (const [changes, notice] of [
      [{ "notes": "mine\n" }, `${choice === "both" ? "Went to the branch and changed" : "Changed"} 2 files. 1 file ${STAYED} notes.`],
      [{ "notes": "mine\n", "only-one": "mine\n", "only-two": "mine\n" }, `${choice === "both" ? "Went to the branch and changed" : "Changed"} 0 files. 3 files ${STAYED} notes, only-one, only-two.`],
    ] as const) {
      await using workspace = await Workspace.with({});
      const { go } = await branches(workspace, choice);
      let undo = (_answer: string): void => undefined;
      const shown = noticesUntil(/stayed/, [new Promise((resolve) => { undo = resolve; })]);
      await go("one");
      await workspace.write(changes);
      undo("Undo");
      assert.equal((await shown)[1], notice);
      const files: Record<string, string> = await workspace.files();
      for (const [path, text] of Object.entries(changes)) assert.equal(files[path], text);
    }
  }
});

test("files that were brought along alone are undone alone", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go } = await branches(workspace, "files");
  const before = await workspace.files();
  const shown = noticesUntil(/^Changed/, ["Undo"]);
  await go("one");
  assert.deepEqual(await shown, Array(2).fill("Changed 3 files."));
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", before]);
});

test("the last change of files is undone without its notification, also in the next window, until the conversation has gone on", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, go, next } = await branches(workspace, "both");
  window.answer = () => undefined;
  await assert.rejects(next("both").files.undoLast("c"), /No change of files is left to undo/);
  await go("one");
  const { files } = next("both");
  const whole = async (): Promise<object> => [conversation.leafId, await workspace.files()];
  await files.undoLast("c");
  assert.deepEqual(await whole(), ["two", TWO]);
  await files.undoLast("c");
  assert.deepEqual(await whole(), ["one", ONE]);
  const undone: string[] = [];
  await files.undoTurn("c", { leafId: "one", base: texts["one"] ?? "", target: texts["two"] ?? "" }, () => Promise.resolve(void undone.push("by the turn's card")));
  await assert.rejects(next("both").files.undoLast("c"), /left to undo/); // The card would say that it is undone.
  await files.undoLast("c");
  assert.deepEqual([await whole(), undone], [["one", ONE], ["by the turn's card"]]);
  texts["turn"] = await workspace.take();
  conversation.turns["turn"] = "one";
  conversation.leafId = "turn";
  await assert.rejects(files.undoLast("c"), /gone on since/);
});
