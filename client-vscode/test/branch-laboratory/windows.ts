/** Windows, one after the other, in which the conversation of the laboratory moves, and what is expected of its files. */
import type { Memento } from "vscode";

import { BranchFiles } from "../../src/chat/branch-files";
import { BranchStates } from "../../src/chat/branch-states";
import { FileChanges } from "../../src/chat/file-changes";
import type { FilesOffer, FromPage, ToPage } from "../../src/chat/messages";
import { ModelNotes } from "../../src/chat/model-notes";
import type { PlacedStep } from "../../src/snapshots/workspace";
import { window as editorWindow } from "../agent/vscode";
import type { Workspace } from "../snapshots/recorded";
import { type Files, isAsked, Tree } from "./tree";

/** What the agent writes and the user changes, too, and what only the user writes. */
export const AGENTS = ["x1.txt", "x2.txt", "sub/x3.txt", "sub/x4.txt"];
const OWN = ["own", "sub/own"];

export type Choice = Extract<FromPage, { type: "answerFiles" }>["choice"];
export type Cut = "before it moves" | "after it moved" | "between the files";

export class Laboratory {
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
    editorWindow.answer = (message) => {
      if (message.includes("gone on since")) this.current.person.unfinished = "leave"; // or it would be asked again and again
      return /^(?:Went|Changed)/.test(message) ? new Promise((resolve) => { this.clickUndo = () => { resolve("Undo"); }; }) : undefined;
    };
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
      const names = this.random(3) === 0 ? AGENTS : OWN;
      const name = names[this.random(names.length)] ?? "";
      await this.workspace.write({ [name]: `${(await this.disk())[name] ?? ""}${mark}\n` });
      this.fresh.push(mark);
    }
  }
}

/** Whether a file has a line of the user's that another version of it lacks. */
export function hasOwn(text = "", other = ""): boolean {
  return text.split("\n").some((line) => line.startsWith("user ") && !other.includes(line));
}
