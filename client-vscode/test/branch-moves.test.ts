/** What the user, the files and the model keep when a conversation goes to other branches. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { window } from "./agent/vscode";
import { Workspace } from "./snapshots/recorded";
import { branches, noticesUntil, ONE, TWO, WENT } from "./switching";

const OWN = { "own": "mine\n" };

test("what the user wrote while the question was open stays when the switch is undone, however long a state takes", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, files, snapshots, go } = await branches(workspace, "both");
  const handle = files.handle.bind(files);
  files.handle = async (message, id) => {
    await workspace.write(OWN);
    snapshots.take = () => Promise.resolve(undefined);
    return handle(message, id);
  };
  const shown = noticesUntil(/^Went/, ["Undo"]);
  await go("one");
  assert.deepEqual(await shown, [WENT, WENT]);
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", { ...TWO, ...OWN }]);
});

test("a branch has its files where a choice of model has moved its end", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, next } = await branches(workspace, "conversation");
  window.answer = () => undefined;
  await next("conversation").go("one");
  conversation.moved["model"] = "one";
  conversation.leafId = "model";
  texts["three"] = texts["two"] ?? "";
  await next("both").go("three");
  await next("both").go("model");
  assert.deepEqual(await workspace.files(), ONE);
});

test("from before the first message a branch is gone to with its files", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, go, next } = await branches(workspace, "both");
  texts["first"] = texts["one"] ?? "";
  window.answer = () => undefined;
  await go("first");
  assert.deepEqual([conversation.leafId, await workspace.files()], [undefined, ONE]);
  await next("both").go("two");
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", TWO]);
});

test("files that are of another branch than the conversation make way for those of a third one", async () => {
  await using workspace = await Workspace.with({});
  const { texts, next } = await branches(workspace, "conversation");
  await workspace.write({ "only-two": null, "only-three": "x\n" });
  texts["three"] = await workspace.take();
  await workspace.write({ "only-two": "x\n", "only-three": null, ...OWN });
  window.answer = () => undefined;
  await next("conversation").go("one");
  await next("both").go("three");
  assert.deepEqual(await workspace.files(), { "notes": TWO.notes, "only-three": "x\n", ...OWN });
});

for (const isUndone of [false, true]) {
  test(`files that are taken over where those of another branch are make these no files of the branch: ${isUndone ? "undone after a choice of model" : "taken over"}`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, texts, next } = await branches(workspace, "conversation");
    await workspace.write({ "only-three": "x\n" });
    texts["three"] = await workspace.take();
    await workspace.write({ "only-three": null });
    let click = (_button: string): void => undefined;
    const undone = noticesUntil(/^Changed/, [new Promise<string>((resolve) => { click = resolve; })]);
    const { go, files } = next("conversation");
    await go("one");
    await files.takeOver("c", "three", (steps) => Promise.resolve(steps.filter(({ path }) => path === "only-three")));
    assert.deepEqual(await workspace.files(), { ...TWO, "only-three": "x\n" });
    if (isUndone) {
      conversation.moved["model"] = "one";
      conversation.leafId = "model";
      click("Undo");
      await undone;
    }
    const taken = isUndone ? {} : { "only-three": "x\n" };
    await next("both").go("two");
    assert.deepEqual(await workspace.files(), TWO);
    await next("both").go(isUndone ? "model" : "one");
    assert.deepEqual(await workspace.files(), { ...ONE, ...taken });
  });
}

test("of two ends on a path the newer one says whose files are on the disk", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, states } = await branches(workspace, "both");
  conversation.moved["older"] = "one";
  conversation.moved["newer"] = "older";
  await states.remember("c", "older", { state: texts["one"] ?? "", base: texts["two"] ?? "" });
  await states.remember("c", "newer", { state: texts["one"] ?? "" });
  for (const [end, base] of [["older", texts["two"]], ["newer", undefined]] as const) assert.equal((await states.at("c", end, false)).base, base);
});

test("what is written after the conversation has gone on is refused", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, files, go } = await branches(workspace, "files");
  const handle = files.handle.bind(files);
  files.handle = (message, id) => {
    conversation.leafId = "two-b";
    texts["two-b"] = texts["two"] ?? "";
    return handle(message, id);
  };
  await assert.rejects(go("one"), /gone on since/);
  assert.deepEqual(await workspace.files(), TWO);
});

test("where the state of a branch was not recorded its user and its model are told, and other branches keep their files", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, next } = await branches(workspace, "both");
  const shown: string[] = [];
  window.answer = (message) => { if (!message.startsWith("Went")) shown.push(message); return undefined; };
  texts["late"] = "";
  const { go, notes } = next("both");
  await go("late");
  await go("two");
  await go("late");
  assert.deepEqual(shown, ["The files do not go along to another branch. Their state was not recorded."]);
  assert.deepEqual(await workspace.files(), TWO);
  await notes.beforeTurn("c", await workspace.take());
  assert.match(conversation.notes.join(), /could not go along\./);
  await go("one");
  assert.deepEqual(await workspace.files(), ONE);
});

for (const [kind, there] of [["branch", "one"], ["restore", "two"]] as const) {
  test(`a change that is finished after a turn leaves the conversation behind that turn, and its earlier end as it was: ${kind}`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, texts, files, go, ended, next } = await branches(workspace, kind === "branch" ? "both" : "files", "between the files");
    void (kind === "branch" ? go("one") : files.handle({ type: "restoreFiles", entryId: "one" }, "c"));
    await ended;
    window.answer = () => undefined;
    await workspace.write({ "by-turn": "x\n" });
    texts["turn"] = await workspace.take();
    conversation.turns["turn"] = there;
    const later = next("cancel");
    await later.files.settled("c");
    const before = later.states.of("c", there);
    conversation.leafId = "turn";
    const { files: last, states } = next("finish");
    await last.resume(() => undefined);
    assert.deepEqual([conversation.leafId, await workspace.files()], ["turn", { ...ONE, "by-turn": "x\n" }]);
    assert.deepEqual(states.of("c", there), before);
    assert.notEqual(states.of("c", "turn"), undefined);
  });
}

test("a change that is undone after a turn is refused, and everything stays", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, go, ended, next } = await branches(workspace, "both", "between the files");
  void go("one");
  await ended;
  window.answer = () => undefined;
  await workspace.write({ "by-turn": "x\n" });
  texts["turn"] = await workspace.take();
  conversation.turns["turn"] = "one";
  const { files, states } = next("undo");
  await files.settled("c");
  conversation.leafId = "turn";
  const before = [await workspace.files(), states.of("c", "one"), states.of("c", "two")];
  const refusals: string[] = [];
  window.answer = (message) => {
    refusals.push(message);
    conversation.isDeleted ||= message.includes("gone on"); // or it would be asked again
    return undefined;
  };
  await files.resume(() => undefined);
  assert.match(refusals.join(), /has gone on since/);
  assert.deepEqual([conversation.leafId, await workspace.files(), states.of("c", "one"), states.of("c", "two")], ["turn", ...before]);
});

test("before a message whose state was not recorded a branch has the files of its last turn", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, next } = await branches(workspace, "both");
  window.answer = (message) => (message.startsWith("Went") ? undefined : assert.fail(message));
  texts["late"] = "";
  conversation.turns["late"] = "one";
  const { go, states } = next("both");
  await go("late");
  assert.deepEqual(await workspace.files(), ONE);
  assert.equal((await states.at("c", "one")).state, texts["one"]);
});

test("a choice of model after a switch that did not come about is no switch", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, ended, next } = await branches(workspace, "both", "before the conversation has moved");
  void go("one");
  await ended;
  conversation.moved["model"] = "two";
  conversation.leafId = "model";
  const { files, changes } = next("finish");
  await files.resume(() => { assert.fail(); });
  assert.deepEqual([changes.unfinished, await workspace.files()], [{}, TWO]);
});

test("what the user wrote on a branch that an undoing leaves is there when it is gone to again", async () => {
  await using workspace = await Workspace.with({});
  const { next } = await branches(workspace, "both");
  let click = (_button: string): void => undefined;
  const undone = noticesUntil(/^Went/, [new Promise<string>((resolve) => { click = resolve; })]);
  await next("both").go("one");
  await workspace.write({ "notes": "one\n\n\n\nend, mine\n", ...OWN });
  click("Undo");
  await undone;
  await next("both").go("one");
  assert.deepEqual(await workspace.files(), { ...ONE, "notes": "one\n\n\n\nend, mine\n", ...OWN });
});
