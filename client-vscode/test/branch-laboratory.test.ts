/**
 * Random edits by an agent and the user, and random moves of a conversation among its branches with and without files,
 * some of them undone or cut off. COPPICE_LABORATORY_SECONDS says how long at least, COPPICE_LABORATORY_SEED where to begin.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Memento } from "vscode";

import { BranchFiles } from "../src/chat/branch-files";
import { BranchStates } from "../src/chat/branch-states";
import { FileChanges } from "../src/chat/file-changes";
import type { FilesOffer, FromPage, ToPage } from "../src/chat/messages";
import { ModelNotes } from "../src/chat/model-notes";
import type { PlacedStep } from "../src/snapshots/workspace";
import { window as editorWindow } from "./agent/vscode";
import { randomFrom } from "./random";
import { Workspace } from "./snapshots/recorded";

const SECONDS = Number(process.env["COPPICE_LABORATORY_SECONDS"] ?? 0);
/** Games that are played however long they take: some seconds each. */
const GAMES = 4;
const FIRST_SEED = Number(process.env["COPPICE_LABORATORY_SEED"] ?? Math.floor(Math.random() * 1e6));
const ROUNDS = 20;
/** What only the agent writes, and what only the user does. */
const AGENTS = ["x1.txt", "x2.txt", "sub/x3.txt", "sub/x4.txt"];
const OWN = ["own", "sub/own"];

type Files = Record<string, string>;
type Choice = Extract<FromPage, { type: "answerFiles" }>["choice"];
type Cut = "before it moves" | "after it moved" | "between the files";

interface Stored {
  id: string;
  parentId: string | undefined;
  type: string;
  message?: object;
  /** What the disk had when a turn stored it. */
  disk?: Files;
}

/** A conversation on the server. */
class Tree {
  readonly entries = new Map<string, Stored>();
  readonly notes: string[] = [];
  leafId: string | undefined;

  add(entry: Omit<Stored, "id" | "parentId">): void {
    const id = `e${this.entries.size}`;
    this.entries.set(id, { id, parentId: this.leafId, ...entry });
    this.leafId = id;
  }

  /** The newest first. */
  path(leafId = this.leafId): Stored[] {
    const entry = leafId === undefined ? undefined : this.entries.get(leafId);
    return entry === undefined ? [] : [entry, ...(entry.parentId === undefined ? [] : this.path(entry.parentId))];
  }

  navigate(targetId: string): object {
    const target = this.entries.get(targetId);
    this.leafId = isAsked(target) ? target?.parentId : targetId;
    return { leafId: this.leafId ?? null, cancelled: false };
  }

  request(method: string, { leafId = this.leafId, targetId = "", entries = [] }: { leafId?: string; targetId?: string; entries?: { content: string }[] }): object {
    if (method === "coppice/navigate") return this.navigate(targetId);
    if (method === "coppice/entries") return { entries: this.path(leafId).reverse() };
    for (const { content } of entries) this.notes.push(content);
    if (entries.length > 0) this.add({ type: "custom_message" });
    return { conversations: [] };
  }
}

function isAsked(entry: Stored | undefined): boolean {
  return entry?.message !== undefined && "role" in entry.message && entry.message.role === "user";
}

class Laboratory {
  readonly tree = new Tree();
  readonly memory: Memento;
  readonly log: string[] = [];
  /** By end of a branch, what its files are that the agent wrote. */
  readonly owned = new Map<string | undefined, Files>();
  /** Ends to which the conversation went without files. */
  readonly elsewhere = new Set<string | undefined>();
  /** What the user wrote since the last move. */
  fresh: string[] = [];
  /** A change was left half done: what is on the disk is of no branch. */
  isMixed = false;
  clickUndo: (() => void) | undefined;
  current!: ReturnType<Laboratory["open"]>;

  constructor(readonly workspace: Workspace, readonly random: (end: number) => number, readonly seed: number) {
    const stored = new Map<string, unknown>();
    this.memory = { get: (key: string, usual: unknown) => stored.get(key) ?? usual, update: (key: string, value: unknown) => { stored.set(key, structuredClone(value)); return Promise.resolve(); } } as unknown as Memento;
    editorWindow.answer = (message) => (/^(?:Went|Changed)/.test(message) ? new Promise((resolve) => { this.clickUndo = () => { resolve("Undo"); }; }) : undefined);
    this.current = this.open();
  }

  /** A window, which the cut ends. */
  open(cut?: Cut) {
    this.clickUndo = undefined; // It went with the window before.
    let end = (): void => undefined;
    const ended = new Promise<"ended">((resolve) => { end = () => { resolve("ended"); }; });
    const die = (): Promise<never> => { end(); return new Promise(() => undefined); };
    const person = { answer: "both" as Choice, unfinished: "finish" as Choice, meanwhile: () => Promise.resolve() };
    const navigate = async (targetId: string): Promise<object> => {
      if (cut === "before it moves") return die();
      const result = this.tree.navigate(targetId);
      return cut === "after it moved" ? die() : result;
    };
    const client = { onNotification: () => undefined, request: (method: string, params: { targetId?: string }) => (method === "coppice/navigate" ? navigate(params.targetId ?? "") : Promise.resolve(this.tree.request(method, params))) };
    const snapshots = this.workspace.open();
    const write = snapshots.write.bind(snapshots);
    if (cut === "between the files") snapshots.write = async (id: string, steps: readonly PlacedStep[]) => { await write(id, steps.slice(0, this.random(steps.length + 1))); return die(); };
    const states = new BranchStates(client as never, this.memory);
    const notes = new ModelNotes(client as never, snapshots, states, this.memory);
    const changes = new FileChanges(this.memory);
    const offered: FilesOffer[] = [];
    const post = (message: ToPage): void => {
      if (message.type !== "filesOffer" || message.offer === undefined) return;
      const { id, kind } = message.offer;
      offered.push(message.offer);
      setImmediate(() => void person.meanwhile().then(() => files.handle({ type: "answerFiles", id, choice: kind === "unfinished" ? person.unfinished : person.answer, always: false }, "c")));
    };
    const files = new BranchFiles({ post, isRunning: () => false, putDraft: () => undefined } as never, client as never, snapshots, states, changes, notes, this.memory);
    return { files, notes, changes, person, offered, ended, navigate };
  }

  disk(): Promise<Files> {
    return this.workspace.files();
  }

  /** What the branch that ends at an entry has of the agent's files; undefined where that is known of no entry. */
  owner(entryId: string | undefined): Files | undefined {
    const [first, ...rest] = this.tree.path(entryId ?? "none");
    if (isAsked(first) && first?.disk !== undefined) return first.disk;
    for (const each of first === undefined || isAsked(first) ? rest : [first, ...rest]) {
      const files = this.owned.get(each.id) ?? each.disk;
      if (files !== undefined) return files;
      if (isAsked(each)) return undefined; // Its state was not recorded.
    }
    return this.owned.get(undefined);
  }

  isElsewhere(): boolean {
    for (const { id, disk } of this.tree.path()) {
      if (this.owned.has(id)) return this.elsewhere.has(id);
      if (disk !== undefined) return false;
    }
    return this.elsewhere.has(undefined);
  }

  async userWrites(): Promise<void> {
    for (let times = this.random(3); times > 0; times -= 1) {
      const mark = `user ${this.log.length} ${this.random(1e6)}`;
      const name = OWN[this.random(OWN.length)] ?? "";
      await this.workspace.write({ [name]: `${(await this.disk())[name] ?? ""}${mark}\n` });
      this.fresh.push(mark);
    }
  }

  async turn(): Promise<void> {
    await this.current.files.settled("c");
    const before = await this.disk();
    const left = this.tree.path().find(({ message }) => message !== undefined)?.disk;
    this.tree.notes.length = 0;
    const isLate = this.random(8) === 0;
    await this.current.notes.beforeTurn("c", isLate ? undefined : await this.workspace.take());
    const note = this.tree.notes.join();
    for (const name of left === undefined ? [] : AGENTS.filter((each) => left[each] !== before[each])) assert.ok(note.includes(name) || note.includes("may not be"), `the model is not told of ${name}: ${note}`);
    const record = async (role: string): Promise<void> => {
      const disk = await this.disk();
      this.tree.add({ type: "message", ...isLate ? { message: { role, content: role } } : { message: { role, content: role, workspaceState: await this.workspace.take() }, disk } });
    };
    await record("user");
    for (let edits = this.random(4); edits > 0; edits -= 1) {
      const name = AGENTS[this.random(AGENTS.length)] ?? "";
      const isThere = (await this.disk())[name] !== undefined;
      await this.workspace.write({ [name]: isThere && this.random(4) === 0 ? null : `agent ${this.log.length} ${this.random(1e6)}\n` });
      await record("toolResult");
    }
    this.tree.add({ type: "message", message: { role: "assistant" }, ...isLate ? {} : { disk: await this.disk() } });
    this.fresh = [];
    this.clickUndo = undefined;
    this.isMixed = isLate;
  }

  /** An entry that no turn stores. */
  choose(type: string): void {
    if (this.tree.leafId !== undefined) this.tree.add({ type });
  }

  async move(targetId: string, choice: Choice, cut: Cut | undefined): Promise<void> {
    this.current = this.open(cut);
    const { files, person, navigate, ended, changes } = this.current;
    person.answer = choice;
    person.meanwhile = () => this.userWrites();
    const wasElsewhere = this.isElsewhere();
    const from = this.tree.leafId;
    const wanted = this.owner(targetId);
    const disk = await this.disk();
    const result = await Promise.race([files.move("c", targetId, () => navigate(targetId) as never), ended]);
    if (result === "ended") {
      await this.resume();
      return;
    }
    const now = await this.disk();
    assert.deepEqual(changes.unfinished, {});
    if (choice === "both" && wanted !== undefined && result !== undefined && !this.isMixed) {
      for (const name of AGENTS) assert.equal(now[name], wanted[name], `${name} of the branch`);
    }
    if (result === undefined) {
      if (choice === "files") this.arrive(now);
      return;
    }
    if (!wasElsewhere) this.owned.set(from, disk);
    const isWithout = choice === "conversation" || wanted === undefined;
    this.owned.set(this.tree.leafId, isWithout ? wanted ?? now : now);
    if (isWithout) this.elsewhere.add(this.tree.leafId);
    else this.elsewhere.delete(this.tree.leafId);
  }

  arrive(now: Files): void {
    this.owned.set(this.tree.leafId, now);
    this.elsewhere.delete(this.tree.leafId);
  }

  /** The next window finishes what was cut off, undoes it, or leaves it. */
  async resume(): Promise<void> {
    await this.userWrites();
    this.current = this.open();
    const { files, person, offered, changes } = this.current;
    person.unfinished = (["finish", "undo", "leave"] as const)[this.random(3)] ?? "finish";
    await files.resume(() => undefined);
    assert.deepEqual(changes.unfinished, {}, "nothing is unfinished");
    const isAskedAbout = offered.some(({ kind }) => kind === "unfinished");
    this.log.push(isAskedAbout ? person.unfinished : "nothing to finish");
    // Where it was cut off, the states of both branches depend on how far it came.
    this.isMixed = true;
    this.arrive(await this.disk());
  }

  async undo(): Promise<void> {
    const { clickUndo, current } = this;
    if (clickUndo === undefined) return;
    this.clickUndo = undefined;
    clickUndo();
    for (let waits = 0; waits < 20; waits += 1) await new Promise(setImmediate);
    await current.changes.hold("c", () => Promise.resolve());
    this.isMixed = true;
    this.arrive(await this.disk());
  }

  async step(): Promise<void> {
    const { random, tree } = this;
    const ids = [...tree.entries.keys()];
    // Before the first message is one of many places.
    const target = ids[random(random(5) === 0 ? 1 : ids.length)] ?? "";
    const kind = random(10);
    if (kind < 3 || ids.length === 0) {
      this.log.push("turn");
      await this.turn();
      return;
    }
    if (kind > 4) this.fresh = [];
    await this.userWrites();
    if (kind === 3) {
      this.log.push("choice");
      this.choose(["model_change", "compaction", "thinking_level_change"][random(3)] ?? "");
    } else if (kind === 4) {
      this.log.push("undo");
      await this.undo();
    } else if (kind === 5) {
      this.log.push(`restore ${target}`);
      this.current = this.open();
      this.current.person.answer = "files";
      await this.current.files.handle({ type: "restoreFiles", entryId: target }, "c").catch((error: unknown) => { assert.match(String(error), /not recorded/); });
      this.arrive(await this.disk());
    } else {
      const choice = (["both", "both", "both", "conversation", "conversation", "files", "cancel"] as const)[random(7)] ?? "both";
      const cut = random(4) === 0 ? (["before it moves", "after it moved", "between the files"] as const)[random(3)] : undefined;
      this.log.push(`${choice} ${target} ${cut ?? ""}`);
      await this.move(target, choice, cut);
    }
    const now = Object.values(await this.disk()).join("");
    for (const mark of this.fresh) assert.ok(now.includes(mark), `${mark} is lost`);
    if (kind > 4 && random(3) === 0) this.choose("model_change");
  }
}

async function play(seed: number): Promise<void> {
  await using workspace = await Workspace.with({ "x1.txt": "first\n" });
  const laboratory = new Laboratory(workspace, randomFrom(seed), seed);
  try {
    for (let round = 0; round < ROUNDS; round += 1) await laboratory.step();
    assert.deepEqual(workspace.warnings, []);
  } catch (error) {
    throw new Error(`With COPPICE_LABORATORY_SEED=${seed}: ${laboratory.log.join("; ")}`, { cause: error });
  }
}

test(`random moves among branches: files come with their branch, nothing of the user's is lost, and the model is told (seed ${FIRST_SEED})`, { timeout: (SECONDS + 300) * 1000 }, async () => {
  const until = Date.now() + SECONDS * 1000;
  let seed = FIRST_SEED;
  while (seed < FIRST_SEED + GAMES || Date.now() < until) await play(seed++);
  console.log(`Laboratory of branches: seeds ${FIRST_SEED} to ${seed - 1}`);
});
