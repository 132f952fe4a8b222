/** The files of branches that are gone to, and those whose states were not recorded. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Memento } from "vscode";

import { BranchFiles } from "../src/chat/branch-files";
import { BranchStates } from "../src/chat/branch-states";
import { FileChanges } from "../src/chat/file-changes";
import type { FilesOffer, FromPage, ToPage } from "../src/chat/messages";
import { CoppiceError, ServerEndedError } from "../src/errors";
import type { PlacedStep, WorkspaceSnapshots } from "../src/snapshots/workspace";
import { window, workspace as editor } from "./agent/vscode";
import { Workspace } from "./snapshots/recorded";

/** Goes to another branch three times; gives what the user was shown. */
async function moves(snapshots: WorkspaceSnapshots, at: () => object = () => ({ leafId: "leaf", state: undefined })): Promise<string[]> {
  const notices: string[] = [];
  window.answer = (message) => { notices.push(message); return undefined; };
  const states = { at: () => Promise.resolve().then(at) };
  const memory = { get: (_key: string, usual: unknown) => usual, update: () => Promise.resolve() } as never;
  const files = new BranchFiles(undefined as never, { onNotification: () => undefined } as never, snapshots, states as never, new FileChanges(snapshots, states as never, memory), undefined as never, memory);
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

type Choice = Extract<FromPage, { type: "answerFiles" }>["choice"];

/** Where the end of a window cuts a switch off. */
type Cut = "before the conversation has moved" | "before the files" | "between the files";

/**
 * A conversation of two branches, `one` and `two`, whose files are recorded, and whose person answers by `choice`. `next`
 * is what the next window has, where another person sits.
 */
async function branches(workspace: Workspace, choice: Choice, cut?: Cut, later = choice) {
  const stored = new Map<string, unknown>();
  const memory = { get: (key: string, usual: unknown) => stored.get(key) ?? usual, update: (key: string, value: unknown) => { stored.set(key, structuredClone(value)); return Promise.resolve(); } } as unknown as Memento;
  const conversation = { leafId: "two" as string | undefined, runs: false, isDeleted: false, refuses: undefined as "cancelled" | "busy" | "ended" | undefined, drafts: [] as string[], offers: [] as FilesOffer["kind"][] };
  const texts: Record<string, string> = {};
  for (const leaf of ["one", "two"]) {
    await workspace.write({ "notes": `${leaf}\n\n\n\nend\n`, [`only-${leaf}`]: "x\n" });
    if (leaf === "two") await workspace.write({ "only-one": null });
    texts[leaf] = await workspace.take();
  }
  const open = (answers: Choice, unfinished = answers, isCut = (_at: Cut): boolean => false) => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => { end = resolve; });
    const die = (): Promise<never> => { end(); return new Promise(() => undefined); };
    const navigate = async (leafId: string): Promise<object> => {
      if (isCut("before the conversation has moved")) return die();
      if (conversation.refuses === "busy") throw new Error("busy");
      if (conversation.refuses === "cancelled") return { leafId: conversation.leafId, cancelled: true };
      conversation.leafId = leafId === "first" ? undefined : leafId;
      if (conversation.refuses === "ended") throw new ServerEndedError();
      return isCut("before the files") ? die() : { leafId: conversation.leafId ?? null, cancelled: false };
    };
    const entries = (leafId: string | undefined): object[] => (leafId === undefined ? [] : [{ id: leafId, type: "message", message: { role: "toolResult", workspaceState: texts[leafId] } }]);
    let notify = (_event: object): void => undefined;
    const client = {
      onNotification: (method: string, listener: typeof notify) => { if (method === "coppice/conversationChanged") notify = listener; },
      request: async (method: string, { leafId = conversation.leafId, targetId = "" }: { leafId?: string; targetId?: string }) => {
        if (method === "coppice/conversation/list") return { conversations: [{ id: "c", name: "Shop" }] };
        if (conversation.isDeleted) throw new CoppiceError("There is no such conversation.", "unknown-conversation");
        return method === "coppice/navigate" ? navigate(targetId) : { entries: entries(leafId) };
      },
    };
    const snapshots = Object.assign(workspace.open(), isCut("between the files") && { write: async (id: string, steps: readonly PlacedStep[]) => { await workspace.snapshots.write(id, steps.slice(0, 1)); return die(); } });
    const states = new BranchStates(client as never, memory);
    const notes = { set: () => Promise.resolve() };
    const answer = ({ id, kind }: FilesOffer): void => { conversation.offers.push(kind); void files.handle({ type: "answerFiles", id, choice: kind === "unfinished" ? unfinished : answers, always: false }, "c"); };
    const post = (message: ToPage): void => { if (message.type === "filesOffer" && message.offer !== undefined) setImmediate(answer, message.offer); };
    const chat = { post, isRunning: () => conversation.runs, putDraft: (_id: string, text: string) => { conversation.drafts.push(text); } };
    const changes = new FileChanges(snapshots, states, memory);
    const files = new BranchFiles(chat as never, client as never, snapshots, states, changes, notes as never, memory);
    const go = (targetId: string) => files.move("c", targetId, () => navigate(targetId) as never, "Say one.");
    return { files, changes, states, snapshots, go, ended, drop: () => { notify({ conversationId: "c", changes: ["deleted"] }); } };
  };
  return { conversation, texts, stored, next: open, ...open(choice, later, (at) => at === cut) };
}

/** Has the notices of a switch answered one after the other, until `last` is shown, and gives what they said. */
function noticesUntil(last: RegExp, answers: readonly (string | undefined | Promise<string>)[]): Promise<string[]> {
  const notices: string[] = [];
  return new Promise((resolve) => {
    window.answer = (message) => {
      notices.push(message);
      if (notices.length > answers.length && last.test(message)) resolve(notices);
      return answers[notices.length - 1];
    };
  });
}

const WENT = "Went to the branch and changed 3 files.";

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

const TWO = { "notes": "two\n\n\n\nend\n", "only-two": "x\n" };
const ONE = { "notes": "one\n\n\n\nend\n", "only-one": "x\n" };
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

test("an undoing that the window's end cut off before the conversation moved leaves the change that it undoes", async () => {
  await using workspace = await Workspace.with({});
  const { conversation, go, ended, next } = await branches(workspace, "both", "between the files");
  void go("one");
  await ended;
  window.answer = () => undefined;
  const cut = next("both", "undo", (at) => at === "before the conversation has moved");
  void cut.files.resume(() => undefined);
  await cut.ended;
  await next("finish").files.resume(() => undefined);
  assert.deepEqual([conversation.leafId, await workspace.files()], ["one", ONE]);
});

test("the record of a switch ends with its conversation, in whichever window or program that is deleted", async () => {
  for (const isOpen of [true, false]) {
    await using workspace = await Workspace.with({});
    const { conversation, changes, drop, go, ended, next } = await branches(workspace, "both", "between the files");
    void go("one");
    await ended;
    await next("cancel").files.resume(() => undefined);
    assert.deepEqual(Object.keys(changes.unfinished), ["c"]);
    if (isOpen) drop();
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
  assert.equal(changes.unfinished["c"]?.hasMoved, true);
  await next("undo").files.resume(() => undefined);
  assert.deepEqual([conversation.leafId, await workspace.files()], ["two", TWO]);
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
  for (const [cut, recorded] of [["before the conversation has moved", undefined], ["before the files", true]] as const) {
    await using workspace = await Workspace.with({});
    const { conversation, go, ended, next } = await branches(workspace, "both", cut);
    void go("one");
    await ended;
    const { files, changes } = next("cancel");
    await files.settled("c");
    conversation.leafId = "after the turn";
    assert.equal(changes.unfinished["c"]?.hasMoved, recorded);
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
