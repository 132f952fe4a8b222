/** A change of files that the end of the window cut off: the next one finishes it or undoes it. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import type { Memento } from "vscode";

import { BranchFiles } from "../../src/chat/branch-files";
import { BranchStates } from "../../src/chat/branch-states";
import { FileChanges } from "../../src/chat/file-changes";
import type { ToPage } from "../../src/chat/messages";
import { ModelNotes } from "../../src/chat/model-notes";
import { WorkspaceSnapshots } from "../../src/snapshots/workspace";
import { window } from "../agent/vscode";

const NAMES = ["a", "b", "c", "own"];

function memento(): Memento {
  const stored = new Map<string, unknown>();
  const get = (key: string, otherwise?: unknown): unknown => stored.get(key) ?? otherwise;
  return { keys: () => [...stored.keys()], get, update: async (key, value) => { await Promise.resolve(); stored.set(key, structuredClone(value)); } };
}

/** What the files hold after the next window was answered, where `a` of the picked `a` and `b` was written before. */
async function afterKill(choice: "finish" | "undo" | "cancel", byUser: Record<string, string> = {}): Promise<{ files: string[]; asked: string[]; notices: string[]; isDone: boolean }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "coppice-changes-")));
  const folder = join(root, "shop");
  const all = async (text: string): Promise<void> => { for (const name of NAMES.slice(0, 3)) await writeFile(join(folder, name), text); };
  try {
    await mkdir(folder);
    const snapshots = new WorkspaceSnapshots(join(root, "storage"), { folders: [folder], isTrusted: true, isUnsaved: () => false, warn: (message) => { throw new Error(message); } });
    const take = async (): Promise<string> => (await snapshots.take("c")) ?? "";
    await all("other\n");
    const other = await take();
    await all("mine\n");
    const mine = await take();

    const memory = memento();
    const client = { onNotification: () => undefined, request: (_method: string, { leafId = "leaf" }) => Promise.resolve({ conversations: [], entries: [{ id: leafId, type: "message", message: { role: "toolResult", workspaceState: leafId === "leaf" ? mine : other } }] }) };
    const states = new BranchStates(client as never, memory);
    const killed = Object.create(snapshots) as WorkspaceSnapshots;
    killed.plan = (...given) => snapshots.plan(...given);
    killed.foresee = (...given) => snapshots.foresee(...given);
    killed.write = async (id, steps) => {
      await snapshots.write(id, steps.slice(0, 1));
      throw new Error("The window has ended.");
    };
    const before = { notes: new ModelNotes(client as never, killed, states, memory), changes: new FileChanges(memory) };
    const ending = new BranchFiles({ post: () => undefined, isRunning: () => false } as never, client as never, killed, states, before.changes, before.notes, memory);
    await states.remember("c", "leaf", { state: mine });
    await states.remember("c", "other", { state: other });
    const picked = ["a", "b"];
    await assert.rejects(ending.takeOver("c", "other", (steps) => Promise.resolve(steps.filter(({ path }) => picked.includes(path)))), /has ended/);
    for (const [name, text] of Object.entries({ own: "by the user", ...byUser })) await writeFile(join(folder, name), `${text}\n`);

    const asked: string[] = [];
    const notices: string[] = [];
    window.answer = (message) => {
      if (!message.startsWith("Files were being changed")) notices.push(message);
      return undefined;
    };
    const notes = new ModelNotes(client as never, snapshots, states, memory);
    const changes = new FileChanges(memory);
    const post = (message: ToPage): void => {
      if (message.type !== "filesOffer" || message.offer === undefined) return;
      const { id, kind } = message.offer;
      asked.push(kind);
      setImmediate(() => void files.handle({ type: "answerFiles", id, choice, always: false }, "c"));
    };
    const files = new BranchFiles({ post, isRunning: () => false } as never, client as never, snapshots, states, changes, notes, memory);
    await files.resume(() => undefined);
    await files.resume(() => undefined);
    const texts = await Promise.all(NAMES.map(async (name) => (await readFile(join(folder, name), "utf8")).trim()));
    return { files: texts, asked, notices, isDone: Object.keys(changes.unfinished).length === 0 };
  } finally {
    window.answer = () => undefined;
    await rm(root, { recursive: true, force: true });
  }
}

test("of a change of picked files the rest is written, and nothing else", async () => {
  const { files, asked, notices, isDone } = await afterKill("finish");
  assert.deepEqual([files, isDone], [["other", "other", "mine", "by the user"], true]);
  assert.deepEqual([asked, notices], [["unfinished"], ["Changed 1 file."]]);
});

test("a change that is undone leaves the files as they were, and what the user wrote since", async () => {
  const { files, isDone } = await afterKill("undo");
  assert.deepEqual([files, isDone], [["mine", "mine", "mine", "by the user"], true]);
});

test("what the user wrote since over a file that was changed, or was to be, stays and is named", async () => {
  const undone = await afterKill("undo", { a: "theirs" });
  assert.deepEqual(undone.files, ["theirs", "mine", "mine", "by the user"]);
  assert.deepEqual(undone.notices, ["Changed 0 files. 1 file changed meanwhile or could not be written, and stayed: a."]);
  const finished = await afterKill("finish", { b: "theirs" });
  assert.deepEqual(finished.files, ["other", "theirs", "mine", "by the user"]);
  assert.deepEqual(finished.notices, ["Changed 0 files. 1 file changed meanwhile or could not be written, and stayed: b."]);
});

test("what is not answered is asked again", async () => {
  const { files, asked, isDone } = await afterKill("cancel");
  assert.deepEqual([files, asked, isDone], [["other", "mine", "mine", "by the user"], ["unfinished", "unfinished"], false]);
});
