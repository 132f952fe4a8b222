/** Switches of branches with files that were cut off: each is one step, which is finished, undone or given up. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { window, workspace as editor } from "./agent/vscode";
import { Workspace } from "./snapshots/recorded";
import { branches, noticesUntil, ONE, TWO } from "./switching";

const neverShown = (): void => { assert.fail(); };

test("a switch that the window's end cut off before the conversation moved has changed nothing, and nothing is asked", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, ended, next } = await branches(workspace, "both", "before the conversation has moved");
  const before = await workspace.files();
  void go("one");
  await ended;
  const later = next("undo");
  await later.files.resume(neverShown);
  assert.deepEqual([conversation.leafId, conversation.offers, later.changes.unfinished], ["two", ["branch"], {}]);
  assert.deepEqual(await workspace.files(), before);
});

const OWN = { "own": "mine\n" };

for (const cut of ["before the files", "between the files"] as const) {
  for (const choice of ["finish", "undo"] as const) {
    test(`after a switch that the window's end cut off ${cut}, "${choice}" brings the conversation and its files together`, async () => {
      await using workspace = await Workspace.with({});
      const { conversation, go, ended, next } = await branches(workspace, "both", cut);
      void go("one");
      await ended;
      assert.equal(conversation.leafId, "one");
      assert.notDeepEqual(await workspace.files(), ONE);
      await workspace.write(OWN);

      const notices: string[] = [];
      const shown: string[] = [];
      window.answer = (message) => {
        notices.push(message);
        if (message.startsWith("A turn")) conversation.runs = false;
        return message.startsWith("Files") ? "Show Chat" : undefined;
      };
      conversation.runs = true;
      const { files, changes } = next(choice);
      await files.resume((id) => { shown.push(id); });
      const [there, away] = choice === "finish" ? [{ leaf: "one", files: ONE }, { leaf: "two", files: TWO }] : [{ leaf: "two", files: TWO }, { leaf: "one", files: ONE }];
      assert.deepEqual([conversation.leafId, await workspace.files(), changes.unfinished], [there.leaf, { ...there.files, ...OWN }, {}]);
      assert.deepEqual([conversation.drafts, shown], [["Say one."], ["c"]], "what was to be sent is in the input");
      assert.deepEqual(conversation.offers, ["branch", "unfinished", "unfinished"], "refused while a turn runs, it is asked again");
      assert.deepEqual(notices.slice(0, 2), ["Files were being changed in “Shop” when the window ended. Some of them may not be.", "A turn is running, so no file was changed. Try again when it has ended."]);
      // What was on the disk meanwhile is the state of neither branch.
      await next("both").go(away.leaf);
      assert.deepEqual([conversation.leafId, await workspace.files()], [away.leaf, away.files]);
    });
  }
}

test("a switch that the next window finished is undone as one step", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, ended, next } = await branches(workspace, "both", "between the files");
  void go("one");
  await ended;
  const shown = noticesUntil(/^Went/, [undefined, "Undo"]);
  await next("finish").files.resume(() => undefined);
  await shown;
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", TWO]);
});

test("where the server ended while the conversation moved it is asked at once, and where it refused to move nothing is left", async () => {
  for (const isMoved of [true, false]) {
    await using workspace = await Workspace.with({});
    const { conversation, files, changes } = await branches(workspace, "both", undefined, "finish");
    const fail = (): Promise<never> => {
      if (isMoved) conversation.leafId = "one";
      return Promise.reject(new Error("The server ended."));
    };
    const shown = noticesUntil(/^Went/, []);
    await assert.rejects(files.move("c", "one", fail), /ended/);
    if (isMoved) await shown;
    assert.deepEqual([await workspace.files(), conversation.offers], isMoved ? [ONE, ["branch", "unfinished"]] : [TWO, ["branch"]]);
    while (Object.keys(changes.unfinished).length > 0) await new Promise(setImmediate);
  }
});

for (const refuses of ["cancelled", "busy"] as const) {
  test(`an undoing that does not come about leaves what was recorded, and is asked about again: ${refuses}`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, go, ended, next } = await branches(workspace, "both", "between the files");
    void go("one");
    await ended;
    conversation.refuses = refuses;
    const { files, changes } = next("undo");
    const recorded = structuredClone(changes.unfinished);
    const asked: object[] = [];
    const handle = files.handle.bind(files);
    files.handle = (...given) => {
      asked.push([structuredClone(changes.unfinished), conversation.leafId]);
      return handle(...given);
    };
    const notices: string[] = [];
    window.answer = (message) => {
      notices.push(message);
      if (/busy|kept the conversation/.test(message)) conversation.refuses = undefined;
      return undefined;
    };
    await files.resume(() => undefined);
    assert.equal(notices.length, 3);
    assert.deepEqual(asked, Array(2).fill([recorded, "one"]));
    assert.deepEqual([conversation.leafId, await workspace.files(), changes.unfinished], ["two", TWO, {}]);
  });
}

for (const [choice, leaf, there] of [["undo", "two", TWO], ["finish", "one", ONE]] as const) {
  test(`where the server ended after an undoing had moved the conversation, "${choice}" brings it and its files together`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, go, ended, next } = await branches(workspace, "both", "between the files");
    void go("one");
    await ended;
    await workspace.write(OWN);
    conversation.refuses = "ended";
    const { files, changes } = next("both", "undo");
    window.answer = () => undefined;
    const handle = files.handle.bind(files);
    files.handle = (message, id) => {
      if (message.type !== "answerFiles" || conversation.leafId === "one") return handle(message, id);
      conversation.refuses = undefined;
      return handle({ ...message, choice }, id);
    };
    await files.resume(() => undefined);
    assert.deepEqual([conversation.leafId, await workspace.files(), changes.unfinished], [leaf, { ...there, ...OWN }, {}]);
    assert.deepEqual(conversation.offers, ["branch", "unfinished", "unfinished"]);
  });
}

for (const [targetId, leaf] of [["one", "one"], ["first", undefined]] as const) {
  test(`an undoing that the window's end cut off before the conversation moved leaves the change that it undoes: ${targetId}`, async () => {
    await using workspace = await Workspace.with({});
    const { conversation, texts, go, ended, next } = await branches(workspace, "both", "between the files");
    texts["first"] = texts["one"] ?? "";
    void go(targetId);
    await ended;
    window.answer = () => undefined;
    const cut = next("both", "undo", (at) => at === "before the conversation has moved");
    void cut.files.resume(() => undefined);
    await cut.ended;
    await next("finish").files.resume(() => undefined);
    assert.deepEqual([conversation.leafId, await workspace.files()], [leaf, ONE]);
  });
}

test("an undoing of which no file is left to change is one step, too", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, ended, next } = await branches(workspace, "both", "before the files");
  void go("one");
  await ended;
  window.answer = () => undefined;
  const cut = next("both", "undo", (at) => at === "before the files");
  void cut.files.resume(() => undefined);
  await cut.ended;
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", TWO]);
  await next("finish").files.resume(() => undefined);
  assert.deepEqual([conversation.leafId, await workspace.files()], ["one", ONE]);
});

test("what the user had changed before a switch that was cut off belongs to the branch that it left", async () => {
  await using workspace = await Workspace.with({});
  const { go, ended, next } = await branches(workspace, "both", "before the files");
  await workspace.write(OWN);
  void go("one");
  await ended;
  window.answer = () => undefined;
  await next("finish").files.resume(() => undefined);
  await next("both").go("two");
  assert.deepEqual(await workspace.files(), { ...TWO, ...OWN });
});

test("the record of a switch ends with its conversation, in whichever window or program that is deleted", async () => {
  for (const isOpen of [true, false]) {
    await using workspace = await Workspace.with({});
    const { conversation, changes, snapshots, drop, go, ended, next } = await branches(workspace, "both", "between the files");
    void go("one");
    await ended;
    await next("cancel").files.resume(() => undefined);
    assert.deepEqual(Object.keys(changes.unfinished), ["c"]);
    if (isOpen) {
      drop();
      await snapshots.forget("c"); // after what the end of the conversation forgets
    }
    conversation.isDeleted = true;
    if (!isOpen) await next("cancel").files.resume(neverShown);
    assert.deepEqual([changes.unfinished, conversation.offers], [{}, ["branch", "unfinished"]]);
  }
});

test("also before the first message a switch has moved the conversation once and for all", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, go, ended, next } = await branches(workspace, "both", "between the files");
  texts["first"] = texts["one"] ?? "";
  void go("first");
  await ended;
  window.answer = () => undefined;
  const { files, changes, states } = next("cancel");
  await files.resume(() => undefined);
  await files.settled("c");
  conversation.leafId = "by a turn";
  await files.settled("c");
  assert.equal(states.of("c", "by a turn"), undefined, "what a turn left is not taken for the end of the switch");
  assert.deepEqual([changes.unfinished["c"]?.isMoving, changes.unfinished["c"]?.to.leafId], [undefined, undefined]);
  conversation.leafId = undefined;
  const shown = noticesUntil(/^Went/, [undefined, "Undo"]);
  await next("undo").files.resume(() => undefined);
  await shown;
  assert.deepEqual([conversation.leafId, await workspace.files()], [undefined, ONE]);
});

test("what would change files or branch is refused while a change is unfinished, which is asked about again", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, ended, next } = await branches(workspace, "both", "between the files");
  void go("one");
  await ended;
  const half = await workspace.files();
  window.answer = () => undefined;
  const later = next("cancel");
  const { files, changes } = later;
  await files.resume(() => undefined);
  later.snapshots.plan = () => assert.fail("planned");
  const recorded = structuredClone(changes.unfinished);
  const base = recorded["c"]?.from.state ?? "";
  const attempts: (() => Promise<unknown>)[] = [
    () => later.go("two"),
    () => files.handle({ type: "restoreFiles", entryId: "two" }, "c"),
    () => files.takeOver("c", "two", () => assert.fail()),
    () => files.undoTurn("c", { leafId: "one", base, target: base }, () => assert.fail()),
  ];
  try {
    for (const set of ["ask", "never"]) {
      editor.settings["coppice.chat.branchFiles"] = set;
      for (const attempt of attempts) {
        conversation.offers.length = 0;
        await assert.rejects(attempt, /the chat asks/);
        while (conversation.offers.length === 0) await new Promise(setImmediate);
        assert.deepEqual([conversation.offers, changes.unfinished, conversation.leafId, await workspace.files()], [["unfinished"], recorded, "one", half]);
      }
    }
    editor.isTrusted = false;
    await assert.rejects(later.go("two"), /the chat asks/);
    assert.deepEqual(changes.unfinished, recorded);
  } finally {
    editor.settings = {};
    editor.isTrusted = true;
  }
  await next("leave").files.resume(() => undefined);
  assert.deepEqual([changes.unfinished, conversation.leafId, await workspace.files()], [{}, "one", half]);
});

test("in a workspace that is not trusted an unfinished change is neither finished nor undone", async () => {
  for (const choice of ["finish", "undo"] as const) {
    await using workspace = await Workspace.with({});
    const { conversation, go, ended, next } = await branches(workspace, "both", "between the files");
    void go("one");
    await ended;
    const half = await workspace.files();
    const { files, changes } = next(choice);
    const recorded = structuredClone(changes.unfinished);
    window.answer = (message) => {
      if (!message.includes("not trusted")) return undefined;
      assert.deepEqual([changes.unfinished, conversation.leafId], [recorded, "one"]);
      editor.isTrusted = true;
      return undefined;
    };
    const resumed = files.resume(() => { assert.fail(); });
    editor.isTrusted = false;
    await resumed;
    assert.equal(editor.isTrusted, true);
    assert.notDeepEqual(await workspace.files(), half);
    assert.equal(conversation.offers.length, 3);
  }
});

test("a change that fails half way is asked about at once", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, snapshots } = await branches(workspace, "both", undefined, "finish");
  const write = snapshots.write.bind(snapshots);
  snapshots.write = () => {
    snapshots.write = write;
    return Promise.reject(new Error("The disk is full."));
  };
  const shown = noticesUntil(/^Went/, []);
  await assert.rejects(go("one"), /full/);
  await shown;
  assert.deepEqual([await workspace.files(), conversation.offers], [ONE, ["branch", "unfinished"]]);
});

test("what is stored and is no change is passed over", async () => {
  await using workspace = await Workspace.with({});
  const { changes, go, stored } = await branches(workspace, "both");
  for (const value of [null, "c", [1], { c: null, d: { base: 1 } }]) {
    stored.set("coppice.unfinishedChanges", value);
    assert.deepEqual(changes.unfinished, {});
  }
  await go("one");
  assert.deepEqual(await workspace.files(), ONE);
});

test("where a conversation stays at its end and only the files change, a switch that was cut off is asked about, too", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, files, ended, next } = await branches(workspace, "both", "between the files");
  void files.move("c", "one", () => Promise.resolve({ leafId: "two", cancelled: false } as never));
  await ended;
  await next("finish").files.resume(() => undefined);
  assert.deepEqual([conversation.offers, await workspace.files()], [["branch", "unfinished"], ONE]);
});

test("whether the conversation has moved is found out before a turn moves it", async () => {
  for (const [cut, recorded] of [["before the conversation has moved", undefined], ["before the files", "one"]] as const) {
    await using workspace = await Workspace.with({});
    const { conversation, go, ended, next } = await branches(workspace, "both", cut);
    void go("one");
    await ended;
    const { files, changes } = next("cancel");
    await files.settled("c");
    conversation.leafId = "after the turn";
    assert.equal(changes.unfinished["c"]?.to.leafId, recorded);
    await files.resume(() => undefined);
    assert.deepEqual(conversation.offers, recorded === undefined ? ["branch"] : ["branch", "unfinished"]);
  }
});

test("a turn that is sent while the rest of a switch is looked for begins when that is done", async () => {
  await using workspace = await Workspace.with({});
  const { go, ended, next } = await branches(workspace, "both", "between the files");
  void go("one");
  await ended;
  const { files, snapshots } = next("finish");
  const plan = snapshots.plan.bind(snapshots);
  let turn: Promise<object> | undefined;
  snapshots.plan = (...given) => {
    turn = files.settled("c").then(() => workspace.files());
    return plan(...given);
  };
  await files.resume(() => undefined);
  assert.deepEqual(await turn, ONE);
});

test("a conversation that went on while the question was open stays where it is", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, texts, files, changes, states, go } = await branches(workspace, "both");
  const handle = files.handle.bind(files);
  files.handle = async (message, id) => {
    conversation.leafId = "two-b";
    texts["two-b"] = await workspace.take();
    return handle(message, id);
  };
  await assert.rejects(go("one"), /gone on since/);
  assert.deepEqual([conversation.leafId, changes.unfinished, states.of("c", "two-b")], ["two-b", {}, undefined]);
});

test("an undoing is refused when the conversation has gone elsewhere since, and offered again", async () => {
  for (const choice of ["files", "both"] as const) {
    await using workspace = await Workspace.with({});
    const { conversation, texts, next } = await branches(workspace, choice);
    texts["three"] = texts["two"] ?? "";
    let click = (_button: string): void => undefined;
    const refused = noticesUntil(/gone on/, [new Promise<string>((resolve) => { click = resolve; })]);
    await next(choice).go("one");
    conversation.leafId = "three";
    const before = await workspace.files();
    click("Undo");
    await refused;
    assert.deepEqual([conversation.leafId, await workspace.files()], ["three", before]);
  }
});
