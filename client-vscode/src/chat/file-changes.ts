import * as v from "valibot";
import * as vscode from "vscode";

import { sentence } from "../errors";
import { counted } from "../format";
import { notify } from "../notify";
import type { PlacedStep } from "../snapshots/workspace";
import type { ChatAccess } from "./feature";

const KEY = "coppice.unfinishedChanges";
const LAST = "coppice.lastChanges";
/** Conversations whose last change can be undone. A guess: more than anybody works on at a time. */
const MOST_LAST = 100;
/** Names in a notification. A guess: as many as it shows. */
const MOST_NAMED = 5;

const end = v.object({
  /** The end of the conversation, undefined before its first message. */
  leafId: v.optional(v.string()),
  /** The state of the files. */
  state: v.string(),
  /** What is remembered of the branch where its files are others. */
  branch: v.optional(v.object({ state: v.string(), base: v.optional(v.string()) })),
  /** What its model is to be told there before the next turn; see `ModelNotes`. */
  reasons: v.optional(v.array(v.string()), []),
});

const change = v.object({
  from: end,
  to: end,
  /** The conversation has yet to leave the first end; where that leads is not known. */
  isMoving: v.optional(v.boolean()),
});

/** Where a conversation is and what the files hold. */
export type End = v.InferOutput<typeof end>;

/** A conversation and its files go from one end to the other. */
export type FileChange = v.InferOutput<typeof change>;

/** What going from one recorded state to another means for the files. */
export interface FilePlan {
  /** The end of the conversation when that was planned. */
  leafId: string | undefined;
  base: string;
  /** Undefined where it was not recorded: from now on the files of the branch are those of now. */
  target: string | undefined;
  steps: PlacedStep[];
}

/** The changes of files that were begun, each until it is finished, undone or given up, or its conversation is deleted. */
export class FileChanges {
  /** By conversation, a change of branch or files that a turn has to wait for. */
  readonly #going = new Map<string, Promise<unknown>>();

  constructor(private readonly memory: vscode.Memento) {}

  /** By conversation, the changes that are not done: the window ended, for instance. */
  get unfinished(): Readonly<Record<string, FileChange>> {
    return this.#stored(KEY);
  }

  /** The change of a conversation that was done last; undefined where it can be undone in its own window alone. */
  last(conversationId: string): FileChange | undefined {
    return this.#stored(LAST)[conversationId];
  }

  async recordDone(conversationId: string, done: FileChange | undefined): Promise<void> {
    const others = Object.entries(this.#stored(LAST)).filter(([id]) => id !== conversationId);
    await this.memory.update(LAST, Object.fromEntries(done === undefined ? others : [...others, [conversationId, done] as const].slice(-MOST_LAST)));
  }

  async record(conversationId: string, unfinished: FileChange): Promise<void> {
    await this.#put(conversationId, unfinished);
  }

  async forget(conversationId: string): Promise<void> {
    if (Object.hasOwn(this.unfinished, conversationId)) await this.#put(conversationId, undefined);
  }

  /** Does one work after the other. */
  async hold<T>(conversationId: string, work: () => Promise<T>): Promise<T> {
    const going = (this.#going.get(conversationId) ?? Promise.resolve()).then(work, work);
    this.#going.set(conversationId, going);
    try {
      return await going;
    } finally {
      if (this.#going.get(conversationId) === going) this.#going.delete(conversationId);
    }
  }

  #stored(key: string): Readonly<Record<string, FileChange>> {
    const stored = Object.entries(this.memory.get<object | null>(key) ?? {}).map(([id, value]) => [id, v.safeParse(change, value)] as const);
    return Object.fromEntries(stored.flatMap(([id, { success, output }]) => (success ? [[id, output]] : [])));
  }

  async #put(conversationId: string, unfinished: FileChange | undefined): Promise<void> {
    const others = Object.entries(this.unfinished).filter(([id]) => id !== conversationId);
    await this.memory.update(KEY, Object.fromEntries(unfinished === undefined ? others : [...others, [conversationId, unfinished]]));
  }
}

/** Says what was done, and offers to undo it. */
export async function report(what: string, written: readonly PlacedStep[], stayed: readonly PlacedStep[], undo: () => Promise<void>): Promise<void> {
  const names = stayed.slice(0, MOST_NAMED).map(({ shown }) => shown).join(", ");
  const rest = stayed.length === 0 ? "" : ` ${counted(stayed.length, "file")} changed meanwhile or could not be written, and stayed: ${names}${stayed.length > MOST_NAMED ? ", …" : ""}.`;
  const show = stayed.length === 0 ? notify.info : notify.warn;
  let answer = await show(`${what} ${counted(written.length, "file")}.${rest}`, ...written.length === 0 ? [] : ["Undo"]);
  while (answer === "Undo") {
    try {
      await undo();
      return;
    } catch (error) {
      // A turn may run meanwhile.
      answer = await notify.error(sentence(error), "Undo");
    }
  }
}

export function refuseIfRestricted(): void {
  if (!vscode.workspace.isTrusted) throw new Error("This workspace is not trusted: nothing in it can be changed.");
}

export function refuseIfRunning(chat: Pick<ChatAccess, "isRunning">, conversationId: string): void {
  if (chat.isRunning(conversationId)) throw new Error("A turn is running, so no file was changed. Try again when it has ended.");
}

export function isChange({ fate }: PlacedStep): boolean {
  return fate !== "conflict";
}

/** Shows in the chat that something goes on: a large workspace takes seconds. */
export function withProgress<T>(work: Promise<T>): Thenable<T> {
  return vscode.window.withProgress({ location: { viewId: "coppice.chat" } }, () => work);
}
