/** What the model is told about files before its next turn. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { ModelNotes } from "../src/chat/model-notes";
import { window } from "./agent/vscode";
import { Workspace } from "./snapshots/recorded";
import { branches, noticesUntil, TWO } from "./switching";

const ALL = '"notes", "only-one", "only-two"';
const NOTES: [name: string, choices: Parameters<typeof branches>[1][], note: RegExp | undefined][] = [
  ["with its files", ["both"], undefined],
  ["without them", ["conversation"], new RegExp(`without its files\\. These files are not as this conversation left them\\..* ${ALL}\\.$`)],
  ["files alone", ["files"], new RegExp(`state of another branch\\. .* ${ALL}\\.$`)],
];

for (const [name, [choice = "both"], note] of NOTES) {
  test(`before its next turn the model is told which files are not its branch's: ${name}`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, next } = await branches(workspace, choice);
    window.answer = () => undefined;
    const { go, notes } = next(choice);
    await go("one");
    await notes.beforeTurn("c", await workspace.take());
    await notes.beforeTurn("c", await workspace.take());
    assert.equal(conversation.notes.length, note === undefined ? 0 : 1);
    if (note !== undefined) assert.match(conversation.notes.join(), note);
  });
}

test("what several changes of files left is one note, and none where the files are again as they were", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, next } = await branches(workspace, "conversation");
  window.answer = () => undefined;
  const { files, notes, go } = next("conversation");
  const pick = (name: string) => files.takeOver("c", "one", (steps) => Promise.resolve(steps.filter(({ path }) => path === name)));
  await pick("notes");
  await pick("only-one");
  await notes.beforeTurn("c", await workspace.take());
  assert.match(conversation.notes.join(), /^The user took files over from another branch\. [^.]*\. [^:]*: "notes", "only-one"\.$/);
  conversation.notes.length = 0;
  await workspace.write(TWO);
  await workspace.write({ "only-one": null });
  await go("one");
  await go("two");
  await notes.beforeTurn("c", await workspace.take());
  assert.deepEqual(conversation.notes, []);
});

for (const choice of ["finish", "leave", "cancel"] as const) {
  test(`after a change that was cut off the model is told every file that differs: ${choice}`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, files, ended, next } = await branches(workspace, "files", "between the files");
    void files.handle({ type: "restoreFiles", entryId: "one" }, "c");
    await ended;
    window.answer = () => undefined;
    const later = next(choice);
    await later.files.resume(() => undefined);
    await later.files.settled("c");
    await later.notes.beforeTurn("c", await workspace.take());
    assert.match(conversation.notes.join(), choice === "finish" ? new RegExp(`: ${ALL}\\.$`) : /cut off\. .*: "only-two"\.$/);
  });
}

type Setting = Awaited<ReturnType<typeof branches>>;

const SEQUENCES: [name: string, work: (setting: Setting) => Promise<void>, note: RegExp][] = [
  ["what was done on the branch that is left is not said on the other one", async ({ files, next }) => {
    await files.takeOver("c", "one", (steps) => Promise.resolve(steps.filter(({ path }) => path === "only-one")));
    await next("both").go("one");
  }, /^These files are not as this conversation left them\..*: "own"\.$/],
  ["without files, then with them", async ({ next }) => {
    await next("conversation").go("one");
    await next("both").go("two");
  }, /^These files are not as this conversation left them\..*: "own"\.$/],
  ["a restoring that is undone", async ({ files }) => {
    const shown = noticesUntil(/^Changed/, ["Undo"]);
    await files.handle({ type: "restoreFiles", entryId: "one" }, "c");
    await shown;
  }, /^These files are not as this conversation left them\..*: "own"\.$/],
];

for (const [name, work, note] of SEQUENCES) {
  test(`a note to the model says what holds: ${name}`, async () => {
    await using workspace = await Workspace.with({});
    const setting = await branches(workspace, "files");
    window.answer = () => undefined;
    await work(setting);
    await workspace.write({ "own": "mine\n" });
    await setting.notes.beforeTurn("c", await workspace.take());
    assert.match(setting.conversation.notes.join("\n"), note);
  });
}

test("a move that is refused leaves no note, and nothing is said of its files", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, go, notes } = await branches(workspace, "both");
  window.answer = (message) => assert.fail(message);
  texts["late"] = "";
  conversation.refuses = "busy";
  await assert.rejects(go("late"), /busy/);
  conversation.refuses = "cancelled";
  await go("late");
  assert.equal(notes.of("c"), undefined);
});

test("a turn does not wait for the names of the files, and the chat says that they are missing", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, stored, states, go } = await branches(workspace, "conversation");
  window.answer = () => undefined;
  await go("one");
  const reasons = structuredClone(stored.get("coppice.modelNotes"));
  const memory = { get: () => reasons, update: () => Promise.resolve() } as never;
  const client = { request: (_method: string, { entries }: { entries: { content: string; display: boolean }[] }) => { conversation.notes.push(...entries.filter(({ display }) => display).map(({ content }) => content)); return Promise.resolve(); } } as never;
  const slow = { differences: () => new Promise<never>(() => undefined), warn: () => undefined };
  for (const state of [await workspace.take(), undefined]) await new ModelNotes(client, slow, states, memory, 1).beforeTurn("c", state);
  assert.equal(conversation.notes.length, 2);
  for (const note of conversation.notes) assert.match(note, /without its files\. The files may not be as .* is not known\. Read them again/);
});
